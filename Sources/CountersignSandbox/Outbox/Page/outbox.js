"use strict";
// Shows the server's data as text only, because names and messages are untrusted.
(() => {
  const list = document.getElementById("messages");
  const empty = document.getElementById("empty");
  const announcer = document.getElementById("announcer");
  const connection = document.getElementById("connection");
  const kinds = { mail: "Mail", text: "Text", call: "Call" };
  let shown = new Set();

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "onclick") element.addEventListener("click", value);
      else element.setAttribute(key, String(value));
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

  async function copy(code) {
    try {
      await navigator.clipboard.writeText(code);
      announcer.textContent = "The code was copied.";
    } catch {
      announcer.textContent = "The code could not be copied. Select it, and copy it by hand.";
    }
  }

  function frame(message) {
    const details = make("details", null, make("summary", null, "As a page"));
    details.addEventListener("toggle", () => {
      // Loaded when it is opened, because there may be many.
      if (details.open && !details.querySelector("iframe")) {
        details.append(make("iframe", { src: `/sandbox/outbox/${message.number}.html`, sandbox: "", title: `The mail “${message.subject}” as a page` }));
      }
    }, { once: false });
    return details;
  }

  function card(message) {
    const to = message.recipient + (message.phoneExtension ? `, extension ${message.phoneExtension}` : "");
    const link = message.link && /^https?:\/\//.test(message.link) ? make("a", { class: "link", href: message.link, rel: "noreferrer" }, "Open the link") : null;
    const code = message.code
      ? make("div", { class: "code" }, make("output", { "aria-label": "Code" }, message.code), make("button", { type: "button", onclick: () => copy(message.code) }, "Copy the code"))
      : null;
    return make("li", { class: "message", "data-number": message.number },
      make("header", null,
        make("span", { class: "kind" }, kinds[message.channel] || message.channel),
        make("h2", null, message.subject ? `${message.subject} – ${to}` : to),
        make("span", { class: "time" }, clock(message.time))),
      make("p", { class: "says" }, message.text.trim()), code, link, message.html ? frame(message) : null);
  }

  function show(messages) {
    const present = new Set(messages.map((message) => message.number));
    for (const item of [...list.children]) if (!present.has(Number(item.dataset.number))) item.remove();
    shown = new Set([...shown].filter((number) => present.has(number)));
    for (const message of messages) {
      if (shown.has(message.number)) continue;
      shown.add(message.number);
      list.prepend(card(message));
      announcer.textContent = `${kinds[message.channel] || message.channel} to ${message.recipient}`;
    }
    empty.hidden = messages.length > 0;
  }

  async function follow() {
    let last = null;
    for (;;) {
      try {
        const answer = await fetch("/sandbox/outbox" + (last === null ? "" : `?after=${last}`), { headers: { Accept: "application/json" }, cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        const state = await answer.json();
        last = state.last;
        show(state.messages);
        connection.hidden = true;
      } catch {
        connection.textContent = "The sandbox does not answer. Trying again…";
        connection.hidden = false;
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  }
  follow();
})();
