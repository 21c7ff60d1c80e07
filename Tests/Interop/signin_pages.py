"""Signs in on the hosted pages of a sandbox with Chromium, as a person does: signin_pages.py SCENARIO ORIGIN FOLDER

Screenshots go to the folder. Ends with an error that says what was not as it should be. The authenticator app's secret, where the
person has one, is in the environment as OTP_URI.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse

import requests
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SCENARIO, ORIGIN, FOLDER = sys.argv[1:4]
SERVER = f"{ORIGIN}/oauth2/default/v1"
JANE = "jane.doe@example.com"
PASSWORD = "Correct-Horse-7"
VERIFIER = "a-verifier-that-is-long-enough-for-the-rules-of-pkce"
PATIENCE = 90


def check(condition, what):
    if not condition:
        raise AssertionError(what)


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

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.uri = f"http://127.0.0.1:{self.server.server_port}/callback"

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


class Browser:
    """A browser, and the app that it signs in to."""

    def __init__(self, scripts=True, language="en-US"):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--lang={language}",
            "--disable-background-networking"):
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs", {"intl.accept_languages": language, "credentials_enable_service": False,
                      "profile.managed_default_content_settings.javascript": 1 if scripts else 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(PATIENCE)
        self.app = Callback()
        self.look(1280, 900, False)
        # What the console says of an answer that is an error on purpose.
        self.expected = []

    def look(self, width, height, dark):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"}]})

    # What is seen

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, what, condition):
        def quietly(_):
            # Between two pages there is nothing, or what is gone.
            try:
                return condition()
            except (StaleElementReferenceException, StopIteration):
                return None
            except WebDriverException as error:
                # The same, where the driver notices it later.
                if "does not belong to the document" in str(error):
                    return None
                raise

        try:
            return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.1).until(quietly)
        except Exception as error:
            self.shoot("failure")
            raise AssertionError(f"not seen: {what}\n{self.driver.current_url}\n{self.text()}\n{self.messages()}") from error

    def one(self, selector):
        return self.wait(selector, lambda: next(iter(self.all(selector)), None))

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def page(self, heading):
        return self.wait(f"the page {heading}", lambda: any(h.text == heading for h in self.all("h1")))

    def notice(self, text):
        return self.wait(f"the notice {text}", lambda: text in next(iter(self.all("[role=alert]"))).text)

    def button(self, text):
        return self.wait(f"button {text}", lambda: next(b for b in self.all("button") if b.text.strip() == text))

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def shoot(self, name):
        self.driver.save_screenshot(os.path.join(FOLDER, f"{SCENARIO}-{name}.png"))

    def messages(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    # What is done

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


# Scenarios


def push(browser):
    """Password, and a push whose number is picked on the phone."""
    phone = Phone()
    browser.begin()
    browser.page("Sign in")
    check("Browser App" in browser.text(), browser.text())
    browser.password()
    browser.page("Confirm that it is you")
    browser.button("Send a push to my devices").click()
    browser.page("Look at your device")
    number = browser.one(".number").text
    check(number.isdigit(), number)
    phone.approve(number=number)
    tokens = browser.signed_in()
    check(claims(tokens)["nonce"] == "nonce-1" and set(claims(tokens)["amr"]) >= {"pwd", "mfa"}, claims(tokens))


def code_of_app(browser):
    """Password, and the code of an authenticator app; a code that is wrong says so."""
    browser.begin()
    browser.password()
    browser.page("Confirm that it is you")
    field = browser.one("#code")
    check(field.get_attribute("autocomplete") == "one-time-code" and field.get_attribute("inputmode") == "numeric", "no autofill")
    check(browser.driver.switch_to.active_element == field, "the code is not where typing begins")
    field.send_keys("000000" if code() != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    check(browser.one("#code").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    browser.one("#code").send_keys(code(), Keys.ENTER)
    check(set(claims(browser.signed_in())["amr"]) >= {"pwd", "otp", "mfa"}, "not two factors")


def session(browser):
    """One app asks for a password, the next for a second factor only, and then none asks for anything."""
    browser.begin("web-app")
    browser.password()
    check(claims(browser.signed_in("web-app"))["amr"] == ["pwd"], "not one factor")
    browser.begin("web-app")
    browser.signed_in("web-app")
    browser.begin()
    browser.page("Confirm that it is you")
    check(not browser.all("#password"), "the password is asked for again")
    browser.one("#code").send_keys(code(), Keys.ENTER)
    browser.signed_in()
    browser.begin()
    browser.signed_in()
    browser.begin(prompt="login")
    browser.page("Sign in")


def trouble(browser):
    """A wrong password, a form sent twice, going back, giving up, and coming too late."""
    browser.begin()
    browser.page("Sign in")
    browser.password(password="Wrong-Horse-7")
    browser.notice("The user name or the password is wrong")
    check(browser.driver.title.startswith("Problem: Sign in"), browser.driver.title)
    check(browser.one("#username").get_attribute("value") == JANE, "the name is lost")
    check(browser.one("#password").get_attribute("value") == "", "the password is kept")
    check(browser.driver.switch_to.active_element == browser.one("#password"), "the password is not where typing begins")
    for field in ("#username", "#password"):
        check(browser.one(field).get_attribute("aria-describedby") == "notice", f"{field} does not lead to what is wrong")

    browser.one("#password").send_keys(PASSWORD)
    ActionChains(browser.driver).double_click(browser.button("Sign in")).perform()
    browser.page("Confirm that it is you")
    browser.driver.back()
    browser.page("Confirm that it is you")
    check(not browser.all("[role=alert]"), browser.text())
    browser.one("#code").send_keys(code())
    ActionChains(browser.driver).double_click(browser.button("Use the code")).perform()
    browser.signed_in()
    browser.driver.back()
    browser.page("Already signed in")

    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Cancel").click()
    answer = browser.arrival()
    check(answer["error"] == "access_denied" and answer["state"] == "state-1" and "code" not in answer, answer)

    browser.begin(prompt="login")
    browser.page("Sign in")
    advance(1801)
    browser.expected.append("status of 400")
    browser.password()
    browser.page("This did not work")
    check("This sign-in is over" in browser.text(), browser.text())


def locked(browser):
    """An account that is locked tells nobody that it is."""
    browser.begin("web-app")
    for attempt in range(10):
        browser.password(password=f"Wrong-Horse-{attempt}")
        browser.notice("The user name or the password is wrong")
    browser.password()
    browser.notice("The user name or the password is wrong")
    advance(16 * 60)
    browser.password()
    browser.signed_in("web-app")


def keyboard(browser):
    """It is used with the keyboard alone, and the focus is seen."""
    def focus(what):
        style = browser.script(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]")
        check(style[0] != "none" and style[1] >= 2, f"the focus on {what} is not seen: {style}")
        return browser.driver.switch_to.active_element

    browser.begin()
    browser.page("Sign in")
    check(focus("the name").get_attribute("id") == "username", "typing does not begin at the name")
    focus("the name").send_keys(JANE, Keys.TAB)
    focus("the password").send_keys(PASSWORD, Keys.TAB)
    check(focus("the button").text == "Sign in", "the button does not follow the password")
    focus("the button").send_keys(Keys.ENTER)
    browser.page("Confirm that it is you")
    seen = []
    for _ in range(5):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        active = focus("the next")
        seen.append(active.get_attribute("id") or active.text)
        if active.text == "Cancel":
            break
    check("Use the code" in seen and "Start over" in seen and "Cancel" in seen, f"not reached: {seen}")
    focus("Cancel").send_keys(Keys.SPACE)
    check(browser.arrival()["error"] == "access_denied", "not cancelled")


def german(browser):
    """The client's wish for a language goes before the browser's."""
    browser.begin(ui_locales="fr de-CH")
    browser.page("Anmelden")
    check(browser.one("html").get_attribute("lang") == "de", "the language is not told")
    browser.one("#username").send_keys(JANE)
    browser.one("#password").send_keys("Falsch-7")
    browser.button("Anmelden").click()
    browser.notice("Benutzername oder Passwort ist falsch")


def form_post(browser):
    """An answer in a form sends itself."""
    browser.begin("web-app", response_mode="form_post")
    browser.password()
    browser.signed_in("web-app")


def without_scripts(_):
    """Without scripts the pages do all they do, waiting included."""
    browser = Browser(scripts=False)
    phone = Phone()
    browser.begin(response_mode="form_post")
    browser.password()
    browser.button("Send a push to my devices").click()
    browser.page("Look at your device")
    phone.approve(number=browser.one(".number").text)
    browser.page("You are signed in")
    PageLooks(browser, judges=False).see("go-on")
    browser.button("Go on").click()
    browser.signed_in()
    browser.quit()


class PageLooks:
    """Looks at a page in every size and scheme, and lets axe judge it."""

    SIZES = ((360, 740), (1280, 900), (320, 640))

    def __init__(self, browser, judges=True):
        self.browser = browser
        # axe is a script itself.
        self.judges = judges
        import axe_core_python
        with open(os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js"), encoding="utf-8") as file:
            self.axe = file.read()
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
                    "return [...document.querySelectorAll('button, a, input:not([type=hidden])')]"
                    ".filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)")
                check(not small, f"{where}: too small to hit: {small}")
                self.backgrounds.add(browser.script("return getComputedStyle(document.body).backgroundColor"))
            if self.judges:
                self.judge(f"{name}-{width}")
                browser.look(width, height, False)
                self.judge(f"{name}-{width}-light")
        check(len(self.backgrounds) == 2, f"light and dark are the same: {self.backgrounds}")
        title = browser.driver.title
        check(browser.one("h1").text in title and title.endswith("Sandbox"), f"the title does not say the step: {title}")
        browser.look(1280, 900, False)

    def judge(self, where):
        result = self.browser.driver.execute_async_script(
            self.axe + ";const done = arguments[arguments.length - 1];"
            "axe.run({resultTypes: ['violations', 'incomplete']}).then(done, (e) => done({error: String(e)}))")
        check("error" not in result, result.get("error"))
        found = [
            (rule["id"], [(node["html"], node.get("failureSummary")) for node in rule["nodes"]]) for rule in result["violations"]]
        check(not found, f"{where}: {found}")
        # Where axe is not sure of a contrast, nobody else is.
        unsure = [rule["id"] for rule in result["incomplete"] if rule["id"] == "color-contrast"]
        check(not unsure, f"{where}: the contrast can't be told: {result['incomplete']}")


def looks(browser):
    """Every page, in every size and scheme."""
    looks = PageLooks(browser)
    browser.expected += ["status of 400", "status of 403", "status of 404"]
    phone = Phone()
    browser.begin()
    browser.page("Sign in")
    looks.see("sign-in")
    first = browser.driver.current_url
    browser.password(password="Wrong-Horse-7")
    browser.notice("wrong")
    looks.see("sign-in-wrong")
    browser.password()
    browser.page("Confirm that it is you")
    looks.see("factors")
    browser.one("#code").send_keys("123456", Keys.ENTER)
    browser.notice("The code is wrong")
    looks.see("factors-wrong-code")
    browser.button("Send a push to my devices").click()
    browser.page("Look at your device")
    looks.see("push")
    phone.approve(number=browser.one(".number").text)
    browser.signed_in()
    browser.driver.get(first)
    browser.page("Already signed in")
    looks.see("finished")

    browser.begin(ui_locales="de", prompt="login")
    browser.page("Anmelden")
    looks.see("german")
    browser.driver.delete_all_cookies()
    browser.driver.refresh()
    browser.page("This did not work")
    looks.see("other-browser")
    browser.driver.get(browser.app.request(redirect_uri="https://elsewhere.example.com/"))
    browser.page("This did not work")
    looks.see("bad-request")


def scanned(picture):
    """What a phone reads of a QR code on the screen."""
    file = os.path.join(FOLDER, f"{SCENARIO}-qr.png")
    picture.screenshot(file)
    return subprocess.run(["/usr/bin/zbarimg", "-q", "--raw", file], capture_output=True, text=True, check=True).stdout.strip()


def phone_by_code(browser):
    """Who has no second factor sets up a phone by scanning the page, which goes on by itself; then the phone is asked."""
    looks = PageLooks(browser)
    browser.begin()
    browser.password()
    browser.page("Set up a second factor")
    browser.button("Confirm sign-ins on a phone").click()
    browser.page("Set up your phone")
    looks.see("scan")
    uri = scanned(browser.one(".picture svg"))
    check(uri.startswith(f"{ORIGIN}/enroll/autsandboxphone#client_id=phone-app&ticket="), uri.split("ticket=")[0])
    browser.one("summary").click()
    check(browser.one(".secret").text == uri, "the address as text is another one")
    looks.see("by-hand")

    # A plain camera opens the address in the phone's browser, which is told which app it is for.
    camera = Browser()
    camera.driver.get(uri)
    camera.page("Scan this with the app")
    check("Sandbox Phone" in camera.text(), camera.text())
    PageLooks(camera).see("camera")
    camera.quit()

    phone = Phone(uri=uri)
    browser.page("Confirm that it is you")
    browser.button("Send a push to my devices").click()
    browser.page("Look at your device")
    phone.approve()
    check(set(claims(browser.signed_in())["amr"]) >= {"pwd", "swk", "mfa"}, "not two factors")


def due_password(browser):
    """Who signs in with a password that is due chooses another, and is told why one will not do."""
    looks = PageLooks(browser)
    browser.begin("web-app")
    browser.password()
    browser.page("Choose a new password")
    looks.see("asked")
    check([field.get_attribute("autocomplete") for field in browser.all("input[type=password]")] == ["new-password"] * 2, "no autofill")

    def change(first, second):
        browser.one("#password").send_keys(first)
        browser.one("#repeated").send_keys(second)
        browser.button("Change password").click()

    change("short", "short")
    browser.notice("at least 8 characters")
    check(browser.one("#password").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    looks.see("refused")
    change("Next-Horse-Staple-8", "Next-Horse-Staple-9")
    browser.notice("The two passwords are not the same")
    looks.see("differ")
    change("Next-Horse-Staple-8", "Next-Horse-Staple-8")
    browser.signed_in("web-app")
    browser.driver.back()
    browser.page("Already signed in")


def enrollment(browser):
    """Who has no second factor sets up an authenticator app by its QR code, as a phone reads it."""
    looks = PageLooks(browser)
    browser.begin()
    browser.password()
    browser.page("Set up a second factor")
    looks.see("enroll")
    browser.button("An app that shows codes").click()
    browser.page("Set up an authenticator app")
    picture = browser.one(".picture svg")
    looks.see("enroll-scan")
    uri = scanned(picture)
    check(uri.startswith("otpauth://totp/Sandbox:jane.doe%40example.com?secret="), uri)
    browser.one("summary").click()
    secret = browser.one(".secret").text.replace(" ", "")
    check(f"secret={secret}&" in uri, "the secret as text is another one")
    looks.see("enroll-by-hand")
    browser.one("#code").send_keys("000000" if code(uri) != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    check(browser.one("#code").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    browser.one("#code").send_keys(code(uri), Keys.ENTER)
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "otp", "mfa"}, "not two factors")

    advance(30)
    browser.begin(prompt="login")
    browser.password()
    browser.page("Confirm that it is you")
    browser.one("#code").send_keys(code(uri), Keys.ENTER)
    browser.signed_in()


SCENARIOS = {
    "enrollment": enrollment, "phone-by-code": phone_by_code, "due-password": due_password,
    "push": push, "code": code_of_app, "session": session, "trouble": trouble, "locked": locked, "keyboard": keyboard, "german": german,
    "form-post": form_post, "without-scripts": without_scripts, "looks": looks,
}

if __name__ == "__main__":
    browser = Browser()
    try:
        SCENARIOS[SCENARIO](browser)
    except BaseException:
        browser.shoot("failure")
        browser.driver.quit()
        raise
    browser.quit()
