"use strict";

// The chat's answers as they come: server-sent events in the reply to the form, each a piece of
// HTML that the server rendered and escaped, or words that are put in as text.
{
  const places = { beforeend: "beforeend", afterbegin: "afterbegin" };

  function put([id, how, html]) {
    const target = document.getElementById(id);
    if (!target) return;
    const turns = document.getElementById("turns");
    if (how === "inner") target.innerHTML = html;
    else if (places[how]) target.insertAdjacentHTML(places[how], html);
    else target.outerHTML = html;
    const shown = how === "outer" ? document.getElementById(id) : target;
    if (shown) htmx.process(shown);
    if (turns.contains(shown)) turns.scrollTop = turns.scrollHeight;
  }

  function say([id, text]) {
    const words = document.getElementById(id);
    if (!words) return;
    words.append(text);
    const turns = document.getElementById("turns");
    turns.scrollTop = turns.scrollHeight;
  }

  function heard(form, block) {
    const lines = block.split("\n");
    const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
    if (!name || !data) return "";
    const told = JSON.parse(data);
    if (name === "word") say(told);
    if (name === "refused") put(told);
    if (name === "put") {
      told.forEach(put);
      accepted(form);
    }
    return name;
  }

  function accepted(form) {
    if (form.dataset.sent === "yes") return;
    form.dataset.sent = "yes";
    form.elements.once.value = crypto.randomUUID?.() || String(Math.random());
    // What was typed meanwhile stays.
    if (form.elements.text.value === form.dataset.typed) form.elements.text.value = "";
  }

  async function read(form, body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    let last = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return last;
      const blocks = (held + value).split("\n\n");
      held = blocks.pop();
      for (const block of blocks) last = heard(form, block) || last;
    }
  }

  function failed(words) {
    const item = document.createElement("li");
    item.className = "notice bad";
    const line = document.createElement("p");
    line.textContent = words;
    item.append(line);
    const list = document.createElement("ul");
    list.className = "messages";
    list.append(item);
    document.getElementById("alerts").replaceChildren(list);
    for (const live of document.querySelectorAll(".bubble.live")) {
      live.classList.remove("live");
      live.removeAttribute("aria-busy");
    }
  }

  async function send(form, button) {
    const sent = new FormData(form, button);
    form.dataset.sent = "no";
    if (sent.has("ask")) delete form.dataset.typed;
    else form.dataset.typed = form.elements.text.value;
    form.classList.add("busy");
    for (const each of form.querySelectorAll("button")) each.disabled = true;
    try {
      const headers = { Accept: "text/event-stream" };
      const answer = await fetch(form.action, { method: "POST", body: sent, headers });
      const streams = answer.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!streams) return failed(form.dataset.answered.replace("{status}", answer.status));
      const last = await read(form, answer.body);
      if (last !== "done" && last !== "refused") failed(form.dataset.broke);
    } catch {
      const stored = form.dataset.sent === "yes";
      failed(stored ? form.dataset.stored : form.dataset.unreached);
    } finally {
      form.classList.remove("busy");
      for (const each of form.querySelectorAll("button")) each.disabled = false;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-stream]");
    if (!form) return;
    event.preventDefault();
    if (!form.classList.contains("busy")) send(form, event.submitter);
  });
}
