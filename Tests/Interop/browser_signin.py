"""Signs a person in on the hosted pages in Chromium, as a person does: browser_signin.py URL USER PASSWORD FOLDER

It ends when the browser shows the page of the app that waits at a loopback address. A screenshot of each page goes to the folder.
Ends with an error that says what was not as it should be.
"""

import os
import sys

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

URL, USER, PASSWORD, FOLDER = sys.argv[1:5]
PATIENCE = 180


def check(condition, what):
    if not condition:
        raise AssertionError(what)


options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en-US", "--disable-background-networking"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def wait(what, condition):
    def quietly(_):
        try:
            return condition()
        except (NoSuchElementException, StaleElementReferenceException):
            return None

    try:
        return WebDriverWait(driver, PATIENCE, poll_frequency=0.1).until(quietly)
    except Exception as error:
        driver.save_screenshot(os.path.join(FOLDER, "failure.png"))
        raise AssertionError(f"not seen: {what}\n{driver.find_element(By.TAG_NAME, 'body').text}") from error


def one(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


try:
    driver.get(URL)
    wait("the password page", lambda: one("input[type=password]"))
    driver.save_screenshot(os.path.join(FOLDER, "password.png"))
    one("input[name=username]").send_keys(USER)
    one("input[type=password]").send_keys(PASSWORD)
    wait("the button", lambda: one("form button[type=submit]")).click()
    wait("the choice of a factor", lambda: one("button[value=push]"))
    driver.save_screenshot(os.path.join(FOLDER, "factors.png"))
    # The page that waits for the push has the same button, to send another push.
    if not driver.find_elements(By.CSS_SELECTOR, "[role=status]"):
        wait("the factor", lambda: one("button[value=push]")).click()
    wait("the app's page", lambda: driver.current_url.startswith("http://127.0.0.1:") and "/callback?" in driver.current_url)
    wait("its words", lambda: "You can close this window." in one("h1").text)
    check("App" not in driver.title and driver.title == "You can close this window.", driver.title)
    driver.save_screenshot(os.path.join(FOLDER, "taken.png"))
    # The listener is already closed, so the request for an icon fails.
    messages = [entry for entry in driver.get_log("browser") if "favicon.ico" not in entry["message"]]
    check(not messages, messages)
finally:
    driver.quit()
