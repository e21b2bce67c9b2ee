"use strict";

// Rows of a list that are chosen: how many, all at once, and no fresh list while any is.
{
  const boxes = () => [...document.querySelectorAll("input[name=ids]")];

  function count() {
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    const told = document.querySelector("[data-chosen]");
    if (told) told.textContent = chosen ? told.dataset.chosen.replace("{n}", chosen) : "";
    const every = document.querySelector("[data-choose-all]");
    if (every) every.checked = chosen > 0 && chosen === all.length;
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-choose-all]")) {
      for (const box of boxes()) box.checked = event.target.checked;
    }
    if (event.target.matches("[data-choose-all], input[name=ids]")) count();
  });

  document.addEventListener("htmx:beforeRequest", (event) => {
    const polled = event.detail.elt.id === "live";
    if (polled && boxes().some((box) => box.checked)) event.preventDefault();
  });
}
