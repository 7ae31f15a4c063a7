/* What a finding is called, and where the figures behind it are. Pure. */
import { fileLine } from '../names/format.js';
import { usual } from '../names/names.js';

/* The kind of profile that the figures of a section are in, and the view with its rows. */
const SECTIONS = {
  heap: ['heap', 'heap'], line: ['heap', 'heap'], lock: ['lock', 'lock_use'], call: ['cpu', 'cpu_use'], spin: ['cpu', 'cpu_use'], cpu: ['cpu', 'cpu_use'],
  cell: ['mvcc', 'cell_use'], channel: ['channels', 'channel_use'], wait: ['wait', 'wait_use'], fibers: ['fibers', ''], freeze: ['heap', 'heap'], queue: ['heap', 'heap'],
  map: ['mmap', 'map_use'], memory: ['heap', 'heap'], io: ['io', 'io_use'], thread: ['threads', 'thread_use'], polling: ['spin', 'spin_use'], sharing: ['c2c', ''],
};
/* Findings whose figures are in another kind than those of their section. */
const CODES = { 'thread-busy-wait': ['spin', 'spin_use'], 'heap-peak': ['heap-peak', ''], 'queue-unbounded': ['heap-peak', ''] };
/* Pages with a row for the subject. */
export const OBJECTS = { lock: 'locks', channel: 'channels', cell: 'cells', wait: 'waits' };

/* What the finding is about, as clear doctor calls it: a function that is not the program's own stands behind the line of its own code that calls it; behind a
 * lock that a library takes stands that line, with the library's function. */
export function nameOf({ subject, own_function: own, own_file: file, own_line: line, own_callee: callee }) {
  const name = usual(subject || '');
  const caller = own ? `${usual(own)}${line ? ` (${fileLine(file, line)})` : ''} in ` : '';
  return callee ? `${name}, used by ${caller}${usual(callee)}` : caller + name;
}

/* The kind of profile and the view of a finding, of those that the runs have; else two empty texts. */
export function evidenceOf(run, { section, code }) {
  return [CODES[`${section}-${code}`], SECTIONS[section]].find(one => one && run.kinds.some(of => of.kind === one[0])) || ['', ''];
}
