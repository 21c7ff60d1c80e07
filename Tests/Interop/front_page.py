"""Looks at the sandbox's front page in Chromium, as a developer does: front_page.py SCENARIO ORIGIN FOLDER

Screenshots go to the folder. Ends with an error that says what was not as it should be.
"""

import requests
from pages_in_chromium import JANE, ORIGIN, PASSWORD, PATIENCE, Browser, PageLooks, check
from selenium.webdriver.common.by import By

# The page needs no scripts. The second browser runs scripts, because axe is a script.
for scripts in (False, True):
    browser = Browser(scripts=scripts)
    browser.driver.get(f"{ORIGIN}/")
    browser.page("Countersign sandbox")
    text = browser.text()
    for part in (JANE, PASSWORD, "Set up a phone", "Nothing was sent yet", "curl ", "POST /sandbox/reset"):
        check(part in text, f"{part} is not on the page: {text}")
    if scripts:
        looks = PageLooks(browser)
        looks.see("fresh")
        # The page shows the objects that are created here, and the property list of an expanded application.
        for body in ({"login": "long.name.of.a.user@department.example.com", "password": "First-Password-1", "profile": {"name": "Una Idle"}},
                     {"login": "staged@example.com", "status": "staged"}):
            requests.post(f"{ORIGIN}/sandbox/users", json=body, timeout=PATIENCE).raise_for_status()
        requests.post(f"{ORIGIN}/sandbox/phones", json={"login": JANE}, timeout=PATIENCE).raise_for_status()
        requests.post(f"{ORIGIN}/api/v1/authn/recovery/password", json={"username": JANE, "factorType": "EMAIL"}, timeout=PATIENCE)
        browser.wait("the mail", lambda: requests.get(f"{ORIGIN}/sandbox/outbox", timeout=PATIENCE).json()["messages"])
        browser.driver.get(f"{ORIGIN}/sandbox/")
        browser.page("Countersign sandbox")
        check("Open phone" in browser.text() and "Una Idle" in browser.text() and JANE in browser.one(".messages").text, browser.text())
        check("FrontPageView" not in browser.text(), browser.text())
        details = browser.all("details")[2]
        details.find_element(By.TAG_NAME, "summary").click()
        check("com.example.app:/callback" in details.text, details.text)
        looks.see("used")
        # The link in the header of the outbox leads back.
        browser.driver.get(f"{ORIGIN}/sandbox/outbox")
        browser.page("Outbox")
        browser.one(".top a").click()
        browser.page("Countersign sandbox")
    browser.quit()
