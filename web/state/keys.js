/* What the keys do. Pure: a key's event in, the name of an action out. The browser's own keys (with Control, Alt or Meta) are left alone. */

const COMMON = [
  ['/', 'search', 'search in this page'],
  ['?', 'help', 'show these keys'],
  ['Escape', 'escape', 'back out: close, clear the search, zoom out'],
  ['g', 'go', 'then a letter: go to a page'],
  ['e', 'refine', 'filters: focus, ignore, hide, tags, granularity'],
  ['t', 'theme', 'light, dark, as the system'],
];

const FLAME = [
  ['Enter', 'enter', 'zoom into the box; after a search, the next match'],
  ['Shift+Enter', 'previous', 'previous match'],
  ['ArrowUp', 'up', 'to the caller'],
  ['ArrowDown', 'down', 'to the widest callee'],
  ['ArrowLeft', 'left', 'to the sibling on the left'],
  ['ArrowRight', 'right', 'to the sibling on the right'],
  ['Home', 'first', 'to the root'],
  ['0', 'reset', 'show all'],
  ['+', 'in', 'zoom into the box'],
  ['-', 'out', 'zoom out by one caller'],
  ['f', 'focus', 'keep only stacks with this function'],
  ['r', 'recursion', 'fold or unfold recursion'],
  ['s', 'sandwich', 'callers and callees of this function'],
  ['v', 'invert', 'from the root or from the leaves'],
  ['d', 'about', 'show or hide what is known of the chosen function'],
  ['c', 'copy', 'copy the stack'],
  ['m', 'menu', 'what can be done with this box'],
];

const TABLE = [
  ['ArrowUp', 'up', 'row above'],
  ['ArrowDown', 'down', 'row below'],
  ['PageUp', 'pageup', 'a page up'],
  ['PageDown', 'pagedown', 'a page down'],
  ['Home', 'first', 'first row'],
  ['End', 'last', 'last row'],
  ['Enter', 'enter', 'open the row'],
  [' ', 'mark', 'choose the row'],
  ['b', 'base', 'choose the row as the base of a comparison'],
  ['f', 'focus', 'keep only stacks with this function'],
  ['c', 'copy', 'copy the row'],
  ['m', 'menu', 'what can be done with this row'],
];

const TIMELINE = [
  ['+', 'in', 'zoom in'],
  ['-', 'out', 'zoom out'],
  ['0', 'reset', 'show the whole run'],
  ['ArrowLeft', 'left', 'earlier'],
  ['ArrowRight', 'right', 'later'],
  ['o', 'owner', 'to the owner of the chosen wait'],
  ['O', 'releaser', 'to the thread that let the chosen wait go on'],
  ['s', 'stacks', 'open or close the stacks of the chosen thread, or its group'],
  ...TABLE.filter(([, what]) => !['mark', 'base', 'focus'].includes(what)),
];

const CODE = [
  ['n', 'hot', 'to the next line by its cost'],
  ['N', 'cooler', 'to the one before'],
  ...TABLE.filter(([, what]) => !['mark', 'base', 'focus'].includes(what)),
];

const TREE = [
  ['ArrowRight', 'right', 'open the row, or go to its first callee'],
  ['ArrowLeft', 'left', 'close the row, or go to its caller'],
  ['d', 'about', 'show or hide what is known of the chosen function'],
  ...TABLE.filter(([, what]) => !['mark', 'base'].includes(what)),
];

const LIST = [
  ['ArrowUp', 'up', 'to the link above'],
  ['ArrowDown', 'down', 'to the link below'],
  ['w', 'wrong', 'open the place of what is wrong'],
  ['h', 'hottest', 'open the hottest function'],
  ['a', 'allocator', 'open the top allocator'],
  ['c', 'changed', 'open what changed since the run before'],
];

/* Where `g` leads with a second letter. */
export const PLACES = {
  r: 'runs', o: 'overview', f: 'flame', e: 'calltree', t: 'top', g: 'graph', p: 'peek', s: 'source', a: 'disasm', y: 'tags', d: 'doctor', c: 'compare', h: 'trend',
  l: 'locks', w: 'waits', q: 'sql', v: 'live', n: 'timeline',
};

const TABLES = { flame: FLAME, table: TABLE, timeline: TIMELINE, tree: TREE, code: CODE, list: LIST, none: [] };

function nameOf(event) {
  return event.shiftKey && event.key === 'Enter' ? 'Shift+Enter' : event.key === '=' ? '+' : event.key;
}

/* The action of a key in a part of the page ('flame', 'table', 'tree', 'list', 'none'); null: it is not ours. In a text field only Escape is, and Enter
 * of the search. */
export function action(event, part, inText = false) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  const name = nameOf(event);
  if (inText) return name === 'Escape' ? 'escape' : null;
  const found = [...TABLES[part] || [], ...COMMON].find(([key]) => key === name);
  return found ? found[1] : null;
}

/* The keys as a list for the help. */
export function help(part) {
  const shown = key => ({ ' ': 'Space', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' })[key] || key;
  return [...COMMON, ...TABLES[part] || []].map(([key, , words]) => [shown(key), words]);
}
