// Places for all memories of a space: every cluster has a territory of its own, arranged by its own
// links, and those that are linked with each other lie side by side. Drawn as one, thousands of
// memories with links everywhere are a knot.

import { groupsOf } from "./clusters.js";
import { sunflower } from "./place.js";

const STEP = 1; // from one memory to the next, about
const BORDER = 1.1; // times its radius, and a step: what a territory keeps free around it
const OUTLIERS = 0.06; // of a cluster's memories, which its size does not go by
const ROUNDS = { most: 160, least: 40, work: 40_000 };
const TRIES = 4000;
const LARGE = 60; // areas that are looked at wherever they are
const PLAIN = 12; // memories or fewer: a sunflower is as good as forces

// Moves the nodes 0, 1, 2 … of `graph`. `clusters`: of each its number, -1 where it is linked with
// nothing; `known`: whether where they stand now is to be kept as far as it goes; `shape`: width
// and height of the picture; `forces`: what arranges a graph by its links (ForceAtlas2).
export function settleApart(graph, clusters, known, shape, forces) {
  const areas = groupsOf(clusters).map((nodes) => ({ nodes, radius: radiusOf(nodes.length) }));
  const owner = new Map(areas.flatMap((area) => area.nodes.map((node) => [node, area])));
  const links = share(graph, owner);
  for (const area of areas) arrangeWithin(graph, area, known, forces);
  pack(areas, links, known, Math.sqrt(shape.width / shape.height) || 1);
  for (const { nodes, spots, left, top } of areas) {
    nodes.forEach((node, at) => graph.mergeNodeAttributes(node, { x: left + spots[at][0], y: top + spots[at][1] }));
  }
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
  if (nodes.length > PLAIN && within.length) area.spots = byForces(graph, area, before, forces);
  else area.spots = known ? spread(before, area.radius) : before;
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
  for (const area of areas) area.room = BORDER * area.radius + STEP;
  const ground = new Ground(areas);
  for (const area of areas) {
    const [left, top] = known ? area.middle : wantedSpot(links.get(area));
    for (let at = 0; at < TRIES; at += 1) {
      const [aside, down] = sunflower(at, area.room * 0.25 * (1 + at / 200)); // finer near by
      Object.assign(area, { left: left + aside * wide, top: top + down / wide });
      if (ground.isFree(area)) break;
    }
    ground.take(area);
  }
}

// What is taken: of the many small areas only those near by are looked at.
class Ground {
  constructor(areas) {
    const rooms = areas.map(({ room }) => room).sort((a, b) => b - a);
    Object.assign(this, { side: 2 * rooms[Math.min(LARGE, rooms.length - 1)], large: [], cells: new Map() });
  }

  take(area) {
    const { large, cells } = this;
    if (2 * area.room > this.side) return large.push(area);
    const name = this.cell(area).join();
    return cells.has(name) ? cells.get(name).push(area) : cells.set(name, [area]);
  }

  cell({ left, top }) {
    return [Math.floor(left / this.side), Math.floor(top / this.side)];
  }

  isFree(area) {
    const apart = (other) => Math.hypot(area.left - other.left, area.top - other.top) >= area.room + other.room;
    if (!this.large.every(apart)) return false;
    const [column, row] = this.cell(area);
    const reach = Math.ceil((area.room + this.side / 2) / this.side);
    for (let aside = -reach; aside <= reach; aside += 1) {
      for (let down = -reach; down <= reach; down += 1) {
        if (!(this.cells.get(`${column + aside},${row + down}`) ?? []).every(apart)) return false;
      }
    }
    return true;
  }
}

function wantedSpot(linked) {
  const near = [...linked].filter(([area]) => area.left !== undefined);
  const total = near.reduce((sum, [, weight]) => sum + weight, 0);
  const mean = (side) => near.reduce((sum, [area, weight]) => sum + weight * area[side], 0) / total;
  return total ? [mean("left"), mean("top")] : [0, 0];
}
