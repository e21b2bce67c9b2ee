"use strict";

// Ctrl+K: go anywhere by a few letters of its name, to a person or a memory by what it is about.
// The page's own tabs and buttons come first; what the hub finds is asked for once typing pauses.
{
  const PAUSE = 200;
  let dialog, field, list, words, status, nothingAsked;
  let waiting = 0;
  let asking = null;

  function make() {
    const made = document.importNode(document.getElementById("commands").content, true);
    dialog = made.querySelector("dialog");
    field = made.querySelector("input");
    list = made.querySelector("ul");
    status = made.querySelector("[role=status]");
    words = made.querySelector(".find-words span");
    nothingAsked = words.textContent;
    const near = [".main nav.tabs a", ".main nav.views a", ".main .deeds a"];
    const known = new Set([...list.querySelectorAll("a")].map((each) => each.href));
    const found = near.flatMap((place) => [...document.querySelectorAll(place)]);
    const own = found.filter((tab) => {
      if (known.has(tab.href)) return false;
      known.add(tab.href);
      return true;
    });
    list.querySelector("[data-group=here]").after(...own.map(link));
    field.addEventListener("input", () => {
      narrowDown();
      clearTimeout(waiting);
      waiting = setTimeout(find, PAUSE);
    });
    // A click beside it closes it. An action is a button of the frame: it is pressed.
    dialog.addEventListener("click", ({ target }) => {
      const { press } = target.closest("button")?.dataset ?? {};
      if (press || target === dialog) dialog.close();
      if (press) document.getElementById(press).click();
    });
    document.body.append(made);
  }

  function link(tab) {
    const item = document.createElement("li");
    const made = document.createElement("a");
    item.dataset.group = "here";
    made.href = tab.href;
    made.textContent = tab.textContent.trim();
    item.append(made);
    return item;
  }

  // The words of each entry must hold all that is typed, in any order.
  function fits(item, asked) {
    const entry = item.querySelector("a, button");
    const told = `${entry.textContent} ${entry.dataset.words ?? ""}`.toLowerCase();
    return asked.every((word) => told.includes(word));
  }

  function narrowDown() {
    const asked = field.value.trim();
    const parts = asked.toLowerCase().split(/\s+/);
    const search = words.parentElement;
    for (const item of list.querySelectorAll("li:not(.heading)")) {
      const stays = ["last", "found"].includes(item.dataset.group);
      item.hidden = !stays && !fits(item, parts);
    }
    if (!asked) list.querySelectorAll("[data-group=found]").forEach((item) => item.remove());
    headGroups();
    words.textContent = asked ? words.dataset.words.replace("{}", () => asked) : nothingAsked;
    search.search = asked ? String(new URLSearchParams({ q: asked })) : "";
  }

  function headGroups() {
    for (const heading of list.querySelectorAll(".heading:not([data-group=found])")) {
      const group = `li:not(.heading, [hidden])[data-group=${heading.dataset.group}]`;
      heading.hidden = !list.querySelector(group);
    }
  }

  async function find() {
    asking?.abort();
    const asked = field.value.trim();
    if (asked.length < 2) return;
    asking = new AbortController();
    const query = new URLSearchParams({ q: asked });
    const space = document.querySelector("[data-space]")?.dataset.space;
    if (space) query.set("space", space);
    try {
      const answer = await fetch(`${status.dataset.from}?${query}`, { signal: asking.signal });
      if (answer.ok && asked === field.value.trim()) showFound(await answer.text());
    } catch (error) {
      if (error.name !== "AbortError") showFound("");
    }
  }

  function showFound(part) {
    list.querySelectorAll("[data-group=found]").forEach((item) => item.remove());
    list.querySelector("[data-group=last]").insertAdjacentHTML("beforebegin", part);
    const count = list.querySelectorAll("[data-group=found] a").length;
    status.textContent = status.dataset.found.replace("{n}", count);
  }

  const offered = () => [...list.querySelectorAll("li:not([hidden]) :is(a, button)")];

  function move(by) {
    const links = offered();
    (links[links.indexOf(document.activeElement) + by] ?? field).focus();
  }

  function turn() {
    if (!dialog) make();
    if (dialog.open) return dialog.close();
    field.value = "";
    narrowDown();
    dialog.showModal();
  }

  const button = document.getElementById("open-commands");
  const keys = button?.querySelector("kbd");
  if (keys && navigator.userAgent.includes("Mac")) keys.textContent = keys.dataset.keysMac;
  button?.addEventListener("click", turn);

  document.addEventListener("keydown", (event) => {
    const arrow = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) turn();
    else if (dialog?.open && arrow) move(arrow);
    else if (event.key === "Enter" && field && event.target === field) offered()[0].click();
    else return;
    event.preventDefault();
  });
}
