"""Gets back into an account on the hosted pages of a sandbox with Chromium, as a person does: recovery_pages.py SCENARIO ORIGIN FOLDER

Jane has a telephone and a security question, whose answer is in the environment as ANSWER. What is sent is read from the outbox.
"""

import os
import re
import urllib.parse

import requests
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from pages_in_chromium import JANE, ORIGIN, PASSWORD, PATIENCE, Browser, PageLooks, advance, check, play

NEW = "Next-Horse-Staple-8"


class Outbox:
    """What the person was sent."""

    def __init__(self):
        self.last = 0

    def next(self):
        """The next message; waits for it."""
        answer = requests.get(f"{ORIGIN}/sandbox/outbox", params={"after": self.last}, timeout=PATIENCE).json()
        message = next(m for m in answer["messages"] if m["number"] > self.last)
        self.last = message["number"]
        return message


def set_password(browser, password):
    browser.one("#password").send_keys(password)
    browser.one("#repeated").send_keys(password)
    browser.button("Set password").click()


def by_text(browser):
    """A code and the answer to a question permit a new password, and the sign-in continues."""
    looks = PageLooks(browser)
    outbox = Outbox()
    browser.begin("web-app")
    browser.page("Sign in")
    looks.see("sign-in")
    link = next(a for a in browser.all("a") if a.text == "Forgot your password?")
    link.send_keys(Keys.ENTER)
    browser.page("Forgot your password?")
    looks.see("ask")
    browser.one("#username").send_keys(JANE)
    browser.button("Text me").click()
    browser.page("Enter the code")
    field = browser.one("#code")
    check(field.get_attribute("autocomplete") == "one-time-code" and field.get_attribute("inputmode") == "numeric", "no autofill")
    check(browser.driver.switch_to.active_element == field, "typing does not begin at the code")
    looks.see("code")
    code = outbox.next()["code"]
    browser.one("#code").send_keys("000000" if code != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    check(browser.one("#code").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    looks.see("wrong-code")
    browser.button("Resend code").click()
    browser.notice("Wait 30 seconds")
    advance(31)
    browser.button("Resend code").click()
    browser.wait("no notice", lambda: not browser.all("[role=alert]"))
    code = outbox.next()["code"]
    browser.one("#code").send_keys(code)
    ActionChains(browser.driver).double_click(browser.button("Continue")).perform()
    browser.page("Answer your question")
    looks.see("question")
    browser.one("#answer").send_keys("Chess cup", Keys.ENTER)
    browser.notice("The answer is wrong")
    browser.one("#answer").send_keys(os.environ["ANSWER"], Keys.ENTER)
    browser.page("Choose a new password")
    check([field.get_attribute("autocomplete") for field in browser.all("input[type=password]")] == ["new-password"] * 2, "no autofill")
    looks.see("new")
    set_password(browser, "short")
    browser.notice("At least 8 characters")
    looks.see("refused")
    set_password(browser, NEW)
    browser.page("Password changed")
    check(not browser.all("[role=alert]") and not browser.driver.title.startswith("Problem"), "success looks like a problem")
    looks.see("done")
    browser.driver.back()
    browser.page("Password changed")
    browser.one("a.button").click()
    browser.page("Sign in")
    check(browser.one("#username").get_attribute("value") == JANE, "the name is lost")
    browser.one("#password").send_keys(NEW)
    browser.button("Sign in").click()
    browser.signed_in("web-app")


def by_mail(browser):
    """The link of a mail opens in another browser, is not in the address any more, is good once, and leads to another password."""
    looks = PageLooks(browser)
    outbox = Outbox()
    browser.begin("web-app")
    next(a for a in browser.all("a") if a.text == "Forgot your password?").click()
    browser.page("Forgot your password?")
    browser.one("#username").send_keys(JANE)
    browser.button("Email me").click()
    browser.page("Check your email")
    looks.see("mailed")
    link = outbox.next()["link"]
    # A program that scans mails can open the link. This does not use the link.
    check(requests.get(link, timeout=PATIENCE).ok, "the link is not answered")

    other = Browser()
    there = PageLooks(other)
    other.driver.get(link)
    other.page("Forgot your password?")
    check(re.fullmatch(r"/signin/link/[\w-]{16}/recover", urllib.parse.urlparse(other.driver.current_url).path), "the secret is in the address")
    there.see("link")
    other.button("Set a new password").click()
    other.page("Answer your question")
    other.one("#answer").send_keys(os.environ["ANSWER"], Keys.ENTER)
    other.page("Choose a new password")
    set_password(other, NEW)
    other.page("Password changed")
    there.see("changed")
    check(not other.all("a.button"), "there is a way to somewhere")
    other.expected.append("status of 400")
    other.driver.get(link)
    other.page("Something went wrong")
    there.see("used")
    other.quit()

    browser.one("a.button").click()
    browser.page("Sign in")
    browser.password(password=PASSWORD)
    browser.notice("The user name or the password is wrong")
    browser.password(password=NEW)
    browser.signed_in("web-app")


def unlock(browser):
    """A locked account is unlocked by a call, and signs in by the password that it had; in German."""
    browser.begin("web-app", ui_locales="de")
    for attempt in range(10):
        browser.one("#username").clear()
        browser.one("#username").send_keys(JANE)
        browser.one("#password").send_keys(f"Wrong-Horse-{attempt}")
        browser.answered(browser.button("Anmelden").click)
        browser.notice("Benutzername oder Passwort ist falsch")
    PageLooks(browser).see("locked")
    next(a for a in browser.all("a") if a.text == "Konto gesperrt? Entsperren").click()
    browser.page("Konto entsperren")
    check(browser.one("html").get_attribute("lang") == "de", "the language is lost")
    PageLooks(browser).see("ask")
    check(browser.one("#username").get_attribute("value") == JANE, "the name is lost")
    browser.button("Mich anrufen").click()
    browser.page("Code eingeben")
    PageLooks(browser).see("call")
    browser.one("#code").send_keys(Outbox().next()["code"])
    browser.button("Weiter").click()
    browser.page("Beantworten Sie Ihre Frage")
    PageLooks(browser).see("question")
    browser.one("#answer").send_keys(os.environ["ANSWER"])
    browser.button("Weiter").click()
    browser.page("Konto entsperrt")
    PageLooks(browser).see("unlocked")
    browser.one("a.button").click()
    browser.page("Anmelden")
    browser.one("#password").send_keys(PASSWORD)
    browser.button("Anmelden").click()
    browser.signed_in("web-app")


def set_up(browser):
    """A new user chooses a password with the mailed link, signs in, and enrolls the other required factors."""
    looks = PageLooks(browser)
    login = os.environ["LOGIN"]
    message = Outbox().next()
    check("7 days" in message["text"], message)
    browser.driver.get(message["link"])
    browser.page("Set up your account")
    check(re.fullmatch(r"/signin/link/[\w-]{16}/recover", urllib.parse.urlparse(browser.driver.current_url).path), "the secret is in the address")
    looks.see("link")
    browser.button("Set up the account").send_keys(Keys.ENTER)
    browser.page("Choose a password")
    check(browser.one("#username").get_attribute("value") == login, "the name is not told")
    check([field.get_attribute("autocomplete") for field in browser.all("input[type=password]")] == ["new-password"] * 2, "no autofill")
    looks.see("choose")
    set_password(browser, "short")
    browser.notice("At least 8 characters")
    set_password(browser, NEW)
    browser.page("Your account is set up")
    looks.see("done")
    browser.driver.back()
    browser.page("Your account is set up")
    browser.begin("web-app")
    browser.page("Sign in")
    browser.password(login, NEW)
    browser.signed_in("web-app")
    browser.begin()
    browser.page("Sign in")
    browser.password(login, NEW)
    browser.page("Set up a second factor")
    looks.see("second-factor")
    browser.expected.append("status of 400")
    browser.driver.get(message["link"])
    browser.page("Something went wrong")


SCENARIOS = {"by-text": by_text, "by-mail": by_mail, "unlock": unlock, "set-up": set_up}

if __name__ == "__main__":
    play(SCENARIOS)
