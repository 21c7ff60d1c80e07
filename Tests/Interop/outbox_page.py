"""Uses the sandbox's outbox page in Chromium, as a person does: outbox_page.py SCENARIO ORIGIN FOLDER

Jane's second factor is a code by text. Screenshots go to the folder. Ends with an error that says what was not as it should be.
"""

import requests
from pages_in_chromium import JANE, ORIGIN, PASSWORD, PATIENCE, SERVER, Browser, PageLooks, check
from selenium.webdriver.common.by import By

MFA = "http://auth0.com/oauth/grant-type/mfa-oob"


def post(endpoint, **form):
    form["client_id"] = "directauth-app"
    return requests.post(f"{SERVER}/{endpoint}", data=form, timeout=PATIENCE).json()


def messages(browser, count):
    return browser.wait(f"{count} messages", lambda: (found := browser.all("#messages > li")) is not None and len(found) == count and (found or [True]))


browser = Browser()
looks = PageLooks(browser)
browser.driver.get(f"{ORIGIN}/sandbox/outbox")
browser.page("Outbox")
check("Nothing was sent yet" in browser.text(), browser.text())
looks.see("empty")

# A text message appears while the page is open, and its code is valid.
token = post("token", grant_type="password", username=JANE, password=PASSWORD, scope="openid")["mfa_token"]
sent = post("challenge", mfa_token=token, challenge_types_supported=MFA, channel_hint="sms")
text = messages(browser, 1)[0]
check("+15551234821" in text.text and text.find_element(By.CSS_SELECTOR, ".kind").text == "Text", text.text)
code = browser.one("output").text
check("Text to +15551234821" in browser.one("#announcer").get_attribute("textContent"), "assistive technology is not told")
answer = post("token", grant_type=MFA, mfa_token=token, oob_code=sent["oob_code"], binding_code=code, scope="openid")
check("id_token" in answer, answer)

# A mail appears above the text message. Its content runs no script and loads nothing.
reset = requests.post(
    f"{ORIGIN}/api/v1/authn/recovery/password", json={"username": JANE, "factorType": "EMAIL"}, timeout=PATIENCE)
check(reset.ok, reset.text)
mail = messages(browser, 2)[0]
check(mail.find_element(By.CSS_SELECTOR, ".kind").text == "Mail" and JANE in mail.text, mail.text)
mail.find_element(By.TAG_NAME, "summary").click()
frame = browser.one("#messages iframe")
check(frame.get_attribute("sandbox") == "", "the mail's page may do something")
browser.driver.switch_to.frame(frame)
browser.wait("the mail as a page", lambda: "Jane" in browser.text())
browser.driver.switch_to.default_content()
looks.see("messages")

requests.delete(f"{ORIGIN}/sandbox/outbox", timeout=PATIENCE).raise_for_status()
messages(browser, 0)
check("Nothing was sent yet" in browser.text(), browser.text())
browser.quit()
