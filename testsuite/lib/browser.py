# SPDX-License-Identifier: GPL-2.0-or-later
"""A page in a real browser without a window: Chromium, by its DevTools protocol over a pair of pipes.

    with Page(path, width=1200, height=800) as page:
        page.click("#button")
        page.press("/", "Enter")
        equal(page.value("document.title"), "a title", "title")
    equal(page.complaints, [], "what the console has")

The protocol: https://chromedevtools.github.io/devtools-protocol/, messages of JSON that end with a NUL.
"""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import TIMEOUT, Failure, Skip, kill_group

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Keys of more than a letter: code and number.
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "Tab": 9, " ": 32}


def _browser():
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise Skip("there is no chromium")


class Page:
    def __init__(self, path, width=1200, height=800, fragment="", dark=False):
        self._url = "file://" + os.path.abspath(path) + fragment
        self._size, self._dark = (width, height), dark
        self._number, self._left, self._session = 0, b"", None
        self.complaints = []  # errors in the console, exceptions, and what was asked of the network

    def __enter__(self):
        browser = _browser()
        self._home = tempfile.mkdtemp(prefix="browser-")
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()

        def take_pipes():
            ours, theirs = os.dup(from_us), os.dup(to_us)
            os.dup2(ours, 3)
            os.dup2(theirs, 4)

        self._process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe", f"--user-data-dir={self._home}",
             f"--window-size={self._size[0]},{self._size[1]}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=take_pipes, pass_fds=(3, 4),
            start_new_session=True, env={**os.environ, "HOME": self._home})
        os.close(from_us)
        os.close(to_us)
        try:
            self._open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open(self):
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self._size[0], height=self._size[1], deviceScaleFactor=1, mobile=False)
        if self._dark:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self._loaded = False
        self.call("Page.navigate", url=self._url)
        deadline = time.monotonic() + TIMEOUT
        while not self._loaded:
            self._take(deadline)

    def __exit__(self, *reason):
        kill_group(self._process)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._home, ignore_errors=True)

    # ---- messages

    def _take(self, deadline):
        """The next message of the browser."""
        while b"\0" not in self._left:
            if not select.select([self._read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failure("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise Failure("the browser has ended")
            self._left += part
        text, self._left = self._left.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, said):
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"].get("exception", {}).get("description", str(said)))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent" and said["request"]["url"].split("#")[0] != self._url.split("#")[0]:
            if not said["request"]["url"].startswith(("data:", "about:")):
                self.complaints.append(f"asked for {said['request']['url']}")

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._write, text):]
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self._take(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]

    # ---- what a user does and sees

    def value(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def click_at(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def place(self, selector):
        """The middle of an element that is in sight."""
        return self.middle(f"document.querySelector({json.dumps(selector)})")

    def middle(self, element):
        """The middle of what an expression gives."""
        found = self.value(f"(() => {{ const r = {element}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()")
        return found

    def click(self, selector):
        self.click_at(*self.place(selector))

    def press(self, *keys):
        for key in keys:
            known = {"key": key, "windowsVirtualKeyCode": KEYS.get(key) or ord(key.upper())}
            text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **known, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        with contextlib.closing(open(path, "wb")) as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
