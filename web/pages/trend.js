/* A figure over the runs: of whole runs, of the functions that match, or of a lock, a site, a finding, ... by its name. A click on a point chooses it; one chosen run can be opened, two are
 * compared. */
import { h, replace, button, select } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { chart } from '../charts/chart.js';
import { Page, opener } from '../widgets/page.js';
import { Table, widthOf } from '../widgets/table.js';
import { shortName } from './runs.js';
import { setOfRun, pointLabel } from './history.js';
import { kindOf } from '../widgets/actions.js';
import { subjectOf, seriesSql, RUNS_AT_ONCE } from '../sql/series_sql.js';
import { value, inUnit, heading, unitOfColumn, time, text, shorten, relative, count } from '../names/format.js';

const WHOLE = [['duration_ns', 'duration of the run', 'nanoseconds'], ['alloc_bytes', 'bytes allocated', 'bytes'], ['alloc_count', 'allocations', 'count'], ['inuse_bytes', 'bytes live at the end', 'bytes'],
  ['cpu_ns', 'CPU time', 'nanoseconds'], ['lock_wait_ns', 'waits for locks', 'nanoseconds'], ['lock_contended', 'contended locks', 'count'], ['dropped', 'events dropped', 'count']];
const NO_FIGURES = /(^|_)(id|status|signal|pid)$|^(started_ns|uuid)$/;
const OF_FUNCTION = [['cum', 'with callees'], ['flat', 'itself'], ['total', 'the whole profile']];

class TrendPage extends Page {
  part = 'table';

  key() {
    const now = this.app.state;
    return state.query(now, { function: now.function, subject: now.subject });
  }

  /* The set whose history is shown: what the page says, else all runs with the label of this one. */
  set() {
    return this.app.state.subject || setOfRun(this.app);
  }

  async load() {
    const now = this.app.state;
    const { subject } = this;
    if (now.function && !subject) {
      const { body } = await api.get('series', state.query(state.change(now, { runs: this.set(), base: '', kind: now.kind || kindOf(this.app) }), { function: now.function }), this.signal);
      this.points = body;
    } else {
      const { body } = await api.get('run', new URLSearchParams({ runs: this.set() }).toString(), this.signal);
      this.points = [...body.runs].sort((a, b) => a.started_ns - b.started_ns);
      if (subject) await this.askSubject(subject);
    }
    this.changes = new Map();
    this.build();
    this.askChanges();
  }

  /* Where the level of the figure changed, by the same test as clear trend; the chart stands already. The figures of functions have come with
   * their changes. */
  async askChanges() {
    const [figure] = this.figure(), asked = `${this.loaded} ${figure}`, of = this.subject ? this.subject.subject : '';
    this.judged = asked;
    if (this.points.length < 2) return;
    if (this.app.state.function && !of) {
      this.changes = new Map(this.points.filter(point => point.changes[figure]).map(point => [point.run_id, point.changes[figure]]));
      if (this.changes.size) this.build();
      return;
    }
    const { body } = await api.get('changes', new URLSearchParams({ runs: this.set(), figure, ...of && { of } }).toString(), this.signal).catch(() => ({ body: { series: [] } }));
    if (this.judged !== asked) return;
    this.changes = new Map(body.series.flatMap(one => one.changes.map(change => [change.run_id, change])));
    if (this.changes.size) this.build();
  }

  /* A change in words: what clear trend prints of it. */
  wordsOf({ before, after, percent: part, exact, p, accepted, commit_before: from, commit_after: to }, unit) {
    const sure = exact ? 'the same in all runs before and after' : p !== null && p !== undefined ? `p ${p < 1e-4 ? '< 0.0001' : p.toPrecision(2)}` : '';
    return [Math.round(before) ? `${value(Math.round(before), unit)} → ${value(Math.round(after), unit)} (${relative(part, 1)})` : `from 0 to ${value(Math.round(after), unit)}`, sure,
      from && to && from !== to ? `between ${shorten(text(from), 12)} and ${shorten(text(to), 12)}` : '', accepted ? `accepted: ${text(accepted)}` : ''].filter(Boolean).join(', ');
  }

  /* The changes as a list: each leads to the comparison of the run with the one before it. */
  changeList(unit) {
    const rows = this.points.map((point, i) => ({ point, before: this.points[i - 1], change: this.changes.get(point.run_id) })).filter(({ before, change }) => before && change);
    if (!rows.length) return null;
    const link = ({ point, before }) => state.format(state.change(state.turn(this.app.state, 'compare'), { runs: point.uuid, base: before.uuid }));
    return h('ul', { class: 'changes', 'aria-label': 'Changes' }, rows.map(row => h('li', { class: row.change.accepted ? 'accepted' : '' }, h('a', { href: link(row) }, `in ${shorten(text(pointLabel(row.point)), 30)}, ${time(row.point.started_ns)}`), ': ', this.wordsOf(row.change, unit))));
  }

  /* What the page is about, where that is no function and no whole run: "lock pool:g_lock". */
  get subject() {
    return subjectOf(this.app.state.function);
  }

  /* Puts the subject's figures in the place of those of the runs. It was 0 in a run that could have had it, else nothing is known. */
  async askSubject(subject) {
    const values = new Map(this.points.map(point => [point.run_id, {}])), ids = [...values.keys()], figures = new Set();
    for (let from = 0; from < ids.length; from += RUNS_AT_ONCE) {
      await api.rows(seriesSql(ids.slice(from, from + RUNS_AT_ONCE), subject), 'limit=100000', this.signal, {
        columns: () => {}, rows: batch => batch.forEach(([run, figure, sum]) => { figures.add(figure); values.get(run)[figure] = sum; }),
      });
    }
    this.points = this.points.map(({ uuid, run_id, started_ns, label, tags, kinds }) => ({ uuid, run_id, started_ns, label, tags,
      ...!subject.kind || kinds.includes(subject.kind) ? Object.fromEntries([...figures].map(figure => [figure, 0])) : {}, ...values.get(run_id) }));
    this.found = [...figures];
  }

  /* The figures that there are: [key, title, unit]. */
  figures() {
    if (this.subject) return this.found.length ? this.found.map(key => [key, heading(key), unitOfColumn(key)]) : [['value', 'value', 'count']];
    if (this.app.state.function) return OF_FUNCTION;
    const others = Object.keys(this.points[0] || {}).filter(key => !NO_FIGURES.test(key) && !WHOLE.some(([known]) => known === key) && this.points.some(point => typeof point[key] === 'number'));
    return [...WHOLE, ...others.map(key => [key, heading(key), unitOfColumn(key)])];
  }

  figure() {
    const list = this.figures();
    return list.find(([key]) => key === this.app.state.figure) || list[0];
  }

  unit() {
    if (!this.app.state.function || this.subject) return inUnit(this.figure()[2], this.app.state.unit);
    const kind = this.app.run.kinds.find(one => one.kind === kindOf(this.app)), type = kind && (kind.types.find(one => one.type === (this.app.state.si || kind.default_type)) || kind.types[0]);
    return inUnit(type ? type.unit : 'count', this.app.state.unit);
  }

  build() {
    const now = this.app.state, [key, title] = this.figure(), unit = this.unit(), picked = now.pick ? now.pick.split(',') : [];
    const go = changes => this.app.go(state.change(this.app.state, changes));
    const points = this.points.map(point => ({ key: point.uuid, y: point[key], label: pointLabel(point), isChosen: picked.includes(shortName(point.uuid)), isChange: this.changes.has(point.run_id),
      title: `${pointLabel(point)}, ${time(point.started_ns)}: ${value(point[key], unit)}${this.changes.has(point.run_id) ? `. Changed here: ${this.wordsOf(this.changes.get(point.run_id), unit)}` : ''}` }));
    const input = h('input', { type: 'text', 'aria-label': 'of what: a function (regular expression); lock, site, finding, … and a name (with * and ?); empty: whole runs', title: 'a function (regular expression); lock NAME, site NAME, wait, cell, channel, finding CODE NAME (with * and ?); empty: whole runs', placeholder: 'function, or lock NAME, … (empty: whole runs)', spellcheck: 'false', class: 'function-field', maxlength: '2000' });
    const set = h('input', { type: 'text', 'aria-label': 'runs', placeholder: 'runs', spellcheck: 'false', maxlength: '1000' });
    input.value = now.function;
    set.value = this.set();
    const submit = () => go({ function: input.value, subject: set.value, figure: input.value === now.function ? now.figure : '', pick: '' });
    for (const field of [input, set]) field.addEventListener('keydown', event => event.key === 'Enter' && submit());
    this.setTable(new Table({
      label: 'Runs of the chart', name: 'trend', ...this.sorting(), keyOf: row => row.uuid, isChosen: row => picked.includes(shortName(row.uuid)) ? 'new' : '',
      onopen: row => this.app.go(state.change(state.turn(now, 'flame'), { runs: row.uuid, f: this.subject ? '' : now.function })), onkey: (action, row) => action === 'mark' && Boolean(this.choose(row.uuid)),
      columns: [{ key: 'started', title: 'started (UTC)', isText: true, width: 172, value: row => row.started_ns, text: row => time(row.started_ns) }, { key: 'label', title: 'label', isText: true, width: 130, text: row => text(row.label || '') },
        { key: 'figure', title, width: widthOf(title), value: row => row[key], exact: row => row[key], text: row => value(row[key], unit) },
        { key: 'change', title: 'against the one before', width: widthOf('against the one before'), text: row => this.change(row, key), value: row => row[key] }, { key: 'tags', title: 'tags', isText: true, grow: true, text: row => text(Object.entries(row.tags || {}).map(pair => pair.join('=')).join(' ')) }],
    }));
    replace(this.host, h('div', { class: 'toolbar' }, h('label', { class: 'inline' }, 'of ', input), h('label', { class: 'inline' }, 'over ', set), button('Show', submit), select('figure', this.figures().map(one => one.slice(0, 2)), key, figure => go({ figure }))),
      points.length ? chart(points, { label: `${title} over ${points.length} runs`, unit, onpoint: point => this.choose(point.key), height: 280, space: this.host.clientWidth - 4 }) : h('p', { class: 'empty' }, 'No run has this.'),
      this.changeList(unit), this.choice(picked, key, unit), this.table.element);
    this.show();
  }

  change(row, key) {
    const at = this.points.indexOf(row), before = at > 0 ? this.points[at - 1][key] : null, now = row[key];
    if (typeof before !== 'number' || typeof now !== 'number' || (!before && !now)) return '';
    return relative(before ? 100 * (now - before) / before : null, 2);
  }

  choice(picked, key, unit) {
    if (!picked.length) return h('p', { class: 'quiet-text' }, 'Choose a point to open its run, two to see their difference.');
    const chosen = this.points.filter(point => picked.includes(shortName(point.uuid))), now = this.app.state, first = chosen[0], last = chosen[chosen.length - 1];
    const to = (page, runs, base) => state.format(state.change(state.turn(now, page), { runs, base, f: page === 'flame' && !this.subject ? now.function : '' }));
    return h('div', { class: 'choice' }, chosen.map(point => h('a', { class: 'button', href: to('flame', point.uuid, '') }, `Open ${shorten(pointLabel(point), 20)}`)),
      chosen.length > 1 ? [h('span', {}, `from ${value(first[key], unit)} to ${value(last[key], unit)}`), h('a', { class: 'button main', href: to('compare', last.uuid, first.uuid) }, 'Compare'), h('a', { class: 'button', href: to('flame', last.uuid, first.uuid) }, 'Difference as a flame graph')] : null,
      button('Choose none', () => this.app.go(state.change(now, { pick: '' }), { replace: true }), { class: 'quiet' }));
  }

  /* The two latest choices are kept. */
  choose(uuid) {
    const now = this.app.state, name = shortName(uuid), list = now.pick ? now.pick.split(',') : [];
    return this.app.go(state.change(now, { pick: (list.includes(name) ? list.filter(one => one !== name) : [...list, name].slice(-2)).join(',') }), { replace: true });
  }

  refresh() {} // a point is a run that is over

  show() {
    this.table.fill(this.points);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} runs` : '');
  }

  async update() {
    if (this.key() !== this.loaded) await this.start();
    else {
      if (`${this.loaded} ${this.figure()[0]}` !== this.judged) {
        this.changes = new Map();
        this.askChanges();
      }
      const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : '';
      this.build();
      if (focused) [...this.host.querySelectorAll('.point')].filter(point => point.dataset.key === focused).forEach(point => point.focus());
    }
  }
}

export const open = opener(TrendPage);
