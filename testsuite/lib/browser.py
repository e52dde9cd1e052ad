# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless chromium, for tests of pages and pictures that the tracer makes.

    with Browser() as browser:
        browser.open("/tmp/page.html")
        title = browser.evaluate("document.title")
        browser.press("Enter")
        browser.screenshot("/tmp/page.png")
        equal(browser.complaints(), [], "errors")

It is driven by its DevTools protocol over a pair of pipes: messages of JSON that end with a NUL.
https://chromedevtools.github.io/devtools-protocol/
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import urllib.parse

from harness import TIMEOUT, Failure, Skip, kill_group

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
         "--disable-component-update", "--no-default-browser-check", "--font-render-hinting=none")
# Keys of more than a letter.
KEYS = {"Enter": 13, "Escape": 27, " ": 32, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


def find_browser():
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise Skip("no chromium here")


class Browser:
    """A browser with one page. width and height are of the window, in CSS pixels."""

    def __init__(self, width=1280, height=900, dark=False):
        path = find_browser()
        self._profile = tempfile.mkdtemp(prefix="browser-")
        self._number, self._left, self._session = 0, b"", None
        self._events, self._complaints, self._requests = [], [], []
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()

        def take_pipes():
            ours, theirs = os.dup(from_us), os.dup(to_us)
            os.dup2(ours, 3)
            os.dup2(theirs, 4)

        self._process = subprocess.Popen([path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=take_pipes, pass_fds=(3, 4),
                                         start_new_session=True, env={**os.environ, "HOME": self._profile})
        os.close(from_us)
        os.close(to_us)
        try:
            target = next(one for one in self.command("Target.getTargets")["targetInfos"] if one["type"] == "page")
            self._session = self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.command(f"{domain}.enable")
            self.resize(width, height)
            self.prefer(dark)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        kill_group(self._process)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        # Its processes may still write for a moment.
        for _ in range(50):
            shutil.rmtree(self._profile, ignore_errors=True)
            if not os.path.exists(self._profile):
                break
            time.sleep(0.05)

    # ---- the protocol

    def _note(self, event):
        """Keeps what a user would see in the console as an error or a warning, and what was not allowed."""
        method, parameters = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self._complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self._complaints.append(" ".join(str(one.get("value", one.get("description"))) for one in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self._complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self._requests.append(parameters["request"]["url"])
        self._events.append(event)

    def _next(self, deadline):
        """Takes the next message of the browser."""
        while b"\0" not in self._left:
            if not select.select([self._read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failure("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise Failure("the browser has ended")
            self._left += part
        text, self._left = self._left.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self._note(message)
        return message

    def command(self, method, **parameters):
        """Sends a command, and returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._write, text):]
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait_for(self, method):
        """Returns the parameters of the next event of that name, also if it has come already."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            for i, event in enumerate(self._events):
                if event["method"] == method:
                    del self._events[:i + 1]
                    return event["params"]
            self._next(deadline)

    # ---- pages

    def open(self, url):
        """Opens a page, or the file of that name, and waits until it has been loaded."""
        for kept in (self._events, self._complaints, self._requests):
            kept.clear()
        result = self.command("Page.navigate", url=url if "://" in url else "file://" + urllib.parse.quote(os.path.abspath(url)))
        if result.get("errorText"):
            raise Failure(f"{url}: {result['errorText']}")
        self.wait_for("Page.loadEventFired")

    def requests(self):
        """The addresses that the page has asked for since it was opened, itself included."""
        self.evaluate("0")
        return list(self._requests)

    def evaluate(self, code):
        """The value of an expression of JavaScript, as JSON has it. A promise is waited for."""
        result = self.command("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{code}: {details.get('exception', {}).get('description') or details['text']}")
        return result["result"].get("value")

    def complaints(self):
        """Errors and warnings in the console since the page was opened."""
        self.evaluate("new Promise(requestAnimationFrame)")
        return list(self._complaints)

    # ---- as a user has it

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, dark, media=""):
        """Light or dark; media: "print", or "" for the screen."""
        self.command("Emulation.setEmulatedMedia", media=media,
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def click(self, x, y):
        """In the window, in CSS pixels."""
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def click_on(self, selector, x=None, y=None):
        """Clicks into the middle of an element, or at a place in it."""
        box = self.evaluate(f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
                            "node.scrollIntoView({block: 'center'}); const box = node.getBoundingClientRect();"
                            "return [box.left, box.top, box.width, box.height]; })()")
        self.click(box[0] + (box[2] / 2 if x is None else x), box[1] + (box[3] / 2 if y is None else y))

    def middle(self, element):
        """The middle of what an expression gives, in the window."""
        return self.evaluate(f"(() => {{ const r = {element}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()")

    def move_to(self, x, y):
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key, times=1):
        """Presses a key by its name in the DOM: "Enter", "ArrowLeft", "+"."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                down = {"text": text} if text and kind == "keyDown" else {}
                self.command("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS.get(key) or ord(key.upper()), **down)

    def press(self, *keys):
        for key in keys:
            self.key(key)

    def type(self, text):
        """Types a text where the focus is."""
        self.command("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        """Writes a PNG of the window, or of the whole page."""
        parameters = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", format="png", **parameters)["data"]))
