/* The figures of a flame graph in words: of a box, of the whole, of a search. Pure: a tree's head (the server's answer without its nodes, its
 * unit the one that is shown) and nodes in, texts out. */
import { value, difference, percent, relative, count } from '../names/format.js';

/* What a box is worth. */
export function describe({ unit, total, of, is_diff: isDiff }, { node, rest }) {
  if (rest) return `${count(rest.count)} functions too narrow to draw: ${value(rest.value, unit)}, open them with Enter`;
  if (isDiff) return `${value(node.base, unit)} before, ${value(node.value, unit)} after: ${difference(node.value - node.base, unit)}${node.base ? ` (${relative(100 * (node.value - node.base) / node.base, 1)})` : ', new'}`;
  const share = of || total; // as in pprof: of the whole profile, before filters
  return `${value(node.value, unit)}, ${percent(node.value, share)}${node.self ? `; itself ${value(node.self, unit)}` : ''}${node.place ? `; ${node.place}` : ''}${node.isInlined ? '; inlined' : ''}`;
}

export function totalOf({ type, unit, total, base_total: before, is_diff: isDiff }) {
  return isDiff ? `${type}: ${value(before, unit)} before, ${value(total, unit)} after (${difference(total - before, unit)})` : `${type}: ${value(total, unit)}`;
}

/* What a search found: matches that are drawn, their sum, and how many there are with those that are too narrow. */
export function foundText({ unit, total, of, is_diff: isDiff }, matches, sum, isPartial, inAll = 0) {
  const all = Math.max(matches, inAll);
  const share = isDiff ? '' : ` (${percent(sum, of || total)})`, drawn = all > matches ? `, ${count(matches)} drawn` : '';
  return `${count(all)} ${all === 1 ? 'match' : 'matches'}${drawn}, ${isPartial ? 'at least ' : ''}${value(sum, unit)}${share}`;
}
