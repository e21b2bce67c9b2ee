"use strict";

// A form says what the browser is to be asked for; the answer goes along as text.
async function askForPasskey(form) {
  const options = JSON.parse(form.dataset.options);
  const given =
    form.dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  form.elements.credential.value = JSON.stringify(given.toJSON());
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const refused = form.querySelector("[data-refused]");
    refused.hidden = true;
    askForPasskey(form).catch(() => (refused.hidden = false));
  });
  const able = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON);
  form.querySelector("[data-lacking]").hidden = able;
  form.querySelector("button").disabled = !able;
}
