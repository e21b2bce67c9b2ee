"use strict";

const year = 60 * 60 * 24 * 365;

function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function turnTheme() {
  const theme = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=${year}; samesite=lax`;
}

function typing(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function seekByKey(event) {
  const field = document.getElementById("find");
  if (field && event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    field.focus();
    field.select();
  }
}

// A page that is served neither over https nor from localhost has no clipboard of its own.
function copySelected(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

async function copyFrom(button) {
  if (navigator.clipboard) await navigator.clipboard.writeText(button.dataset.copy);
  else copySelected(button.dataset.copy);
  button.focus();
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", document.documentElement.dataset.copied);
  button.classList.add("done");
  setTimeout(() => button.setAttribute("aria-label", label), 1500);
}

function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    const escaped = event.type === "keydown" && event.key === "Escape";
    // What is closed over the focus hands it back to what opened it.
    if (escaped && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (escaped || (event.type === "click" && !menu.contains(event.target))) menu.open = false;
  }
}

// A menu whose list would leave the screen on the right opens to the left.
function keepInView(menu) {
  const sheet = menu.querySelector(":scope > .sheet");
  if (!menu.open || !sheet) return;
  if (sheet.getBoundingClientRect().right > document.documentElement.clientWidth) menu.classList.add("right");
}

// In a row that slides, where one is may be out of sight.
function showCurrent() {
  for (const here of document.querySelectorAll(".tabs > [aria-current], .views > [aria-current]")) {
    const row = here.parentElement.getBoundingClientRect(), at = here.getBoundingClientRect();
    here.parentElement.scrollLeft += at.left + at.width / 2 - (row.left + row.width / 2);
  }
}

// Filters that would fill a narrow screen are folded there, and open everywhere else.
const narrow = matchMedia("(max-width: 1000px)");

function fold() {
  for (const part of document.querySelectorAll("details[data-fold]")) part.open = !narrow.matches;
}

function showLatest() {
  const turns = document.getElementById("turns");
  if (turns) turns.scrollTop = turns.scrollHeight;
}

document.addEventListener("click", (event) => {
  closeMenus(event);
  const button = event.target.closest("button");
  if (!button) return;
  if (button.id === "theme") turnTheme();
  if (button.dataset.copy) copyFrom(button);
  if ("print" in button.dataset) window.print();
});

// Heard on the way down: this event doesn't bubble.
document.addEventListener("toggle", (event) => {
  if (event.target.matches("details.menu")) keepInView(event.target);
}, true);

document.addEventListener("keydown", (event) => {
  closeMenus(event);
  seekByKey(event);
  const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing;
  if (sends && event.target.matches(".say textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

// Choosing a filter applies it; without this script the form has a button.
document.addEventListener("change", (event) => {
  const filter = event.target.matches(".filters select, .filters input[type=date], .moment select");
  if (filter) event.target.form.requestSubmit();
});

document.documentElement.classList.add("scripted");
narrow.addEventListener("change", fold);
fold();
showLatest();
showCurrent();

// The slider writes the time beside it, in the space's zone, and shows it once it is let go. With
// the keyboard every step is a change, so those wait for a pause; the focus comes back after it.
{
  const slider = document.querySelector(".moment input[type=range]");
  let waiting = 0;

  function writeTime() {
    const parts = { dateStyle: "short", timeStyle: "medium", timeZone: slider.form.dataset.zone };
    const written = new Intl.DateTimeFormat("sv-SE", parts).format(Number(slider.value) * 1000);
    slider.form.elements.as_of.value = written.replace(" ", "T");
    slider.setAttribute("aria-valuetext", written);
  }

  if (slider) {
    slider.addEventListener("input", writeTime);
    slider.addEventListener("change", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        sessionStorage.setItem("slid", "yes");
        slider.form.requestSubmit();
      }, 500);
    });
    if (sessionStorage.getItem("slid")) slider.focus();
    sessionStorage.removeItem("slid");
  }
}

