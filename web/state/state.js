/* The URL is the state: what the address bar says is all that decides what is shown. Pure: texts in, texts out.
 *
 * A state is an object with a text for each parameter below; a missing parameter is ''. Runs are named as commands name them, functions by
 * name or regular expression, nodes of a tree by the id that their path gives them: nothing is an index. The text of an SQL query is in the
 * fragment, which a browser does not send to the server. Where both stand is the business of place.js. */

import { REPORT } from './options.js';
import * as place from './place.js';

export const PAGES = ['runs', 'overview', 'flame', 'calltree', 'top', 'graph', 'peek', 'source', 'disasm', 'tags', 'doctor', 'compare', 'trend', 'locks', 'channels',
  'cells', 'fibers', 'waits', 'sql', 'live', 'timeline'];

/* A part of a run's time. */
const PART = { from: 'beginning of the part', to: 'end of the part', window: 'one window' };
const PARTS = Object.keys(PART), BASE_PARTS = PARTS.map(name => 'base_' + name);

/* What is asked for: these parameters go to the server under the same names. The letters are pprof's. Those of the options of reports are a
 * table of clear, which the server makes a module of. */
export const SELECTION = ['runs', 'base', 'kind', 'si', ...PARTS, ...BASE_PARTS, ...REPORT.map(([name]) => name)];

/* How it is looked at. */
const VIEW = ['page', 'pivot', 'inverted', 'zoom', 'q', 'fold', 'sort', 'order', 'function', 'figure', 'subject', 'label', 'tag', 'since', 'until', 'find',
  'pick', 'against', 'finding', 'query', 'lit', 'sql'];

const NAMES = [...SELECTION, ...VIEW];

/* The filters that are shown as chips: parameter, title, what it does in words, whether it is a value, a switch or a choice, and the
 * choices. */
export const FILTERS = [
  ...REPORT.map(([name, option, kind, means, choices]) => [name, option.replace(/_/g, ' '), means.replace(/\x60/g, ''), kind, choices]),
  ...['', 'base '].flatMap(of => Object.entries(PART).map(([name, means]) => [(of + name).replace(' ', '_'), of + name, `${means} of the ${of.trim() || 'run'}`])),
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
  const isPlain = NAMES.every(name => !state[name] || ['runs', 'base', ...PARTS, ...BASE_PARTS].includes(name));
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
  return Boolean(state[name]) && (state.base || !BASE_PARTS.includes(name));
}

export function chips(state) {
  return FILTERS.filter(([name]) => isGiven(state, name)).map(([name, title, means]) => ({ name, title, means, value: state[name] }));
}

/* Whether a side is a part of its runs. */
export function hasPart(state) {
  return [...PARTS, ...BASE_PARTS].some(name => isGiven(state, name));
}

/* Whether more than runs and parts of them is chosen: what the profile as it is stored does not know. */
export function isFiltered(state) {
  return SELECTION.some(name => isGiven(state, name) && !['runs', 'base', 'kind', ...PARTS, ...BASE_PARTS].includes(name));
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
const OPTIONS = { base: 'diff_base', si: 'sample_index', f: 'focus', i: 'ignore' };
const REPORTS = { flame: 'flamegraph', calltree: 'tree', top: 'top', graph: 'svg', tags: 'tags', peek: 'peek', source: 'list', disasm: 'disasm' };

function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/* An option of a report, as it was given. */
function reportWords(state, [name, option, kind]) {
  if (kind === 'value') return ['--' + option, state[name]];
  return kind === 'choice' ? ['--' + state[name]] : state[name] === '1' ? ['--' + option] : [];
}

/* The command line that prints the same figures. */
export function command(state) {
  const where = page(state), runs = state.runs || 'latest', line = words => ['clear', ...words].map(shellWord).join(' ');
  const given = names => names.filter(name => isGiven(state, name)).flatMap(name => ['--' + (OPTIONS[name] || name), state[name]]);
  if (where === 'runs') return line(['runs']);
  if (where === 'overview') return line(['doctor', ...given(PARTS), runs]);
  if (where === 'doctor') return line(['doctor', ...given([...PARTS, 'f', 'i']), runs]);
  if (where === 'compare') return line(['doctor', state.base || 'latest~1', '--diff', runs]);
  if (where === 'sql') return line(['query', state.sql]);
  const name = REPORTS[where] || 'top', takes = ['peek', 'list', 'disasm'].includes(name);
  const options = REPORT.filter(([key]) => isGiven(state, key)).flatMap(row => reportWords(state, row));
  return line(['report', takes ? `${name}=${state.function || '.'}` : name, ...given(['kind', 'si', ...PARTS, ...BASE_PARTS, 'base']), ...options, runs]);
}
