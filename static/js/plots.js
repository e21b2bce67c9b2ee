"use strict";

// Draws what the server wrote into data-plot, in the colours of the theme, and again when it turns.
// A plot is drawn when it comes near the screen, and plotly, which is large, is loaded with the first.

const source = document.currentScript.dataset.plotly;
const drawn = new Set();
let loading = null;

// Dates as the page's language writes them. Plotly itself speaks English.
const language = document.documentElement.lang;
const chinese = language.startsWith("zh");
const DAY_FORMAT = chinese ? "%-m月%-d日" : "%-d %b";

function list(count, day, asked) {
  const format = new Intl.DateTimeFormat(language, asked);
  return Array.from({ length: count }, (_, at) => format.format(day(at)));
}

function localOptions() {
  if (!chinese) return {};
  const [month, weekday] = [(at) => new Date(2026, at), (at) => new Date(2026, 1, 1 + at)]; // a Sunday
  const format = {
    months: list(12, month, { month: "long" }), shortMonths: list(12, month, { month: "short" }),
    days: list(7, weekday, { weekday: "long" }), shortDays: list(7, weekday, { weekday: "short" }),
    year: "%Y年", month: "%Y年%-m月", dayMonth: DAY_FORMAT, dayMonthYear: `%Y年${DAY_FORMAT}`,
  };
  return { locale: language, locales: { [language]: { dictionary: {}, format } } };
}

const probe = document.createElement("i");
probe.hidden = true;

function colour(token) {
  probe.style.color = `var(--${token})`;
  return getComputedStyle(probe).color;
}

function tone(at) {
  return colour(`plot-${(at % 10) + 1}`);
}

function toned(trace) {
  const at = trace.meta.tone;
  if (at === "scale") {
    return { ...trace, colorscale: [[0, colour("raised")], [1, colour("plot-full")]] };
  }
  const shade = tone(at);
  return {
    ...trace,
    line: { ...trace.line, color: shade },
    // A line around it, where it has one, parts it from its neighbour.
    marker: { ...trace.marker, color: shade, ...(trace.marker?.line && { line: { ...trace.marker.line, color: colour("surface") } }) },
    hoverlabel: { bgcolor: colour("surface"), bordercolor: shade, font: { color: colour("text") } },
  };
}

function axis(given) {
  return {
    automargin: true, fixedrange: true, zeroline: false,
    gridcolor: colour("line"), linecolor: colour("line"), tickcolor: colour("line"),
    ...given,
    ...(given?.type === "date" && given.tickformat && { tickformat: DAY_FORMAT }),
    title: { ...given?.title, font: { color: colour("muted"), size: 12 }, standoff: 8 },
  };
}

// Of a bar that begins somewhere, x says how long it is and not when.
function momentsOf({ x, base }) {
  const begun = (base ?? []).map((each) => new Date(each).getTime());
  return base ? begun.flatMap((at, n) => [at, at + x[n]]) : (x ?? []).map((each) => new Date(each).getTime());
}

// Of a few days the days are marked, not their hours, with room on either side.
const DAY = 86_400_000;
function fewDays(data, given) {
  if (given?.type !== "date") return given;
  const moments = data.flatMap(momentsOf).filter(Number.isFinite);
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  if (!moments.length || last - first > 5 * DAY) return given;
  return { ...given, range: [first - 2 * DAY, last + 2 * DAY], dtick: DAY, tickformat: DAY_FORMAT };
}

// Below the plot; of a low one above it, where it can't meet the title of the axis.
function legend(height) {
  return height < 240 ? { y: 1, yanchor: "bottom" } : { y: height > 500 ? -0.3 : -0.22, yanchor: "top" };
}

function layout(given, data) {
  return {
    ...given,
    autosize: true,
    margin: { l: 8, r: 24, t: 8, b: 8, pad: 4 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("text") },
    legend: { ...given.legend, ...legend(given.height), orientation: "h", font: { size: 12 } },
    xaxis: axis(fewDays(data, given.xaxis)), yaxis: axis(given.yaxis),
    ...(given.yaxis2 && { yaxis2: axis({ ...given.yaxis2, showgrid: false }) }),
  };
}

function figureOf(box) {
  const figure = JSON.parse(box.dataset.plot);
  if (figure.layout.showlegend && !figure.layout.legend && box.clientWidth < 500) figure.layout.height += 120;
  return figure;
}

// Plotly fills its box and makes none: what is below is kept off the plot, also before it is there.
function reserve(box, figure) {
  box.style.minHeight = `${figure.layout.height + 16}px`;
}

function draw(box) {
  const figure = figureOf(box);
  reserve(box, figure);
  const options = { responsive: true, displayModeBar: false, ...localOptions() };
  Plotly.react(box, figure.data.map(toned), layout(figure.layout, figure.data), options);
}

function drawAgain() {
  for (const box of drawn) draw(box);
}

function plotly() {
  loading ??= new Promise((loaded) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = loaded;
    document.head.append(script);
  });
  return loading;
}

const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    plotly().then(() => {
      drawn.add(target);
      draw(target);
    });
  }
}, { rootMargin: "300px" });

document.body.append(probe);
for (const box of document.querySelectorAll("[data-plot]")) {
  reserve(box, figureOf(box));
  near.observe(box);
}
new MutationObserver(drawAgain).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
