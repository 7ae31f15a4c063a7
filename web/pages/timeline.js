/* The events of a traced run (clear profile --trace) on a time axis: a row for each thread. Drag, the wheel or the keys zoom, to the
 * nanosecond; the part that is shown leads to its flame graphs. A chosen wait leads to the thread that ended it.
 *
 * The server sends the longest events of the run, so that one of a million is drawn as fast as one of a thousand. Of a part that is zoomed it
 * sends only what is shorter than these, which it finds without reading the rest. */
import { h, replace, button, announce, isDark } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { timeText } from '../state/time_span.js';
import { patternOf } from '../charts/tree.js';
import { nanoseconds, count, text } from '../names/format.js';
import * as axis from '../charts/timeline_layout.js';

const LABEL = 170, FONT = '12px system-ui, "Segoe UI", "Noto Sans", sans-serif', SENT = 5000;
const COLOURS = {
  wait: ['#c2452d', '#e0694f'], io: ['#2f6fb5', '#5c9ce0'], sleep: ['#8a8f98', '#7b808a'], hold: ['#2e7d4f', '#4caf7a'], region: ['#8a5fb0', '#a988cc'],
  release: ['#1b1d21', '#e8e8ea'], sample: ['#b07a1e', '#d8a546'], mark: ['#1b1d21', '#e8e8ea'],
};
const NONE = 'This run has no events: record it with clear profile --trace.';

class TimelinePage extends Page {
  part = 'timeline';
  threads = [];
  events = [];

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
    if (!this.threads.length) {
      replace(this.host, h('p', { class: 'empty' }, NONE));
      return;
    }
    this.asked = { start: this.whole[0], end: this.whole[1], isWhole: this.longest.length < SENT };
    await this.askEvents();
    this.build();
  }

  get part_ns() {
    return axis.parse(this.app.state.zoom) || this.whole;
  }

  async askEvents() {
    const [start, end] = this.part_ns;
    if (this.asked && this.asked.isWhole && start >= this.asked.start && end <= this.asked.end) return false;
    if (this.asked && this.asked.start === start && this.asked.end === end) return false;
    const longest = this.longest[SENT - 1].duration_ns, isAll = start <= this.whole[0] && end >= this.whole[1];
    const shorter = isAll || !api.HAS.detail ? [] : (await this.ask({ start, end, longest, limit: SENT })).body;
    this.events = [...new Map([...this.longest, ...shorter].map(one => [one.event_id, one])).values()];
    this.asked = { start, end, isWhole: !isAll && api.HAS.detail && shorter.length < SENT };
    return true;
  }

  async update() {
    if (this.key() !== this.loaded) return this.start();
    if (!this.threads.length) return undefined;
    this.show();
    const { zoom } = this.app.state;
    if (await this.askEvents() && this.app.state.zoom === zoom) this.show();
    return undefined;
  }

  // ---- the page

  build() {
    this.canvas = h('canvas', { class: 'threads', role: 'img', 'aria-label': `${count(this.threads.length)} threads over time; the table below has the events` });
    this.frame = h('div', { class: 'threads-frame', tabindex: '0', role: 'group', 'aria-label': 'Threads', onscroll: () => this.draw() }, this.canvas, this.spacer = h('div', { class: 'threads-spacer' }));
    const high = axis.TOP + this.threads.length * axis.ROW;
    this.spacer.style.height = high + 'px';
    this.frame.style.height = high + 2 + 'px';
    this.toolbar = h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline' });
    this.detail = h('div', { class: 'detail', 'aria-live': 'polite' });
    this.setTable(new Table({
      label: 'Events', name: 'events', keyOf: row => row.event_id, none: 'No event in this part.', ...this.sorting('duration_ns', 'down'), onopen: row => this.choose(row.tid, row.start_ns),
      columns: [['start_ns', 'start', 130], ['duration_ns', 'duration', 110]].map(([key, title, width]) => ({ key, title, width, value: row => row[key], exact: row => row[key], text: row => nanoseconds(row[key]) }))
        .concat([['thread', 140, row => this.nameOf(row.tid, row.process_id)], ['kind', 90, row => row.kind], ['object', 220, row => row.object], ['function', 220, row => row.function || ''],
          ['owner', 140, row => row.owner_tid ? this.nameOf(row.owner_tid, row.process_id) : '']].map(([key, width, of]) => ({ key, title: key, width, isText: true, value: of, exact: of, text: row => text(of(row)) }))),
    }));
    replace(this.host, this.losses(), this.toolbar, this.frame, this.detail, this.table.element);
    this.watch = this.watch || new ResizeObserver(() => this.draw());
    this.watch.observe(this.frame);
    this.frame.addEventListener('pointerdown', event => this.drag(event));
    this.frame.addEventListener('wheel', event => this.wheel(event), { passive: false });
    this.show();
  }

  /* What is not here: the rings kept the latest events alone, or an event found no room. */
  losses() {
    const lost = new Map(this.threads.filter(one => one.lost_events).map(one => [one.process_id, one]));
    const lines = [...lost.values()].map(one => `process ${one.pid}: ${count(one.lost_events)} events were overwritten or found no room; record with a larger --trace-buffer, or with --stream`);
    return lines.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'Events that were lost' }, h('strong', {}, 'Not every event was kept'), h('ul', {}, lines.map(line => h('li', {}, line)))) : null;
  }

  close() {
    super.close();
    if (this.watch) this.watch.disconnect();
  }

  nameOf(tid, process) {
    const found = this.threads.find(one => one.tid === tid && (process === undefined || one.process_id === process)) || this.threads.find(one => one.tid === tid);
    return found && found.thread ? `${found.thread} ${tid}` : String(tid);
  }

  show() {
    if (!this.canvas) return;
    const [start, end] = this.part_ns, pattern = patternOf(this.app.state.q);
    this.seen = this.events.filter(one => one.start_ns <= end && one.start_ns + one.duration_ns >= start);
    const matches = pattern ? this.seen.filter(one => [one.object, one.function, one.kind].some(word => pattern.test(word || ''))) : null;
    this.matches = matches && new Set(matches);
    this.app.tellSearch(pattern ? `${count(matches.length)} ${matches.length === 1 ? 'event' : 'events'}` : '');
    this.table.fill(matches || this.seen);
    this.tools(start, end);
    this.tell();
    this.draw();
  }

  tools(start, end) {
    const { runs } = this.app.state, all = this.threads.reduce((sum, one) => sum + one.events, 0), run = this.app.run && this.app.run.runs[0];
    const sql = axis.flameSql(run ? run.uuid : runs, start, end);
    replace(this.toolbar, button('Whole run', () => this.zoomTo(null), { disabled: !this.app.state.zoom, title: '0' }), button('−', () => this.zoomBy(2), { 'aria-label': 'Zoom out', title: '-' }), button('+', () => this.zoomBy(0.5), { 'aria-label': 'Zoom in', title: '+' }),
      this.app.has('sql') && h('a', { class: 'button off-cpu', href: state.format({ ...state.turn(this.app.state, 'sql'), query: 'flame', sql }) }, 'Waits as a flame graph'),
      api.HAS.filters && h('a', { class: 'button', href: state.format(state.turn(this.app.state, 'flame', { from: timeText(start), to: timeText(end) })), title: 'the whole windows inside this part' }, 'Profile of this part'),
      h('span', { class: 'end total', 'data-value': all }, `${nanoseconds(start)} to ${nanoseconds(end)}: ${this.asked.isWhole ? '' : 'the longest '}${count(this.seen.length)} of ${count(all)} events`));
  }

  // ---- the picture

  draw() {
    const { frame, canvas } = this, width = frame.clientWidth, height = frame.clientHeight, ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    const dark = isDark() ? 1 : 0, context = canvas.getContext('2d'), ink = dark ? '#e8e8ea' : '#1b1d21', line = dark ? '#3a3d43' : '#d9dce1';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = 'middle';
    const [start, end] = this.part_ns, top = frame.scrollTop;
    const boxes = axis.boxes(this.threads, this.seen, { start, end, left: LABEL, width: width - LABEL, top, height });
    for (const box of boxes) {
      context.globalAlpha = this.matches && !this.matches.has(box.event) ? 0.25 : 1;
      context.fillStyle = (COLOURS[box.event.class] || COLOURS.region)[dark];
      context.fillRect(box.x, box.y - top, box.width, box.height);
    }
    context.globalAlpha = 1;
    this.threads.forEach((thread, row) => {
      const y = axis.TOP + row * axis.ROW - top;
      if (y < -axis.ROW || y > height) return;
      context.fillStyle = line;
      context.fillRect(0, y + axis.ROW - 1, width, 1);
      context.fillStyle = ink;
      context.fillText(text(`${thread.thread || 'thread'} ${thread.tid}`).slice(0, 24), 6, y + axis.ROW / 2);
    });
    this.drawScale(context, { start, end, width, ink, line });
    this.drawChosen(context, { start, end, width, top, ink });
  }

  drawScale(context, { start, end, width, ink, line }) {
    context.clearRect(0, 0, width, axis.TOP - 1);
    for (const mark of axis.marks(start, end)) {
      const x = LABEL + (mark - start) / (end - start) * (width - LABEL);
      context.fillStyle = line;
      context.fillRect(x, 0, 1, axis.TOP);
      context.fillStyle = ink;
      context.fillText(nanoseconds(mark), x + 4, axis.TOP / 2);
    }
  }

  drawChosen(context, { start, end, width, top, ink }) {
    const chosen = axis.chosen(this.app.state.subject), row = chosen ? this.threads.findIndex(one => one.tid === chosen.tid) : -1;
    if (row < 0) return;
    const x = LABEL + (chosen.ns - start) / (end - start) * (width - LABEL), y = axis.TOP + row * axis.ROW - top;
    context.strokeStyle = ink;
    context.lineWidth = 2;
    context.strokeRect(1, y + 1, width - 2, axis.ROW - 3);
    context.fillStyle = ink;
    if (x >= LABEL) context.fillRect(x - 1, y - 3, 2, axis.ROW + 4);
  }

  // ---- choosing

  get event() {
    const chosen = axis.chosen(this.app.state.subject);
    return chosen && this.events.find(one => one.tid === chosen.tid && one.start_ns === chosen.ns);
  }

  choose(tid, ns) {
    const row = this.threads.findIndex(one => one.tid === tid), [start, end] = this.part_ns, y = axis.TOP + row * axis.ROW;
    if (y < this.frame.scrollTop + axis.TOP || y + axis.ROW > this.frame.scrollTop + this.frame.clientHeight) this.frame.scrollTop = y - axis.TOP - axis.ROW;
    const isSeen = ns >= start && ns <= end, half = (end - start) / 2;
    return this.change({ subject: `${tid}@${ns}`, ...!isSeen && { zoom: axis.format(ns - half, ns + half, this.whole) } });
  }

  /* To the thread that let the chosen wait go on, at that moment; where that is not known, to the one that had the lock when it began. */
  toOwner() {
    const { event } = this, tid = event && (event.released_by || event.owner_tid);
    if (!tid) return false;
    announce(`${this.nameOf(tid, event.process_id)} ${event.released_by ? 'let it go on' : 'had it'}`);
    this.choose(tid, event.released_by ? event.released_ns : event.start_ns);
    return true;
  }

  tell() {
    const chosen = axis.chosen(this.app.state.subject), { event } = this;
    if (!chosen) replace(this.detail, h('span', { class: 'quiet-text' }, 'Click an event, or press Enter on a row of the table; drag over the picture to zoom; o goes to the owner of a wait'));
    else if (!event) replace(this.detail, h('strong', {}, text(this.nameOf(chosen.tid))), ` at ${nanoseconds(chosen.ns)}`);
    else {
      const owner = event.owner_tid && this.nameOf(event.owner_tid, event.process_id), by = event.released_by && this.nameOf(event.released_by, event.process_id);
      replace(this.detail, h('strong', {}, text(this.nameOf(event.tid, event.process_id))), h('span', { 'data-value': event.duration_ns }, ` ${text(event.kind)} ${text(event.object)}: ${nanoseconds(event.duration_ns)} from ${nanoseconds(event.start_ns)}${event.function ? ` in ${text(event.function)}` : ''}${owner ? `; ${text(owner)} had it` : ''}${by ? `; ${text(by)} let it go on${event.release_function ? ` in ${text(event.release_function)}` : ''}` : ''}${event.is_late ? '; it ended early or at its time limit' : ''}. `),
        owner || by ? button(`To ${text(by || owner)}`, () => this.toOwner(), { class: 'to-owner', title: 'o' }) : null, button('Zoom to it', () => this.zoomTo([event.start_ns, event.start_ns + Math.max(1, event.duration_ns)])));
    }
  }

  // ---- zoom

  zoomTo(part) {
    return this.change({ zoom: part ? axis.format(part[0], part[1], this.whole) : '' });
  }

  zoomBy(factor, middle) {
    const [start, end] = this.part_ns, chosen = axis.chosen(this.app.state.subject);
    const at = middle ?? (chosen && chosen.ns >= start && chosen.ns <= end ? chosen.ns : (start + end) / 2);
    return this.zoomTo([at - (at - start) * factor, at + (end - at) * factor]);
  }

  move(share) {
    const [start, end] = this.part_ns, by = (end - start) * share;
    if (start + by >= this.whole[0] && end + by <= this.whole[1]) this.zoomTo([start + by, end + by]);
  }

  timeAt(event) {
    const frame = this.frame.getBoundingClientRect(), [start, end] = this.part_ns;
    return start + Math.max(0, Math.min(1, (event.clientX - frame.left - LABEL) / (this.frame.clientWidth - LABEL))) * (end - start);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    this.zoomBy((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, this.timeAt(event));
  }

  drag(down) {
    if (down.button) return;
    const from = this.timeAt(down);
    addEventListener('pointerup', up => {
      if (Math.abs(up.clientX - down.clientX) > 4) return this.zoomTo([from, this.timeAt(up)].sort((a, b) => a - b));
      const frame = this.frame.getBoundingClientRect(), [start, end] = this.part_ns;
      const boxes = axis.boxes(this.threads, this.seen, { start, end, left: LABEL, width: this.frame.clientWidth - LABEL, top: this.frame.scrollTop, height: this.frame.clientHeight });
      const found = axis.hit(boxes, up.clientX - frame.left, up.clientY - frame.top + this.frame.scrollTop);
      return found && this.choose(found.event.tid, found.event.start_ns);
    }, { once: true, signal: this.signal });
  }

  act(action) {
    if (!this.table) return super.act(action);
    const known = { in: () => this.zoomBy(0.5), out: () => this.zoomBy(2), reset: () => this.zoomTo(null), left: () => this.move(-0.5), right: () => this.move(0.5), owner: () => this.toOwner() };
    if (known[action]) return known[action](), true;
    if (action === 'escape' && !this.app.state.q && (this.app.state.subject || this.app.state.zoom)) return this.change(this.app.state.subject ? { subject: '' } : { zoom: '' }), true;
    return super.act(action);
  }

  repaint() {
    if (this.canvas) this.draw();
  }
}

export const open = opener(TimelinePage);
