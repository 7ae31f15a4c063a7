/* The URL is the state: what the address bar says is all that decides what is shown. Pure: texts in, texts out.
 *
 * A state is an object with a text for each parameter below; a missing parameter is ''. Runs are named as commands name them, functions by
 * name or regular expression, nodes of a tree by the id that their path gives them: nothing is an index. The text of an SQL query is in the
 * fragment, which a browser does not send to the server. Where both stand is the business of place.js. */

import { REPORT } from './options.js';
import * as place from './place.js';

export const PAGES = ['runs', 'overview', 'flame', 'calltree', 'top', 'graph', 'peek', 'source', 'disasm', 'tags', 'doctor', 'compare', 'trend', 'locks', 'channels',
  'cells', 'fibers', 'waits', 'sql', 'live', 'timeline'];

/* The part of the base. */
const BASE_PART = ['base_from', 'base_to', 'base_window'];

/* What is asked for: these parameters go to the server under the same names. The letters are pprof's. Those of the options of reports are a
 * table of clear, which the server makes a module of. */
export const SELECTION = ['runs', 'base', 'kind', 'si', 'from', 'to', 'window', ...BASE_PART, ...REPORT.map(([name]) => name)];

/* How it is looked at. */
const VIEW = ['page', 'pivot', 'inverted', 'zoom', 'q', 'fold', 'sort', 'order', 'function', 'figure', 'subject', 'label', 'tag', 'since', 'until', 'find',
  'pick', 'against', 'finding', 'query', 'lit', 'sql'];

const NAMES = [...SELECTION, ...VIEW];

/* The filters that are shown as chips: parameter, title, what it does in words, and whether it is a value, a switch or a choice. */
export const FILTERS = [
  ...REPORT.map(([name, option, kind, means]) => [name, option.replace(/_/g, ' '), means.replace(/\x60/g, ''), kind]),
  ['from', 'from', 'beginning of the part of the run'],
  ['to', 'to', 'end of the part of the run'],
  ['window', 'window', 'one window of the run'],
  ['base_from', 'base from', 'beginning of the part of the base'],
  ['base_to', 'base to', 'end of the part of the base'],
  ['base_window', 'base window', 'one window of the base'],
];

export function empty() {
  return Object.fromEntries(NAMES.map(name => [name, '']));
}

/* The state of a URL's search and fragment. A page that does not exist, and parameters that nobody knows, are as if they were not there. */
export function parse(search, fragment = '') {
  const state = empty();
  for (const [name, value] of new URLSearchParams(search)) {
    if (NAMES.includes(name) && name !== 'sql') state[name] = value;
  }
  if (!PAGES.includes(state.page)) state.page = '';
  state.sql = new URLSearchParams(fragment.replace(/^#/, '')).get('sql') || '';
  return state;
}

/* The URL of a state: the same state is always the same text. */
export function format(state) {
  const search = new URLSearchParams();
  for (const name of NAMES) {
    if (state[name] && name !== 'sql') search.append(name, state[name]);
  }
  return place.address(search.toString(), state.sql ? new URLSearchParams({ sql: state.sql }).toString() : '');
}

/* The page that is open: runs open on their overview, with a kind, a filter or a zoom as a flame graph, a whole warehouse as a list of runs. */
export function page(state) {
  const isPlain = NAMES.every(name => !state[name] || ['runs', 'base', 'from', 'to', 'window', ...BASE_PART].includes(name));
  return state.page || (!state.runs ? 'runs' : isPlain ? 'overview' : 'flame');
}

export function change(state, changes) {
  return { ...state, ...changes };
}

/* Another page of the same selection; what belongs to the old page alone (zoom, sort, search) is left behind. */
export function turn(state, to, changes = {}) {
  const kept = empty();
  for (const name of SELECTION) kept[name] = state[name];
  return { ...kept, page: to, ...changes };
}

/* Another selection of the same page: the zoom stays if the new tree has that node. */
export function select(state, changes) {
  return { ...state, ...changes };
}

/* Adds a pattern to a filter. To drop or hide one more is to drop either; what is kept is kept by the new pattern alone. */
export function addFilter(state, name, pattern) {
  const there = state[name];
  return { ...state, [name]: there && ['i', 'h'].includes(name) ? `${there}|${pattern}` : pattern };
}

/* A part of the base means nothing without a base. */
function isGiven(state, name) {
  return Boolean(state[name]) && (state.base || !BASE_PART.includes(name));
}

export function chips(state) {
  return FILTERS.filter(([name]) => isGiven(state, name)).map(([name, title, means]) => ({ name, title, means, value: state[name] }));
}

/* Whether a side is a part of its runs. */
export function hasPart(state) {
  return ['from', 'to', 'window', ...BASE_PART].some(name => isGiven(state, name));
}

/* Whether more than runs and parts of them is chosen: what the profile as it is stored does not know. */
export function isFiltered(state) {
  return SELECTION.some(name => isGiven(state, name) && !['runs', 'base', 'kind', 'from', 'to', 'window', ...BASE_PART].includes(name));
}

/* The parameters of a request: the selection and what the request has besides. */
export function query(state, more = {}) {
  const out = new URLSearchParams();
  for (const name of SELECTION) if (isGiven(state, name)) out.append(name, state[name]);
  for (const [name, value] of Object.entries(more)) if (value !== '' && value !== null && value !== undefined) out.append(name, value);
  return out.toString();
}

/* The parameters of a request for a tree, `width` pixels wide; it is the same in every unit. */
export function treeQuery(state, width, more = {}) {
  return query(change(state, { unit: '' }), { width, ...more });
}

/* A name as a regular expression that matches nothing else. */
export function quote(name) {
  return '^' + name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') + '$';
}

/* Of the selection, where the option has another name. */
const OPTIONS = { base: 'diff_base', si: 'sample_index' };
const REPORTS = { flame: 'flamegraph', calltree: 'tree', top: 'top', graph: 'svg', tags: 'tags', peek: 'peek', source: 'list', disasm: 'disasm' };

function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/* The command line that prints the same figures. */
export function command(state) {
  const where = page(state);
  if (where === 'runs') return 'clear runs';
  if (where === 'overview' || where === 'doctor') return `clear doctor ${shellWord(state.runs || 'latest')}`;
  if (where === 'compare') return `clear doctor ${shellWord(state.base || 'latest~1')} --diff ${shellWord(state.runs || 'latest')}`;
  if (where === 'sql') return `clear query ${shellWord(state.sql)}`;
  const name = REPORTS[where] || 'top';
  const takes = ['peek', 'list', 'disasm'].includes(name);
  const words = ['clear', 'report', takes ? `${name}=${state.function || '.'}` : name];
  for (const key of ['kind', 'si', 'from', 'to', 'window', ...BASE_PART, 'base']) if (isGiven(state, key)) words.push('--' + (OPTIONS[key] || key), state[key]);
  for (const [key, option, kind] of REPORT) {
    if (!isGiven(state, key)) continue;
    if (kind === 'value') words.push('--' + option, state[key]);
    else if (kind === 'choice') words.push('--' + state[key]);
    else if (state[key] === '1') words.push('--' + option);
  }
  words.push(state.runs || 'latest');
  return words.map(shellWord).join(' ');
}
