// Where memories stand: places kept from the last visit, a first place for the others, and the
// worker that betters them. Nothing here takes long: it is done before the first picture.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const SPACES_KEPT = 12;
const ROUGH = 1000; // places are kept as whole numbers of this scale

export function sunflower(at, step) {
  const radius = step * Math.sqrt(at + 0.5);
  return [radius * Math.cos(at * GOLDEN), radius * Math.sin(at * GOLDEN)];
}

const short = (id) => id.slice(-12);

function shelf() {
  try {
    return JSON.parse(localStorage.getItem("graph-places") ?? "[]");
  } catch {
    return [];
  }
}

export function forget(space) {
  localStorage.setItem("graph-places", JSON.stringify(shelf().filter(([name]) => name !== space)));
}

export function keep(space, graph) {
  const all = shelf();
  const found = all.find(([name]) => name === space)?.[1] ?? {};
  graph.forEachNode((node, { x, y }) => {
    found[short(node)] = [Math.round(x * ROUGH), Math.round(y * ROUGH)];
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

// A place for each memory, in the order of the data, and how many were known. The new ones stand
// beside one they are linked with; where nothing is known, the warmest are in the middle.
export function firstPlaces(space, { nodes, edges }) {
  const found = shelf().find(([name]) => name === space)?.[1] ?? {};
  const places = nodes.map(([id]) => found[short(id)]?.map((part) => part / ROUGH));
  const known = places.filter(Boolean).length;
  const beside = (one, other) => {
    if (places[one] || !places[other]) return;
    const [aside, down] = sunflower(one % 40, 0.4);
    places[one] = [places[other][0] + aside, places[other][1] + down];
  };
  if (known && known < nodes.length) {
    for (const [source, target] of edges) {
      beside(source, target);
      beside(target, source);
    }
  }
  return { known, places: nodes.map((_, at) => places[at] ?? sunflower(at, 1.5)) };
}

// Runs beside the page. `shape`: width and height of the picture. `heard` gets what the worker says: `clusters` (the number of each memory's),
// `places` as x, y, x, y …, and `done` with what it says last.
export function arrange({ edges }, places, how, shape, heard) {
  const ends = new Uint32Array(edges.length * 2);
  const weights = new Float32Array(edges.length);
  edges.forEach(([source, target, , weight], at) => {
    ends.set([source, target], at * 2);
    weights[at] = weight;
  });
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.done) worker.terminate();
    heard(data);
  };
  worker.onerror = () => heard({ done: true });
  const flat = Float32Array.from(places.flat());
  worker.postMessage({ ends, weights, places: flat, how, shape }, [ends.buffer, weights.buffer, flat.buffer]);
  return worker;
}
