// Groups of closely linked memories, and a first arrangement by them. Nodes are called 0, 1, 2 …

import { sunflower } from "./place.js";

// The same numbers each time, so that the same space looks and is coloured the same.
function seeded() {
  let state = 7;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

// Of each node the number of its cluster, 0 the largest; -1 for those linked with nothing.
export function clustersOf(graph) {
  const { communitiesLouvain } = globalThis.graphologyLibrary;
  const found = graph.size ? communitiesLouvain(graph, { rng: seeded(), getEdgeWeight: null }) : {};
  const sizes = new Map();
  for (const node in found) if (graph.degree(node)) sizes.set(found[node], (sizes.get(found[node]) ?? 0) + 1);
  const ranks = new Map([...sizes].sort((a, b) => b[1] - a[1]).map(([name], rank) => [name, rank]));
  return graph.mapNodes((node) => (graph.degree(node) ? ranks.get(found[node]) : -1));
}

// Moves every cluster into a disc, the large ones in the middle, what is linked with nothing
// around them.
export function discs(graph, clusters) {
  const groups = new Map();
  clusters.forEach((cluster, node) => {
    if (groups.has(cluster)) groups.get(cluster).push(node);
    else groups.set(cluster, [node]);
  });
  const put = (node, x, y) => graph.mergeNodeAttributes(node, { x, y });
  let taken = 0;
  for (const cluster of [...groups.keys()].filter((name) => name >= 0).sort((a, b) => a - b)) {
    const nodes = groups.get(cluster).sort((a, b) => graph.degree(b) - graph.degree(a));
    const [left, top] = taken ? sunflower(taken + nodes.length / 2, 1.5) : [0, 0];
    nodes.forEach((node, at) => {
      const [x, y] = sunflower(at, 0.9);
      put(node, left + x, top + y);
    });
    taken += nodes.length;
  }
  (groups.get(-1) ?? []).forEach((node, at) => put(node, ...sunflower(taken * 1.3 + at, 1.5)));
}
