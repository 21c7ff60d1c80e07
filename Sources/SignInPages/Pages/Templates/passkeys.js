"use strict";

// The form whose answer is the response of a passkey. The browser asks the user for the passkey, and the script sends the response.
const passkeyForm = document.querySelector("form[data-passkey]");
if (passkeyForm) {
  const data = passkeyForm.dataset;
  const button = passkeyForm.querySelector("button");
  // The request for autofill, which waits until the user chooses a passkey in the field of the user name.
  let autofill = null;

  const decoded = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  const encoded = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  const publicKey = () => {
    const options = JSON.parse(data.options);
    options.challenge = decoded(options.challenge);
    if (options.user) options.user.id = decoded(options.user.id);
    for (const credential of [...(options.allowCredentials ?? []), ...(options.excludeCredentials ?? [])]) {
      credential.id = decoded(credential.id);
    }
    return options;
  };

  const send = (credential) => {
    const answer = credential.response;
    const response = { clientDataJSON: encoded(answer.clientDataJSON) };
    if (data.passkey === "create") {
      response.attestationObject = encoded(answer.attestationObject);
      response.transports = answer.getTransports?.() ?? [];
    } else {
      response.authenticatorData = encoded(answer.authenticatorData);
      response.signature = encoded(answer.signature);
      if (answer.userHandle) response.userHandle = encoded(answer.userHandle);
    }
    const { credProps } = credential.getClientExtensionResults();
    passkeyForm.elements.credential.value = JSON.stringify({
      id: encoded(credential.rawId), rawId: encoded(credential.rawId), type: credential.type, response,
      authenticatorAttachment: credential.authenticatorAttachment ?? null,
      clientExtensionResults: credProps ? { credProps } : {},
    });
    button.disabled = true;
    passkeyForm.submit();
  };

  const forget = () => {
    for (const notice of document.querySelectorAll("[role=alert]")) notice.remove();
    for (const field of document.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  };

  const tell = (sentence) => {
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.setAttribute("role", "alert");
    notice.textContent = sentence;
    document.querySelector("h1").after(notice);
  };

  const ask = async () => {
    button.disabled = true;
    forget();
    autofill?.abort();
    try {
      send(await navigator.credentials[data.passkey]({ publicKey: publicKey() }));
    } catch (error) {
      const isCancelled = ["NotAllowedError", "AbortError"].includes(error.name);
      tell(isCancelled ? data.cancelled : error.name === "InvalidStateError" ? data.exists : data.failed);
      button.disabled = false;
      offer();
    }
  };

  // Offers the passkeys in the autofill of the user name, if the browser can.
  const offer = async () => {
    if (!("autofill" in data) || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    autofill = new AbortController();
    try {
      send(await navigator.credentials.get({ publicKey: publicKey(), mediation: "conditional", signal: autofill.signal }));
    } catch {
      // The user signs in another way.
    }
  };

  if (window.PublicKeyCredential) {
    passkeyForm.hidden = false;
    passkeyForm.addEventListener("submit", (event) => {
      event.preventDefault();
      ask();
    });
    offer();
  } else if (data.unsupported) {
    tell(data.unsupported);
  }

  // A page that the browser kept contains a challenge that was used.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
