"use strict";

// Ctrl+K: go anywhere by a few letters of its name. The page's own tabs come first.
{
  let dialog, field, list, words, nothingAsked;

  function make() {
    const made = document.importNode(document.getElementById("commands").content, true);
    dialog = made.querySelector("dialog");
    field = made.querySelector("input");
    list = made.querySelector("ul");
    words = made.querySelector(".find-words span");
    nothingAsked = words.textContent;
    const tabs = [...document.querySelectorAll(".main nav.tabs a")];
    const known = new Set([...list.querySelectorAll("a")].map((each) => each.href));
    list.prepend(...tabs.filter((tab) => !known.has(tab.href)).map(link));
    field.addEventListener("input", narrowDown);
    // A click beside it closes it.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(made);
  }

  function link(tab) {
    const item = document.createElement("li");
    const made = document.createElement("a");
    made.href = tab.href;
    made.textContent = tab.textContent.trim();
    item.append(made);
    return item;
  }

  function narrowDown() {
    const asked = field.value.trim();
    const search = words.parentElement;
    for (const item of list.children) {
      const fits = item.textContent.toLowerCase().includes(asked.toLowerCase());
      item.hidden = !fits && item.firstChild !== search;
    }
    words.textContent = asked ? words.dataset.words.replace("{}", () => asked) : nothingAsked;
    search.search = asked ? String(new URLSearchParams({ q: asked })) : "";
  }

  const offered = () => [...list.querySelectorAll("li:not([hidden]) a")];

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

  document.addEventListener("keydown", (event) => {
    const arrow = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) turn();
    else if (dialog?.open && arrow) move(arrow);
    else if (event.key === "Enter" && field && event.target === field) offered()[0].click();
    else return;
    event.preventDefault();
  });
}
