// The picture itself: Sigma over a graph, with what is dimmed, hidden or set off.

import { Labels } from "./labels.js";
import { css, groupTone, mixed, palette, STRANDS, still } from "./theme.js";

const { MultiUndirectedGraph } = globalThis.graphology;
const FULL_LINKS_UP_TO = 150; // memories

// The memories without their links. `places` in the order of the data, where its rows have none;
// `side`: of the square that they share, in pixels, so that thousands do not lie over each other.
export function graphOf(data, places, side = 450) {
  const graph = new MultiUndirectedGraph();
  const base = Math.max(1.2, Math.min(6, (0.075 * side) / Math.sqrt(data.nodes.length)));
  data.nodes.forEach(([id, kind, text, heat, past, left, top, segment = -1, tag = -1], at) => {
    const [x, y] = places?.[at] ?? [left, top];
    const size = base * (0.55 + 1.6 * heat);
    graph.addNode(id, { kind, text, heat, past, x, y, segment, tag, size, search: text.toLowerCase() });
  });
  return graph;
}

function joined(graph, data) {
  data.edges.forEach(([source, target, kind, weight, label], at) => {
    const name = data.links[kind];
    const { size, type = "line" } = STRANDS[name];
    const held = { kind: name, weight, type, size: size * (0.6 + 0.6 * weight), said: label };
    graph.addEdgeWithKey(at, data.nodes[source][0], data.nodes[target][0], held);
  });
  return graph;
}

// A Sigma with nothing in it yet: it takes about as long to make as to fill, and is made while the
// data is on its way.
export function stage(box) {
  return new globalThis.Sigma(new MultiUndirectedGraph(), box, { allowInvalidContainer: true });
}

// `view`: kinds and links shown, least weight, words searched, what is coloured by, and which
// memory is open or pointed at. Changing it and calling `refresh` is all there is to it.
export class Picture {
  constructor(box, data, graph, view, sigma, layer) {
    Object.assign(this, { data, graph, view, box, sigma });
    this.lit = null;
    this.paint();
    sigma.setSettings({
      nodeReducer: (node, held) => this.node(node, held),
      edgeReducer: (edge, held) => this.edge(edge, held),
      defaultDrawNodeHover: (context, held) => this.ringed(context, held),
      renderLabels: false,
      zIndex: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      stagePadding: 36,
      hideEdgesOnMove: data.edges.length > 4000,
    });
    sigma.setGraph(graph);
    this.labels = new Labels(layer, this);
  }

  paint() {
    this.colours = palette(this.data.kinds);
    this.faded = css(this.colours.faded);
    this.thin = css(this.colours.thin);
    this.tones = new Map();
  }

  // Thousands have few colours between them: each is mixed once.
  tone(held) {
    const { colours, tones, view } = this;
    const group = held[view.colour] ?? -1;
    const name = `${view.colour} ${group} ${held.past}`;
    if (!tones.has(name)) {
      const own = view.colour === "kind" ? colours.kinds[group] : groupTone(colours, group);
      tones.set(name, css(held.past ? mixed(own, colours.surface, 0.45) : own));
    }
    return tones.get(name);
  }

  shows(held) {
    const { view } = this;
    return view.kinds.has(this.data.kinds[held.kind]);
  }

  found(held) {
    return this.view.words.every((word) => held.search.includes(word));
  }

  links(held) {
    return this.view.links.has(held.kind) && held.weight >= this.view.weight;
  }

  // What is pointed at, else what is open, stands out with its neighbours.
  light() {
    const node = this.view.pointed ?? this.view.open;
    if (!node || !this.graph.hasNode(node)) return null;
    const near = new Set([node]);
    this.graph.forEachEdge(node, (_, held, source, target) => this.links(held) && near.add(source).add(target));
    return { node, near };
  }

  // Sigma hands a copy of what is held of each, which may be changed.
  node(node, held) {
    if (!this.shows(held)) return Object.assign(held, { hidden: true });
    const { lit } = this;
    const out = (lit && !lit.near.has(node)) || !this.found(held);
    if (out) return Object.assign(held, { color: this.faded, unnamed: true, zIndex: 0 });
    return Object.assign(held, { color: this.tone(held), unnamed: false, zIndex: 1, highlighted: lit?.node === node });
  }

  edge(edge, held) {
    const { colours, lit } = this;
    if (!this.links(held)) return Object.assign(held, { hidden: true });
    const near = lit && this.graph.hasExtremity(edge, lit.node);
    if ((lit && !near) || (!lit && held.across)) return Object.assign(held, { color: this.thin, size: 0.5, zIndex: 0 });
    return Object.assign(held, { color: colours.strands[held.kind], size: near ? held.size * 1.6 : held.size, zIndex: near ? 1 : 0 });
  }

  // A ring around what is pointed at; its name is among the labels.
  ringed(context, held) {
    context.strokeStyle = held.color;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(held.x, held.y, held.size + 3, 0, Math.PI * 2);
    context.stroke();
  }

  // The links, into a copy: of each that is put into a graph that is shown Sigma is told.
  join() {
    if (!this.data.edges.length) return;
    this.graph = joined(this.graph.copy(), this.data);
    this.sigma.setGraph(this.graph);
  }

  refresh() {
    this.lit = this.light();
    this.sigma.refresh({ skipIndexation: true });
  }

  repaint() {
    this.paint();
    this.refresh();
  }

  // New places, as x, y, x, y … in the order of the data.
  move(places) {
    let at = 0;
    this.graph.updateEachNodeAttributes(
      (_, held) => Object.assign(held, { x: places[at++], y: places[at++] }),
      { attributes: ["x", "y"] },
    );
  }

  // What group each belongs to, by which it can be coloured.
  group(name, numbers) {
    let at = 0;
    this.graph.updateEachNodeAttributes((_, held) => Object.assign(held, { [name]: numbers[at++] }), { attributes: [name] });
  }

  // Of many links only those within a cluster are drawn in full: the others would cover them.
  thinAcross() {
    if (this.graph.order <= FULL_LINKS_UP_TO) return;
    this.graph.updateEachEdgeAttributes(
      (_, held, from, to, one, other) => Object.assign(held, { across: one.cluster !== other.cluster }),
      { attributes: ["across"] },
    );
  }

  look(node, ratio) {
    const shown = this.sigma.getNodeDisplayData(node);
    const camera = this.sigma.getCamera();
    const to = { x: shown.x, y: shown.y, ratio: ratio ?? Math.min(camera.getState().ratio, 0.6) };
    if (still.matches) camera.setState(to);
    else camera.animate(to, { duration: 140 });
  }

  zoom(how) {
    const camera = this.sigma.getCamera();
    const options = { duration: still.matches ? 1 : 120 };
    if (how === "in") camera.animatedZoom(options);
    else if (how === "out") camera.animatedUnzoom(options);
    else camera.animatedReset(options);
  }

  // The nearest memory in a direction (dx, dy of the screen) from the one pointed at or open.
  next(dx, dy) {
    const from = this.view.pointed ?? this.view.open;
    const place = (node) => this.sigma.graphToViewport(this.graph.getNodeAttributes(node));
    const seen = this.graph.filterNodes((_, held) => this.shows(held) && this.found(held));
    if (!from || !this.graph.hasNode(from)) return seen[0];
    const start = place(from);
    let [best, least] = [null, Infinity];
    for (const node of seen) {
      if (node === from) continue;
      const at = place(node);
      const [right, down] = [at.x - start.x, at.y - start.y];
      const along = right * dx + down * dy;
      const aside = Math.abs(right * dy) + Math.abs(down * dx);
      if (along > 0 && aside <= along * 1.2 && along + aside < least) [best, least] = [node, along + aside];
    }
    return best;
  }

  end() {
    this.labels.end();
    this.sigma.kill();
  }
}
