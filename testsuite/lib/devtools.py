# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless chromium, driven over the Chrome DevTools Protocol, for tests of pages that the tracer makes.

    with Browser() as browser:
        browser.open("/tmp/page.html")
        title = browser.evaluate("document.title")
        browser.key("Enter")
        browser.screenshot("/tmp/page.png")
        equal(browser.complaints(), [], "errors")

The protocol is JSON in the frames of a WebSocket (RFC 6455), of which this is the part that is needed.
"""
import base64
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse

from harness import TIMEOUT, Skip

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
         "--disable-component-update", "--no-default-browser-check", "--font-render-hinting=none")


def find_browser():
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise Skip("no chromium here")


class _WebSocket:
    """A client's end of a WebSocket, for text messages."""

    def __init__(self, url):
        place = urllib.parse.urlparse(url)
        self._socket = socket.create_connection((place.hostname, place.port), TIMEOUT)
        self._bytes = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall((f"GET {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._bytes:
            self._receive()
        head, self._bytes = self._bytes.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError(f"no WebSocket: {head!r}")

    def _receive(self):
        more = self._socket.recv(1 << 20)
        if not more:
            raise OSError("the browser has closed the connection")
        self._bytes += more

    def _take(self, length):
        while len(self._bytes) < length:
            self._receive()
        taken, self._bytes = self._bytes[:length], self._bytes[length:]
        return taken

    def send(self, text, opcode=1):
        payload = text if isinstance(text, bytes) else text.encode()
        length = len(payload)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length) if length < 1 << 16 \
            else b"\xff" + struct.pack(">Q", length)
        # A client masks what it sends; a mask of zeros leaves it as it is.
        self._socket.sendall(bytes([0x80 | opcode]) + size + bytes(4) + payload)

    def receive(self):
        """The next message, of one frame or several."""
        message = b""
        while True:
            first, second = self._take(2)
            length = second & 127
            if length == 126:
                length, = struct.unpack(">H", self._take(2))
            elif length == 127:
                length, = struct.unpack(">Q", self._take(8))
            payload = self._take(length)
            opcode = first & 15
            if opcode == 9:
                self.send(payload, 10)
            elif opcode == 8:
                raise OSError("the browser has ended the connection")
            elif opcode in (0, 1):
                message += payload
                if first & 128:
                    return message.decode()

    def close(self):
        self._socket.close()


class Browser:
    """A browser with one page. width and height are of the window, in CSS pixels."""

    def __init__(self, width=1280, height=900, dark=False):
        path = find_browser()
        self._profile = tempfile.mkdtemp(prefix="browser-")
        self._process = subprocess.Popen([path, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self._number, self._events, self._complaints, self._requests = 0, [], [], []
        try:
            self._socket = _WebSocket(self._page_of(self._port()))
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

    # ---- its start and end

    def _port(self):
        """The browser writes the port that it listens at into its profile."""
        path, end = os.path.join(self._profile, "DevToolsActivePort"), time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise Skip(f"chromium does not start here: it ended with {self._process.returncode}")
            try:
                with open(path, encoding="ascii") as file:
                    lines = file.read().split("\n")
                if len(lines) > 1 and lines[0].isdigit():
                    return int(lines[0])
            except FileNotFoundError:
                pass
            time.sleep(0.02)
        raise OSError("chromium does not listen")

    def _page_of(self, port):
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
                connection.sendall(f"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
                answer = b""
                while True:
                    more = connection.recv(65536)
                    answer += more
                    head, separator, body = answer.partition(b"\r\n\r\n")
                    length = re.search(rb"(?i)content-length: *(\d+)", head)
                    if not more or (separator and length and len(body) >= int(length[1])):
                        break
            for target in json.loads(body):
                if target["type"] == "page":
                    return target["webSocketDebuggerUrl"]
            time.sleep(0.02)
        raise OSError("chromium has no page")

    def close(self):
        if hasattr(self, "_socket"):
            self._socket.close()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
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

    def _next(self):
        message = json.loads(self._socket.receive())
        if "method" in message:
            self._note(message)
        return message

    def command(self, method, **parameters):
        """Sends a command, and returns its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']['message']}")
                return message["result"]

    def wait_for(self, method):
        """Returns the parameters of the next event of that name, also if it has come already."""
        while True:
            for i, event in enumerate(self._events):
                if event["method"] == method:
                    del self._events[:i + 1]
                    return event["params"]
            self._next()

    # ---- pages

    def open(self, url):
        """Opens a page, or the file of that name, and waits until it has been loaded."""
        for kept in (self._events, self._complaints, self._requests):
            kept.clear()
        result = self.command("Page.navigate", url=url if "://" in url else "file://" + urllib.parse.quote(os.path.abspath(url)))
        if result.get("errorText"):
            raise OSError(f"{url}: {result['errorText']}")
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
            raise OSError(f"{code}: {details.get('exception', {}).get('description') or details['text']}")
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

    def key(self, key, times=1):
        """Presses a key by its name in the DOM: "Enter", "ArrowLeft", "+"."""
        codes = {"Enter": 13, "Escape": 27, " ": 32, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                down = {"text": text} if text and kind == "keyDown" else {}
                self.command("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes.get(key, 0), **down)

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
