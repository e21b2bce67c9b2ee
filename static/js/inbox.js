"use strict";

// Keys of the inbox. Without this script every answer is a button, and all of it works.
const place = "inbox-place";
const cases = () => [...document.querySelectorAll("[data-case]")];

// The case that has the focus; the only one needs none.
function current() {
  const all = cases();
  return document.activeElement?.closest("[data-case]") ?? (all.length === 1 ? all[0] : null);
}

function show(found) {
  if (!found) return;
  found.focus({ preventScroll: true });
  found.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = cases();
  const at = all.indexOf(current());
  show(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]);
}

function answer(key) {
  const here = current();
  const button = here?.querySelector(`[data-key="${key}"]`);
  if (!button) return;
  // The next case takes this one's place in the list that comes back.
  sessionStorage.setItem(place, cases().indexOf(here));
  button.click();
}

function reword() {
  const form = current()?.querySelector("[data-reword]");
  if (!form) return;
  form.open = true;
  const field = form.querySelector("textarea");
  field.focus();
  field.select();
}

function choose() {
  const box = current()?.querySelector("input[name=ids]");
  box?.click();
}

function help() {
  const keys = document.querySelector("[data-keys]");
  if (!keys) return;
  keys.open = !keys.open;
  if (keys.open) keys.querySelector("summary").focus();
}

// The same by number, for hands that rest on the digits.
const digits = { 1: "a", 2: "b", 3: "r", 4: "e" };

const deeds = {
  j: () => step(1),
  k: () => step(-1),
  e: reword,
  x: choose,
  u: () => document.querySelector(".messages form button")?.click(),
  "?": help,
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
  const key = digits[event.key] ?? event.key;
  if ("abr".includes(key)) answer(key);
  else if (deeds[key]) deeds[key]();
  else return;
  event.preventDefault();
});

const left = sessionStorage.getItem(place);
if (left !== null) {
  sessionStorage.removeItem(place);
  const all = cases();
  show(all[Math.min(Number(left), all.length - 1)]);
}
