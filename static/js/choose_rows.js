"use strict";

// One box above a list chooses all of its rows; what acts on them waits until some are chosen.
const list = document.getElementById("rows");

function rowBoxes() {
  return [...list.querySelectorAll('input[name="_selected_action"]')];
}

function update() {
  const chosen = rowBoxes().filter((box) => box.checked).length;
  for (const button of list.querySelectorAll("button[name=action]")) button.disabled = !chosen;
  const all = list.querySelector("[data-choose-all]");
  all.checked = chosen > 0 && chosen === rowBoxes().length;
  all.indeterminate = chosen > 0 && !all.checked;
}

if (list) {
  list.addEventListener("change", (event) => {
    if (event.target.matches("[data-choose-all]")) {
      for (const box of rowBoxes()) box.checked = event.target.checked;
    }
    update();
  });
  update();
}
