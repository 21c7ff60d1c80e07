"""Signs in on the hosted pages of a sandbox with Chromium, as a person does: signin_pages.py SCENARIO ORIGIN FOLDER

Screenshots go to the folder. Ends with an error that says what was not as it should be. The authenticator app's secret, where the
person has one, is in the environment as OTP_URI.
"""

import os
import re
import subprocess
import urllib.parse

import requests
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from pages_in_chromium import (
    FOLDER, JANE, ORIGIN, PASSWORD, PATIENCE, SCENARIO, SERVER, Browser, PageLooks, Phone, advance, check, claims, code, play)


def push(browser):
    """Password, and a push whose number is picked on the phone."""
    phone = Phone()
    browser.begin()
    browser.page("Sign in")
    check("Browser App" in browser.text(), browser.text())
    browser.password()
    browser.page("Verify your identity")
    browser.button("Send push").click()
    browser.page("Look at your device")
    number = browser.one(".number").text
    check(number.isdigit(), number)
    phone.approve(number=number)
    tokens = browser.signed_in()
    check(claims(tokens)["nonce"] == "nonce-1" and set(claims(tokens)["amr"]) >= {"pwd", "mfa"}, claims(tokens))


def push_page(browser):
    """The page of a push counts down until another can be sent, says that it was sent, and leads to the other factors."""
    looks = PageLooks(browser)
    Phone()

    def waiting():
        browser.page("Look at your device")
        check(not [e for e in browser.all("[data-without-scripts]") if e.is_displayed()], "the link for browsers without scripts is shown")

    browser.begin()
    browser.password()
    browser.page("Verify your identity")
    browser.button("Send push").click()
    waiting()
    resend = browser.one("[name=factor]")
    check(not resend.is_enabled() and re.fullmatch(r"Resend in \d+ s", resend.text), resend.text)
    looks.see("cooldown")
    advance(31)
    browser.driver.refresh()
    waiting()
    looks.see("ready")
    browser.button("Resend").click()
    browser.wait("the message", lambda: "Sent again" in browser.one(".status").text)
    waiting()
    check(browser.driver.title.startswith("Sent again. "), browser.driver.title)
    check(not browser.one("[name=factor]").is_enabled(), "another push can be sent at once")
    looks.see("sent-again")
    browser.button("Try another way").click()
    browser.page("Verify your identity")
    check(not browser.all("[role=alert]"), browser.text())
    browser.one("#code").send_keys(code(), Keys.ENTER)
    browser.signed_in()

    browser.begin(ui_locales="de", prompt="login")
    browser.page("Anmelden")
    browser.one("#username").clear()
    browser.one("#username").send_keys(JANE)
    browser.one("#password").send_keys(PASSWORD)
    browser.button("Anmelden").click()
    browser.button("Push senden").click()
    browser.page("Schauen Sie auf Ihr Gerät")
    check(browser.one("[name=factor]").text.startswith("Erneut senden in "), browser.text())
    looks.see("german")
    browser.button("Andere Option wählen").click()
    browser.button("Push senden")


def push_denied(browser):
    """A denied push leads back to the choice of a factor automatically, and the code of the app signs the user in."""
    phone = Phone()
    browser.begin()
    browser.password()
    browser.page("Verify your identity")
    browser.button("Send push").click()
    browser.page("Look at your device")
    phone.deny()
    browser.page("Verify your identity")
    browser.notice("The request was not approved on your device")
    check(browser.driver.title.startswith("Problem: Verify your identity"), browser.driver.title)
    PageLooks(browser).see("choice")
    browser.button("Send push").click()
    browser.page("Look at your device")
    phone.deny()
    browser.notice("The request was not approved on your device")
    browser.one("#code").send_keys("000000" if code() != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    browser.one("#code").send_keys(code(), Keys.ENTER)
    browser.signed_in()


def code_of_app(browser):
    """Password, and the code of an authenticator app; a code that is wrong says so."""
    browser.begin()
    browser.password()
    browser.page("Verify your identity")
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
    browser.page("Verify your identity")
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
    browser.page("Verify your identity")
    browser.driver.back()
    browser.page("Verify your identity")
    check(not browser.all("[role=alert]"), browser.text())
    browser.one("#code").send_keys(code())
    ActionChains(browser.driver).double_click(browser.button("Verify")).perform()
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
    browser.page("Something went wrong")
    check("This sign-in has expired" in browser.text(), browser.text())


def locked(browser):
    """The page does not reveal that an account is locked."""
    browser.begin("web-app")
    for attempt in range(10):
        browser.answered(lambda: browser.password(password=f"Wrong-Horse-{attempt}"))
        browser.notice("The user name or the password is wrong")
    browser.answered(browser.password)
    browser.notice("The user name or the password is wrong")
    PageLooks(browser).see("locked")
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
    browser.page("Verify your identity")
    seen = []
    for _ in range(5):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        active = focus("the next")
        seen.append(active.get_attribute("id") or active.text)
        if active.text == "Cancel":
            break
    check("Verify" in seen and "Start over" in seen and "Cancel" in seen, f"not reached: {seen}")
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
    browser.button("Send push").click()
    browser.page("Look at your device")
    check(browser.one("[data-without-scripts] a").text == "Continue", "there is no way on without scripts")
    check(browser.one("[name=factor]").is_enabled(), "nothing can be sent again without scripts")
    phone.approve(number=browser.one(".number").text)
    browser.page("You are signed in")
    PageLooks(browser).see("go-on")
    browser.button("Continue").click()
    browser.signed_in()
    browser.quit()


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
    browser.page("Verify your identity")
    looks.see("factors")
    browser.one("#code").send_keys("123456", Keys.ENTER)
    browser.notice("The code is wrong")
    looks.see("factors-wrong-code")
    browser.button("Send push").click()
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
    browser.page("Something went wrong")
    looks.see("other-browser")
    browser.driver.get(browser.app.request(redirect_uri="https://elsewhere.example.com/"))
    browser.page("Something went wrong")
    looks.see("bad-request")


def scanned(picture):
    """What a phone reads of a QR code on the screen."""
    file = os.path.join(FOLDER, f"{SCENARIO}-qr.png")
    picture.screenshot(file)
    return subprocess.run(["/usr/bin/zbarimg", "-q", "--raw", file], capture_output=True, text=True, check=True).stdout.strip()


def phone_by_code(browser):
    """A user without a second factor enrolls a phone with the QR code. The page continues automatically and sends a push."""
    looks = PageLooks(browser)
    browser.begin()
    browser.password()
    browser.page("Set up a second factor")
    browser.button("Approve sign-ins on your phone").click()
    browser.page("Set up your phone")
    looks.see("scan")
    uri = scanned(browser.one(".picture svg"))
    check(uri.startswith(f"{ORIGIN}/enroll/autsandboxphone#client_id=phone-app&ticket="), uri.split("ticket=")[0])
    browser.one("summary").click()
    check(browser.one(".secret").text == uri, "the address as text is another one")
    looks.see("by-hand")

    # A camera opens the address in the phone's browser. The page there names the app that must scan the code.
    camera = Browser()
    camera.driver.get(uri)
    camera.page("Scan the code with the app")
    check("Sandbox Phone" in camera.text(), camera.text())
    PageLooks(camera).see("camera")
    camera.quit()

    phone = Phone(uri=uri)
    browser.page("Verify your identity")
    browser.button("Send push").click()
    browser.page("Look at your device")
    phone.approve()
    check(set(claims(browser.signed_in())["amr"]) >= {"pwd", "swk", "mfa"}, "not two factors")


def due_password(browser):
    """A user with an expired password chooses a new one. The page explains why a password is rejected."""
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
    browser.notice("At least 8 characters")
    check(browser.one("#password").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    looks.see("refused")
    change("Next-Horse-Staple-8", "Next-Horse-Staple-9")
    browser.notice("The passwords do not match")
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
    browser.button("Authenticator app").click()
    browser.page("Set up an authenticator app")
    advance(601)
    browser.one("#code").send_keys("123456", Keys.ENTER)
    browser.notice("The code came too late")
    looks.see("enroll-late")
    browser.button("Authenticator app").click()
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
    browser.page("Verify your identity")
    browser.one("#code").send_keys(code(uri), Keys.ENTER)
    browser.signed_in()


def sign_out(browser):
    """An app that brings its id token signs out at once; else the person is asked, and told what became of it."""
    looks = PageLooks(browser)

    def logout(**parameters):
        browser.driver.get(f"{SERVER}/logout?{urllib.parse.urlencode(parameters)}")

    browser.begin("web-app")
    browser.password()
    tokens = browser.signed_in("web-app")
    logout(id_token_hint=tokens["id_token"], post_logout_redirect_uri=browser.app.home, state="bye-1")
    browser.came_home("bye-1")
    browser.begin("web-app")
    browser.page("Sign in")
    browser.password()
    browser.signed_in("web-app")

    logout()
    browser.page("Sign out")
    looks.see("question")
    # A user who leaves the page stays signed in.
    browser.begin("web-app")
    browser.signed_in("web-app")
    logout(client_id="web-app", post_logout_redirect_uri=browser.app.home, state="bye-2")
    browser.page("Sign out")
    check("Web App wants to sign you out" in browser.text(), browser.text())
    looks.see("question-of-app")
    ActionChains(browser.driver).double_click(browser.button("Sign out")).perform()
    browser.came_home("bye-2")

    browser.begin("web-app")
    browser.password()
    browser.signed_in("web-app")
    logout()
    browser.button("Sign out").click()
    browser.page("You are signed out")
    looks.see("signed-out")
    browser.driver.back()
    browser.page("You are signed out")
    browser.begin("web-app", prompt="none")
    check(browser.arrival()["error"] == "login_required", "still signed in")


def device(browser):
    """A device without a browser is connected by its code, or refused."""
    looks = PageLooks(browser)

    def ask():
        form = {"client_id": "browser-app", "scope": "openid profile"}
        return requests.post(f"{SERVER}/device/authorize", data=form, timeout=PATIENCE).json()

    def poll(asked):
        form = {
            "client_id": "browser-app", "device_code": asked["device_code"],
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code"}
        return requests.post(f"{SERVER}/token", data=form, timeout=PATIENCE).json()

    asked = ask()
    browser.driver.get(asked["verification_uri"])
    browser.page("Connect a device")
    check(browser.driver.switch_to.active_element == browser.one("#user_code"), "typing does not begin at the code")
    looks.see("enter")
    browser.one("#user_code").send_keys("BBBB-BBBB", Keys.ENTER)
    browser.notice("The code is wrong")
    check(browser.one("#user_code").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    looks.see("wrong")
    browser.one("#user_code").clear()
    browser.one("#user_code").send_keys(asked["user_code"].lower(), Keys.ENTER)
    browser.page("Sign in")
    browser.password()
    browser.page("Verify your identity")
    browser.one("#code").send_keys(code(), Keys.ENTER)
    browser.page("Connect this device?")
    check(asked["user_code"] in browser.text() and JANE in browser.text(), browser.text())
    looks.see("question")
    check(poll(asked)["error"] == "authorization_pending", "connected before it was allowed")
    ActionChains(browser.driver).double_click(browser.button("Connect")).perform()
    browser.page("Device connected")
    looks.see("connected")
    browser.driver.back()
    browser.page("Device connected")
    advance(5)
    check("id_token" in poll(asked), "the device got nothing")

    asked = ask()
    browser.driver.get(asked["verification_uri_complete"])
    check(browser.one("#user_code").get_attribute("value") == asked["user_code"], "the code is not filled in")
    browser.button("Next").click()
    browser.page("Connect this device?")
    browser.button("Don't connect").click()
    browser.page("Device not connected")
    looks.see("refused")
    check(poll(asked)["error"] == "access_denied", "the device was not told")

    asked = ask()
    browser.driver.delete_all_cookies()
    browser.driver.get(asked["verification_uri_complete"])
    browser.button("Next").click()
    browser.page("Sign in")
    browser.button("Cancel").click()
    browser.page("Device not connected")
    check("cancelled" in browser.text(), browser.text())


def consent(browser):
    """A stranger's app gets what the person allows, and nothing before."""
    looks = PageLooks(browser)
    scope = "openid profile email messages.read offline_access"
    browser.begin("web-app", scope=scope)
    browser.password()
    browser.page("Allow access?")
    check("Read your messages" in browser.text(), browser.text())
    looks.see("question")
    browser.button("Don't allow").click()
    answer = browser.arrival()
    check(answer["error"] == "access_denied" and "code" not in answer, answer)
    # A user who refused the access is not signed in.
    browser.begin("web-app", scope=scope)
    browser.page("Sign in")
    browser.password()
    browser.page("Allow access?")
    ActionChains(browser.driver).double_click(browser.button("Allow")).perform()
    check("refresh_token" in browser.signed_in("web-app"), "not what was allowed")
    browser.begin("web-app", scope=scope)
    browser.signed_in("web-app")
    browser.begin("web-app", scope=scope + " phone")
    browser.page("Allow access?")


def expired(browser):
    """An ended session signs in to no app, and ends the pages that depend on it."""
    browser.begin("web-app")
    browser.password()
    browser.signed_in("web-app")
    advance(7200)
    browser.begin("web-app")
    browser.page("Sign in")
    browser.password()
    browser.signed_in("web-app")

    browser.begin()
    browser.page("Verify your identity")
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.driver.get(f"{SERVER}/logout")
    browser.page("Sign out")
    browser.button("Sign out").click()
    browser.page("You are signed out")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.expected.append("status of 400")
    browser.one("#code").send_keys(code(), Keys.ENTER)
    browser.page("Something went wrong")
    check("This sign-in has expired" in browser.text(), browser.text())
    PageLooks(browser).see("over")
    browser.begin()
    browser.page("Sign in")


SCENARIOS = {
    "enrollment": enrollment, "phone-by-code": phone_by_code, "due-password": due_password,
    "push": push, "push-page": push_page, "push-denied": push_denied, "code": code_of_app, "session": session, "trouble": trouble, "locked": locked, "keyboard": keyboard, "german": german,
    "form-post": form_post, "without-scripts": without_scripts, "looks": looks, "sign-out": sign_out, "device": device,
    "consent": consent, "expired": expired,
}

if __name__ == "__main__":
    play(SCENARIOS)
