// Where memories stand: kept places, a cheap first arrangement, and the worker that betters it.

const { communitiesLouvain } = globalThis.graphologyLibrary;
const SPACES_KEPT = 12;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const ROUGH = 1000; // places are kept as whole numbers of this scale

// The same numbers each time, so that the same space looks and is coloured the same.
function seeded() {
  let state = 7;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

// Of each memory the number of its cluster, 0 the largest; -1 for those linked with nothing.
export function clustersOf(graph) {
  const found = graph.size ? communitiesLouvain(graph, { rng: seeded(), getEdgeWeight: null }) : {};
  const sizes = new Map();
  for (const node in found) if (graph.degree(node)) sizes.set(found[node], (sizes.get(found[node]) ?? 0) + 1);
  const ranks = new Map([...sizes].sort((a, b) => b[1] - a[1]).map(([name], rank) => [name, rank]));
  return new Map(graph.mapNodes((node) => [node, ranks.get(found[node]) ?? -1]));
}

function sunflower(at, step) {
  const radius = step * Math.sqrt(at + 0.5);
  return [radius * Math.cos(at * GOLDEN), radius * Math.sin(at * GOLDEN)];
}

// Every cluster a disc, the large ones in the middle, what is linked with nothing around them.
export function discs(graph, clusters) {
  const groups = new Map();
  for (const [node, cluster] of clusters) groups.set(cluster, [...(groups.get(cluster) ?? []), node]);
  const places = new Map();
  let taken = 0;
  for (const cluster of [...groups.keys()].filter((name) => name >= 0).sort((a, b) => a - b)) {
    const nodes = groups.get(cluster);
    const [left, top] = sunflower(taken + nodes.length / 2, 1.5);
    const centre = taken ? [left, top] : [0, 0];
    nodes.sort((a, b) => graph.degree(b) - graph.degree(a));
    nodes.forEach((node, at) => {
      const [x, y] = sunflower(at, 0.9);
      places.set(node, [centre[0] + x, centre[1] + y]);
    });
    taken += nodes.length;
  }
  (groups.get(-1) ?? []).forEach((node, at) => places.set(node, sunflower(taken * 1.3 + at, 1.5)));
  return places;
}

function shelf() {
  try {
    return JSON.parse(localStorage.getItem("graph-places") ?? "[]");
  } catch {
    return [];
  }
}

// Places from the last visit, of those that are still there.
export function kept(space, graph) {
  const found = shelf().find(([name]) => name === space)?.[1] ?? {};
  const places = new Map();
  graph.forEachNode((node) => {
    const place = found[node.slice(-12)];
    if (place) places.set(node, place.map((part) => part / ROUGH));
  });
  return places;
}

export function keep(space, graph) {
  const all = shelf();
  const found = all.find(([name]) => name === space)?.[1] ?? {};
  graph.forEachNode((node, { x, y }) => {
    found[node.slice(-12)] = [Math.round(x * ROUGH), Math.round(y * ROUGH)];
  });
  let spaces = [[space, found], ...all.filter(([name]) => name !== space)].slice(0, SPACES_KEPT);
  while (spaces.length) {
    try {
      localStorage.setItem("graph-places", JSON.stringify(spaces));
      return;
    } catch {
      spaces = spaces.slice(0, -1); // no room: without the space seen longest ago
    }
  }
}

export function forget(space) {
  localStorage.setItem("graph-places", JSON.stringify(shelf().filter(([name]) => name !== space)));
}

// New ones stand beside a memory they are linked with.
export function fillIn(graph, places, fresh) {
  graph.forEachNode((node) => {
    if (places.has(node)) return;
    const known = graph.findNeighbor(node, (other) => places.has(other));
    const [x, y] = known ? places.get(known) : fresh.get(node);
    const [aside, down] = sunflower(places.size % 40, 0.4);
    places.set(node, [x + aside, y + down]);
  });
}

// Runs beside the page. `moved` gets the places as x, y, x, y …, `done` is told at the end.
export function arrange(graph, moved, done) {
  const names = graph.nodes();
  const at = new Map(names.map((node, place) => [node, place]));
  const ends = new Uint32Array(graph.size * 2);
  const weights = new Float32Array(graph.size);
  const places = new Float32Array(names.length * 2);
  names.forEach((node, place) => places.set([graph.getNodeAttribute(node, "x"), graph.getNodeAttribute(node, "y")], place * 2));
  graph.mapEdges((edge, data, source, target) => [at.get(source), at.get(target), data.weight]).forEach(([source, target, weight], place) => {
    ends.set([source, target], place * 2);
    weights[place] = weight;
  });
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    moved(names, data.places);
    if (data.done) {
      worker.terminate();
      done();
    }
  };
  worker.onerror = () => done();
  worker.postMessage({ ends, weights, places }, [ends.buffer, weights.buffer, places.buffer]);
  return worker;
}
