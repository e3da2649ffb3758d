"""Drives Chromium by its own protocol through two pipes, so that nothing needs to be installed for it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile


class Browser:
    """A browser that takes commands on its descriptor 3 and answers on 4, each message with a zero byte behind."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="browser-")
        self.number = 0
        self.held = b""
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def place_pipes():
            # Above 4 first, so that neither is lost where the other goes.
            first, second = os.dup(commands), os.dup(answers)
            while first <= 4:
                first = os.dup(first)
            while second <= 4:
                second = os.dup(second)
            os.dup2(first, 3)
            os.dup2(second, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
                 "--user-data-dir=" + self.profile, "--remote-debugging-pipe"]
        self.process = subprocess.Popen([program] + flags, preexec_fn=place_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)

    def close(self):
        # Ended by its own command, so that none of its processes writes to the folder any more.
        try:
            self.ask("Browser.close")
            self.process.wait(timeout=20)
        except (SystemExit, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def message(self):
        while b"\0" not in self.held:
            data = os.read(self.answers, 65536)
            if not data:
                sys.exit("the browser ended")
            self.held += data
        message, self.held = self.held.split(b"\0", 1)
        return json.loads(message)


class Page:
    """A page of a browser; one that is a stranger shares no cookies and no storage with others."""

    def __init__(self, browser, url, is_stranger=False):
        self.browser = browser
        context = {"browserContextId": browser.ask("Target.createBrowserContext")["browserContextId"]} if is_stranger else {}
        target = browser.ask("Target.createTarget", url="about:blank", **context)["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # Answered when the page has taken the place of the empty one, so that no script runs in the latter.
        browser.ask("Page.navigate", self.session, url=url)
        self.until("document.readyState === 'complete'")

    def run(self, script):
        answer = self.browser.ask("Runtime.evaluate", self.session, expression=script, awaitPromise=True,
                                  returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition):
        """Waits for a condition in the page, which looks again at each change that it makes."""
        script = f"""new Promise((resolve) => {{
            const give = () => resolve(JSON.stringify([document.body?.innerText, document.location.href]));
            const late = setTimeout(give, 100000);
            const look = () => {{ if ({condition}) {{ clearTimeout(late); resolve(null); }} else setTimeout(look, 20); }};
            look();
        }})"""
        seen = self.run(script)
        if seen:
            sys.exit(f"the page never came to {condition}: {seen}")
