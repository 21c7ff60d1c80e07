"""Uses the phones' page of a sandbox in Chromium, as a person does: phone_page.py SCENARIO ORIGIN PAGE FOLDER

Screenshots go to the folder. Ends with an error that says what was not as it should be.
"""

import json
import os
import sys
import time

import requests
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import Chromium, check

SCENARIO, ORIGIN, PAGE, FOLDER = sys.argv[1:5]
JANE = "jane.doe@example.com"
PASSWORD = "Correct-Horse-7"
MFA = "http://auth0.com/oauth/grant-type/mfa-oob"
PATIENCE = 180


class SignIn:
    """The app's side: a password, and then a push."""

    def __init__(self):
        self.client = "directauth-app"
        answer = self.post("token", grant_type="password", username=JANE, password=PASSWORD, scope="openid")
        check(answer["error"] == "mfa_required", answer)
        self.token = answer["mfa_token"]
        self.challenge = self.post("challenge", mfa_token=self.token, challenge_types_supported=MFA, channel_hint="push")
        check("oob_code" in self.challenge, self.challenge)

    def post(self, endpoint, **form):
        form["client_id"] = self.client
        answer = requests.post(f"{ORIGIN}/oauth2/default/v1/{endpoint}", data=form, timeout=PATIENCE)
        return answer.json() if answer.content else {}

    def poll(self):
        return self.post("token", grant_type=MFA, mfa_token=self.token, oob_code=self.challenge["oob_code"])

    def cancel(self):
        self.post("revoke", token=self.token)


class Page(Chromium):
    """The page in a browser."""

    def __init__(self, width=1280, height=900, dark=False):
        super().__init__(PATIENCE)
        self.look(width, height, dark)
        self.driver.get(PAGE)

    def button(self, text):
        return self.wait(f"button {text}", lambda: next(b for b in self.all("button") if b.text.strip() == text and not b.get_attribute("aria-disabled")))

    def click(self, find):
        """Clicks what is found, again if it was replaced meanwhile."""
        self.wait("a click", lambda: find().click() or True)

    def set_up(self, login=JANE):
        self.click(lambda: next(b for b in self.all("button.person") if login in b.text))
        self.wait("the phone", lambda: login in self.one(".whose").text)

    def card(self):
        return self.one(".request")

    def outcome(self, text):
        return self.wait(f"history: {text}", lambda: any(tag.text == text for tag in self.all(".list .tag")))

    def messages(self):
        return [message for message in super().messages() if "favicon" not in message]

    def shoot(self, name):
        self.driver.save_screenshot(os.path.join(FOLDER, f"{SCENARIO}-{name}.png"))

    def quit(self):
        messages = self.messages()
        self.driver.quit()
        return messages


def click(page):
    page.set_up()
    sign_in = SignIn()
    card = page.card()
    for text in ("Did you just try to sign in?", "Direct Authentication App", JANE, "127.0.0.1", "Expires in"):
        check(text in card.text, f"{text} is missing: {card.text}")
    check(page.driver.title.startswith("(1) "), page.driver.title)
    page.click(lambda: page.button("Approve"))
    page.outcome("Approved")
    page.wait("no card", lambda: not page.all(".request"))
    check("access_token" in sign_in.poll(), "no tokens")


def keyboard(page):
    def press(key):
        page.driver.switch_to.active_element.send_keys(key)

    def tab_to(is_wanted, what):
        for _ in range(60):
            active = page.driver.switch_to.active_element
            if is_wanted(active):
                style = page.script(
                    "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, parseFloat(s.outlineWidth)]", active)
                check(style[0] != "none" and style[1] >= 2, f"the focus on {what} is not seen: {style}")
                return active
            press(Keys.TAB)
        raise AssertionError(f"{what} is not reached with the keyboard")

    page.wait("people", lambda: page.all("button.person"))
    press(Keys.TAB)
    check(page.driver.switch_to.active_element.text == "Skip to the phone", "the first stop is not the skip link")
    tab_to(lambda e: JANE in e.text and e.tag_name == "button", "the button that sets a phone up")
    press(Keys.ENTER)
    page.wait("the phone", lambda: page.all(".whose"))
    page.wait("the focus in the phone", lambda: page.script("return document.activeElement.id === 'phone'"))

    first = SignIn()
    page.card()
    tab_to(lambda e: e.text == "Deny", "Deny")
    check(page.script("return document.activeElement.closest('.request') !== null"), "the first stop in the phone is not the request")
    # Another request arrives while the focus is on the first one. The focus must stay there.
    second = SignIn()
    page.wait("two cards", lambda: len(page.all(".request")) == 2)
    check(page.driver.switch_to.active_element.text == "Deny", "the focus was lost")
    check(page.script("return document.activeElement.closest('.request') === document.querySelector('.request')"), "the focus moved")
    press(Keys.ENTER)
    page.outcome("Denied")
    page.wait("the focus in the phone", lambda: page.script("return document.activeElement.closest('#phone') !== null"))
    check(first.poll().get("error") == "access_denied", "not denied")

    tab_to(lambda e: e.text == "Approve", "Approve")
    press(Keys.SPACE)
    page.outcome("Approved")
    check("access_token" in second.poll(), "no tokens")
    tab_to(lambda e: e.get_attribute("data-key") == "setting:offline", "the switch Offline")
    press(Keys.SPACE)
    page.wait("offline", lambda: "Offline" in page.one(".bar").text)
    page.wait("the end of the change", lambda: not page.all("[aria-disabled]"))
    check(page.script("return document.activeElement.dataset.key") == "setting:offline", "the switch lost the focus")


def number(page):
    page.set_up()
    sign_in = SignIn()
    right = sign_in.challenge["binding_code"]
    card = page.card()
    numbers = [button.text for button in page.all(".request button.number")]
    check(len(numbers) == 3 and right in numbers, f"{right} is not among {numbers}")
    check("Approve" not in [button.text for button in card.find_elements(By.TAG_NAME, "button")], "it can be approved without a number")
    page.shoot("card")
    page.click(lambda: page.button(right))
    page.outcome("Approved")
    check("access_token" in sign_in.poll(), "no tokens")

    other = SignIn()
    wrong = page.wait("another number", lambda: next(b.text for b in page.all(".request button.number") if b.text != other.challenge["binding_code"]))
    page.click(lambda: page.button(wrong))
    page.outcome("Not accepted")
    page.wait("what went wrong", lambda: "another number" in page.one("[role=alert]").text)
    check(other.poll().get("error") == "access_denied", "the wrong number was taken")


def deny(page):
    page.set_up()
    for text in ("Deny", "It wasn't me"):
        sign_in = SignIn()
        page.card()
        page.click(lambda: page.button(text))
        page.wait("no card", lambda: not page.all(".request"))
        check(sign_in.poll().get("error") == "access_denied", "not denied")
    page.wait("two denials", lambda: [tag.text for tag in page.all(".list .tag")] == ["Denied", "Denied"])


def cancelled(page):
    page.set_up()
    sign_in = SignIn()
    page.card()
    sign_in.cancel()
    page.outcome("Cancelled")
    check(not page.all(".request"), "it is still shown")
    # A request without an answer expires.
    SignIn()
    page.card()
    requests.post(f"{ORIGIN}/sandbox/clock", json={"advance": 301}, timeout=PATIENCE)
    page.outcome("Expired")


def foreign_text(page):
    """What attackers write is text, wherever it is shown."""
    evil = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"
    page.wait("the person", lambda: evil in page.one("#people").text)
    page.click(lambda: page.all("button.person")[0])
    page.wait("the phone", lambda: page.all(".whose"))
    phone = requests.post(f"{ORIGIN}/sandbox/phones/{JANE}/settings", json={"ciba": True}, timeout=PATIENCE).json()
    check(phone["ciba"] is True, phone)
    answer = requests.post(
        f"{ORIGIN}/oauth2/default/v1/bc/authorize", auth=("bank-app", "bank-app-secret-1"), timeout=PATIENCE,
        data={"scope": "openid", "login_hint": JANE, "binding_message": "<b onclick=hacked=1>Pay</b> &amp; go"})
    check(answer.ok, answer.text)
    card = page.card()
    check("<b onclick=hacked=1>Pay</b> &amp; go" in card.text, card.text)
    check("<svg onload=hacked=1>" in card.text, card.text)
    check(not page.all("#phone b, #phone img, #phone script, #phone svg, #people img, #people script"), "text has become elements")
    page.shoot("card")
    page.click(lambda: page.button("Approve"))
    page.outcome("Approved")
    check("<b onclick=hacked=1>Pay</b>" in page.one(".list").text, page.one(".list").text)
    check(page.script("return window.hacked === undefined"), "foreign script ran")
    blocked = page.script("try { document.body.innerHTML = '<p>x</p>'; return false } catch { return true }")
    check(blocked, "the policy lets text become elements")


def settings(page):
    page.set_up()

    def switch(name):
        return page.one(f"input[data-key='setting:{name}']")

    for name in ("user_verification", "ciba", "auto_approve", "offline"):
        before = switch(name).is_selected()
        page.click(lambda: switch(name))
        page.wait(f"{name} to change", lambda: not switch(name).get_attribute("aria-disabled") and switch(name).is_selected() != before)
    page.wait("the notice", lambda: page.all(".notice"))
    sign_in = SignIn()
    time.sleep(1)
    check(not page.all(".request"), "a push reached a phone that is offline")
    page.click(lambda: switch("offline"))
    page.outcome("Approved")
    check("access_token" in sign_in.poll(), "no tokens")
    page.click(lambda: page.button("Remove phone"))
    page.wait("nothing", lambda: "No phone is shown" in page.one("#phone").text)
    page.set_up()


LUMINANCE = """
const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const linear = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const background = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const poor = [];
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility() || e.closest('.visually-hidden, .skip')) continue;
  const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(background(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) poor.push(e.textContent.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
}
return poor;
"""


def looks(page):
    page.set_up()
    page.look(1280, 900, False)
    SignIn().cancel()
    page.outcome("Cancelled")
    SignIn()
    page.card()
    page.click(lambda: page.button("Approve"))
    page.outcome("Approved")
    SignIn()
    page.card()
    backgrounds = set()
    for width, height in ((390, 844), (1280, 900), (320, 640)):
        for dark in (False, True):
            page.look(width, height, dark)
            page.script("scrollTo(0, 0); document.querySelector('.app').scrollTop = 0")
            name = f"{width}-{'dark' if dark else 'light'}"
            page.shoot(name)
            wide = page.script(
                "const wide = [...document.querySelectorAll('body *')].filter((e) => !e.closest('#people, .skip') && e.getBoundingClientRect().right > arguments[0] + 1);"
                "return [document.documentElement.scrollWidth - arguments[0], wide.map((e) => e.className)]", width)
            check(wide[0] <= 0 and not wide[1], f"{name}: wider than the window: {wide}")
            poor = page.script(LUMINANCE)
            check(not poor, f"{name}: too little contrast: {poor}")
            small = page.script(
                "return [...document.querySelectorAll('button, a.person')].filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.textContent)")
            check(not small, f"{name}: too small to hit: {small}")
            backgrounds.add(page.script("return getComputedStyle(document.body).backgroundColor"))
            page.script("document.querySelector('.foot').scrollIntoView({block: 'end'})")
            page.shoot(name + "-end")
    check(len(backgrounds) == 2, f"dark and light are the same: {backgrounds}")


def assistive(page):
    page.wait("people", lambda: page.all("button.person"))
    page.shoot("empty")
    names = [button.accessible_name for button in page.all("button.person")]
    check(any("Set up a phone for " + JANE in name for name in names), names)
    page.set_up()
    SignIn()
    card = page.card()
    check(card.aria_role == "article" and card.accessible_name == "Did you just try to sign in?", (card.aria_role, card.accessible_name))
    announcer = page.one("#announcer")
    check(announcer.get_attribute("aria-live") == "assertive", "nothing is announced")
    said = announcer.get_attribute("textContent")
    check("Direct Authentication App" in said and JANE in said, f"announced: {said}")
    roles = {(e.aria_role, e.accessible_name) for e in page.all("#phone button, #phone input, nav, #phone section, main, header")}
    for wanted in (
        ("button", "Approve"), ("button", "Deny"), ("button", "It wasn't me"), ("button", "Remove phone"), ("switch", "Unlock to approve"), ("switch", "Offline"),
        ("navigation", "People"), ("region", "Requests"), ("region", "History"), ("region", "Settings"), ("main", ""),
    ):
        check(wanted in roles, f"{wanted} is not among {sorted(roles)}")
    levels = [int(e.tag_name[1]) for e in page.all("h1, h2, h3, h4, h5, h6")]
    check(levels[0] == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:])), f"headings: {levels}")
    page.click(lambda: page.button("Approve"))
    page.wait("the announcement", lambda: "Approved" in page.one("#announcer").get_attribute("textContent"))
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    unnamed = [
        node["role"]["value"] for node in tree
        if not node.get("ignored") and node.get("role", {}).get("value") in ("button", "link", "switch", "checkbox")
        and not node.get("name", {}).get("value")]
    check(not unnamed, f"without a name: {unnamed}")
    with open(os.path.join(FOLDER, "tree.json"), "w") as file:
        json.dump(tree, file)


def main():
    page = Page()
    try:
        {
            "click": click, "keyboard": keyboard, "number": number, "deny": deny, "cancelled": cancelled, "foreign-text": foreign_text,
            "settings": settings, "looks": looks, "assistive": assistive,
        }[SCENARIO](page)
        page.shoot("end")
    finally:
        messages = page.quit()
    # The tests cause a refused command and a violation of the page's policy. Any other line in the console is an error of the page.
    wrong = [message for message in messages if "status of 409" not in message and "TrustedHTML" not in message]
    check(not wrong, f"the browser says: {wrong}")


main()
