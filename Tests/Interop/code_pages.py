"""Signs in with codes that are sent on the hosted pages of a sandbox with Chromium, as a person does: code_pages.py SCENARIO ORIGIN FOLDER

What is sent is read from the outbox.
"""

import re
import urllib.parse

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from pages_in_chromium import JANE, Browser, PageLooks, advance, check, claims, play
from recovery_pages import Outbox


def text(browser):
    """A code by text, another one, another way, and a code by a call."""
    looks = PageLooks(browser)
    outbox = Outbox()
    browser.begin()
    browser.password()
    browser.page("Verify your identity")
    looks.see("choice")
    ActionChains(browser.driver).double_click(browser.button("Send a text message to +49 XXX-XXX-0123")).perform()
    browser.page("Enter the code")
    check(browser.driver.switch_to.active_element == browser.one("#code"), "typing does not begin at the code")
    check(not browser.all("[role=alert]"), browser.text())
    looks.see("text")
    code = outbox.next()["code"]
    browser.one("#code").send_keys("000000" if code != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    advance(10)
    browser.button("Resend code").click()
    browser.notice("A message was sent moments ago")
    looks.see("text-too-soon")
    browser.button("Try another way").click()
    browser.page("Verify your identity")
    advance(31)
    browser.button("Call +49 XXX-XXX-0123").click()
    browser.page("Enter the code")
    looks.see("call")
    browser.one("#code").send_keys(outbox.next()["code"], Keys.ENTER)
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "tel", "mfa"}, "not by a call")


def mail_link(browser):
    """A mailed link asks for confirmation in another browser. The waiting page then continues automatically, or stops after a denial."""
    outbox = Outbox()
    looks = PageLooks(browser)

    def wait_for_mail():
        browser.begin(prompt="login")
        browser.password()
        browser.button("Send an email to j...e@example.com").click()
        browser.page("Enter the code")
        return outbox.next()["link"]

    link = wait_for_mail()
    looks.see("mail")
    other = Browser()
    there = PageLooks(other)
    other.driver.get(link)
    other.page("Are you trying to sign in?")
    check(re.fullmatch(r"/signin/link/[\w-]{16}/confirm", urllib.parse.urlparse(other.driver.current_url).path), "the secret is in the address")
    for part in (JANE, "Browser App", "IP address: ", "Chrome"):
        check(part in other.text(), f"{part}: {other.text()}")
    there.see("question")
    other.button("Yes, it's me").click()
    other.page("Confirmed")
    there.see("confirmed")
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "email", "mfa"}, "not by mail")

    advance(10)
    other.driver.get(wait_for_mail())
    other.page("Are you trying to sign in?")
    other.button("No, it's not me").click()
    other.page("Not confirmed")
    there.see("denied")
    browser.expected.append("status of 400")
    browser.page("Something went wrong")
    check("This sign-in has expired" in browser.text(), browser.text())
    other.quit()


def set_up(browser):
    """Who has no second factor sets up a number, after one that cannot be read."""
    looks = PageLooks(browser)
    outbox = Outbox()
    browser.begin()
    browser.password()
    browser.page("Set up a second factor")
    looks.see("choice")
    browser.button("Text message").click()
    browser.page("Enter your number")
    looks.see("number")
    browser.one("#number").send_keys("030 5550123", Keys.ENTER)
    browser.notice("This is not a valid phone number")
    check(browser.one("#number").get_attribute("aria-invalid") == "true", "the field does not say that it is wrong")
    looks.see("wrong-number")
    browser.button("Try another way").click()
    browser.page("Set up a second factor")
    browser.button("Text message").click()
    browser.page("Enter your number")
    browser.one("#number").send_keys("+49 30 5550123", Keys.ENTER)
    browser.page("Enter the code")
    looks.see("code")
    code = outbox.next()["code"]
    browser.one("#code").send_keys("000000" if code != "000000" else "111111", Keys.ENTER)
    browser.notice("The code is wrong")
    browser.one("#code").send_keys(code, Keys.ENTER)
    check(set(claims(browser.signed_in())["amr"]) == {"pwd", "sms", "mfa"}, "not two factors")
    advance(31)
    browser.begin(prompt="login")
    browser.password()
    browser.page("Verify your identity")
    browser.button("Send a text message to +49 XXX-XXX-0123").click()
    browser.page("Enter the code")
    browser.one("#code").send_keys(outbox.next()["code"], Keys.ENTER)
    browser.signed_in()


SCENARIOS = {"text": text, "mail-link": mail_link, "set-up": set_up}

if __name__ == "__main__":
    play(SCENARIOS)
