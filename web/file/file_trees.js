/* Trees made of the trees that a file has. Pure: an answer of /api/tree in, another one out. */

/* True: nothing that has a value was too narrow to be sent, so that every sum over the nodes is that of all samples. */
export function isWhole(answer) {
  return !answer.nodes.hidden_value.some(Boolean);
}

class Made {
  constructor(answer) {
    this.answer = answer;
    this.isDiff = Boolean(answer.nodes.base);
    this.nodes = { id: [], parent: [], name: [], value: [], self: [], hidden_count: [], hidden_value: [], inlined: [], ...this.isDiff && { base: [], base_self: [] } };
    this.below = [];
    this.make(0, 0);
  }

  make(parent, name) {
    const { nodes } = this, at = nodes.id.length;
    nodes.id.push(at ? this.answer.root + at : this.answer.root);
    nodes.parent.push(parent);
    nodes.name.push(name);
    for (const key of Object.keys(nodes)) if (nodes[key].length <= at) nodes[key].push(key === 'inlined' && at ? 1 : 0);
    this.below.push(new Map());
    return at;
  }

  child(parent, name) {
    if (!this.below[parent].has(name)) this.below[parent].set(name, this.make(parent, name));
    return this.below[parent].get(name);
  }

  /* A node is inlined where all that it stands for are. */
  meet(at, node) {
    const { inlined } = this.answer.nodes;
    if (!inlined || !inlined[node]) this.nodes.inlined[at] = 0;
  }

  add(at, figures) {
    for (const [key, figure] of Object.entries(figures)) if (this.nodes[key]) this.nodes[key][at] += figure;
  }

  /* The stack that ends in a node, its leaf first. */
  addStack(node, value, base) {
    const { nodes } = this.answer;
    let at = 0;
    this.add(0, { value, base });
    for (let from = node; from; from = nodes.parent[from]) {
      at = this.child(at, nodes.name[from]);
      this.meet(at, from);
      this.add(at, { value, base });
    }
    this.add(at, { self: value, base_self: base });
  }

  get result() {
    return { ...this.answer, nodes: this.nodes, path: [] };
  }
}

/* The nodes that match and stand below none that matches: each stack counts once. */
function outermost({ names, nodes }, pattern) {
  const matches = names.map(name => pattern.test(name)), inside = new Array(nodes.name.length).fill(false), found = [];
  for (let i = 1; i < inside.length; i++) {
    const above = inside[nodes.parent[i]];
    inside[i] = above || matches[nodes.name[i]];
    if (inside[i] && !above) found.push(i);
  }
  return found;
}

/* Below the root the functions that match, and below these what calls them. */
export function callersOf(answer, pattern) {
  const made = new Made(answer), { value, base } = answer.nodes;
  for (const node of outermost(answer, pattern)) made.addStack(node, value[node], base ? base[node] : 0);
  return made.result;
}

/* Below the root the functions that match, and below these what they call. */
export function calleesOf(answer, pattern) {
  const made = new Made(answer), { parent, name, value, self, base, base_self } = answer.nodes, place = new Array(name.length).fill(-1), first = new Set(outermost(answer, pattern));
  for (let i = 1; i < place.length; i++) {
    const above = first.has(i) ? 0 : place[parent[i]], figures = { value: value[i], ...base && { base: base[i] } };
    if (above < 0) continue;
    if (first.has(i)) made.add(0, figures);
    place[i] = made.child(above, name[i]);
    made.meet(place[i], i);
    made.add(place[i], { ...figures, self: self[i], ...base_self && { base_self: base_self[i] } });
  }
  return made.result;
}

/* Leaf first: below the root each function with what it does itself, and below it what calls it. */
export function invertedOf(answer) {
  const made = new Made(answer), { self, base_self } = answer.nodes;
  for (let node = 1; node < self.length; node++) {
    const ownBase = base_self ? base_self[node] : 0;
    if (self[node] || ownBase) made.addStack(node, self[node], ownBase);
  }
  return made.result;
}
