"use strict";

// On a wide screen a memory made of a turn opens beside the timeline, so that the place is kept.
// Without this script, on a narrow screen or with a modifier key, its mark is a link to its page.
const panel = document.getElementById("beside");
const wide = matchMedia("(min-width: 1001px)");
let opener = null;
// Answers come in any order: only that of the mark clicked last is shown.
let wanted = null;

// What is said of a memory; null where there is nothing to show.
async function read(mark) {
  try {
    const answer = await fetch(`${panel.dataset.about}?node=${mark.dataset.beside}`);
    return answer.ok && !answer.redirected ? await answer.text() : null;
  } catch {
    return null;
  }
}

async function show(mark) {
  wanted = mark;
  const said = await read(mark);
  if (wanted !== mark) return;
  if (said === null) {
    location.assign(mark.href);
    return;
  }
  panel.innerHTML = said;
  panel.hidden = false;
  panel.scrollTop = 0;
  opener = mark;
  panel.focus({ preventScroll: true });
}

function close() {
  wanted = null;
  if (panel.hidden) return;
  panel.hidden = true;
  opener?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const mark = event.target.closest("[data-beside]");
  const elsewhere = event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (mark && !elsewhere && wide.matches) {
    event.preventDefault();
    show(mark);
  } else if (event.target.closest("#beside [data-close]")) {
    close();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
