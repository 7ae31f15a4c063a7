/* A plain layered layout of a call graph, for servers without graphviz. Pure: nodes and edges in, boxes and lines out.
 *
 * A node stands one row below the lowest of its callers; calls that close a cycle do not count. Within a row, nodes stand below the middle
 * of their callers. */

export const BOX = { width: 190, height: 46, gapX: 26, gapY: 54 };

/* nodes: [{ name, flat, cum }], edges: [{ from, to, weight }] with indices. Returns { boxes: [{ node, x, y }], width, height }. */
export function layered(nodes, edges) {
  const level = levels(nodes.length, edges), rows = [];
  nodes.forEach((node, i) => (rows[level[i]] = rows[level[i]] || []).push(i));
  const callers = nodes.map(() => []), x = new Array(nodes.length).fill(0);
  for (const edge of edges) if (level[edge.from] < level[edge.to]) callers[edge.to].push(edge.from);
  const widest = Math.max(...rows.map(row => row.length), 1), step = BOX.width + BOX.gapX, full = widest * step;
  for (const row of rows) {
    const wish = i => callers[i].length ? callers[i].reduce((sum, from) => sum + x[from], 0) / callers[i].length : 0;
    const order = [...row].sort((a, b) => wish(a) - wish(b) || nodes[b].cum - nodes[a].cum), left = (full - order.length * step) / 2;
    order.forEach((i, at) => { x[i] = left + at * step; });
  }
  return {
    boxes: nodes.map((node, i) => ({ node, x: x[i] + BOX.gapX / 2, y: level[i] * (BOX.height + BOX.gapY) + 10 })), width: full,
    height: rows.length * (BOX.height + BOX.gapY),
  };
}

/* The longest way from a root to each node; edges back to a node on the way are left out. */
function levels(size, edges) {
  const below = Array.from({ length: size }, () => []), level = new Array(size).fill(0), state = new Array(size).fill(0), order = [];
  edges.forEach(edge => edge.from !== edge.to && below[edge.from].push(edge.to));
  const hasCaller = new Set(edges.filter(edge => edge.from !== edge.to).map(edge => edge.to));
  const starts = [...Array.from({ length: size }, (unused, i) => i).filter(i => !hasCaller.has(i)), ...Array.from({ length: size }, (unused, i) => i)];
  const forward = [];
  for (const start of starts) {
    const open = state[start] ? [] : [[start, 0]];
    if (open.length) state[start] = 1;
    while (open.length) {
      const top = open[open.length - 1], next = below[top[0]][top[1]++];
      if (next === undefined) {
        state[top[0]] = 2;
        order.unshift(top[0]);
        open.pop();
      } else {
        if (state[next] !== 1) forward.push([top[0], next]);
        if (!state[next]) {
          state[next] = 1;
          open.push([next, 0]);
        }
      }
    }
  }
  const after = Array.from({ length: size }, () => []);
  forward.forEach(([from, to]) => after[from].push(to));
  for (const node of order) for (const to of after[node]) level[to] = Math.max(level[to], level[node] + 1);
  return level;
}
