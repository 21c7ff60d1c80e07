"""A person at the hosted pages: a browser without JavaScript that follows links, keeps cookies and fills in forms."""

from html.parser import HTMLParser
from urllib.parse import urljoin

import requests


class Forms(HTMLParser):
    """The forms of a page: where each goes, how, and what stands in its fields."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes["action"], "method": attributes.get("method", "get"), "fields": {}})
        elif tag == "input" and self.forms and "name" in attributes:
            self.forms[-1]["fields"][attributes["name"]] = attributes.get("value") or ""

    def first(self, wanted):
        return next((form for form in self.forms if wanted(form)), None)


class Browser(requests.Session):
    """Cookies go by host and path, as in any browser; ports tell nothing apart there either."""

    def __init__(self, user, password):
        super().__init__()
        self.user, self.password = user, password
        self.asked = 0
        self.visited = []

    def open(self, url):
        """Goes where a link leads, through whatever the server asks on the way.

        Returns the page without a form.
        """
        return self.went(self.get(url, timeout=60))

    def went(self, answer):
        for _ in range(8):
            self.visited += [step.url for step in answer.history] + [answer.url]
            forms = Forms(answer.text)
            # The form of a sign-in, or of a page that only continues to the client
            form = forms.first(lambda form: "password" in form["fields"]) or forms.first(lambda form: "code" in form["fields"])
            form = form or forms.first(lambda form: form["action"].endswith("/confirm"))
            if form is None:
                return answer
            values = dict(form["fields"])
            if "password" in values:
                self.asked += 1
                values.update(username=self.user, password=self.password)
            answer = self.post(urljoin(answer.url, form["action"]), data=values, timeout=60)
        raise AssertionError(f"no end of forms at {answer.url}")
