// Clusters (Louvain) and places (ForceAtlas2) beside the page: gets links and first places, says
// the clusters once, and sends places as they get better.

import "./no-document.js";
import "../../vendor/graphology/graphology.umd.min.js";
import "../../vendor/graphology/graphology-library.min.js";
import { clustersOf, discs } from "./clusters.js";
import { readable } from "./reading.js";

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

function say(graph, done) {
  const places = new Float32Array(graph.order * 2);
  graph.forEachNode((node, { x, y }) => places.set([x, y], Number(node) * 2));
  postMessage({ places, done }, [places.buffer]);
}

function settle(graph) {
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
}

function read(graph, clusters, shape) {
  readable(graph, clusters, shape).forEach(([x, y], node) => graph.mergeNodeAttributes(node, { x, y }));
  say(graph, true);
}

// `how`: "read" for a few that are to be read, "stay" where all places are known, "better" from those given, "begin" from clusters.
onmessage = ({ data }) => {
  const graph = built(data);
  const clusters = clustersOf(graph);
  postMessage({ clusters: Int32Array.from(clusters), done: data.how === "stay" });
  if (data.how === "stay") return;
  if (data.how === "read") {
    read(graph, clusters, data.shape);
    return;
  }
  if (data.how === "begin") {
    discs(graph, clusters);
    say(graph, false);
  }
  settle(graph);
};
