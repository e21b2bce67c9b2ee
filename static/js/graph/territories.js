// Places for all memories of a space: every cluster has a territory of its own, arranged by its own
// links, and those that are linked with each other lie side by side. Drawn as one, thousands of
// memories with links everywhere are a knot.

import { sunflower } from "./place.js";

const STEP = 1; // from one memory to the next, about
const BORDER = 1.1; // times its radius, and a step: what a territory keeps free around it
const OUTLIERS = 0.06; // of a cluster's memories, which its size does not go by
const ROUNDS = { most: 160, least: 40, work: 40_000 };
const TRIES = 4000;
const PLAIN = 12; // memories or fewer: a sunflower is as good as forces

// Moves the nodes 0, 1, 2 … of `graph`. `clusters`: of each its number, -1 where it is linked with
// nothing; `known`: whether where they stand now is to be kept as far as it goes; `shape`: width
// and height of the picture; `forces`: what arranges a graph by its links (ForceAtlas2).
export function settleApart(graph, clusters, known, shape, forces) {
  const areas = group(clusters).map((nodes) => ({ nodes, radius: radiusOf(nodes.length) }));
  const owner = new Map(areas.flatMap((area) => area.nodes.map((node) => [node, area])));
  const links = share(graph, owner);
  for (const area of areas) arrangeWithin(graph, area, known, forces);
  pack(areas, links, known, Math.sqrt(shape.width / shape.height) || 1);
  for (const { nodes, spots, left, top } of areas) {
    nodes.forEach((node, at) => graph.mergeNodeAttributes(node, { x: left + spots[at][0], y: top + spots[at][1] }));
  }
}

// The largest first; what is linked with nothing last.
function group(clusters) {
  const groups = new Map();
  clusters.forEach((cluster, node) => {
    if (groups.has(cluster)) groups.get(cluster).push(node);
    else groups.set(cluster, [node]);
  });
  const rank = ([name]) => (name < 0 ? Infinity : name);
  return [...groups].sort((a, b) => rank(a) - rank(b)).map(([, nodes]) => nodes);
}

function radiusOf(count) {
  return STEP * Math.sqrt(count);
}

// Of each area the links within it, and how strongly any two are linked: by area, of the others.
function share(graph, owner) {
  const between = new Map([...new Set(owner.values())].map((area) => [area, new Map()]));
  for (const area of between.keys()) area.within = [];
  graph.forEachEdge((_, { weight }, source, target) => {
    const [one, other] = [owner.get(Number(source)), owner.get(Number(target))];
    if (one === other) one.within.push([source, target, weight]);
    else {
      between.get(one).set(other, (between.get(one).get(other) ?? 0) + weight);
      between.get(other).set(one, (between.get(other).get(one) ?? 0) + weight);
    }
  });
  return between;
}

// `spots`: where each of its nodes stands from its own middle, most of them within its radius.
function arrangeWithin(graph, area, known, forces) {
  const { nodes, within } = area;
  const places = nodes.map((node) => graph.getNodeAttributes(node)).map(({ x, y }) => [x, y]);
  area.middle = middleOf(places);
  const before = known ? places.map(([x, y]) => [x - area.middle[0], y - area.middle[1]]) : inRings(graph, nodes);
  area.spots = nodes.length > PLAIN && within.length ? byForces(graph, area, before, forces) : inRings(graph, nodes);
}

// What is linked most in the middle.
function inRings(graph, nodes) {
  const ranked = [...nodes].sort((a, b) => graph.degree(b) - graph.degree(a));
  const place = new Map(ranked.map((node, at) => [node, sunflower(at, STEP * 0.9)]));
  return nodes.map((node) => place.get(node));
}

function byForces(graph, { nodes, within, radius }, before, forces) {
  const own = new graph.constructor();
  nodes.forEach((node, at) => own.addNode(node, { x: before[at][0], y: before[at][1] }));
  for (const [source, target, weight] of within) own.addEdge(source, target, { weight });
  const settings = { ...forces.inferSettings(own), barnesHutOptimize: own.order > 600, edgeWeightInfluence: 1, gravity: 1 };
  const iterations = Math.round(Math.max(ROUNDS.least, Math.min(ROUNDS.most, ROUNDS.work / own.order)));
  forces.assign(own, { iterations, settings });
  const found = nodes.map((node) => own.getNodeAttributes(node)).map(({ x, y }) => [x, y]);
  return spread(found, radius);
}

// Evenly over the disc: near the middle stays near it, and each keeps its direction. Forces crowd
// the middle and throw what has one link far out.
function spread(places, radius) {
  const [left, top] = middleOf(places);
  const polar = places.map(([x, y], at) => ({ at, far: Math.hypot(x - left, y - top), turn: Math.atan2(y - top, x - left) }));
  const furthest = [...polar].sort((a, b) => a.far - b.far);
  const scale = furthest[Math.floor((1 - OUTLIERS) * (furthest.length - 1))].far || 1;
  const spots = [];
  furthest.forEach(({ at, far, turn }, rank) => {
    const even = Math.sqrt((rank + 0.5) / furthest.length);
    const share = 0.7 * even + 0.3 * Math.min(1, far / scale);
    spots[at] = [radius * share * Math.cos(turn), radius * share * Math.sin(turn)];
  });
  return spots;
}

function middleOf(places) {
  const sum = places.reduce(([x, y], [left, top]) => [x + left, y + top], [0, 0]);
  return [sum[0] / places.length, sum[1] / places.length];
}

// Each area where it lies over no other, nearest to those that it is linked with; where places are
// known, nearest to where it was. `wide`: how much wider than high the whole is to be.
function pack(areas, links, known, wide) {
  const put = [];
  for (const area of areas) {
    const [left, top] = known ? area.middle : wantedSpot(links.get(area), put);
    const room = BORDER * area.radius + STEP;
    const free = (x, y) => put.every((other) => Math.hypot(x - other.left, y - other.top) >= room + other.room);
    let spot = [left, top];
    for (let at = 0; at < TRIES; at += 1) {
      const [aside, down] = sunflower(at, room * 0.25);
      spot = [left + aside * wide, top + down / wide];
      if (free(...spot)) break;
    }
    Object.assign(area, { left: spot[0], top: spot[1], room });
    put.push(area);
  }
}

function wantedSpot(linked, put) {
  const near = put.filter((area) => linked.has(area));
  const total = near.reduce((sum, area) => sum + linked.get(area), 0);
  if (!total) return [0, 0];
  return [
    near.reduce((sum, area) => sum + linked.get(area) * area.left, 0) / total,
    near.reduce((sum, area) => sum + linked.get(area) * area.top, 0) / total,
  ];
}
