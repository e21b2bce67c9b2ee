// What a cluster is called: the people, places and things that most of it speaks of, else the
// keywords of its notes that others do not have.

const LEAST = 3; // memories of a cluster with a name
const MOST = 10; // clusters with a name

export function namesOf(data, clusters) {
  const groups = new Map();
  clusters.forEach((cluster, node) => {
    if (cluster >= 0 && cluster < MOST) groups.set(cluster, [...(groups.get(cluster) ?? []), node]);
  });
  const used = new Set();
  const found = [];
  for (const [, nodes] of [...groups].sort(([a], [b]) => a - b)) {
    if (nodes.length < LEAST) continue;
    const name = best(data, nodes, used);
    if (name) found.push({ name, nodes: nodes.map((node) => data.nodes[node][0]) });
  }
  return found;
}

function best(data, nodes, used) {
  const own = new Set(nodes);
  const points = new Map();
  const add = (term, by) => points.set(term, (points.get(term) ?? 0) + by);
  const entity = data.kinds.indexOf("entity");
  for (const [source, target] of data.edges) {
    if (!own.has(source) || !own.has(target)) continue;
    for (const end of [source, target]) if (data.nodes[end][1] === entity) add(data.nodes[end][2], 1);
  }
  for (const node of nodes) {
    for (const word of data.words?.[node] ?? []) add(word, 0.6);
  }
  const terms = [...points].sort((a, b) => b[1] - a[1]).map(([term]) => term);
  const fresh = terms.filter((term) => !used.has(term.toLowerCase())).slice(0, 2);
  const chosen = fresh.length > 1 && fresh[0].toLowerCase().includes(fresh[1].toLowerCase()) ? fresh.slice(0, 1) : fresh;
  for (const term of chosen) used.add(term.toLowerCase());
  return chosen.join(" · ");
}
