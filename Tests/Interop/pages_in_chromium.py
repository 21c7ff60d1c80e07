"""Chromium at the hosted pages of a sandbox, the app that it signs in to, the person's phone, and what every page must satisfy.

The program that imports this is called with SCENARIO ORIGIN FOLDER. Screenshots go to the folder.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import socket
import sys
import threading
import urllib.parse

import axe_core_python
import requests

from chromium import Chromium, check

SCENARIO, ORIGIN, FOLDER = sys.argv[1:4]
SERVER = f"{ORIGIN}/oauth2/default/v1"
JANE = "jane.doe@example.com"
PASSWORD = "Correct-Horse-7"
VERIFIER = "a-verifier-that-is-long-enough-for-the-rules-of-pkce"
PATIENCE = 90
resolve = socket.getaddrinfo
# Names below localhost are loopback (RFC 6761 section 6.3). Chromium knows that, the system's resolver may not.
socket.getaddrinfo = lambda host, *rest, **more: resolve("127.0.0.1" if str(host).endswith(".localhost") else host, *rest, **more)
with open(os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js"), encoding="utf-8") as script:
    AXE = script.read()


class Callback:
    """The app's side: a listener on loopback that takes what the browser brings."""

    def __init__(self):
        self.arrived = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, query):
                if self.path.startswith("/callback"):
                    listener.arrived.append(dict(urllib.parse.parse_qsl(query)))
                body = b"<!DOCTYPE html><html lang=en><link rel=icon href='data:,'><title>App</title><h1>Back in the app</h1>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(urllib.parse.urlparse(self.path).query)

            def do_POST(self):
                self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, *_):
                pass

        # The test chose the port of web-app's redirect URIs before it started the sandbox.
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("SITE_PORT", 0))), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.home = f"http://127.0.0.1:{self.server.server_port}/"
        self.uri = self.home + "callback"

    def request(self, client="browser-app", **parameters):
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
        query = {
            "client_id": client, "response_type": "code", "scope": "openid profile", "redirect_uri": self.uri, "state": "state-1",
            "nonce": "nonce-1", "code_challenge": challenge, "code_challenge_method": "S256"} | parameters
        return f"{SERVER}/authorize?{urllib.parse.urlencode(query)}"

    def exchange(self, answer, client="browser-app"):
        form = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": self.uri, "code_verifier": VERIFIER}
        secret = ("web-app", "web-app-secret-01") if client == "web-app" else None
        if not secret:
            form["client_id"] = client
        tokens = requests.post(f"{SERVER}/token", data=form, auth=secret, timeout=PATIENCE).json()
        check("access_token" in tokens and "id_token" in tokens, f"no tokens: {tokens.get('error')} {tokens.get('error_description')}")
        return tokens


APP = Callback()


class Browser(Chromium):
    """A browser, and the app that it signs in to."""

    def __init__(self, scripts=True, language="en-US"):
        super().__init__(PATIENCE, language, {
            "intl.accept_languages": language, "credentials_enable_service": False,
            "profile.managed_default_content_settings.javascript": 1 if scripts else 2})
        self.driver.set_page_load_timeout(PATIENCE)
        self.app = APP
        self.look(1280, 900, False)
        # Texts in console lines about responses that are errors on purpose.
        self.expected = []
        # axe needs scripts, because it is a script.
        self.judges = scripts

    # Reading pages

    def page(self, heading):
        """Waits for a page, which axe must find good."""
        self.wait(f"the page {heading}", lambda: any(h.text == heading for h in self.all("h1")))
        self.judge(heading)

    def judge(self, where):
        if not self.judges:
            return
        result = self.driver.execute_async_script(
            AXE + ";const done = arguments[arguments.length - 1];"
            "axe.run({resultTypes: ['violations', 'incomplete']}).then(done, (e) => done({error: String(e)}))")
        check("error" not in result, result.get("error"))
        # This version of axe does not know the autofill token of passkeys (HTML Living Standard, section 4.10.18.7.1).
        violations = [rule for rule in result["violations"] if not (
            rule["id"] == "autocomplete-valid" and all('autocomplete="username webauthn"' in node["html"] for node in rule["nodes"]))]
        found = [(rule["id"], [(node["html"], node.get("failureSummary")) for node in rule["nodes"]]) for rule in violations]
        check(not found, f"{where}: {found}")
        # axe lists contrasts that it cannot judge as incomplete and not as violations.
        unsure = [rule["id"] for rule in result["incomplete"] if rule["id"] == "color-contrast"]
        check(not unsure, f"{where}: the contrast can't be told: {result['incomplete']}")

    def notice(self, text):
        return self.wait(f"the notice {text}", lambda: text in next(iter(self.all("[role=alert]"))).text)

    def button(self, text):
        return self.wait(f"button {text}", lambda: next(b for b in self.all("button") if b.text.strip() == text))

    def answered(self, act):
        """Waits for the page that answers what is done; for where it looks like the one before."""
        before = self.one("html").id
        act()
        self.wait("the answer", lambda: self.one("html").id != before)

    def shoot(self, name):
        """The whole page, also what would have to be scrolled to."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        with open(os.path.join(FOLDER, f"{SCENARIO}-{name}.png"), "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    # Using pages

    def begin(self, client="browser-app", **parameters):
        self.driver.get(self.app.request(client, **parameters))

    def password(self, login=JANE, password=PASSWORD):
        field = self.one("#username")
        if not field.get_attribute("readonly"):
            field.clear()
            field.send_keys(login)
        self.one("#password").send_keys(password)
        self.button("Sign in").click()

    def arrival(self):
        """What the app was told, once."""
        self.wait("the app", lambda: self.app.arrived and self.driver.current_url.startswith(self.app.uri))
        return self.app.arrived.pop()

    def came_home(self, state):
        """Back at the app after a sign-out, with what it sent along."""
        self.wait("the app's home", lambda: self.driver.current_url == f"{self.app.home}?state={state}")

    def signed_in(self, client="browser-app"):
        answer = self.arrival()
        check(answer.get("state") == "state-1" and answer.get("iss") == f"{ORIGIN}/oauth2/default", answer)
        return self.app.exchange(answer, client)

    def quit(self):
        messages = [m for m in self.messages() if not any(expected in m for expected in self.expected)]
        self.driver.quit()
        check(not messages, f"the console says: {messages}")


class Phone:
    """Jane's phone, which the sandbox shows and answers for."""

    def __init__(self, uri=None, **settings):
        self.post("", login=JANE, **({"uri": uri} if uri else {}))
        if settings:
            self.post(f"/{JANE}/settings", **settings)

    def post(self, path, **body):
        answer = requests.post(f"{ORIGIN}/sandbox/phones{path}", json=body, timeout=PATIENCE)
        check(answer.ok, answer.text)
        return answer.json()

    def approve(self, **body):
        return self.post(f"/{JANE}/approve", within=PATIENCE, **body)

    def deny(self):
        return self.post(f"/{JANE}/deny", within=PATIENCE)


def clock():
    return requests.get(f"{ORIGIN}/sandbox/clock", timeout=PATIENCE).json()["now"]


def advance(seconds):
    requests.post(f"{ORIGIN}/sandbox/clock", json={"advance": seconds}, timeout=PATIENCE).raise_for_status()


def code(uri=None):
    """What an authenticator app shows (RFC 6238)."""
    secret = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(uri or os.environ["OTP_URI"]).query))["secret"]
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, int(clock() // 30).to_bytes(8, "big"), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(int.from_bytes(digest[place:place + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06d}"


def claims(tokens):
    part = tokens["id_token"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class PageLooks:
    """Looks at a page in every size and scheme, and lets axe judge it."""

    SIZES = ((360, 740), (1280, 900), (320, 640))

    def __init__(self, browser):
        self.browser = browser
        self.backgrounds = set()

    def see(self, name):
        browser = self.browser
        for width, height in self.SIZES:
            for dark in (False, True):
                browser.look(width, height, dark)
                where = f"{name}-{width}-{'dark' if dark else 'light'}"
                if width != 320:
                    browser.shoot(where)
                wide = browser.script("return document.documentElement.scrollWidth - arguments[0]", width)
                check(wide <= 0, f"{where}: wider than the window by {wide}")
                small = browser.script(
                    "return [...document.querySelectorAll('button, a:not(.skip), input:not([type=hidden])')]"
                    # Hidden elements have no boxes.
                    ".filter((e) => e.getClientRects().length > 0 && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)")
                check(not small, f"{where}: too small to hit: {small}")
                self.backgrounds.add(browser.script("return getComputedStyle(document.body).backgroundColor"))
            browser.judge(f"{name}-{width}-dark")
            browser.look(width, height, False)
            browser.judge(f"{name}-{width}-light")
        check(len(self.backgrounds) == 2, f"light and dark are the same: {self.backgrounds}")
        title = browser.driver.title
        check(browser.one("h1").text in title and title.lower().endswith("sandbox"), f"the title does not say the step: {title}")
        browser.look(1280, 900, False)


def play(scenarios):
    """Plays the scenario that the program was called with, in a browser of its own; of a failure there is a screenshot."""
    browser = Browser()
    try:
        scenarios[SCENARIO](browser)
    except BaseException:
        browser.shoot("failure")
        browser.driver.quit()
        raise
    browser.quit()
