/* The windows of a run as a timeline: drag over it, and every page shows that part. A part can be the base of another one. Under a
 * recording, new windows appear as they are stored, and recording can be switched with the token. */
import { h, svg, replace, button, select, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table, widthOf } from '../widgets/table.js';
import { kindOf } from '../widgets/actions.js';
import { timeText, timeOf } from '../state/time_span.js';
import { ticks } from '../charts/chart.js';
import { nanoseconds, heading, count, text, unitOfColumn, value, tick } from '../names/format.js';

const NOT_FIGURES = ['window', 'number', 'from_ns', 'to_ns', 'start_ns', 'time_ns', 'duration_ns', 'profile_id', 'process_id', 'run_id', 'kind', 'uuid'];
const WIDTH = 1000, HEIGHT = 150, BOTTOM = 24, TOP = 8;
/* Figures that are of a moment: all others happen in a window, and windows are not of one length. */
const LEVEL = /^(inuse|peak|max|live|goroutine)/;

class LivePage extends Page {
  part = 'table';

  key() {
    const { runs, kind } = this.app.state;
    return new URLSearchParams({ ...runs && { runs }, ...kind && { kind } }).toString();
  }

  async load() {
    this.windows = (await api.get('windows', this.key(), this.signal)).body;
    this.server = this.app.live.isRecording === undefined ? null : (await api.get('server', '', this.signal)).body;
    if (this.server && this.server.recording) this.app.live.isRecording = this.server.is_on; // an event may have been sent before a switch
    this.figures = this.windows.length ? Object.keys(this.windows[0]).filter(key => !NOT_FIGURES.includes(key) && this.windows.some(one => typeof one[key] === 'number') && this.typeOf(key) !== null) : [];
    this.build();
  }

  /* The sample type behind v0, v1, …, the values of a kind of another tool; null: it has no such; undefined: any other figure. */
  typeOf(key) {
    const kind = this.app.run.kinds.find(one => one.kind === kindOf(this.app));
    return /^v\d$/.test(key) ? (kind && kind.types && kind.types[Number(key[1])]) || null : undefined;
  }

  /* What the bars show unless another is chosen: the kind's default sample type if the figures are named by types, else the first figure. */
  mainFigure() {
    const kind = this.app.run.kinds.find(one => one.kind === kindOf(this.app));
    return this.figures.find(key => kind && (this.typeOf(key) || {}).type === kind.default_type) || this.figures[0];
  }

  title(key) {
    return (this.typeOf(key) || { type: heading(key || '') }).type;
  }

  unit(key) {
    return (this.typeOf(key) || { unit: unitOfColumn(key) }).unit;
  }

  value(key, number) {
    return typeof number === 'number' ? value(number, this.unit(key)) : '';
  }

  /* The height of a window's bar: what happened in a second of it. */
  level(one) {
    return (one[this.figure] || 0) / (this.isRate ? Math.max(1, one.to_ns - one.from_ns) / 1e9 : 1);
  }

  build() {
    const now = this.app.state, chosen = this.figures.includes(now.figure) ? now.figure : this.mainFigure();
    this.figure = chosen;
    this.setTable(new Table({
      label: 'Windows', name: 'windows', keyOf: row => row.window, none: 'This kind of profile has no windows.', ...this.sorting('', 'up'),
      onopen: row => this.interval(row.from_ns, row.to_ns), isChosen: row => this.isInside(row) ? 'new' : this.isInside(row, this.baseInterval()) ? 'base' : '',
      onkey: (action, row) => action === 'base' && this.asBase(row.from_ns, row.to_ns, this.app.state),
      columns: [{ key: 'window', title: 'window', width: 84, value: row => row.window, exact: row => row.window, text: row => String(row.window) }, ...['from_ns', 'to_ns'].map(key => ({ key, title: key.slice(0, -3), width: 104, value: row => row[key], exact: row => row[key], text: row => nanoseconds(row[key]) })),
        ...this.figures.map(key => ({ key, title: this.title(key), width: widthOf(this.title(key)), value: row => row[key], exact: row => row[key], text: row => this.value(key, row[key]) }))],
    }));
    this.line = h('div', { class: 'timeline-frame' });
    replace(this.host, h('div', { class: 'toolbar' }, this.figures.length > 1 ? select('figure', this.figures.map(key => [key, this.title(key)]), chosen, figure => this.change({ figure })) : null,
      button('Whole run', () => this.change({ from: '', to: '' }), { disabled: !now.from && !now.to }), h('span', { class: 'total' }, `${count(this.windows.length)} ${this.windows.length === 1 ? 'window' : 'windows'}`), h('span', { class: 'end' }, this.recording())), this.line, h('p', { class: 'quiet-text' }, 'Drag over the timeline, or press Enter on a window: every page shows that part of the run.'), this.comparison(), this.table.element);
    this.table.fill(this.windows);
    this.draw();
  }

  end() {
    return Math.max(1, ...this.windows.map(one => one.to_ns));
  }

  chosenInterval() {
    const { from, to } = this.app.state;
    return from || to ? [timeOf(from) ?? 0, timeOf(to) ?? this.end()] : null;
  }

  /* Of the base, where that is this run too. */
  baseInterval() {
    const { base, base_from: from, base_to: to } = this.app.state, { run, baseRun } = this.app;
    const isSame = base && baseRun && baseRun.runs.length === 1 && run.runs.length === 1 && baseRun.runs[0].uuid === run.runs[0].uuid;
    return isSame && (from || to) ? [timeOf(from) ?? 0, timeOf(to) ?? this.end()] : null;
  }

  /* That part of the run becomes what others are compared with. */
  asBase(from, to, { from: keptFrom = '', to: keptTo = '' }) {
    this.change({ base: this.app.run.runs[0].uuid, base_from: timeText(from), base_to: timeText(to), base_window: '', from: keptFrom, to: keptTo });
    announce(`The base is ${nanoseconds(from)} to ${nanoseconds(to)}`);
    return true;
  }

  /* Two parts of the run: what to do for a second one, or where to see the difference. */
  comparison() {
    const chosen = this.chosenInterval(), base = this.baseInterval(), words = ([from, to]) => `${nanoseconds(from)} to ${nanoseconds(to)}`;
    if (!chosen && !base) return null;
    const to = page => state.format(state.turn(this.app.state, page));
    return h('div', { class: 'choice' }, base ? h('span', {}, chosen ? `${words(chosen)} against ${words(base)}` : `The base is ${words(base)}: drag over another part to compare it`) : null,
      base && chosen ? [h('a', { class: 'button main', href: to('flame') }, 'Difference as a flame graph'), h('a', { class: 'button', href: to('top') }, 'Difference as a table')] : null,
      chosen && !base ? button('Use this part as the base', () => this.asBase(...chosen, {}), { title: 'and choose another one to compare with it' }) : null,
      base ? button('No base', () => this.change({ base: '', base_from: '', base_to: '', base_window: '' }), { class: 'quiet' }) : null);
  }

  isInside(row, chosen = this.chosenInterval()) {
    return Boolean(chosen && row.to_ns > chosen[0] && row.to_ns <= chosen[1]);
  }

  draw() {
    const end = this.end(), x = ns => ns / end * WIDTH, chosen = this.chosenInterval(), base = this.baseInterval(), high = HEIGHT - BOTTOM;
    this.isRate = !LEVEL.test(this.title(this.figure)) && !LEVEL.test(this.figure);
    const a = this.isRate ? ' a second' : '', lines = this.windows.length ? ticks(0, Math.max(...this.windows.map(one => this.level(one))) || 1, this.unit(this.figure), 3) : [0], most = lines[lines.length - 1] || 1;
    const y = of => TOP + (1 - of / most) * (high - TOP), top = one => Math.min(high - 2, y(this.level(one)));
    const drawn = svg('svg', { class: 'timeline', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${this.title(this.figure)}${a} in ${this.windows.length} windows; the table below has the figures` },
      lines.map(line => svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y(line), y2: y(line) })),
      this.windows.map(one => svg('rect', { class: this.isInside(one) ? 'window inside' : this.isInside(one, base) ? 'window base' : 'window', x: x(one.from_ns) + 0.5, width: Math.max(1, x(one.to_ns - one.from_ns) - 1), y: top(one), height: high - top(one), 'data-window': one.window }, svg('title', {}, `${nanoseconds(one.from_ns)} to ${nanoseconds(one.to_ns)}: ${this.value(this.figure, one[this.figure])}${a ? `, ${this.value(this.figure, this.level(one))}${a}` : ''}`))),
      base ? svg('rect', { class: 'brush base', y: 0, height: high, x: x(base[0]), width: x(base[1] - base[0]) }) : null,
      this.brush = svg('rect', { class: 'brush', y: 0, height: high, x: chosen ? x(chosen[0]) : 0, width: chosen ? x(chosen[1] - chosen[0]) : 0 }));
    const marks = [0, 0.25, 0.5, 0.75, 1].map(part => h('span', {}, nanoseconds(Math.round(part * end))));
    replace(this.line, h('div', { class: 'timeline-axis', 'aria-hidden': 'true' }, lines.map(line => h('span', { style: { top: y(line) + 1 + 'px' } }, tick(line, this.unit(this.figure)) + (a && line ? '/s' : '')))), drawn, h('div', { class: 'timeline-marks', 'aria-hidden': 'true' }, marks));
    drawn.addEventListener('pointerdown', event => this.drag(event, drawn));
  }

  /* From where the pointer went down to where it goes up, in whole windows. */
  drag(down, drawn) {
    if (down.button) return;
    const frame = drawn.getBoundingClientRect(), at = event => Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width)) * this.end(), from = at(down);
    drawn.setPointerCapture(down.pointerId);
    const move = event => {
      const [low, high] = [from, at(event)].sort((a, b) => a - b);
      this.brush.setAttribute('x', low / this.end() * WIDTH);
      this.brush.setAttribute('width', (high - low) / this.end() * WIDTH);
    };
    const up = event => {
      drawn.removeEventListener('pointermove', move);
      const [low, high] = [from, at(event)].sort((a, b) => a - b), inside = this.windows.filter(one => one.from_ns < high && one.to_ns > low);
      if (inside.length) this.interval(Math.min(...inside.map(one => one.from_ns)), Math.max(...inside.map(one => one.to_ns)));
    };
    drawn.addEventListener('pointermove', move);
    drawn.addEventListener('pointerup', up, { once: true });
  }

  interval(from, to) {
    this.change({ from: timeText(from), to: timeText(to) });
    announce(`Every page shows ${nanoseconds(from)} to ${nanoseconds(to)}`);
  }

  // ---- a run that is being recorded

  recording() {
    const isOn = this.app.live.isRecording;
    if (isOn === undefined) return null;
    return [h('span', { class: 'badge live' }, isOn ? 'recording' : 'recording is off'), this.server && this.server.can_toggle ? button(isOn ? 'Switch off' : 'Switch on', () => this.toggle()) : null];
  }

  async toggle() {
    const token = this.app.token || prompt('The token that clear profile printed:');
    if (!token) return;
    const response = await fetch(location.origin + '/debug/pprof/toggle', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) {
      this.app.token = '';
      announce(response.status === 403 || response.status === 401 ? 'The token is wrong' : text(await response.text()));
      return;
    }
    this.app.token = token; // in memory alone: never in the URL, never stored
    this.app.live.isRecording = (await response.json()).recording;
    this.build();
  }

  show() {
    this.build();
  }
}

export const open = opener(LivePage);
