/* What the colours of a flame graph mean: where the code of a box comes from, its package, or how much it does itself. Pure: nodes in, groups
 * and colours out. A group is 'own', 'runtime', 'libc', 'kernel', 'unknown', or 'library:NAME' for each library. */
import * as palette from './palette.js';

export const MODES = [['module', 'colours: by module'], ['package', 'colours: by package'], ['self', 'colours: by own time']];

const TITLES = { own: 'own code', runtime: 'language runtime', libc: 'C library', kernel: 'kernel', unknown: 'not known' };
const ORDER = ['own', 'library', 'runtime', 'libc', 'kernel', 'unknown'];
const LIBRARIES = 6; // that the legend names

function base(path) {
  return path.replace(/^.*\//s, '') || path;
}

export function groupOf({ origin, module }) {
  return origin === 'library' ? 'library:' + base(module) : origin || 'unknown';
}

/* '' is the group of packages that were built into the program. */
export function titleOf(group) {
  return group.startsWith('library:') ? group.slice('library:'.length) || 'packages' : TITLES[group];
}

/* The groups of these trees, in the order of the legend: { key, title, modules: the paths, size: what its boxes do themselves }. */
export function groupsOf(roots) {
  const groups = new Map(), open = [...roots];
  while (open.length) {
    const node = open.pop();
    open.push(...node.children);
    if (!node.parent) continue;
    const key = groupOf(node.word);
    if (!groups.has(key)) groups.set(key, { key, title: titleOf(key), modules: new Set(), size: 0 });
    const group = groups.get(key);
    if (node.word.module) group.modules.add(node.word.module);
    group.size += Math.max(node.self, 0);
  }
  const place = ({ key }) => ORDER.indexOf(key.split(':')[0]);
  return [...groups.values()].sort((a, b) => place(a) - place(b) || b.size - a.size || (a.title < b.title ? -1 : 1));
}

/* What the legend names: all but the smallest libraries. */
export function named(groups) {
  const libraries = groups.filter(group => group.key.startsWith('library:'));
  return { groups: groups.filter(group => !libraries.slice(LIBRARIES).includes(group)), more: Math.max(0, libraries.length - LIBRARIES) };
}

/* One group, and nothing to tell apart, is no reason for a legend. */
export function tellsModules(groups) {
  return groups.length > 1 && groups.some(group => group.key !== 'unknown');
}

export function groupColour(key, dark) {
  return key === 'unknown' ? palette.restColour(dark) : palette.groupColour(key, dark);
}

/* The colour of a node. `lit`: the groups that keep theirs, none: all do; `most`: the largest own figure of a node. */
export function colourOf(node, dark, { mode, lit, most }) {
  if (mode === 'self') return palette.changeColour(most > 0 ? Math.sqrt(Math.max(node.self, 0) / most) : 0, dark);
  const key = groupOf(node.word);
  if (lit.length && !lit.includes(key)) return palette.restColour(dark);
  return mode === 'module' ? groupColour(key, dark) : null;
}

export function mostSelf(roots) {
  const open = [...roots];
  let most = 0;
  while (open.length) {
    const node = open.pop();
    open.push(...node.children);
    if (node.self > most) most = node.self;
  }
  return most;
}

export function litOf(state) {
  return state.lit ? state.lit.split(',') : [];
}

/* The state in which a group of the legend was switched. */
export function toggled(state, key) {
  const lit = litOf(state);
  return (lit.includes(key) ? lit.filter(one => one !== key) : [...lit, key]).join(',');
}
