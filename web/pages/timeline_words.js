/* What the timeline says of what is chosen, and of what is under the pointer. */
import { h, button } from '../widgets/dom.js';
import * as state from '../state/state.js';
import { titleOf } from '../widgets/actions.js';
import { nanoseconds, count, text } from '../names/format.js';
import * as axis from '../charts/timeline_layout.js';

/* An event in words. */
function wordsOf(page, event) {
  const owner = event.owner_tid && page.nameOf(event.owner_tid, event.process_id), by = event.released_by && page.nameOf(event.released_by, event.process_id);
  return `${nanoseconds(event.duration_ns)} from ${nanoseconds(event.start_ns)}${event.function ? ` in ${text(event.function)}` : ''}${owner ? `; ${text(owner)} had it` : ''}${by ? `; ${text(by)} let it go on${event.release_function ? ` in ${text(event.release_function)}` : ''}` : ''}${event.is_late ? '; it ended early or at its time limit' : ''}`;
}

/* A title and words; null: there is nothing. */
export function describe(page, { row, isLabel, frame, event, ns }) {
  if (!row) return null;
  const of = row.thread || row.group, name = text(row.thread ? page.nameOf(of.tid, of.process_id) : `${of.thread}, ${count(row.threads.length)} threads`);
  if (event) return [text(`${event.kind} ${event.object || ''}`), `${text(page.nameOf(event.tid, event.process_id))}: ${wordsOf(page, event)}`];
  if (frame) return [text(frame.wait ? `waits: ${frame.name}` : frame.name), `${name}: ${nanoseconds(frame.end_ns - frame.start_ns)} from ${nanoseconds(frame.start_ns)}`];
  if (isLabel) return [name, `${of.cpu_ns === null ? '' : `CPU ${nanoseconds(of.cpu_ns)}, `}waits ${nanoseconds(of.wait_ns)}; a click ${row.isOpen ? 'closes it' : row.thread ? 'shows its stacks' : 'shows its threads'}`];
  return row.thread && ns >= of.start_ns && ns <= of.end_ns ? [name, `at ${nanoseconds(ns)}: no wait and no sample`] : null;
}

/* The line below the picture: a function of a stack that was clicked, the chosen event with the ways to its owner, or what one can do. */
export function detailOf(page) {
  const chosen = axis.chosen(page.app.state.subject), { event, frameChosen } = page;
  const zoom = one => button('Zoom to it', () => page.zoomTo([one.start_ns, Math.max(one.start_ns + 1, one.end_ns)]));
  if (frameChosen && !frameChosen.frame.wait) {
    const { frame, row } = frameChosen, exact = state.quote(frame.name), link = (words, to, changes) => page.app.has(to) && h('a', { class: 'button', href: state.format(state.turn(page.app.state, to, changes)) }, words);
    return [h('strong', {}, titleOf(frame.name)), h('span', {}, ` ${nanoseconds(frame.end_ns - frame.start_ns)} from ${nanoseconds(frame.start_ns)}, ${text(page.nameOf(row.thread.tid))}. `),
      link('Source', 'source', { kind: 'cpu', function: exact }), ' ', link('Callers and callees', 'flame', { kind: 'cpu', pivot: exact }), ' ', zoom(frame)];
  }
  if (!chosen) return h('span', { class: 'quiet-text' }, 'Click an event, or press Enter on a row of the table; click a name for its stacks (s); drag over the picture to zoom; o goes to the owner of a wait');
  if (!event) return [h('strong', {}, text(page.nameOf(chosen.tid))), ` at ${nanoseconds(chosen.ns)}`];
  const to = (tid, what, run, properties) => tid ? [button(`${what}: ${text(page.nameOf(tid, event.process_id))}`, run, properties), ' '] : null;
  return [h('strong', {}, text(page.nameOf(event.tid, event.process_id))), h('span', { 'data-value': event.duration_ns }, ` ${text(event.kind)} ${text(event.object)}: ${wordsOf(page, event)}. `),
    to(event.owner_tid, 'Owner', () => page.toOwner(), { class: 'to-owner', title: 'o' }), to(event.released_by, 'Let go by', () => page.toReleaser(), { class: 'to-releaser', title: 'O' }),
    button('Stacks', () => page.openStacks(), { title: 's' }), ' ', zoom({ start_ns: event.start_ns, end_ns: event.start_ns + event.duration_ns })];
}
