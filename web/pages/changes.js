/* The answer of a comparison as lines. Pure. */
import { value } from '../names/format.js';

export const CHANGES = { up: '↑ up', down: '↓ down', new: '↑ new', eliminated: '↓ eliminated', gone: '↓ gone', noise: 'noise', unchanged: 'unchanged' };

/* One line for each figure of each row. `change` is the row's own word, or what its figure did. */
export function linesOf(rows) {
  return rows.flatMap((row, index) => Object.entries(row.figures || {}).map(([figure, of]) => ({
    index, section: row.section, by: row.by, subject: row.subject || '', file: row.file || '', line: row.line || 0, figure, ...of, before: of.old.mean, after: of.new.mean,
    isMain: !row.judged_by || row.judged_by === figure,
    word: !of.is_change ? of.delta ? 'noise' : 'unchanged' : ['new', 'eliminated', 'gone'].includes(row.change) ? row.change : of.delta > 0 ? 'up' : 'down',
  })));
}

/* How far the difference of a line may be from the truth, in 95 of 100 cases; nothing where each side has one run. */
export function errorText({ error }, unit) {
  return error === null || error === undefined ? '' : value(Math.round(error), unit);
}

const KINDS = { alloc_bytes: 'heap', alloc_count: 'heap', inuse_bytes: 'heap', inuse_count: 'heap', cpu_ns: 'cpu', lock_wait_ns: 'lock', wait_ns: 'lock' };

/* The kind of profile that a figure of the whole run is the sum of; undefined: of none. */
export function kindOfTotal(figure) {
  return KINDS[figure];
}

/* Whether a figure of whole runs is the total of what a tree with that head shows. */
export function isTotal(kind, { type, types }, figure) {
  return KINDS[figure] === kind && typeOf({ kinds: [{ kind, types }] }, { section: kind, figure }) === type;
}

const TYPES = { alloc_bytes: 'alloc_space', alloc_count: 'alloc_objects', inuse_bytes: 'inuse_space', inuse_count: 'inuse_objects', cpu_ns: 'cpu', wait_ns: 'delay', lock_wait_ns: 'delay', contended: 'contentions', hold_ns: 'hold' };

/* The sample type with the figure of a line, of those that its kind of profile has; else '', which is the default of the kind. */
export function typeOf(run, { section, figure }) {
  const kind = run.kinds.find(one => one.kind === section);
  return kind && (kind.types || []).some(one => one.type === TYPES[figure]) ? TYPES[figure] : '';
}
