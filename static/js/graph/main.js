// The link graph and the embedding map: data, picture, filters, the panel beside, and the address.

import "../../vendor/graphology/graphology.umd.min.js";
import "../../vendor/sigma/sigma.min.js";
import { graphOf, Picture, stage } from "./draw.js";
import { arrange, firstPlaces, forget, keep } from "./place.js";
import { namesOf } from "./naming.js";
import { onTheme } from "./theme.js";
import { walk } from "./trail.js";

const root = document.getElementById("graph");
const form = document.getElementById("graph-filters");
const panel = document.getElementById("about");
const box = root?.querySelector(".graph-canvas");
const layer = root?.querySelector(".graph-labels");
const state = root?.querySelector(".graph-state");
const trouble = root?.querySelector(".graph-trouble");
const words = root?.dataset; // what is said, in the reader's language
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let picture = null;
let ready = null; // the next picture's stage
let worker = null;
let data = null;

function asked() {
  const chosen = new FormData(form);
  return {
    kinds: new Set(chosen.getAll("kind")),
    links: new Set(chosen.getAll("link")),
    weight: Number(chosen.get("weight") ?? 0),
    words: (chosen.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean),
    colour: chosen.get("colour") ?? "kind",
  };
}

// The address says all that is chosen, and nothing that is usual.
function address() {
  const given = new URLSearchParams();
  for (const field of form.elements) {
    if (!field.name || (field.type === "checkbox" && (field.name !== "speakers" || !field.checked))) continue;
    const usual = field.tagName === "SELECT" ? (field.dataset.usual ?? field.options[0].value) : field.type === "range" ? field.min : "";
    if (field.value !== usual && Number(field.value) !== Number(usual || NaN)) given.append(field.name, field.value);
  }
  for (const name of ["kind", "link"]) {
    const boxes = [...form.querySelectorAll(`[name=${name}]`)];
    if (boxes.every((each) => each.checked === (each.dataset.usual === "on"))) continue;
    for (const each of boxes) if (each.checked) given.append(name, each.value);
  }
  const open = picture ? picture.view.open : new URLSearchParams(location.search).get("node");
  if (open) given.set("node", open);
  return given;
}

function remember() {
  const given = address().toString();
  history.replaceState(null, "", given ? `?${given}` : location.pathname);
  walk(document.querySelector("[data-trail]"), root.dataset.space, root.dataset.here, given);
}

function tell(said) {
  state.textContent = said;
}

function answered(status) {
  return words.answered.replace("{status}", status);
}

function fail(why) {
  trouble.hidden = false;
  trouble.querySelector("p").textContent = why;
  tell("");
}

// What the data depends on, of all that is chosen.
function source() {
  const wanted = address();
  const here = ["q", "colour", "node"]; // what the picture does by itself
  if (!wanted.has("around")) here.push("weight", "link");
  for (const name of here) wanted.delete(name);
  return `${root.dataset.url.split("?")[0]}?${wanted}`;
}

async function load(from = source()) {
  trouble.hidden = true;
  tell(words.loading);
  let answer;
  try {
    answer = await fetch(from);
  } catch {
    return fail(words.noAnswer);
  }
  if (!answer.ok || answer.redirected) return fail(answer.redirected ? words.signedOut : answered(answer.status));
  data = await answer.json();
  draw();
}

// The memories are drawn first. What takes as long again, their links, comes after that, and what
// takes longest, clusters and better places, is left to a worker.
function draw() {
  worker?.terminate();
  const first = data.placed ? null : reads() ? { places: firstPlaces("", data).places, reads: true } : firstPlaces(root.dataset.space, data);
  const graph = graphOf(data, first?.places, Math.min(box.clientWidth, box.clientHeight) || undefined);
  const open = picture ? picture.view.open : new URLSearchParams(location.search).get("node");
  picture?.end();
  if (!ready) box.replaceChildren();
  picture = new Picture(box, data, graph, { ...asked(), open: null, pointed: null }, ready ?? stage(box), layer);
  ready = null;
  root.picture = picture; // for those who measure it
  root.dataset.nodes = graph.order;
  const drawn = picture;
  requestAnimationFrame(() => setTimeout(() => picture === drawn && seen(first, open))); // painted
}

function seen(first, open) {
  performance.mark("graph-drawn");
  root.dataset.drawn = "yes";
  picture.join();
  performance.mark("graph-joined");
  listen();
  legend();
  count();
  if (open) choose(open, { look: true });
  if (first && picture.graph.order > 1) improve(first);
}

// Few enough that each is to have a name.
function reads() {
  return (form.elements.namedItem("most")?.value ?? "all") !== "all";
}

function improve({ known, places, reads }) {
  const { graph } = picture;
  const shape = { width: box.clientWidth, height: box.clientHeight };
  const how = reads ? "read" : known === graph.order ? "stay" : known ? "better" : "begin";
  if (how !== "stay") root.dataset.settled = "no";
  worker = arrange(data, places, how, shape, (said) => {
    if (said.clusters) {
      picture.group("cluster", said.clusters);
      picture.thinAcross();
      picture.labels.name(namesOf(data, said.clusters));
    }
    if (said.places) picture.move(said.places);
    if (!said.done || how === "stay") return;
    if (said.places && !reads) keep(root.dataset.space, graph);
    performance.mark("graph-settled");
    root.dataset.settled = "yes";
  });
}

function count() {
  const per = {};
  const { graph, view } = picture;
  let [memories, links] = [0, 0];
  graph.forEachNode((_, held) => {
    const kind = data.kinds[held.kind];
    per[kind] = (per[kind] ?? 0) + 1;
    if (picture.shows(held) && picture.found(held)) memories += 1;
  });
  graph.forEachEdge((_, held, from, to, one, other) => {
    per[held.kind] = (per[held.kind] ?? 0) + 1;
    if (picture.links(held) && picture.shows(one) && picture.shows(other)) links += 1;
  });
  drawnKinds(per);
  for (const each of form.querySelectorAll("[data-count]")) each.textContent = per[each.dataset.count]?.toLocaleString() ?? "";
  const name = `${memories === 1 ? "memory" : "memories"}${view.words.length ? "Found" : ""}`;
  const told = words[name].replace("{n}", memories.toLocaleString());
  const both = links === 1 ? words.andLink : words.andLinks;
  tell(data.placed ? told : both.replace("{memories}", told).replace("{n}", links.toLocaleString()));
  const foot = document.querySelector("[data-left-out]");
  if (foot) foot.textContent = data.left_out;
}

// The legend names what is in the picture, and nothing else.
function drawnKinds(per) {
  const list = document.querySelector("[data-legend]");
  if (!list) return;
  const { graph, view } = picture;
  for (const each of list.querySelectorAll("[data-kind]")) each.hidden = !per[each.dataset.kind] || !view.kinds.has(each.dataset.kind);
  for (const each of list.querySelectorAll("[data-strand]")) each.hidden = !per[each.dataset.strand] || !view.links.has(each.dataset.strand);
  list.querySelector("[data-past]").hidden = !graph.someNode((_, held) => held.past);
}

// What the colours of topics and tags stand for.
function legend() {
  const list = form.querySelector("[data-groups]");
  if (!list) return;
  const names = data.groups[picture.view.colour] ?? [];
  list.replaceChildren(...names.map((name, at) => {
    const [row, dot] = [document.createElement("li"), document.createElement("i")];
    dot.className = "dot";
    dot.style.background = `var(--plot-${at + 1})`;
    row.append(dot, name);
    return row;
  }));
}

function listen() {
  const { sigma, view } = picture;
  sigma.on("clickNode", ({ node }) => choose(node));
  sigma.on("clickStage", () => choose(null));
  sigma.on("enterNode", ({ node }) => {
    view.pointed = node;
    box.classList.add("over");
    picture.refresh();
  });
  sigma.on("leaveNode", () => {
    view.pointed = null;
    box.classList.remove("over");
    picture.refresh();
  });
}

function choose(node, { look = false } = {}) {
  const there = node && picture.graph.hasNode(node);
  picture.view.open = node || null;
  picture.view.pointed = null;
  picture.refresh();
  remember();
  if (there && look) picture.look(node);
  const where = node ? `${root.dataset.about}?node=${node}` : root.dataset.about;
  panel.classList.toggle("open", Boolean(node));
  picture.sigma.resize();
  picture.refresh();
  htmx.ajax("GET", where, { target: panel, swap: "innerHTML" });
}

// What a filter asks for may not be here: another kind, or anything where some was left out.
function change(field) {
  const loaded = new Set(picture?.data.nodes.map((row) => picture.data.kinds[row[1]]) ?? []);
  const missing = field.name === "kind" && (data.left_out || (field.checked && !loaded.has(field.value)));
  const around = form.elements.namedItem("around") && ["link", "weight", "kind"].includes(field.name);
  remember();
  if (!picture || ["depth", "most", "speakers"].includes(field.name) || missing || around) return load();
  Object.assign(picture.view, asked());
  picture.refresh();
  legend();
  count();
}

function go(event) {
  const { key } = event;
  if (!picture) return;
  if (ARROWS[key]) {
    const node = picture.next(...ARROWS[key]);
    if (node) {
      picture.view.pointed = node;
      picture.refresh();
      picture.look(node);
      tell(picture.graph.getNodeAttribute(node, "text"));
    }
  } else if (key === "Enter" && picture.view.pointed) choose(picture.view.pointed);
  else if (key === "Escape") choose(null);
  else if (key === "+" || key === "=") picture.zoom("in");
  else if (key === "-") picture.zoom("out");
  else if (key === "0") picture.zoom("all");
  else return;
  event.preventDefault();
}

function click(event) {
  const { target } = event;
  const zoom = target.closest("[data-zoom]");
  const near = target.closest("[data-node]");
  if (zoom) picture?.zoom(zoom.dataset.zoom);
  else if (target.closest("[data-close]")) {
    choose(null);
    box.focus();
  } else if (target.closest("[data-anew]")) {
    forget(root.dataset.space);
    draw();
  } else if (target.closest("[data-again]")) load();
  else if (near && picture?.graph.hasNode(near.dataset.node)) {
    event.preventDefault();
    choose(near.dataset.node, { look: true });
  }
}

function begin() {
  const usual = new Set((form.dataset.usual ?? "").split(" "));
  for (const each of form.querySelectorAll("[type=checkbox]")) each.dataset.usual = each.name === "link" || usual.has(each.value) ? "on" : "off";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(form.elements.namedItem("q"));
  });
  form.addEventListener("input", (event) => {
    if (event.target.type === "range") form.querySelector("output").textContent = Number(event.target.value).toFixed(2);
    if (["range", "search", "checkbox"].includes(event.target.type)) change(event.target);
  });
  form.addEventListener("change", (event) => {
    if (event.target.tagName !== "SELECT") return;
    event.stopPropagation();
    change(event.target);
  });
  box.addEventListener("keydown", go);
  root.addEventListener("click", click);
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.target !== panel) return;
    const gone = event.detail.xhr.status === 404;
    panel.textContent = gone ? words.gone : answered(event.detail.xhr.status);
  });
  onTheme(() => picture?.repaint());
  remember();
  load(root.dataset.url); // the page has asked for it already
  ready = stage(box);
}

if (root) begin();
