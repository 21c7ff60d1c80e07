"use strict";
// Shows the server's data as text only, because names and messages are untrusted.
(() => {
  const token = document.querySelector('meta[name="countersign-token"]').content;
  const people = document.getElementById("people");
  const stage = document.getElementById("phone");
  const announcer = document.getElementById("announcer");
  const connection = document.getElementById("connection");
  const outcomes = { approved: "Approved", denied: "Denied", failed: "Not accepted", expired: "Expired", cancelled: "Cancelled" };
  const systems = {
    IOS: "iOS", MAC_OS_X: "macOS", WINDOWS: "Windows", LINUX: "Linux", ANDROID: "Android", CHROME_OS: "ChromeOS",
  };
  let state = null;
  let shown = null;
  let skew = 0;
  const seen = new Set();
  const busy = new Set();
  const typed = new Map();
  let problem = null;

  // ---- Elements

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key === "onclick" || key === "onchange" || key === "oninput" || key === "onsubmit") element.addEventListener(key.slice(2), value);
      else if (key === "checked" || key === "value" || key === "max") element[key] = value;
      else element.setAttribute(key, String(value));
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  // Replaces the content and keeps the focus by data-key. Busy elements use aria-disabled, because a disabled element would lose the focus.
  function fill(parent, ...children) {
    const active = document.activeElement;
    const key = active && parent.contains(active) ? active.dataset.key : null;
    const scroll = parent.scrollLeft;
    parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
    parent.scrollLeft = scroll;
    if (!key) return;
    const next = [...parent.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
    if (next) next.focus({ preventScroll: true });
    else stage.focus({ preventScroll: true });
  }

  const initials = (person) => [...(person.name || person.login).trim()][0]?.toUpperCase() || "?";
  const selected = () => {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  };
  const now = () => Date.now() / 1000 + skew;
  const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

  // ---- The list of people

  function personItem(person) {
    const phone = state.phones.find((phone) => phone.login === person.login);
    const isCurrent = phone && phone.login === selected();
    const waiting = phone ? phone.requests.length : 0;
    const face = make("span", { class: "avatar", "aria-hidden": "true" }, initials(person));
    const name = make("span", { class: "name" }, person.name || person.login);
    if (phone) {
      const badge = waiting ? make("span", { class: "badge" }, String(waiting), make("span", { class: "visually-hidden" }, waiting === 1 ? " request waits" : " requests wait")) : null;
      return make("li", null,
        make("a", { class: "person", href: "#" + encodeURIComponent(person.login), "aria-current": isCurrent ? "true" : null, "data-key": "person:" + person.login },
          face, name, badge, make("span", { class: "note" }, person.login)));
    }
    const key = "set-up:" + person.login;
    const scan = "scan:" + person.login;
    return make("li", null,
      make("button", { class: "person", type: "button", "data-key": key, "aria-disabled": busy.has(key), onclick: () => setUp(person.login, key) },
        face, name,
        make("span", { class: "action" }, busy.has(key) ? "Setting up…" : "Set up a phone", make("span", { class: "visually-hidden" }, " for " + person.login))),
      make("form", {
        class: "scan",
        onsubmit: (event) => {
          event.preventDefault();
          setUp(person.login, scan, (typed.get(scan) || "").trim());
        },
      },
        make("label", null, make("span", { class: "visually-hidden" }, "For " + person.login + ": "), "Or paste the address of the QR code that the sign-in shows",
          make("input", {
            type: "url", autocomplete: "off", spellcheck: "false", required: "", "data-key": scan, value: typed.get(scan) || "",
            oninput: (event) => typed.set(scan, event.target.value),
          })),
        make("button", { type: "submit", class: "plain", "data-key": scan + ":send", "aria-disabled": busy.has(scan) }, busy.has(scan) ? "Scanning…" : "Scan")));
  }

  // ---- The phone

  function requestCard(phone, request) {
    const key = request.id;
    const isBusy = busy.has(key);
    const title = request.ciba ? request.application + " asks you to confirm" : "Did you just try to sign in?";
    const answer = (action, body) => () => act(phone, key, action, { id: request.id, ...body });
    const button = (kind, label, action, body, name) =>
      make("button", { type: "button", class: "big " + kind, "data-key": key + ":" + (body?.number || kind), "aria-disabled": isBusy, "aria-label": name || null, onclick: answer(action, body) }, label);
    const titleID = "request-" + key;
    const rest = Math.max(0, Math.ceil(request.expires_at - now()));
    const card = make("article", { class: "request" + (seen.has(key) ? "" : " new"), "aria-labelledby": titleID, "data-request": key },
      make("h4", { id: titleID }, title),
      request.binding_message !== null ? make("p", { class: "message" }, request.binding_message) : null,
      make("dl", { class: "facts" },
        make("dt", null, "App"), make("dd", null, request.application),
        make("dt", null, "Account"), make("dd", null, phone.login),
        make("dt", null, "Where"), make("dd", null, [request.location, systems[request.client_os] || request.client_os].filter(Boolean).join(" · ") || "Unknown"),
        make("dt", null, "When"), make("dd", null, clock(request.time))),
      make("div", { class: "countdown", "data-expires": request.expires_at, "data-made": request.time },
        make("p", null, remaining(rest)), make("progress", { max: Math.max(1, request.expires_at - request.time), value: rest, "aria-hidden": "true" })));
    if (request.number_choices) {
      card.append(make("fieldset", { class: "choices" },
        make("legend", null, "Tap the number that the sign-in shows"),
        ...request.number_choices.map((number) => button("number", number, "approve", { number }, "Approve with " + number))));
      card.append(make("div", { class: "actions" }, button("deny", "Deny", "deny", {}), button("suspicious", "It wasn't me", "deny", { suspicious: true })));
    } else {
      card.append(make("div", { class: "actions" }, button("deny", "Deny", "deny", {}), button("approve", "Approve", "approve", {}), button("suspicious", "It wasn't me", "deny", { suspicious: true })));
    }
    return card;
  }

  function remaining(seconds) {
    if (seconds <= 0) return "Time is over";
    return "Expires in " + (seconds >= 60 ? Math.floor(seconds / 60) + " min " : "") + (seconds % 60) + " s";
  }

  function historyItem(entry) {
    const what = entry.request.binding_message !== null ? entry.request.application + ": " + entry.request.binding_message : entry.request.application;
    return make("li", null,
      make("div", { class: "row" }, make("span", { class: "what" }, what), make("span", { class: "tag " + entry.outcome }, outcomes[entry.outcome])),
      make("p", { class: "more" }, clock(entry.at) + (entry.reason ? " · " + entry.reason : "")));
  }

  function setting(phone, name, label, note) {
    const key = "setting:" + name;
    return make("label", { class: "switch" },
      make("span", { class: "what", id: key + ":label" }, label),
      make("input", {
        type: "checkbox", role: "switch", "data-key": key, checked: phone[name], "aria-disabled": busy.has(key),
        "aria-labelledby": key + ":label", "aria-describedby": key + ":note",
        onchange: (event) => act(phone, key, "settings", { [name]: event.target.checked }),
      }),
      make("span", { class: "more", id: key + ":note" }, note));
  }

  function phoneView(phone) {
    const person = state.people.find((person) => person.login === phone.login) || { login: phone.login };
    const plain = (kind, label, key, action) => make("button", { type: "button", class: "plain " + kind, "data-key": key, "aria-disabled": busy.has(key), onclick: () => act(phone, key, action, {}) }, label);
    return make("div", { class: "shell" }, make("div", { class: "screen" },
      make("div", { class: "bar" }, make("span", { id: "time" }, clock(now())), make("span", { class: "signal" }, phone.offline ? "Offline" : "Online")),
      make("div", { class: "app" },
        make("div", { class: "whose" }, make("span", { class: "avatar", "aria-hidden": "true" }, initials(person)),
          make("div", null, make("h2", null, (person.name || phone.login) + "’s phone"), make("p", null, phone.login))),
        problem ? make("p", { class: "notice error", role: "alert" }, problem) : null,
        phone.offline ? make("p", { class: "notice" }, "The phone is offline: nothing comes, and answers are not sent.") : null,
        make("section", { "aria-labelledby": "requests-title" },
          make("h3", { id: "requests-title" }, "Requests"),
          phone.requests.length
            ? make("div", { class: "requests" }, ...phone.requests.map((request) => requestCard(phone, request)))
            : make("p", { class: "quiet-box" }, make("strong", null, "No request waits"), "A sign-in that asks for this phone shows up here.")),
        make("section", { "aria-labelledby": "history-title" },
          make("h3", { id: "history-title" }, "History"),
          phone.history.length
            ? make("ul", { class: "list" }, ...phone.history.slice(-8).reverse().map(historyItem))
            : make("p", { class: "quiet-box" }, "Nothing yet.")),
        make("section", { "aria-labelledby": "enrollments-title" },
          make("h3", { id: "enrollments-title" }, "Enrollments"),
          make("ul", { class: "list" }, ...phone.enrollments.map((enrollment) => make("li", null,
            make("p", { class: "what" }, enrollment.user), make("p", { class: "more" }, enrollment.organization), make("p", { class: "more" }, enrollment.id))))),
        make("section", { "aria-labelledby": "settings-title" },
          make("h3", { id: "settings-title" }, "Settings"),
          make("div", { class: "list" },
            make("div", null, setting(phone, "user_verification", "Unlock to approve", "A second key that needs the PIN (user verification).")),
            make("div", null, setting(phone, "ciba", "Back-channel requests", "Take requests of clients without a browser (CIBA).")),
            make("div", null, setting(phone, "auto_approve", "Approve by itself", "For tests. Requests with numbers wait.")),
            make("div", null, setting(phone, "offline", "Offline", "Nothing comes and goes.")))),
        make("div", { class: "foot" }, plain("", "Fetch requests", "pull", "pull"), plain("danger", "Remove phone", "remove", "remove")))));
  }

  function emptyView() {
    return make("div", { class: "empty" }, problem ? make("p", { class: "notice error", role: "alert" }, problem) : null,
      make("h2", null, "No phone is shown"),
      make("p", null, state.phones.length ? "Choose a user to see the phone." : "Set up a phone for a user. The phone is enrolled with the user's password."));
  }

  // ---- Showing

  function show() {
    if (!state) return;
    let phone = state.phones.find((phone) => phone.login === selected());
    if (!phone && state.phones.length && !selected()) {
      history.replaceState(null, "", "#" + encodeURIComponent((state.phones.find((phone) => phone.requests.length) || state.phones[0]).login));
      phone = state.phones.find((phone) => phone.login === selected());
    }
    const place = stage.querySelector(".app")?.scrollTop || 0;
    const hasNew = phone?.requests.some((request) => !seen.has(request.id));
    fill(people, ...state.people.map(personItem));
    fill(stage, phone ? phoneView(phone) : emptyView());
    // Scroll to a new request, which is at the top.
    if (phone) stage.querySelector(".app").scrollTop = hasNew ? 0 : place;
    const waiting = state.phones.reduce((sum, phone) => sum + phone.requests.length, 0);
    document.title = (waiting ? "(" + waiting + ") " : "") + "Virtual phones – Countersign sandbox";
    announce();
  }

  function announce() {
    const news = [];
    for (const phone of state.phones) {
      for (const request of phone.requests) {
        if (seen.has(request.id)) continue;
        seen.add(request.id);
        news.push("Request on the phone of " + phone.login + ": " + request.application
          + (request.ciba ? " asks to confirm " + (request.binding_message ?? "something") : " sign-in")
          + (request.number_choices ? ". Pick one of " + request.number_choices.join(", ") : ""));
      }
      for (const entry of phone.history) {
        const key = entry.request.id + "!" + entry.outcome;
        if (seen.has(key)) continue;
        seen.add(key);
        if (state.isFirst) continue;
        news.push(outcomes[entry.outcome] + ": " + entry.request.application);
      }
    }
    if (news.length) announcer.textContent = news.join(". ");
  }

  function tick() {
    const time = document.getElementById("time");
    if (time) time.textContent = clock(now());
    for (const element of document.querySelectorAll("[data-expires]")) {
      const rest = Math.max(0, Math.ceil(Number(element.dataset.expires) - now()));
      element.querySelector("p").textContent = remaining(rest);
      element.querySelector("progress").value = rest;
      element.classList.toggle("soon", rest <= 30);
    }
  }

  // ---- Acting

  async function post(path, body) {
    const response = await fetch(path, {
      method: "POST", headers: { "Content-Type": "application/json", "X-Countersign-Token": token }, body: JSON.stringify(body), cache: "no-store",
    });
    if (response.ok) return;
    let reason = "The sandbox answered with status " + response.status + ".";
    try { reason = (await response.json()).error || reason; } catch { /* no JSON: the status has to do */ }
    throw new Error(reason);
  }

  async function run(key, work) {
    if (busy.has(key)) return;
    busy.add(key);
    problem = null;
    show();
    try { await work(); } catch (error) { problem = error.message; } finally {
      busy.delete(key);
      show();
    }
  }

  function act(phone, key, action, body) {
    return run(key, () => post("/phones/" + encodeURIComponent(phone.login) + "/" + action, body));
  }

  function setUp(login, key, uri) {
    return run(key, async () => {
      await post("/phones", uri ? { login, uri } : { login });
      typed.delete(key);
      location.hash = encodeURIComponent(login);
      stage.focus({ preventScroll: true });
    });
  }

  // ---- Listening

  function listen() {
    const events = new EventSource("/events");
    events.addEventListener("state", (event) => {
      const isFirst = state === null;
      const { now: sent, ...rest } = JSON.parse(event.data);
      skew = sent - Date.now() / 1000;
      connection.hidden = true;
      // Unchanged content is not replaced, so that reading and typing are not disturbed.
      const text = JSON.stringify(rest);
      if (text === shown) return tick();
      shown = text;
      state = rest;
      state.isFirst = isFirst;
      show();
    });
    events.addEventListener("error", () => {
      connection.textContent = "The sandbox can’t be reached. Trying again…";
      connection.hidden = false;
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    });
  }

  addEventListener("hashchange", () => { problem = null; show(); });
  setInterval(tick, 1000);
  listen();
})();
