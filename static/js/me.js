"use strict";

// What follows the # of a link is sent to no server: take it out of the address, hand it over once.
function handOver() {
  const form = document.getElementById("open");
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}

addEventListener("hashchange", handOver); // a link that is pasted over this very page
handOver();
