// Names in the picture, as text of the page: of clusters first, then of memories, the largest
// first. None lies over another, over a memory or outside: what has no room is not named until one
// comes closer.

const HEIGHT = 18;
const MOST = 60; // names at once
const MOST_OF_MANY = 18; // where memories lie close
const LOOKED_AT = 500; // memories tried for a name
const WIDEST = 160;
const PADDING = 4;
const MOST_GROUPS_OF_MANY = 24;
const OBSTACLES = 400; // with more memories in sight names may lie over dots

const ruler = document.createElement("canvas").getContext("2d");

// "Ana" begins no "Anabel". Chinese has no gaps between its words.
const OF_WORD = /(?!\p{Script=Han})[\p{L}\p{N}]/u;
function begins(text, name) {
  return text.startsWith(name) && !(OF_WORD.test(name.at(-1)) && OF_WORD.test(text.charAt(name.length)));
}

// A name that everything begins with says nothing: it is left out, with what ties it to the rest.
export function withoutName(text, names) {
  const name = names.filter((each) => begins(text, each)).sort((a, b) => b.length - a.length)[0];
  if (!name) return text;
  return text.slice(name.length).replace(/^\s*(['’]s(?!\p{L})|的|[:：])?\s*/u, "").trim() || text;
}

export class Labels {
  constructor(layer, picture) {
    Object.assign(this, { layer, picture, widths: new Map(), groups: [], shown: [] });
    // As the style sheet has them: what is measured otherwise lies over its neighbour.
    const style = getComputedStyle(document.body);
    const strong = style.getPropertyValue("--weight-3").trim();
    this.fonts = { memory: `12px ${style.fontFamily}`, cluster: `${strong} 12px ${style.fontFamily}` };
    this.hubs = picture.data.hubs ?? [];
    this.sort();
    this.listener = () => this.place();
    picture.sigma.on("afterRender", this.listener);
  }

  // Again when memories came: by size, which is their heat.
  sort() {
    const { graph } = this.picture;
    this.order = graph.nodes().sort((a, b) => graph.getNodeAttribute(b, "size") - graph.getNodeAttribute(a, "size"));
  }

  // `groups`: [{name, nodes}], whose names stand above them.
  name(groups) {
    this.groups = groups;
    this.picture.sigma.refresh({ skipIndexation: true });
  }

  width(text, kind) {
    const key = `${kind} ${text}`;
    if (!this.widths.has(key)) {
      ruler.font = this.fonts[kind];
      this.widths.set(key, Math.ceil(ruler.measureText(text).width) + 2 * PADDING);
    }
    return this.widths.get(key);
  }

  text(node) {
    return withoutName(this.picture.graph.getNodeAttribute(node, "text"), this.hubs);
  }

  // As much of a text as fits.
  cut(text, most) {
    if (this.width(text, "memory") <= most) return text;
    let [least, end] = [1, text.length];
    while (least < end) {
      const middle = Math.ceil((least + end) / 2);
      if (this.width(`${text.slice(0, middle).trim()}…`, "memory") <= most) least = middle;
      else end = middle - 1;
    }
    return `${text.slice(0, least).trim()}…`;
  }

  place() {
    const { picture, layer } = this;
    const { sigma, graph, lit } = picture;
    const box = { width: layer.clientWidth, height: layer.clientHeight };
    const taken = this.corners();
    const made = [];
    const free = (one) => one.left >= 2 && one.top >= 2 && one.left + one.width <= box.width - 2 && one.top + one.height <= box.height - 2
      && taken.every((other) => apart(one, other));
    const put = (one, name, kind, node) => {
      taken.push(one);
      made.push({ ...one, name, kind, node });
    };
    const seen = this.inSight(box);
    if (lit) {
      const at = seen.get(lit.node) ?? this.dot(lit.node);
      const name = this.cut(graph.getNodeAttribute(lit.node, "text"), Math.min(340, box.width - 40));
      const spot = spots(at, this.width(name, "memory") + 2 * PADDING + 2, 22).map((one) => within(one, box)).find(free);
      if (spot) put(spot, name, "named", lit.node);
    }
    const many = seen.size > OBSTACLES;
    layer.classList.toggle("many", many); // there a name has a ground of its own
    for (const { name, nodes } of lit ? [] : this.groups.slice(0, many ? MOST_GROUPS_OF_MANY : undefined)) {
      const dots = nodes.map((node) => seen.get(node)).filter(Boolean);
      if (dots.length < Math.min(2, nodes.length)) continue;
      const width = this.width(name, "cluster");
      const left = dots.reduce((sum, dot) => sum + dot.x, 0) / dots.length - width / 2;
      const top = Math.min(...dots.map((dot) => dot.y - dot.size)) - HEIGHT - 4;
      const spot = [0, -10, 10, -20, 20].map((by) => within({ left, top: top + by, width, height: HEIGHT }, box)).find(free);
      if (spot) put(spot, name, "cluster");
    }
    if (!many) for (const { x, y, size, node } of seen.values()) taken.push({ left: x - size, top: y - size, width: 2 * size, height: 2 * size, node });
    const most = many ? MOST_OF_MANY : MOST;
    let tried = 0;
    const widest = Math.min(WIDEST, box.width / 3);
    const said = new Set(); // a fact and the note of its words are named once, the larger
    const wanted = lit ? this.order.filter((node) => lit.near.has(node) && node !== lit.node) : this.order;
    for (const node of wanted) {
      const at = seen.get(node);
      if (!at) continue;
      if (tried++ > LOOKED_AT || made.length >= most) break;
      const text = this.text(node);
      const words = text.replace(/[.。]$/, "");
      if (said.has(words)) continue;
      const name = this.cut(text, widest);
      const own = taken.findIndex((one) => one.node === node);
      const dot = own >= 0 ? taken.splice(own, 1)[0] : null;
      const spot = spots(at, this.width(name, "memory"), HEIGHT).find(free);
      if (dot) taken.push(dot);
      if (!spot) continue;
      put(spot, name, "memory", node);
      said.add(words);
    }
    this.show(made);
  }

  dot(node) {
    const { sigma } = this.picture;
    const held = sigma.getNodeDisplayData(node);
    return { ...sigma.framedGraphToViewport(held), size: sigma.scaleSize(held.size), node };
  }

  inSight(box) {
    const { sigma, graph } = this.picture;
    const found = new Map();
    for (const node of graph.nodes()) {
      const held = sigma.getNodeDisplayData(node);
      if (!held || held.hidden || held.unnamed) continue;
      const { x, y } = sigma.framedGraphToViewport(held);
      if (x < 0 || y < 0 || x > box.width || y > box.height) continue;
      found.set(node, { x, y, size: sigma.scaleSize(held.size), node });
    }
    return found;
  }

  // What else lies over the picture.
  corners() {
    const base = this.layer.getBoundingClientRect();
    return [...this.layer.parentElement.querySelectorAll(".graph-tools, .graph-state")].map((each) => {
      const { left, top, width, height } = each.getBoundingClientRect();
      return { left: left - base.left, top: top - base.top, width, height };
    });
  }

  show(made) {
    const { layer } = this;
    while (layer.children.length > made.length) layer.lastChild.remove();
    while (layer.children.length < made.length) layer.append(document.createElement("span"));
    made.forEach(({ left, top, name, kind }, at) => {
      const one = layer.children[at];
      if (one.textContent !== name) one.textContent = name;
      one.className = kind;
      one.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    });
  }

  end() {
    this.picture.sigma.off("afterRender", this.listener);
    this.layer.replaceChildren();
  }
}

function apart(one, other) {
  return one.left + one.width <= other.left || other.left + other.width <= one.left
    || one.top + one.height <= other.top || other.top + other.height <= one.top;
}

// To its right, its left, above it, below it.
function spots({ x, y, size }, width, height) {
  return [
    { left: x + size + 2, top: y - height / 2 },
    { left: x - size - 2 - width, top: y - height / 2 },
    { left: x - width / 2, top: y - size - 1 - height },
    { left: x - width / 2, top: y + size + 1 },
  ].map((one) => ({ ...one, width, height }));
}

function within(one, box) {
  return {
    ...one,
    left: Math.min(Math.max(one.left, 2), Math.max(2, box.width - one.width - 2)),
    top: Math.min(Math.max(one.top, 2), box.height - one.height - 2),
  };
}
