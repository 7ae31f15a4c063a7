/* The rows of a call tree that is opened here and there. Pure: a tree of tree.js and the open nodes in, rows out. */

/* Rows { node, level, isOpen, isMore } in the order in which they stand, the widest first below each: every child of an open node, and, where the server left
 * some out, one row for these (`isMore`, with the parent as its node). */
export function rowsOf(root, open) {
  const out = [], left = [{ node: root, level: 1, isMore: false }];
  while (left.length) {
    const row = left.pop(), isOpen = !row.isMore && open.has(row.node.id);
    out.push({ ...row, isOpen });
    if (!isOpen) continue;
    const { children, hiddenCount } = row.node;
    if (hiddenCount) left.push({ node: row.node, level: row.level + 1, isMore: true });
    for (let i = children.length - 1; i >= 0; i--) left.push({ node: children[i], level: row.level + 1, isMore: false });
  }
  return out;
}

export function canOpen(node) {
  return Boolean(node.children.length || node.hiddenCount);
}

/* The ids of a node and of all that calls it. */
export function pathIds(node) {
  const out = [];
  for (let at = node; at; at = at.parent) out.push(at.id);
  return out;
}

/* The node that does most itself. */
export function hottest(root) {
  const open = [root];
  let best = root;
  while (open.length) {
    const node = open.pop();
    if (node.parent && (best === root || node.self > best.self)) best = node;
    open.push(...node.children);
  }
  return best;
}
