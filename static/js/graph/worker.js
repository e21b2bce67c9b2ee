// ForceAtlas2 beside the page: gets links and first places, sends places back as they get better.

import "./no-document.js";
import "../../vendor/graphology/graphology.umd.min.js";
import "../../vendor/graphology/graphology-library.min.js";

const { MultiUndirectedGraph } = globalThis.graphology;
const forces = globalThis.graphologyLibrary.layoutForceAtlas2;
const MILLISECONDS = 12_000; // at most
const BETWEEN = 200; // from one picture to the next

function built({ ends, weights, places }) {
  const graph = new MultiUndirectedGraph();
  for (let at = 0; at < places.length; at += 2) graph.addNode(at / 2, { x: places[at], y: places[at + 1] });
  weights.forEach((weight, at) => graph.addEdge(ends[at * 2], ends[at * 2 + 1], { weight: 0.2 + weight }));
  return graph;
}

function placesOf(graph) {
  const places = new Float32Array(graph.order * 2);
  graph.forEachNode((node, { x, y }) => places.set([x, y], Number(node) * 2));
  return places;
}

function say(graph, done) {
  const places = placesOf(graph);
  postMessage({ places, done }, [places.buffer]);
}

onmessage = ({ data }) => {
  const graph = built(data);
  const settings = { ...forces.inferSettings(graph), barnesHutOptimize: graph.order > 600, edgeWeightInfluence: 1 };
  const rounds = graph.order > 1500 ? 300 : 500;
  const begun = performance.now();
  let told = begun;
  for (let round = 0; round < rounds && performance.now() - begun < MILLISECONDS; round += 10) {
    forces.assign(graph, { iterations: 10, settings });
    if (performance.now() - told > BETWEEN) {
      told = performance.now();
      say(graph, false);
    }
  }
  say(graph, true);
};
