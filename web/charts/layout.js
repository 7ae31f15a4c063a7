/* Where the boxes of a flame graph stand. Pure: a tree and a width in, boxes out.
 *
 * The root is on top. The callers of the zoomed node stand above it, each as wide as the picture. A child narrower than NARROWEST joins the
 * other narrow ones in one box, `rest`, with what the server left out. In `upwards` order the rows grow up instead (callers in a
 * sandwich). */

export const ROW = 20;
const NARROWEST = 3;

/* Boxes { node, rest, x, width, row, isCaller } in the order of drawing. `zoomRest`: the picture shows only the rest below `zoom`. */
export function boxes(zoom, width, zoomRest = false) {
  const out = [], callers = [];
  for (let at = zoom.parent; at; at = at.parent) callers.unshift(at);
  callers.forEach((node, row) => out.push({ node, rest: null, x: 0, width, row, isCaller: true }));
  if (!zoomRest) {
    place(out, zoom, 0, width, callers.length);
    return out;
  }
  out.push({ node: zoom, rest: null, x: 0, width, row: callers.length, isCaller: true });
  const narrow = narrowest(zoom, width);
  spread(out, { node: zoom, children: narrow.children, total: narrow.width, hidden: zoom, x: 0, width, row: callers.length + 1 });
  return out;
}

/* The children of a node that have no box of their own when it is as wide as the picture. */
function narrowest(node, width) {
  const pixels = node.width ? width / node.width : 0;
  const children = node.children.filter(child => child.width * pixels < NARROWEST);
  return { children, width: Math.max(0, node.hiddenValue) + children.reduce((sum, child) => sum + child.width, 0) };
}

function place(out, node, x, width, row) {
  const open = [{ node, x, width, row }];
  while (open.length) {
    const at = open.pop();
    out.push({ node: at.node, rest: null, x: at.x, width: at.width, row: at.row, isCaller: false });
    spread(out, { node: at.node, children: at.node.children, total: at.node.width, hidden: at.node, x: at.x, width: at.width, row: at.row + 1 }, open);
  }
}

/* Puts the children of a node side by side, the narrow ones as one box. Without `open` their own children are placed too. */
function spread(out, from, open) {
  const pixels = from.total ? from.width / from.total : 0;
  const rest = { count: from.hidden.hiddenCount, value: from.hidden.hiddenValue };
  let x = from.x, restWidth = Math.max(0, from.hidden.hiddenValue) * pixels;
  for (const child of from.children) {
    const wide = child.width * pixels;
    if (wide >= NARROWEST) {
      if (open) open.push({ node: child, x, width: wide, row: from.row });
      else place(out, child, x, wide, from.row);
      x += wide;
    } else {
      rest.count++;
      rest.value += Math.max(child.value, child.base);
      restWidth += wide;
    }
  }
  if (rest.count && restWidth >= 1) out.push({ node: from.node, rest, x, width: restWidth, row: from.row, isCaller: false });
}

/* The number of rows that the boxes take. */
export function rows(list) {
  return list.reduce((most, box) => Math.max(most, box.row + 1), 0);
}

/* The boxes of each row from left to right, for `hit`. */
export function index(list) {
  const out = [];
  for (const box of list) (out[box.row] = out[box.row] || []).push(box);
  out.forEach(row => row.sort((a, b) => a.x - b.x));
  return out;
}

/* The box at a point of a row, or null. */
export function hit(byRow, row, x) {
  const list = byRow[row] || [];
  let low = 0, high = list.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1, box = list[middle];
    if (x < box.x) high = middle - 1;
    else if (x >= box.x + box.width) low = middle + 1;
    else return box;
  }
  return null;
}

/* Where a key leads from a box: up, down, left, right, first. */
export function step(byRow, list, box, direction) {
  if (direction === 'first' || !box) return list[0] || null;
  const row = byRow[box.row] || [];
  if (direction === 'left') return row[row.indexOf(box) - 1] || box;
  if (direction === 'right') return row[row.indexOf(box) + 1] || box;
  const middle = box.x + box.width / 2;
  if (direction === 'up') return hit(byRow, box.row - 1, middle) || box;
  const below = (byRow[box.row + 1] || []).filter(one => !box.rest && one.x >= box.x - 0.01 && one.x + one.width <= box.x + box.width + 0.01);
  return below.reduce((widest, one) => !widest || one.width > widest.width ? one : widest, null) || box;
}
