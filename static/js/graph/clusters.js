// Groups of closely linked memories. Nodes are called 0, 1, 2 …

// The same numbers each time, so that the same space looks and is coloured the same.
function seeded() {
  let state = 7;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

// The nodes of each cluster, the largest first; what is linked with nothing last.
export function groupsOf(clusters) {
  const groups = new Map();
  clusters.forEach((cluster, node) => {
    if (groups.has(cluster)) groups.get(cluster).push(node);
    else groups.set(cluster, [node]);
  });
  const rank = ([name]) => (name < 0 ? Infinity : name);
  return [...groups].sort((a, b) => rank(a) - rank(b)).map(([, nodes]) => nodes);
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
