/* A tree of stacks in memory. Pure: the server's answer in, nodes out.
 *
 * A node has a name and the place of its first frame, `value` and, of the base, `base` with all that is below it, its own part `self`, and
 * what the server left out below it because it is too narrow: `hiddenCount` children of together `hiddenValue`. `isInlined`: each of its calls was
 * compiled into the caller. Its `id` depends on nothing but the names on its path. `width` is what decides the width of its box, in the unit of the values. */

/* A name that many nodes share, with the module that its code is in and whose code that is (`origin`: own, library, runtime, libc, kernel, unknown), and
 * with what a search found out about it: `stamp` is the number of that search. */
function word(name, module = '', origin = 'unknown') {
  return { name, module, origin, lower: '', stamp: 0, isMatch: false };
}

function make(id, of, place, parent) {
  return { id, word: of, name: of.name, place, parent, children: [], depth: parent ? parent.depth + 1 : 0, value: 0, base: 0, self: 0, hiddenCount: 0,
    hiddenValue: 0, width: 0, folded: 0, isChanged: false, isInlined: false };
}

function widestFirst(a, b) {
  return b.width - a.width || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/* Parents before their children. */
function inOrder(root) {
  const order = [root];
  for (let i = 0; i < order.length; i++) for (const child of order[i].children) order.push(child);
  return order;
}

/* A box is as wide as the larger of its two sides, and as wide as what stands below it: of a difference, callees that are gone and callees
 * that are new may need more room together than either side of their caller. */
function measure(root) {
  const order = inOrder(root);
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    const below = node.children.reduce((sum, child) => sum + child.width, Math.max(0, node.hiddenValue));
    node.width = Math.max(node.value, node.base, below, 0);
    node.children.sort(widestFirst);
  }
  return root;
}

/* The nodes of an answer of /api/tree; the first is the root that was asked for. */
export function decode(answer) {
  const { names, places, nodes, origins, modules, module } = answer, all = new Array(nodes.name.length);
  const words = names.map((name, i) => word(name, modules && modules[module[i]], origins && origins[i]));
  for (let i = 0; i < all.length; i++) {
    const name = nodes.name[i], parent = i ? all[nodes.parent[i]] : null;
    const node = make(String(nodes.id[i]), words[name], places ? places[name] : '', parent);
    node.value = nodes.value[i];
    node.self = nodes.self[i];
    node.base = nodes.base ? nodes.base[i] : 0;
    node.isInlined = Boolean(nodes.inlined && nodes.inlined[i]);
    node.hiddenCount = nodes.hidden_count[i];
    node.hiddenValue = nodes.hidden_value[i];
    if (parent) parent.children.push(node);
    all[i] = node;
  }
  return measure(all[0]);
}

export function find(root, id) {
  const open = [root];
  while (open.length) {
    const node = open.pop();
    if (node.id === id) return node;
    open.push(...node.children);
  }
  return null;
}

/* Puts the finer answer for a node in the place of what was known below it, and returns the root of the whole. */
export function graft(root, finer) {
  const place = find(root, finer.id);
  if (!place || place === root) return place ? finer : root;
  finer.parent = place.parent;
  place.parent.children[place.parent.children.indexOf(place)] = finer;
  for (const node of inOrder(finer)) node.depth = node.parent.depth + 1;
  return root;
}

/* The child of a node that a step of an answer's `path` names; made, with the figures of that step, if it was too narrow to be sent. */
export function child(parent, step) {
  const found = parent.children.find(one => one.id === String(step.id));
  if (found) return found;
  const made = make(String(step.id), word(step.name), '', parent);
  made.value = step.value;
  made.self = step.self;
  made.base = step.base || 0;
  reveal(parent, made);
  return made;
}

/* What is shown of a node now is no longer hidden in its parent. */
function reveal(parent, node) {
  const size = Math.max(node.value, node.base);
  parent.children.push(node);
  parent.hiddenCount = Math.max(0, parent.hiddenCount - 1);
  parent.hiddenValue = Math.max(0, parent.hiddenValue - size);
}

/* Hangs a finer answer below a node that had been made by `child`, and returns the root of the whole. */
export function attach(root, parent, finer) {
  finer.parent = parent;
  reveal(parent, finer);
  for (const node of inOrder(finer)) node.depth = node.parent.depth + 1;
  return measure(root);
}

/* The nodes from the root down to this one. */
export function path(node) {
  const out = [];
  for (let at = node; at; at = at.parent) out.unshift(at);
  return out;
}

/* A stack as text, root first, in folded form. */
export function stackText(node) {
  return path(node).filter(at => at.parent).map(at => at.name).join(';');
}

/* The same tree without recursion: a function that is on its own path already is the one that stands there. */
export function fold(root) {
  const made = make(root.id, root.word, root.place, null), open = [[root, made]];
  while (open.length) {
    const [from, into] = open.pop();
    const below = from.children.reduce((sum, child) => [sum[0] + child.value, sum[1] + child.base], [0, 0]);
    into.self += from.self;
    into.hiddenCount += from.hiddenCount;
    into.hiddenValue += from.hiddenValue;
    into.value += from.value - below[0]; // what is not below a child that is known
    into.base += from.base - below[1];
    for (const child of from.children) open.push([child, placeOf(into, child)]);
  }
  const order = inOrder(made);
  for (let i = order.length - 1; i > 0; i--) {
    order[i].parent.value += order[i].value;
    order[i].parent.base += order[i].base;
  }
  return measure(made);
}

/* The node of the folded tree that stands for a child below `into`. */
function placeOf(into, child) {
  for (let at = into; at.parent; at = at.parent) {
    if (at.name === child.name) {
      at.folded++;
      at.isChanged = at.isChanged || child.isChanged;
      return at;
    }
  }
  let found = into.children.find(one => one.name === child.name);
  if (!found) {
    into.children.push(found = make(child.id, child.word, child.place, into));
    found.isInlined = true;
  }
  found.isInlined = found.isInlined && child.isInlined;
  found.isChanged = found.isChanged || child.isChanged;
  return found;
}

/* Marks the functions in `names` and all their callers as changed; with `isWhole`, that the whole changed, what all of it goes through too. */
export function markChanged(roots, names, isWhole = false) {
  for (const root of roots) {
    const order = inOrder(root);
    for (let i = order.length - 1; i >= 0; i--) order[i].isChanged = names.has(order[i].name) || order[i].children.some(one => one.isChanged);
    for (let node = isWhole && root; node; node = node.children.find(one => one.value === root.value && one.base === root.base)) node.isChanged = true;
  }
}

/* What a search finds below `root`: the matching nodes in the order in which they are drawn, and their sum, in which a match below
 * another counts once. `isPartial`: something was too narrow to be sent, so that the sum may be larger. */
export function search(root, pattern) {
  const matches = [], open = [root], insides = [false], stamp = ++searches;
  let sum = 0, base = 0, isPartial = false;
  while (open.length) {
    const node = open.pop(), inside = insides.pop(), isMatch = Boolean(node.parent) && matchesWord(node.word, pattern, stamp);
    if (isMatch) {
      matches.push(node);
      if (!inside) {
        sum += node.value;
        base += node.base;
      }
    }
    if (node.hiddenCount && !inside && !isMatch) isPartial = true;
    for (let i = node.children.length - 1; i >= 0; i--) {
      open.push(node.children[i]);
      insides.push(inside || isMatch);
    }
  }
  return { matches, sum, base, isPartial };
}

let searches = 0;

/* Each name is tried once in a search; a text without signs of a regular expression is found faster without one. */
function matchesWord(of, pattern, stamp) {
  if (of.stamp === stamp) return of.isMatch;
  of.stamp = stamp;
  if (pattern.literal) {
    if (!of.lower) of.lower = of.name.toLowerCase();
    of.isMatch = of.lower.includes(pattern.literal);
  } else of.isMatch = pattern.test(of.name);
  return of.isMatch;
}

/* A text as a pattern, without regard to case; what is no regular expression is searched as it stands. */
export function patternOf(textOf) {
  if (!textOf) return null;
  try {
    const pattern = new RegExp(textOf, 'iu');
    if (/^[\w :;,~@%&!"'<>=/#-]+$/.test(textOf)) pattern.literal = textOf.toLowerCase();
    return pattern;
  } catch {
    return new RegExp(textOf.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  }
}

/* A call counts once a stack, however deep the recursion. */
function isFirstCall(node) {
  for (let at = node.parent; at.parent; at = at.parent) if (at.name === node.name && at.parent.name === node.parent.name) return false;
  return true;
}

/* What a tree says of one function, as the server's answer for report=peek does: itself, with callees, and the sums of the calls to it and from it. Of a tree
 * from the leaves the children are the callers. `isPartial`: something was too narrow to be sent, so that there may be more. */
export function around(root, name, isInverted) {
  const self = { function: name, flat: 0, cum: 0 }, places = new Map([[name, 0]]), nodes = [self], edges = new Map();
  const place = of => places.get(of) ?? (places.set(of, nodes.length), nodes.push({ function: of }) - 1);
  let isPartial = root.hiddenCount > 0;
  const open = root.children.map(child => [child, false]);
  while (open.length) {
    const [node, inside] = open.pop(), { parent } = node, isOne = node.name === name;
    if (node.hiddenCount) isPartial = true;
    if (isOne) {
      self.flat += !isInverted ? node.self : parent.parent ? 0 : node.value;
      if (!inside) self.cum += node.value;
    }
    if (parent.parent && (isOne || parent.name === name) && isFirstCall(node)) {
      const ends = [place(parent.name), place(node.name)], [from, to] = isInverted ? ends.reverse() : ends, key = `${from} ${to}`;
      if (!edges.has(key)) edges.set(key, { from, to, weight: 0, inline: node.isInlined });
      edges.get(key).weight += node.value;
    }
    for (const child of node.children) open.push([child, inside || isOne]);
  }
  return { nodes, edges: [...edges.values()], isPartial };
}
