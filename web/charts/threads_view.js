/* Threads over time on a canvas: a map of the whole run, and below it a lane for each thread or group, with the stacks of threads that are open.
 *
 * Emits through the options: onpart(from, to), onevent(event), onrow(row), onmenu(box, x, y). describe(found) says what is under the pointer: [title, words]. */
import { h, replace, isDark } from '../widgets/dom.js';
import { nanoseconds, text } from '../names/format.js';
import { fit } from '../names/names.js';
import * as axis from './timeline_layout.js';
import * as palette from './palette.js';

const FONT = '12px system-ui, "Segoe UI", "Noto Sans", sans-serif', MAP = 44;
const COLOURS = {
  wait: ['#c2452d', '#e0694f'], io: ['#2f6fb5', '#5c9ce0'], sleep: ['#8a8f98', '#7b808a'], ready: ['#b7791f', '#d69e2e'], hold: ['#2e7d4f', '#4caf7a'], region: ['#8a5fb0', '#a988cc'],
  release: ['#1b1d21', '#e8e8ea'], sample: ['#d9a23a', '#d8a546'], mark: ['#1b1d21', '#e8e8ea'], alive: ['#dfe3ea', '#353941'],
};
const PALE = 0.2;

export function colourOf(name, dark = isDark()) {
  return (COLOURS[name] || COLOURS.region)[dark ? 1 : 0];
}

export class ThreadsView {
  constructor(options) {
    this.options = options;
    this.map = h('canvas', { class: 'threads-map', 'aria-hidden': 'true' });
    this.canvas = h('canvas', { class: 'threads', role: 'img' });
    this.spacer = h('div', { class: 'threads-spacer' });
    this.frame = h('div', { class: 'threads-frame', tabindex: '0', role: 'group', 'aria-label': 'Threads', onscroll: () => this.draw() }, this.canvas, this.spacer);
    this.tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
    this.element = h('div', { class: 'threads-all' }, this.map, this.frame);
    document.body.append(this.tip);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.frame);
    this.over = new AbortController();
    this.frame.addEventListener('pointerdown', event => this.drag(event, this.frame));
    this.map.addEventListener('pointerdown', event => this.drag(event, this.map));
    this.frame.addEventListener('pointermove', event => this.point(event));
    this.frame.addEventListener('pointerleave', () => this.point(null));
    this.frame.addEventListener('contextmenu', event => this.menu(event));
  }

  close() {
    this.watch.disconnect();
    this.over.abort();
    this.tip.remove();
  }

  /* shown: threads, rows, height, whole, part, events (of the part, the longest first), longest (of the run), stacks: Map of thread keys to { boxes, depth }, matches: Set or
   * null, lit: classes that keep their colour, none: all, subject: the chosen thread and moment, sum(row): a figure beside the name. */
  show(shown) {
    this.shown = shown;
    this.places = axis.placesOf(shown.rows);
    this.canvas.setAttribute('aria-label', `${shown.threads.length.toLocaleString('en')} threads over time; the table below has the events`);
    this.spacer.style.height = shown.height + 'px';
    this.frame.style.height = shown.height + 2 + 'px';
    this.draw();
  }

  get left() {
    return Math.round(Math.min(190, this.frame.clientWidth * 0.32));
  }

  // ---- drawing

  fitted(canvas, width, height) {
    const ratio = devicePixelRatio || 1, context = canvas.getContext('2d');
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    return context;
  }

  draw() {
    const { frame, shown } = this, width = frame.clientWidth, height = frame.clientHeight;
    if (!width || !shown) return;
    const context = this.fitted(this.canvas, width, height), dark = isDark(), top = frame.scrollTop, { left } = this, [start, end] = shown.part;
    Object.assign(this, { dark, ink: dark ? '#e8e8ea' : '#1b1d21', faint: dark ? '#aeaaa2' : '#5d584f', line: dark ? '#3a3d43' : '#d9dce1' });
    const where = { start, end, left, width: width - left, top, height };
    this.lives(context, where);
    this.boxes = axis.boxes(this.places, shown.events, where);
    this.paint(context, this.boxes, top);
    this.frames = [];
    for (const row of shown.rows) {
      if (row.y + row.lane + row.depth * axis.DEEP < top || row.y > top + height) continue;
      this.label(context, row, row.y - top, width);
      if (row.depth) this.stacks(context, row, where);
    }
    this.scale(context, width);
    this.mark(context, where);
    this.drawMap(width);
  }

  paint(context, boxes, top) {
    const { matches, lit } = this.shown;
    for (const box of boxes) {
      context.globalAlpha = matches && !matches.has(box.event) || lit.length && !lit.includes(box.event.class) ? PALE : 1;
      context.fillStyle = colourOf(box.event.class, this.dark);
      context.fillRect(box.x, box.y - top, box.width, box.height);
    }
    context.globalAlpha = 1;
  }

  /* From the first to the last that is known of a thread. */
  lives(context, { start, end, left, width, top, height }) {
    context.fillStyle = colourOf('alive', this.dark);
    for (const thread of this.shown.threads) {
      const place = this.places.get(axis.keyOf(thread));
      if (!place || place.y + axis.ROW < top || place.y > top + height) continue;
      const at = ns => left + width * Math.max(0, Math.min(1, (ns - start) / (end - start))), from = at(thread.start_ns), to = at(thread.end_ns);
      if (to > from) context.fillRect(from, place.y - top + (place.height ? 0 : 10), to - from, place.height || 5);
    }
  }

  label(context, row, y, width) {
    const { left } = this, name = row.thread ? text(`${row.thread.thread || 'thread'} ${row.thread.tid}`) : text(`${row.group.thread} × ${row.threads.length}`), sum = this.shown.sum(row);
    context.fillStyle = this.line;
    context.fillRect(0, y + row.lane + row.depth * axis.DEEP - 1, width, 1);
    context.fillStyle = this.faint;
    context.fillText(row.isOpen ? '▾' : '▸', 5 + 10 * row.level, y + axis.ROW / 2);
    context.textAlign = 'right';
    context.fillText(sum, left - 8, y + axis.ROW / 2);
    context.textAlign = 'left';
    context.fillStyle = this.ink;
    const room = left - 28 - 10 * row.level - (sum ? context.measureText(sum).width + 8 : 0);
    context.fillText(fit(name, room, one => context.measureText(one).width, name), 18 + 10 * row.level, y + axis.ROW / 2);
  }

  stacks(context, row, { start, end, left, width, top, height }) {
    const { dark } = this, found = this.shown.stacks.get(axis.keyOf(row.thread)), y = row.y + row.lane - top, scale = width / (end - start);
    for (const box of found ? found.boxes : []) {
      const at = y + box.depth * axis.DEEP;
      if (box.start_ns > end || box.end_ns < start || at > height || at + axis.DEEP < 0) continue;
      const from = left + Math.max(0, (box.start_ns - start) * scale), wide = Math.max(1, left + Math.min(width, (box.end_ns - start) * scale) - from);
      context.fillStyle = box.wait ? colourOf(box.wait, dark) : palette.nameColour(box.name, dark);
      context.fillRect(from, at, wide > 3 ? wide - 0.5 : wide, axis.DEEP - 1);
      this.frames.push({ box, row, x: from, y: at + top, width: wide, height: axis.DEEP - 1 });
      if (wide < 24) continue;
      context.fillStyle = box.wait ? dark ? '#17181b' : '#ffffff' : palette.ink(dark);
      context.fillText(fit(box.name, wide - 8, one => context.measureText(one).width, box.wait ? box.name : undefined), from + 4, at + axis.DEEP / 2);
    }
  }

  scale(context, width) {
    const { left } = this, [start, end] = this.shown.part;
    context.clearRect(0, 0, width, axis.TOP - 1);
    for (const mark of axis.marks(start, end, Math.max(2, Math.min(8, Math.floor((width - left) / 90))))) {
      const x = left + (mark - start) / (end - start) * (width - left);
      context.fillStyle = this.line;
      context.fillRect(x, 0, 1, axis.TOP);
      context.fillStyle = this.ink;
      context.fillText(nanoseconds(mark), x + 4, axis.TOP / 2);
    }
  }

  mark(context, { start, end, left, width, top }) {
    const { subject, threads } = this.shown, thread = subject && threads.find(one => one.tid === subject.tid), place = thread && this.places.get(axis.keyOf(thread));
    if (!place) return;
    const x = left + (subject.ns - start) / (end - start) * width, y = place.y - top, high = place.height || axis.ROW - 2;
    context.strokeStyle = context.fillStyle = this.ink;
    context.lineWidth = 2;
    context.strokeRect(1, y, left + width - 2, high);
    if (x >= left) context.fillRect(x - 1, y - 3, 2, high + 6);
  }

  /* All threads and the whole run; what is shown below has a frame. The picture is kept while only the frame moves. */
  drawMap(width) {
    const { whole, part, longest, rows, lit, matches, threads } = this.shown, { left, dark } = this, key = [width, dark, longest, rows, lit.join(), matches, devicePixelRatio];
    if (!this.mapKey || key.some((one, i) => one !== this.mapKey[i])) {
      this.mapped = h('canvas');
      this.inMap = this.paintMap(this.fitted(this.mapped, width, MAP), width - left);
      this.mapKey = key;
    }
    const context = this.fitted(this.map, width, MAP), wide = width - left, at = ns => left + (ns - whole[0]) / (whole[1] - whole[0]) * wide, [from, to] = [at(part[0]), at(part[1])];
    context.drawImage(this.mapped, 0, 0, width, MAP);
    context.fillStyle = dark ? 'rgb(0 0 0 / 55%)' : 'rgb(255 255 255 / 65%)';
    context.fillRect(left, 0, from - left, MAP);
    context.fillRect(to, 0, left + wide - to, MAP);
    context.strokeStyle = dark ? '#7db4ff' : '#1b66c9';
    context.lineWidth = 1.5;
    context.strokeRect(from + 0.5, 0.5, Math.max(2, to - from - 1), MAP - 1);
    context.fillStyle = this.faint;
    const of = this.inMap < threads.length ? ` of ${threads.length.toLocaleString('en')}` : '';
    context.fillText(`${this.inMap.toLocaleString('en')}${of} ${threads.length === 1 ? 'thread' : 'threads'}`, 6, MAP / 2);
  }

  /* How many threads it has. */
  paintMap(context, width) {
    const { rows, whole, longest } = this.shown, places = new Map(), all = rows.flatMap(row => row.group && row.isOpen ? [] : row.threads), high = (MAP - 4) / Math.max(1, all.length);
    all.forEach((thread, i) => places.set(axis.keyOf(thread), { y: 2 + i * high, height: Math.max(1, high - (high > 3 ? 1 : 0)) }));
    this.paint(context, axis.boxes(places, longest, { start: whole[0], end: whole[1], left: this.left, width, top: 0, height: MAP }), 0);
    return all.length;
  }

  // ---- the pointer

  timeAt(event, within = this.frame) {
    const box = within.getBoundingClientRect(), [start, end] = within === this.map ? this.shown.whole : this.shown.part;
    return start + Math.max(0, Math.min(1, (event.clientX - box.left - this.left) / (box.width - this.left))) * (end - start);
  }

  /* What is at a point of the window: { row, frame: of a stack, event, ns }. */
  found(event) {
    const box = this.frame.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + this.frame.scrollTop;
    if (y - this.frame.scrollTop < axis.TOP) return {};
    const row = this.shown.rows.find(one => y >= one.y && y < one.y + one.lane + one.depth * axis.DEEP), inLane = row && y < row.y + row.lane;
    if (!row || x < this.left) return { row: inLane ? row : undefined, isLabel: true };
    const frame = inLane ? null : this.frames.find(one => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height), hit = inLane && axis.hit(this.boxes, x, y);
    return { row, frame: frame && frame.box, event: hit && hit.event, ns: this.timeAt(event) };
  }

  point(event) {
    const words = event && !event.buttons && this.shown && this.options.describe(this.found(event)), { tip } = this;
    tip.hidden = !words;
    if (!words) return;
    replace(tip, h('strong', {}, words[0]), h('span', {}, words[1]));
    const size = tip.getBoundingClientRect();
    tip.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - size.width - 6)) + 'px';
    tip.style.top = (event.clientY + 20 + size.height > innerHeight ? event.clientY - size.height - 10 : event.clientY + 20) + 'px';
  }

  menu(event) {
    const { frame, row } = this.found(event);
    if (!frame || frame.wait) return;
    event.preventDefault();
    this.tip.hidden = true;
    this.options.onmenu(frame, row, event.clientX, event.clientY);
  }

  drag(down, within) {
    if (down.button) return;
    const from = this.timeAt(down, within);
    addEventListener('pointerup', up => {
      if (Math.abs(up.clientX - down.clientX) > 4) {
        this.options.onpart(...[from, this.timeAt(up, within)].sort((a, b) => a - b));
      } else if (within === this.map) {
        const [start, end] = this.shown.part, half = (end - start) / 2;
        this.options.onpart(from - half, from + half);
      } else {
        this.options.onclick(this.found(up), up);
      }
    }, { once: true, signal: this.over.signal });
  }
}
