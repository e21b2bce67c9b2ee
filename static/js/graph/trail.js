// Where one has been in the graph of a space, as links, the last one first on the right. Kept for
// this tab of the browser.

const MOST = 6;

function read(space) {
  try {
    return JSON.parse(sessionStorage.getItem(`graph-trail-${space}`) ?? "[]");
  } catch {
    return [];
  }
}

// Going back to a place on the trail cuts off what came after it.
export function walk(place, space, words, query) {
  if (!place || !words) return;
  const before = read(space);
  const known = before.findIndex((step) => step.words === words);
  const steps = [...(known < 0 ? before : before.slice(0, known)), { words, query }].slice(-MOST);
  sessionStorage.setItem(`graph-trail-${space}`, JSON.stringify(steps));
  place.hidden = steps.length < 2;
  place.replaceChildren(...steps.map((step, at) => {
    const link = document.createElement("a");
    link.href = `?${step.query}`;
    link.textContent = step.words.length > 40 ? `${step.words.slice(0, 39)}…` : step.words;
    if (at === steps.length - 1) link.setAttribute("aria-current", "page");
    return link;
  }));
}
