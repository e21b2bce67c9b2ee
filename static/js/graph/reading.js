// Places for a few dozen memories that are to be read: each has room for its name, what is linked
// lies side by side, and every cluster has an area of its own with room for its name above it.

import { groupsOf } from "./clusters.js";

const ROOM = { width: 190, height: 32 }; // of a memory with its name, in pixels
const HEAD = 30; // of a cluster's name
const GAP = 34; // between clusters
const ROUNDS = 160;

// Of each node its place: [x, y], y upwards. `shape`: width and height of the picture in pixels.
export function readable(graph, clusters, shape) {
  const areas = groupsOf(clusters).map((nodes) => area(graph, nodes, shape));
  pack(areas, shape);
  const places = [];
  for (const { nodes, spots, left, top } of areas) {
    nodes.forEach((node, at) => {
      places[node] = [left + spots[at].x, -(top + HEAD + spots[at].y)];
    });
  }
  return places;
}

// One cluster from its own corner: linked ones pull, and boxes push each other away.
function area(graph, nodes, shape) {
  const columns = columnsOf(nodes.length, shape);
  const ordered = [...nodes].sort((a, b) => graph.degree(b) - graph.degree(a));
  const start = new Map(ordered.map((node, at) => [node, at]));
  const spots = nodes.map((node) => {
    const at = start.get(node);
    const row = Math.floor(at / columns);
    return { x: (at % columns) * ROOM.width + (row % 2) * ROOM.width * 0.3, y: row * ROOM.height };
  });
  const place = new Map(nodes.map((node, at) => [node, at]));
  const pairs = graph
    .mapEdges((_, __, source, target) => [place.get(Number(source)), place.get(Number(target))])
    .filter(([one, other]) => one !== undefined && other !== undefined);
  const most = { x: columns * ROOM.width, y: Math.ceil(nodes.length / columns) * ROOM.height * 1.4 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const pull = 0.06 * (1 - round / ROUNDS);
    for (const [one, other] of pairs) draw(spots[one], spots[other], pull);
    for (let one = 0; one < spots.length; one += 1) {
      for (let other = one + 1; other < spots.length; other += 1) push(spots[one], spots[other]);
    }
    for (const spot of spots) {
      spot.x = Math.min(most.x, Math.max(0, spot.x));
      spot.y = Math.min(most.y, Math.max(0, spot.y));
    }
  }
  const [left, top] = [Math.min(...spots.map(({ x }) => x)), Math.min(...spots.map(({ y }) => y))];
  for (const spot of spots) {
    spot.x -= left;
    spot.y -= top;
  }
  const width = Math.max(...spots.map(({ x }) => x)) + ROOM.width;
  const height = Math.max(...spots.map(({ y }) => y)) + ROOM.height + HEAD;
  return { nodes, spots, width, height };
}

// So many that the area is about as wide for its height as the picture.
function columnsOf(count, { width, height }) {
  const wide = Math.sqrt((count * ROOM.height * width) / (ROOM.width * height));
  return Math.max(1, Math.min(Math.round(wide), Math.floor(width / ROOM.width) || 1));
}

function draw(one, other, pull) {
  const [x, y] = [(other.x - one.x) * pull, (other.y - one.y) * pull];
  one.x += x;
  one.y += y;
  other.x -= x;
  other.y -= y;
}

// Apart by the shorter way, where they lie over each other.
function push(one, other) {
  const [x, y] = [other.x - one.x, other.y - one.y];
  const [aside, down] = [ROOM.width - Math.abs(x), ROOM.height - Math.abs(y)];
  if (aside <= 0 || down <= 0) return;
  if (down / ROOM.height <= aside / ROOM.width) {
    const by = (down / 2) * (y < 0 ? -1 : 1);
    one.y -= by;
    other.y += by;
  } else {
    const by = (aside / 2) * (x < 0 ? -1 : 1);
    one.x -= by;
    other.x += by;
  }
}

// Where each area goes: nearest to the middle where it lies over no other, in the picture's shape.
function pack(areas, { width, height }) {
  const put = [];
  for (const each of areas) {
    let best = null;
    for (const [left, top] of candidates(each, put)) {
      const apart = put.every((other) => left + each.width + GAP <= other.left || other.left + other.width + GAP <= left
        || top + each.height + GAP <= other.top || other.top + other.height + GAP <= top);
      if (!apart) continue;
      const all = [...put, { left, top, width: each.width, height: each.height }];
      const right = Math.max(...all.map((one) => one.left + one.width)) - Math.min(...all.map((one) => one.left));
      const down = Math.max(...all.map((one) => one.top + one.height)) - Math.min(...all.map((one) => one.top));
      const cost = Math.max(right / width, down / height) + 0.05 * (right / width + down / height);
      if (!best || cost < best.cost) best = { left, top, cost };
    }
    put.push(Object.assign(each, best));
  }
}

// Beside and below what is there already.
function candidates({ width, height }, put) {
  if (!put.length) return [[0, 0]];
  const found = [];
  for (const one of put) {
    const [right, under] = [one.left + one.width + GAP, one.top + one.height + GAP];
    const [before, above] = [one.left - width - GAP, one.top - height - GAP];
    for (const other of put) {
      found.push([right, other.top], [before, other.top], [other.left, under], [other.left, above]);
      found.push([right, other.top + other.height + GAP], [other.left + other.width + GAP, under]);
    }
  }
  return found;
}
