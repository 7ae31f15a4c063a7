/* What can be done with a function on every page: the menu of a box and of a row. Every entry is a link or a change of the state. */
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { button, copy } from './dom.js';
import { openMenu } from './menu.js';
import { cut, text } from '../names/format.js';
import { usual } from '../names/names.js';

export function sqlText(value) {
  return `'${String(value).replace(/'/g, `''`)}'`;
}

/* The view and the figures of each kind of profile. */
const VIEWS = {
  heap: ['heap', ['alloc_count', 'alloc_bytes', 'inuse_count', 'inuse_bytes']], cpu: ['cpu_use', ['samples', 'cpu_ns']],
  lock: ['lock_use', ['acquires', 'contended', 'wait_ns', 'hold_ns']], mvcc: ['cell_use', ['reads', 'commits', 'retries']],
  channels: ['channel_use', ['pushes', 'pops', 'push_blocked_ns', 'pop_blocked_ns']], wait: ['wait_use', ['waited', 'wait_ns', 'timeouts']],
  io: ['io_use', ['calls', 'bytes', 'time_ns']], mmap: ['map_use', ['map_count', 'map_bytes', 'inuse_bytes']], spin: ['spin_use', ['yields', 'short_sleeps', 'sleep_ns', 'failed_tries']],
  threads: ['thread_use', ['started', 'life_ns', 'short_count']],
};

export function kindOf(app) {
  return app.state.kind || (app.run && app.run.kinds.length ? app.run.kinds[0].kind : 'heap');
}

/* The rows of the stacks that have a function, with the figures of the kind that is shown. */
function sqlOf(app, name) {
  const [view, figures] = VIEWS[kindOf(app)] || VIEWS.heap;
  const runs = (app.run ? app.run.runs : []).slice(0, 20).map(run => sqlText(run.uuid)).join(', ');
  return `SELECT function, file, line, ${figures.map(figure => `sum(${figure}) AS ${figure}`).join(', ')}, trace_id
FROM ${view}
WHERE trace_id IN (SELECT trace_id FROM frames WHERE function = ${sqlText(name)})
  AND run_id IN (SELECT id FROM runs${runs ? ` WHERE uuid IN (${runs})` : ''})
GROUP BY function, file, line, trace_id
ORDER BY ${figures[1]} DESC`;
}

export function commandItem(now, label = 'Copy the clear command line') {
  return { label, run: () => copy(state.command(now), 'the command line') };
}

/* Items for openMenu. `stack` is the folded stack of a box, and `module` the path of its module, if they are known. */
export function functionItems(app, name, { stack = '', module = '' } = {}) {
  const now = app.state, exact = state.quote(name);
  const to = (label, page, changes) => app.has(page) ? { label, href: state.format(state.turn(now, page, changes)) } : undefined;
  const filter = (label, letter, pattern = exact) => ({ label, run: () => app.go(state.change(state.addFilter(now, letter, pattern), { zoom: '' })) });
  return [
    to('Source', 'source', { function: exact }),
    to('Disassembly', 'disasm', { function: exact }),
    to('Callers and callees', 'flame', { pivot: exact }),
    to('Peek', 'peek', { function: exact }),
    to('Over runs', 'trend', { function: exact }),
    ...!api.HAS.filters ? [] : [null, filter('Focus on it', 'f'), filter('Ignore its stacks', 'i'), filter('Hide it', 'h'), filter('Show from it', 'sf'),
      ...module ? [filter('Focus on its module', 'f', state.quote(module)), filter('Hide its module', 'h', state.quote(module))] : []],
    null,
    { label: 'Copy name', run: () => copy(name, 'the name') },
    stack ? { label: 'Copy stack', run: () => copy(stack, 'the stack') } : undefined,
    to('As SQL', 'sql', { sql: sqlOf(app, name) }),
    commandItem(state.addFilter(now, 'f', exact), 'As clear command line'),
  ].filter(item => item !== undefined);
}

export function titleOf(name) {
  return cut(text(usual(name)), 60);
}

/* Opens the menu of what is shown, as files in formats of clear export. `shown()`: parameters of what is zoomed, if something is. */
export function downloadButton(app, pictures = [], shown = () => 0) {
  const opener = button('Download', () => {
    const box = opener.getBoundingClientRect();
    openMenu(box.left, box.bottom + 4, 'Download what is shown', downloads(app, pictures, shown()));
  }, { 'aria-haspopup': 'menu' });
  return opener;
}

function downloads(app, pictures, shown) {
  const now = app.state;
  const file = (label, format) => ({ label, href: '/api/export?' + state.query(now, { format, ...shown }), download: '' });
  const files = [...pictures, file('pprof profile (.pb.gz)', shown || state.isFiltered(now) ? 'proto' : 'pprof'), file('flame graph that opens (.svg)', 'flamegraph'),
    file('folded stacks', 'folded'), file('samples (.csv)', 'csv'), file('functions (.json)', 'json'), file('speedscope', 'speedscope'), null];
  return [...api.HAS.downloads ? files : pictures.filter(one => one.run),
    commandItem(now),
    { label: 'Copy the link', run: () => copy(location.href, 'the link') }];
}
