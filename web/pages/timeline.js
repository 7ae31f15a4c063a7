/* The events of a traced run (clear profile --trace) on a time axis: a lane for each thread or group of threads, and the stacks of those that are
 * open. Drag, the wheel or the keys zoom, to the nanosecond. A chosen wait leads to the thread that had the lock, and to the one that let it go on.
 *
 * The server sends the longest events of the run, so that one of a million is drawn as fast as one of a thousand. Of a part that is zoomed it
 * sends only what is shorter than these, which it finds without reading the rest. When threads ran, and their stacks, come after the first picture. */
import { h, replace, button, announce, rest } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, titleOf } from '../widgets/actions.js';
import { timeText } from '../state/time_span.js';
import { patternOf } from '../charts/tree.js';
import { nanoseconds, count, text } from '../names/format.js';
import { usual } from '../names/names.js';
import { describe, detailOf } from './timeline_words.js';
import { ThreadsView } from '../charts/threads_view.js';
import { ThreadTools, wordsOf } from '../charts/threads_tools.js';
import * as axis from '../charts/timeline_layout.js';

const SENT = 5000, STACKS = 3000;
const NONE = 'This run has no events: record it with clear profile --trace.';

/* The longest first, so that shorter ones are drawn above them. */
function longestFirst(...lists) {
  return lists.flat().sort((a, b) => b.duration_ns - a.duration_ns);
}

class TimelinePage extends Page {
  part = 'timeline';
  threads = [];
  events = [];
  running = [];
  stacks = new Map();

  /* What is shown is asked for again where it is not there in full. */
  key() {
    return new URLSearchParams(this.app.state.runs ? { runs: this.app.state.runs } : {}).toString();
  }

  ask(more) {
    return api.get('timeline', new URLSearchParams({ ...this.app.state.runs && { runs: this.app.state.runs }, ...more }).toString(), this.signal);
  }

  async load() {
    const [threads, longest] = await Promise.all([this.ask({ of: 'threads' }), this.ask({ limit: SENT })]);
    this.threads = threads.body;
    this.longest = this.events = longest.body;
    this.whole = [Math.min(...this.threads.map(one => one.start_ns)), Math.max(...this.threads.map(one => one.end_ns))];
    if (!this.threads.length) return replace(this.host, h('p', { class: 'empty' }, NONE));
    this.asked = { start: this.whole[0], end: this.whole[1], isWhole: this.longest.length < SENT };
    this.ran = this.running = [];
    this.stacks = new Map();
    await this.askEvents();
    this.build();
    await rest(); // the table in a task of its own: the page answers a key between them
    this.list();
    return this.askMore();
  }

  get part_ns() {
    return axis.parse(this.app.state.zoom) || this.whole;
  }

  async askEvents() {
    const [start, end] = this.part_ns;
    if (this.asked && (this.asked.isWhole && start >= this.asked.start && end <= this.asked.end || this.asked.start === start && this.asked.end === end)) return false;
    const longest = this.longest[SENT - 1].duration_ns, isAll = start <= this.whole[0] && end >= this.whole[1];
    const shorter = isAll || !api.HAS.detail ? [] : (await this.ask({ start, end, longest, limit: SENT })).body;
    this.events = [...new Map([...this.longest, ...shorter].map(one => [one.event_id, one])).values()];
    this.asked = { start, end, isWhole: !isAll && api.HAS.detail && shorter.length < SENT };
    return true;
  }

  /* When threads ran, by their samples: of the whole run the longest times, of a part all of them. */
  async askRunning() {
    const [start, end] = this.part_ns, isAll = !api.HAS.detail || (start <= this.whole[0] && end >= this.whole[1]), hasAll = this.hasRan && this.ran.length < SENT;
    if (hasAll || !this.threads.some(one => one.samples) || (isAll && this.hasRan)) {
      this.running = this.ran;
      return false;
    }
    this.running = (await this.ask({ of: 'running', start, end, limit: SENT })).body;
    if (isAll) [this.ran, this.hasRan] = [this.running, true];
    return true;
  }

  /* The stacks over time of the threads that are open, of what is shown and as much beside it. */
  async askStacks() {
    const [start, end] = this.part_ns, wide = api.HAS.detail ? end - start : Infinity, open = this.rows.filter(row => row.thread && row.isOpen).map(row => row.thread);
    const isKnown = thread => {
      const known = this.stacks.get(axis.keyOf(thread));
      return known && start >= known.start && end <= known.end && (known.isWhole || known.end - known.start <= 4 * wide);
    };
    const wanted = open.filter(thread => !isKnown(thread));
    await Promise.all(wanted.map(async thread => {
      const from = Math.max(this.whole[0], Math.floor(start - wide)), to = Math.min(this.whole[1], Math.ceil(end + wide));
      const rows = (await this.ask({ of: 'stacks', process: thread.process_id, tid: thread.tid, start: from, end: to, limit: STACKS })).body;
      this.stacks.set(axis.keyOf(thread), { start: from, end: to, isWhole: rows.length < STACKS, ...axis.stackBoxes(rows) });
      if (!rows.length) announce('No stacks with times here: clear profile --trace=all records them');
    }));
    return wanted.length > 0;
  }

  /* What is not there yet of what is shown. */
  async askMore() {
    const { zoom } = this.app.state, asked = [this.askEvents(), this.askRunning(), this.askStacks()], isNew = await asked[0];
    if (isNew && this.app.state.zoom === zoom) this.show();
    for (const one of asked.slice(1)) if (await one && this.app.state.zoom === zoom) this.arrange();
  }

  async update() {
    if (this.key() !== this.loaded) return this.start();
    if (!this.threads.length) return undefined;
    this.show();
    return this.askMore();
  }

  // ---- the page

  build() {
    if (this.view) this.view.close();
    this.view = new ThreadsView({
      onpart: (from, to) => this.zoomTo([from, to]), onclick: found => this.click(found), onmenu: (box, row, x, y) => openMenu(x, y, titleOf(box.name), functionItems(this.app, box.name)),
      describe: found => describe(this, found),
    });
    this.choices = new ThreadTools(this);
    this.toolbar = h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline' });
    this.detail = h('div', { class: 'detail', 'aria-live': 'polite' });
    this.setTable(new Table({
      label: 'Events', name: 'events', keyOf: row => row.event_id, none: 'No event in this part.', ...this.sorting('duration_ns', 'down'), onopen: row => this.choose(row.tid, row.start_ns),
      columns: [['start_ns', 'start', 130], ['duration_ns', 'duration', 110]].map(([key, title, width]) => ({ key, title, width, value: row => row[key], exact: row => row[key], text: row => nanoseconds(row[key]) }))
        .concat([['thread', 140, row => this.nameOf(row.tid, row.process_id)], ['kind', 90, row => row.kind], ['object', 220, row => row.object], ['function', 220, row => row.function || '', usual],
          ['owner', 140, row => row.owner_tid ? this.nameOf(row.owner_tid, row.process_id) : '']].map(([key, width, of, look = String]) => ({ key, title: key, width, isText: true, value: of, exact: of, text: row => text(of(row)), shown: row => text(look(of(row))) }))),
    }));
    replace(this.host, this.losses(), this.toolbar, this.choices.element, this.view.element, this.detail, this.table.element);
    this.view.frame.addEventListener('wheel', event => this.wheel(event), { passive: false });
    this.see();
    this.arrange();
  }

  /* What is not here: the rings kept the latest events alone, or an event found no room. */
  losses() {
    const lost = new Map(this.threads.filter(one => one.lost_events).map(one => [one.process_id, one]));
    const lines = [...lost.values()].map(one => `process ${one.pid}: ${count(one.lost_events)} events were overwritten or found no room; record with a larger --trace-buffer, or with --stream`);
    return lines.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'Events that were lost' }, h('strong', {}, 'Not every event was kept'), h('ul', {}, lines.map(line => h('li', {}, line)))) : null;
  }

  close() {
    super.close();
    if (this.view) this.view.close();
  }

  nameOf(tid, process) {
    const found = this.threads.find(one => one.tid === tid && (process === undefined || one.process_id === process)) || this.threads.find(one => one.tid === tid);
    return found && found.thread ? `${found.thread} ${tid}` : String(tid);
  }

  show() {
    if (!this.view) return;
    this.see();
    this.arrange();
    this.list();
  }

  /* What stands around the picture. */
  list() {
    const { matches } = this;
    this.app.tellSearch(matches ? `${count(matches.size)} ${matches.size === 1 ? 'event' : 'events'}` : '');
    this.table.fill(matches ? [...matches] : this.seen);
    this.tools(...this.part_ns);
    this.tell();
  }

  /* The events of the part, and those that a search finds; null: none is sought. */
  see() {
    const [start, end] = this.part_ns, pattern = patternOf(this.app.state.q);
    this.seen = this.events.filter(one => one.start_ns <= end && one.start_ns + one.duration_ns >= start);
    this.matches = pattern && new Set(this.seen.filter(one => [one.object, one.function, one.kind].some(word => pattern.test(word || ''))));
  }

  /* The rows of threads, as they are sorted, grouped, filtered and opened. */
  arrange() {
    const now = this.app.state, open = new Set(now.pick.split(',')), depthOf = thread => (this.stacks.get(axis.keyOf(thread)) || { depth: 0 }).depth, shown = longestFirst(this.seen, this.running);
    const { rows, height } = axis.rowsOf(this.threads, { by: now.figure, fold: now.fold, pattern: patternOf(now.find), open, depthOf });
    this.rows = rows;
    this.choices.show([...new Set([...this.longest, ...shown].map(one => one.class))]);
    this.view.show({
      threads: this.threads, rows, height, whole: this.whole, part: this.part_ns, events: shown, longest: this.inMap(), stacks: this.stacks, matches: this.matches,
      lit: now.lit ? now.lit.split(',') : [], subject: axis.chosen(now.subject), sum: row => wordsOf(row.thread || row.group, now.figure),
    });
  }

  tools(start, end) {
    const { runs } = this.app.state, all = this.threads.reduce((sum, one) => sum + one.events, 0), run = this.app.run && this.app.run.runs[0];
    const sql = axis.flameSql(run ? run.uuid : runs, start, end);
    replace(this.toolbar, button('Whole run', () => this.zoomTo(null), { disabled: !this.app.state.zoom, title: '0' }), button('−', () => this.zoomBy(2), { 'aria-label': 'Zoom out', title: '-' }), button('+', () => this.zoomBy(0.5), { 'aria-label': 'Zoom in', title: '+' }),
      this.app.has('sql') && h('a', { class: 'button off-cpu', href: state.format({ ...state.turn(this.app.state, 'sql'), query: 'flame', sql }) }, 'Waits as a flame graph'),
      api.HAS.filters && h('a', { class: 'button', href: state.format(state.turn(this.app.state, 'flame', { from: timeText(start), to: timeText(end) })), title: 'the whole windows inside this part' }, 'Profile of this part'),
      h('span', { class: 'end total', 'data-value': all }, `${nanoseconds(start)} to ${nanoseconds(end)}: ${this.asked.isWhole ? '' : 'the longest '}${count(this.seen.length)} of ${count(all)} events`));
  }

  // ---- choosing

  get event() {
    const chosen = axis.chosen(this.app.state.subject);
    return chosen && this.events.find(one => one.tid === chosen.tid && one.start_ns === chosen.ns);
  }

  choose(tid, ns) {
    const { frame } = this.view, thread = this.threads.find(one => one.tid === tid), [start, end] = this.part_ns, place = thread && this.view.places.get(axis.keyOf(thread));
    if (place && (place.y < frame.scrollTop + axis.TOP || place.y + axis.ROW > frame.scrollTop + frame.clientHeight)) frame.scrollTop = place.y - axis.TOP - axis.ROW;
    const isSeen = ns >= start && ns <= end, half = (end - start) / 2;
    this.frameChosen = null;
    return this.change({ subject: `${tid}@${ns}`, ...!isSeen && { zoom: axis.format(ns - half, ns + half, this.whole) } });
  }

  click({ row, isLabel, frame, event }) {
    if (isLabel && row) this.open(row.key);
    else if (event) this.choose(event.tid, event.start_ns);
    else if (frame) {
      this.frameChosen = { frame, row };
      this.tell();
    }
  }

  /* Opens or closes a group, or the stacks of a thread. */
  open(key) {
    const open = this.app.state.pick.split(',').filter(Boolean), isOpen = open.includes(key);
    this.change({ pick: (isOpen ? open.filter(one => one !== key) : [...open, key]).join(',') }, { replace: true });
  }

  /* By a key: of the chosen event's thread, which its group is opened for, else of the first row. */
  openStacks() {
    const { event } = this, thread = event && this.threads.find(one => one.tid === event.tid), row = thread ? this.rows.find(one => one.threads.includes(thread) && (one.thread || !one.isOpen)) : this.rows[0];
    if (row) this.open(row.key);
  }

  /* To the owner that the table names, in its hold of the lock where that was recorded; or to the thread that let the chosen wait go on, at that moment. */
  toOwner() {
    const { event } = this, tid = event && event.owner_tid, had = one => one.tid === tid && one.class === 'hold' && one.object === event.object && one.start_ns <= event.start_ns && one.start_ns + one.duration_ns >= event.start_ns;
    return this.toThread(tid, tid && (this.events.find(had) || event).start_ns, 'had it', 'Who had it is not known');
  }

  toReleaser() {
    const { event } = this;
    return this.toThread(event && event.released_by, event && event.released_ns, 'let it go on', 'Who let it go on is not known');
  }

  toThread(tid, ns, words, none) {
    announce(tid ? `${this.nameOf(tid)} ${words}` : this.event ? none : 'Choose a wait first');
    if (tid) this.choose(tid, ns);
  }

  /* The same list while nothing came. */
  inMap() {
    if (!this.mapped || this.mapped.from !== this.longest || this.mapped.ran !== this.ran) this.mapped = { from: this.longest, ran: this.ran, list: longestFirst(this.longest, this.ran) };
    return this.mapped.list;
  }

  tell() {
    replace(this.detail, detailOf(this));
  }

  // ---- zoom

  zoomTo(part) {
    return this.change({ zoom: part ? axis.format(part[0], part[1], this.whole) : '' });
  }

  zoomBy(factor, middle) {
    const [start, end] = this.part_ns, chosen = axis.chosen(this.app.state.subject), at = middle ?? (chosen && chosen.ns >= start && chosen.ns <= end ? chosen.ns : (start + end) / 2);
    return this.zoomTo([at - (at - start) * factor, at + (end - at) * factor]);
  }

  move(share) {
    const [start, end] = this.part_ns, by = (end - start) * share;
    if (start + by >= this.whole[0] && end + by <= this.whole[1]) this.zoomTo([start + by, end + by]);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    this.zoomBy((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, this.view.timeAt(event));
  }

  act(action) {
    if (!this.table) return super.act(action);
    const known = { in: () => this.zoomBy(0.5), out: () => this.zoomBy(2), reset: () => this.zoomTo(null), left: () => this.move(-0.5), right: () => this.move(0.5), owner: () => this.toOwner(), releaser: () => this.toReleaser(), stacks: () => this.openStacks() };
    if (known[action]) return known[action](), true;
    if (action === 'escape' && !this.app.state.q && (this.app.state.subject || this.app.state.zoom)) return this.change(this.app.state.subject ? { subject: '' } : { zoom: '' }), true;
    return super.act(action);
  }

  repaint() {
    if (this.view) this.show();
  }
}

export const open = opener(TimelinePage);
