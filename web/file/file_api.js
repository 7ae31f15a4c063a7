/* api.js of a file (clear export --html): the answers are in the page, those that the server gave for the pages as they open. What a page
 * asks for besides is made of them where that gives the same figures; else it is refused, and the refusal names the command. */
import * as states from '../state/state.js';
import * as trees from './file_trees.js';

export const HAS = { filters: false, downloads: false, live: false, detail: false };
export const LACKS = ['sql', 'live'];

/* Never thrown here: there is no server that could stop. */
export class Unreached extends Error {}

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function reach(request) {
  return request;
}

export function only(pattern) {
  return { q: pattern };
}

// ---- what the file has

const element = document.getElementById('answers'), hasBase = Boolean(element.dataset.base), uuid = atob(element.dataset.run);

/* Name of an answer -> { isError, packed: gzip in base64 }. Names are texts of bytes. */
const answers = new Map(element.textContent.split('\n').filter(Boolean).map(line => {
  const [name, word, packed] = line.split(' ');
  return [atob(name), { isError: word === 'error', packed }];
}));

function bytesOf(text) {
  return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

/* A text as one letter a byte of its UTF-8, as names of answers are. */
function asBytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

const kept = new Map(); // the last texts that were unpacked
const KEPT = 12;

async function unpack({ packed }) {
  if (!kept.has(packed)) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(packed, new Response(new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('gzip'))).text());
  }
  return kept.get(packed);
}

async function textOf(name, of = {}) {
  const answer = answers.get(asBytes([name, of.kind || '', of.type || '', of.base || ''].join('\n')));
  if (!answer) return null;
  const text = await unpack(answer);
  if (answer.isError) throw new Refused(JSON.parse(text).error, 500);
  return text;
}

function missing(what) {
  return new Refused(`This file has no ${what}: clear web shows it.`, 500);
}

async function bodyOf(name, of, what) {
  const text = await textOf(name, of);
  if (text === null) throw missing(what);
  return name === 'graph' || name === 'tags' ? text : JSON.parse(text);
}

// ---- what it cannot show

export function refusal(state) {
  const page = states.page(state);
  if (LACKS.includes(page)) return `This page needs the warehouse: clear web shows it.`;
  if (states.chips(state).length || states.hasPart(state)) return 'Filters and parts of a run need the warehouse: clear web has them.';
  if ((state.runs && !uuid.startsWith(state.runs)) || state.label || state.tag || state.since || state.until || (page === 'trend' && (state.function || state.subject)))
    return 'This file has one run: clear web shows others.';
  if (state.base && !(hasBase && state.base === 'base')) return 'This file has no other run to compare with: clear web shows others.';
  return '';
}

// ---- requests

/* The kind and the sample type that a request means. */
async function subjectOf(given) {
  const { kinds } = await bodyOf('run', {}, 'run'), kind = given.kind ? kinds.find(one => one.kind === given.kind) : kinds[0];
  if (!kind) throw missing(`profile of the kind ${given.kind}`);
  return { kind: kind.kind, type: given.si || given.type || kind.default_type, base: given.base ? 'base' : '' };
}

function patternOf(regex) {
  try {
    return new RegExp(regex);
  } catch (error) {
    throw new Refused(`${error.message}. Other regular expressions need clear web.`, 400);
  }
}

async function tree(given, of) {
  const what = `flame graph of ${of.type}`, ready = given.pivot ? null : await textOf(given.inverted ? 'inverted' : 'tree', of);
  if (ready) return JSON.parse(ready);
  const whole = await bodyOf('tree', of, what);
  if (!trees.isWhole(whole)) throw new Refused('This needs clear web: the file has not all of the narrow boxes.', 500);
  if (!given.pivot) return trees.invertedOf(whole);
  const pattern = patternOf(given.pivot);
  return given.inverted ? trees.callersOf(whole, pattern) : trees.calleesOf(whole, pattern);
}

/* The table of functions has all of them: those that cost most stand first. */
async function table(given, of) {
  const { report, n } = given, body = await bodyOf(report, of, report === 'top' ? `table of ${of.type}` : `${report} of ${of.type}`);
  return n === '40' ? { ...body, nodes: body.nodes.slice(0, Number(n)), edges: [] } : body;
}

/* The functions that match, of those whose lines are in the file. */
async function listing(name, given, of) {
  const what = name === 'source' ? 'source' : 'machine code', body = await bodyOf(name, of, `${what} for ${of.type}`), pattern = patternOf(given.function);
  const functions = body.functions.filter(one => pattern.test(one.name));
  if (!functions.length) throw missing(`${what} of this function; it has that of the functions that cost most`);
  return { ...body, functions };
}

const RESOURCES = {
  run: given => given.runs === 'base' ? bodyOf('base', { base: 'base' }, 'base') : bodyOf('run', {}, 'run'),
  runs: () => bodyOf('runs', {}, 'list of runs'),
  overview: () => bodyOf('overview', {}, 'overview'),
  findings: () => bodyOf('findings', {}, 'findings'),
  compare: () => bodyOf('compare', { base: 'base' }, 'comparison'),
  timeline: ({ of, process, tid }) => of === 'stacks' ? bodyOf(`thread-${process}-${tid}`, {}, 'stacks of this thread').catch(() => []) : of === 'running' ? bodyOf(of).catch(() => []) : bodyOf(of || 'events', {}, 'events'),
  objects: given => bodyOf(given.of, {}, 'objects'),
  tree: async given => tree(given, await subjectOf(given)),
  table: async given => table(given, await subjectOf(given)),
  source: async given => listing('source', given, await subjectOf(given)),
  disasm: async given => listing('disasm', given, await subjectOf(given)),
  graph: async given => {
    const of = await subjectOf(given);
    return bodyOf('graph', of, `picture of the graph of ${of.type}`);
  },
};

export function ahead() {} // nothing is far away

export async function get(resource, query, signal) {
  const given = Object.fromEntries(new URLSearchParams(query));
  if (!RESOURCES[resource] || given.search) throw missing(resource);
  const body = await RESOURCES[resource](given);
  if (signal && signal.aborted) throw new DOMException('the page asks for something else', 'AbortError');
  return { body, note: '' };
}

export async function rows() {
  throw missing('tables');
}

export async function callers({ of, name, figures }) {
  const all = await bodyOf(`callers-${of}`, {}, 'callers');
  return { columns: ['function', 'file', 'line', 'stack_of', ...figures], rows: all.filter(row => row[0] === name).map(row => row.slice(1)) };
}

export async function stacks(ids) {
  const wanted = new Set(ids);
  return (await bodyOf('stacks', {}, 'stacks')).filter(([trace]) => wanted.has(trace));
}
