"use strict";

// On a wide screen a memory made of a turn opens beside the timeline, so that the place is kept.
// Without this script, on a narrow screen or with a modifier key, its mark is a link to its page.
const panel = document.getElementById("beside");
const wide = matchMedia("(min-width: 1001px)");
let opener = null;

async function show(mark) {
  const asked = fetch(`${panel.dataset.about}?node=${mark.dataset.beside}`);
  const answer = await asked.catch(() => null);
  if (!answer?.ok || answer.redirected) {
    location.assign(mark.href);
    return;
  }
  panel.innerHTML = await answer.text();
  panel.hidden = false;
  panel.scrollTop = 0;
  opener = mark;
  panel.focus({ preventScroll: true });
}

function close() {
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
