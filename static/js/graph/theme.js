// The colours of the theme, as numbers that can be mixed.

const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);

export function tone(token) {
  probe.style.color = `var(--${token})`;
  return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
}

export function css([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

export function mixed(one, other, share) {
  return one.map((part, at) => Math.round(part * share + other[at] * (1 - share)));
}

// How each kind of link is drawn: its token, how much of it, its width, and whether it points.
export const STRANDS = {
  link: { token: "note", share: 0.75, size: 1.6 },
  supersedes: { token: "bad", share: 0.9, size: 2.2, type: "arrow" },
  relation: { token: "entity", share: 0.8, size: 1.6, type: "arrow" },
  mentions: { token: "entity", share: 0.35, size: 0.8 },
  support: { token: "turn", share: 0.35, size: 0.8 },
  about: { token: "segment", share: 0.5, size: 0.8 },
};

const GROUPS = 10;

export function palette(kinds) {
  const surface = tone("surface");
  return {
    surface,
    text: tone("text"),
    muted: tone("muted"),
    line: tone("line-strong"),
    faded: mixed(tone("line-strong"), surface, 0.3),
    thin: mixed(tone("line-strong"), surface, 0.14),
    kinds: kinds.map((kind) => tone(kind)),
    groups: Array.from({ length: GROUPS }, (_, at) => tone(`plot-${at + 1}`)),
    strands: Object.fromEntries(
      Object.entries(STRANDS).map(([kind, { token, share }]) => [kind, css(mixed(tone(token), surface, share))]),
    ),
  };
}

// What belongs to no group, or to one of the many small ones, is grey.
export function groupTone(colours, at) {
  return at >= 0 && at < GROUPS ? colours.groups[at] : colours.line;
}

export const still = matchMedia("(prefers-reduced-motion: reduce)");

export function onTheme(react) {
  new MutationObserver(react).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", react);
}
