"""Creates and uses passkeys on the hosted pages of a sandbox with Chromium: passkey_pages.py SCENARIO ORIGIN FOLDER

Virtual authenticators of the browser hold the passkeys (WebDriver Extension API of WebAuthn, by the Chrome DevTools Protocol).
"""

import base64
import urllib.parse

from pages_in_chromium import JANE, ORIGIN, Browser, PageLooks, check, claims, play

CANCELLED = "The passkey request was cancelled or timed out."
REFUSED = "Your passkey was not accepted."


class Authenticator:
    """An authenticator of a browser. It verifies its user and holds passkeys that can be found without their ids."""

    def __init__(self, browser, **options):
        self.driver = browser.driver
        self.call("enable")
        self.id = None
        self.id = self.call("addVirtualAuthenticator", options={
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True} | options)["authenticatorId"]

    def call(self, command, **parameters):
        if command not in ("enable", "addVirtualAuthenticator"):
            parameters["authenticatorId"] = self.id
        return self.driver.execute_cdp_cmd(f"WebAuthn.{command}", parameters)

    def credential(self):
        credentials = self.call("getCredentials")["credentials"]
        check(len(credentials) == 1, f"not one passkey: {len(credentials)}")
        return credentials[0]

    def replace(self, **changes):
        """Replaces the passkey by a changed one."""
        credential = self.credential() | changes
        self.call("clearCredentials")
        self.call("addCredential", credential=credential)

    def remove(self):
        """Removes the authenticator from the browser, and returns its passkey."""
        credential = self.credential()
        self.call("removeVirtualAuthenticator")
        return credential


def without_autofill(browser):
    """A virtual authenticator answers a request for autofill at once, without the user's choice. Afterwards, only the buttons ask."""
    browser.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "PublicKeyCredential.isConditionalMediationAvailable = async () => false"})


def enroll(browser, looks=None):
    """Signs in with the password, and creates a passkey."""
    browser.begin()
    browser.page("Sign in")
    if looks:
        looks.see("sign-in")
    browser.password()
    browser.page("Set up a second factor")
    if looks:
        looks.see("choice")
    browser.button("Passkey").click()
    browser.page("Create a passkey")
    check(not [e for e in browser.all("[data-without-scripts]") if e.is_displayed()], "the hint for browsers without scripts is shown")
    if looks:
        looks.see("create")
    browser.button("Create a passkey").click()
    return browser.signed_in()


def second_factor(browser):
    """Jane creates a passkey after the password. At the next sign-in, it is her second factor."""
    looks = PageLooks(browser)
    without_autofill(browser)
    Authenticator(browser)
    check(set(claims(enroll(browser, looks))["amr"]) == {"pwd", "pop", "mfa"}, "not two factors")
    browser.begin(prompt="login")
    browser.password()
    browser.page("Verify your identity")
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    looks.see("use")
    browser.button("Continue").click()
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "pop", "mfa"}, "not two factors")


def first_factor(browser):
    """The passkey replaces user name and password: by autofill, and by the button."""
    Authenticator(browser)
    browser.begin()
    browser.page("Sign in")
    check(browser.one("#username").get_attribute("autocomplete") == "username webauthn", "the field does not offer passkeys")
    jane = claims(enroll(browser))["sub"]
    browser.begin(prompt="login")
    tokens = browser.signed_in()
    check(set(claims(tokens)["amr"]) == {"pop", "mfa"}, f"not by autofill: {claims(tokens)['amr']}")
    without_autofill(browser)
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    tokens = browser.signed_in()
    check(set(claims(tokens)["amr"]) == {"pop", "mfa"} and claims(tokens)["sub"] == jane, claims(tokens))


def cancelled(browser):
    """A request without a result shows a message, and the user can try again."""
    looks = PageLooks(browser)
    without_autofill(browser)
    authenticator = Authenticator(browser)
    enroll(browser)
    passkey = authenticator.credential()
    authenticator.call("clearCredentials")
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    browser.notice(CANCELLED)
    looks.see("sign-in-cancelled")
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.notice(CANCELLED)
    looks.see("cancelled")
    authenticator.call("addCredential", credential=passkey)
    browser.button("Continue").click()
    browser.signed_in()


def unverified(browser):
    """An authenticator that cannot verify its user is a second factor. It cannot replace the password."""
    without_autofill(browser)
    Authenticator(browser, hasUserVerification=False, isUserVerified=False)
    check(set(claims(enroll(browser))["amr"]) == {"pwd", "pop", "mfa"}, "not two factors")
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    browser.notice(CANCELLED)
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.signed_in()


def refused(browser):
    """A passkey that the server does not know, and a copy whose counter is behind."""
    looks = PageLooks(browser)
    without_autofill(browser)
    authenticator = Authenticator(browser)
    enroll(browser)
    right = authenticator.credential()
    other = Browser()
    without_autofill(other)
    stranger = Authenticator(other)
    stranger.call("addCredential", credential=right | {"credentialId": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="})
    other.begin()
    other.page("Sign in")
    other.button("Sign in with a passkey").click()
    other.notice(REFUSED)
    check(JANE not in other.driver.page_source, "the page names the user")
    other.quit()
    # Two sign-ins with the passkey, then one with the counter of the first.
    for _ in range(2):
        browser.begin(prompt="login")
        browser.page("Sign in")
        browser.button("Sign in with a passkey").click()
        browser.signed_in()
    check(authenticator.credential()["signCount"] > right["signCount"] + 1, "the authenticator does not count")
    authenticator.replace(signCount=right["signCount"])
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    browser.notice(REFUSED)
    looks.see("refused")


def without_scripts(_):
    """Without scripts the first page has no passkey, and the page of a passkey names what is missing and leads to the other factors."""
    browser = Browser(scripts=False)
    browser.begin()
    browser.page("Sign in")
    check(not browser.one("form[data-passkey]").is_displayed(), "a button without effect is shown")
    browser.password()
    browser.button("Passkey").click()
    browser.page("Create a passkey")
    check("Passkeys need JavaScript." in browser.text(), browser.text())
    check(not [b for b in browser.all("button") if b.text == "Create a passkey"], "a button without effect is shown")
    browser.button("Try another way").click()
    browser.page("Set up a second factor")
    browser.quit()


def create_passkey(browser):
    """Signs in with the password and creates the required passkey, up to the offer of recovery codes."""
    browser.begin()
    browser.password()
    browser.button("Passkey").click()
    browser.page("Create a passkey")
    browser.button("Create a passkey").click()
    browser.page("Get recovery codes")


def lost(browser):
    """Jane creates a passkey and saves recovery codes. After the loss of the passkey, a code lets her in, and she creates another one."""
    looks = PageLooks(browser)
    without_autofill(browser)
    authenticator = Authenticator(browser)
    create_passkey(browser)
    looks.see("codes-offer")
    browser.button("Show recovery codes").click()
    browser.page("Save your recovery codes")
    looks.see("codes")
    codes = [item.text for item in browser.all(".codes li")]
    check(len(codes) == 10 and len(set(codes)) == 10, codes)
    browser.driver.refresh()
    check([item.text for item in browser.all(".codes li")] == codes, "other codes after a reload")
    browser.button("I saved the codes").click()
    jane = claims(browser.signed_in())["sub"]

    authenticator.call("clearCredentials")
    browser.begin(prompt="login")
    browser.password()
    browser.page("Verify your identity")
    looks.see("factors-with-codes")
    browser.button("Use a recovery code").click()
    browser.page("Use a recovery code")
    looks.see("code")
    browser.one("#code").send_keys("0000-0000-0000-0000")
    browser.button("Continue").click()
    browser.notice("The recovery code is wrong or was used before.")
    browser.one("#code").send_keys(codes[0].upper())
    browser.button("Continue").click()
    browser.page("Sign in faster next time")
    looks.see("passkey-offer")
    browser.button("Create a passkey").click()
    browser.page("Create a passkey")
    looks.see("create-offered")
    browser.button("Create a passkey").click()
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "otp", "pop", "mfa"}, "not with the code and the new passkey")
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    tokens = browser.signed_in()
    check(set(claims(tokens)["amr"]) == {"pop", "mfa"} and claims(tokens)["sub"] == jane, claims(tokens))


def declined(browser):
    """Jane sets up a passkey, and declines the recovery codes. The next sign-in asks for nothing else than the passkey."""
    without_autofill(browser)
    Authenticator(browser)
    create_passkey(browser)
    browser.button("Not now").click()
    browser.signed_in()
    browser.begin(prompt="login")
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.signed_in()


def security_key(browser):
    """A security key stores no discoverable passkey: it is the second factor, and the button of the first page finds nothing."""
    without_autofill(browser)
    key = Authenticator(browser, transport="usb", protocol="u2f", hasResidentKey=False, hasUserVerification=False, isUserVerified=False)
    check(set(claims(enroll(browser))["amr"]) == {"pwd", "pop", "mfa"}, "not two factors")
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.signed_in()
    # The key is reset, so that its passkey is gone.
    key.call("clearCredentials")
    browser.begin(prompt="login")
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.notice(CANCELLED)


def several(browser):
    """Jane has a passkey on each of two devices. Either one signs her in, as the first factor and after the password."""
    without_autofill(browser)
    laptop = Authenticator(browser)
    create_passkey(browser)
    browser.button("Show recovery codes").click()
    browser.page("Save your recovery codes")
    codes = [item.text for item in browser.all(".codes li")]
    browser.button("I saved the codes").click()
    jane = claims(browser.signed_in())["sub"]
    first = laptop.remove()

    # The laptop is not at hand. The other device gets a passkey after a recovery code.
    phone = Authenticator(browser)
    browser.begin(prompt="login")
    browser.password()
    browser.button("Use a recovery code").click()
    browser.page("Use a recovery code")
    browser.one("#code").send_keys(codes[0])
    browser.button("Continue").click()
    browser.page("Sign in faster next time")
    browser.button("Create a passkey").click()
    browser.page("Create a passkey")
    browser.button("Create a passkey").click()
    browser.signed_in()
    second = phone.remove()
    check(first["credentialId"] != second["credentialId"] and first["userHandle"] == second["userHandle"], "not two passkeys of one user")

    for passkey in (first, second):
        device = Authenticator(browser)
        device.call("addCredential", credential=passkey)
        browser.begin(prompt="login")
        browser.page("Sign in")
        browser.button("Sign in with a passkey").click()
        tokens = browser.signed_in()
        check(set(claims(tokens)["amr"]) == {"pop", "mfa"} and claims(tokens)["sub"] == jane, claims(tokens))
        browser.begin(prompt="login")
        browser.password()
        browser.button("Use your passkey").click()
        browser.page("Use your passkey")
        browser.button("Continue").click()
        check(set(claims(browser.signed_in())["amr"]) == {"pwd", "pop", "mfa"}, "not two factors")
        check(device.credential()["signCount"] > passkey["signCount"], "the passkey did not sign")
        device.remove()


def relying_parties(browser):
    """The organization's RP ID is the parent domain of its host. A passkey of the host itself belongs to another relying party."""
    without_autofill(browser)
    authenticator = Authenticator(browser)
    jane = claims(enroll(browser))["sub"]
    right = authenticator.credential()
    host = urllib.parse.urlparse(ORIGIN).hostname
    check(host == "login.example.localhost" and right["rpId"] == "example.localhost", right["rpId"])
    # The same key with the host as its relying party.
    other = right | {"rpId": host, "credentialId": base64.b64encode(b"a passkey of the host").decode()}
    authenticator.call("addCredential", credential=other)
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    check(claims(browser.signed_in())["sub"] == jane, "another user")
    counts = {c["rpId"]: c["signCount"] - right["signCount"] for c in authenticator.call("getCredentials")["credentials"]}
    check(counts["example.localhost"] > 0 and counts[host] == 0, counts)
    # Without the right passkey, the browser does not find the other one.
    authenticator.call("removeCredential", credentialId=right["credentialId"])
    browser.begin(prompt="login")
    browser.page("Sign in")
    browser.button("Sign in with a passkey").click()
    browser.notice(CANCELLED)
    browser.password()
    browser.button("Use your passkey").click()
    browser.page("Use your passkey")
    browser.button("Continue").click()
    browser.notice(CANCELLED)


SCENARIOS = {
    "second-factor": second_factor, "first-factor": first_factor, "cancelled": cancelled, "unverified": unverified, "refused": refused,
    "without-scripts": without_scripts, "lost": lost, "declined": declined, "security-key": security_key, "several": several,
    "relying-parties": relying_parties}

if __name__ == "__main__":
    play(SCENARIOS)
