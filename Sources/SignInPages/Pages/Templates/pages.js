"use strict";

// The form that takes an answer to the application sends itself.
const answer = document.getElementById("answer");
if (answer) answer.submit();

// Elements that only browsers without scripts need.
for (const element of document.querySelectorAll("[data-without-scripts]")) element.hidden = true;

// A disabled button counts down until it can be used again.
const resend = document.querySelector("[data-cooldown]");
if (resend) {
  const label = resend.textContent;
  const end = Date.now() + 1000 * Number(resend.dataset.cooldown);
  const count = () => {
    const left = Math.ceil((end - Date.now()) / 1000);
    resend.disabled = left > 0;
    resend.textContent = left > 0 ? resend.dataset.later.replace("{seconds}", left) : label;
    if (left > 0) setTimeout(count, 1000);
  };
  count();
}

// While the person answers on a device, the page listens, and goes on when they did.
const waiting = document.querySelector("[data-events]");
if (waiting) {
  let isOver = false;
  const source = new EventSource(waiting.dataset.events);
  const goOn = () => {
    if (isOver) return;
    isOver = true;
    source.close();
    waiting.textContent = waiting.dataset.answered;
    location.replace(waiting.dataset.page);
  };
  // Where no events come through, as with some proxies, it asks now and then.
  const ask = async () => {
    try {
      const reply = await fetch(waiting.dataset.events, { headers: { Accept: "application/json" }, cache: "no-store" });
      if (reply.ok && !(await reply.json()).waiting) return goOn();
    } catch {
      // Not reached: perhaps next time.
    }
    setTimeout(ask, 3000);
  };
  source.addEventListener("answered", goOn);
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED && !isOver) ask();
  });
}
