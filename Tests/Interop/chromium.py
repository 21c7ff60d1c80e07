"""Chromium without a window, as the programs need it that use a page as a person does: how it is started, what it looks like, waiting."""

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Chromium:
    """A browser. What it says of itself when something is not seen is for those who make one of their own of it: `shoot`."""

    def __init__(self, patience, language="en-US", preferences=None):
        self.patience = patience
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--lang={language}",
            "--disable-background-networking"):
            options.add_argument(argument)
        if preferences:
            options.add_experimental_option("prefs", preferences)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))

    def look(self, width, height, dark):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, what, condition):
        def quietly(_):
            # A page can replace its elements at any time, and between two pages no element exists. The condition is then tested again.
            try:
                return condition()
            except (StaleElementReferenceException, StopIteration):
                return None
            except WebDriverException as error:
                # The driver can also report a replaced element by this error.
                if "does not belong to the document" in str(error):
                    return None
                raise

        try:
            return WebDriverWait(self.driver, self.patience, poll_frequency=0.1).until(quietly)
        except Exception as error:
            self.shoot("failure")
            raise AssertionError(f"not seen: {what}\n{self.driver.current_url}\n{self.text()}\n{self.messages()}") from error

    def one(self, selector):
        return self.wait(selector, lambda: next(iter(self.all(selector)), None))

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def messages(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]
