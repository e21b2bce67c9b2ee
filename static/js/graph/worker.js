// Clusters (Louvain) and places (ForceAtlas2 within each) beside the page: gets links and first
// places, says the clusters once, and then the places.

import "./no-document.js";
import "../../vendor/graphology/graphology.umd.min.js";
import "../../vendor/graphology/graphology-library.min.js";
import { clustersOf } from "./clusters.js";
import { readable } from "./reading.js";
import { settleApart } from "./territories.js";

const { MultiUndirectedGraph } = globalThis.graphology;
const forces = globalThis.graphologyLibrary.layoutForceAtlas2;

function built({ ends, weights, places }) {
  const graph = new MultiUndirectedGraph();
  for (let at = 0; at < places.length; at += 2) graph.addNode(at / 2, { x: places[at], y: places[at + 1] });
  weights.forEach((weight, at) => graph.addEdge(ends[at * 2], ends[at * 2 + 1], { weight: 0.2 + weight }));
  return graph;
}

function say(graph) {
  const places = new Float32Array(graph.order * 2);
  graph.forEachNode((node, { x, y }) => places.set([x, y], Number(node) * 2));
  postMessage({ places, done: true }, [places.buffer]);
}

function read(graph, clusters, shape) {
  readable(graph, clusters, shape).forEach(([x, y], node) => graph.mergeNodeAttributes(node, { x, y }));
}

// `how`: "read" for a few that are to be read, "stay" where all places are known, "better" from
// those given, "begin" from clusters.
onmessage = ({ data: { how, shape, ...given } }) => {
  const graph = built(given);
  const clusters = clustersOf(graph);
  postMessage({ clusters: Int32Array.from(clusters), done: how === "stay" });
  if (how === "stay") return;
  if (how === "read") read(graph, clusters, shape);
  else settleApart(graph, clusters, how === "better", shape, forces);
  say(graph);
};
