/* All runs of the warehouse, newest first: filter them, see a figure over them, open one, a set, or two sets against each other. */
import { h, replace, button, select } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { patternOf } from '../charts/tree.js';
import { sparkline } from '../charts/chart.js';
import { openMenu } from '../widgets/menu.js';
import { command, count, time, text, shorten, value, unitOfColumn } from '../names/format.js';

const PAGE = 10000, MOST = 100000;
const FIGURES = [['duration_ns', 'duration'], ['alloc_bytes', 'bytes allocated'], ['alloc_count', 'allocations'], ['inuse_bytes', 'bytes live at the end'],
  ['cpu_ns', 'CPU time'], ['lock_wait_ns', 'waits for locks'], ['lock_contended', 'contended locks'], ['dropped', 'events dropped']];

/* How a run is named in a set: enough of the uuid to be unique, so that a set of many runs fits into a URL. */
export function shortName(uuid) {
  return uuid.slice(0, 13);
}

function names(list) {
  return list ? list.split(',') : [];
}

class RunsPage extends Page {
  part = 'table';

  async load() {
    const { label, tag, kind } = this.app.state, rows = [], [since, until] = this.days();
    for (let more = true, last = null; more && rows.length < MOST;) {
      const query = new URLSearchParams({ limit: PAGE, ...label && { label }, ...tag && { tag }, ...kind && { kind }, ...since && { since }, ...until && { until }, ...last && { before: last.uuid } });
      const { body } = await api.get('runs', query.toString(), this.signal);
      rows.push(...body);
      last = body[body.length - 1];
      more = body.length === PAGE;
    }
    this.rows = rows;
    this.build();
  }

  refresh() {}

  key() {
    const { label, tag, kind, since, until } = this.app.state;
    return JSON.stringify([label, tag, kind, since, until]);
  }

  /* The first and the last day, in UTC as the table shows times. What is no day is no limit. */
  days() {
    const { since, until } = this.app.state;
    return [since, until].map(day => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)) && day);
  }

  build() {
    this.figureShown = this.app.state.figure;
    this.setTable(new Table({
      label: 'Runs', name: 'runs', columns: this.columns(), ...this.sorting(), keyOf: run => run.uuid,
      none: 'No run matches. Record one: clear profile ./program',
      isChosen: run => this.sideOf(run), onopen: run => this.app.go(state.parse(`?runs=${run.uuid}`)),
      onkey: (action, run) => this.onkey(action, run), onmenu: (run, x, y) => this.menu(run, x, y), ongo: () => this.drawFigure(),
    }));
    this.figure = h('div', { class: 'figure' });
    this.choice = h('div', { class: 'choice', role: 'group', 'aria-label': 'Chosen runs' });
    replace(this.host, h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Filters of the list' }, this.filters()), this.choice, this.figure, this.table.element);
    this.show();
  }

  filters() {
    const now = this.app.state, go = changes => this.app.go(state.change(this.app.state, changes));
    const labels = [...new Set(this.rows.map(run => run.label).filter(Boolean))].sort(), kinds = [...new Set(this.rows.flatMap(run => run.kinds))].sort();
    const tags = [...new Set(this.rows.flatMap(run => Object.entries(run.tags).map(([key, of]) => `${key}=${of}`)))].sort().slice(0, 500);
    const among = (list, chosen) => chosen && !list.includes(chosen) ? [chosen, ...list] : list;
    const field = (title, all, list, name) => select(title, [['', all], ...among(list, now[name]).map(one => [one, shorten(text(one), 40)])], now[name], chosen => go({ [name]: chosen }));
    const day = (title, name) => {
      const input = h('input', { type: 'date', title: `${title} this day (UTC)`, onchange: () => go({ [name]: input.value }) });
      input.value = now[name];
      return h('label', { class: 'inline' }, `${title} `, input);
    };
    return [field('label', 'any label', labels, 'label'), field('tag', 'any tag', tags, 'tag'), field('kind of profile', 'any kind', kinds, 'kind'),
      day('since', 'since'), day('until', 'until'),
      now.label || now.tag || now.kind || now.since || now.until ? button('All runs', () => go({ label: '', tag: '', kind: '', since: '', until: '' }), { class: 'quiet' }) : null, h('span', { class: 'space' }),
      h('label', { class: 'inline' }, 'figure ', select('figure over the runs', FIGURES, now.figure || 'duration_ns', figure => go({ figure })))];
  }

  columns() {
    const figure = (key, title, width = 90) => ({
      key, title, width, value: run => run[key], exact: run => run[key], text: run => value(run[key], unitOfColumn(key)),
      part: run => key === (this.app.state.figure || 'duration_ns') ? run[key] / (this.most || 1) : 0,
    });
    const plain = (key, title, more) => ({ key, title, isText: true, text: run => text(String(run[key] ?? '')), ...more });
    const list = [
      { key: 'chosen', title: '', isFixed: true, width: 124, text: () => '', render: run => this.boxes(run) },
      { key: 'label', title: 'label', isText: true, width: 104, text: run => text(run.label || ''), render: run => h('a', { href: `/?runs=${run.uuid}`, tabindex: '-1' }, shorten(text(run.label || shortName(run.uuid)), 60)) },
      { key: 'started_ns', title: 'started (UTC)', isText: true, width: 172, value: run => run.started_ns, text: run => time(run.started_ns) },
      plain('command', 'command', { grow: true, width: 104, text: run => text(run.command || run.source || ''), render: run => h('span', {}, text(command(run.command || run.source || ''))) }),
      figure('duration_ns', 'duration'), figure('alloc_count', 'allocations', 102), figure('alloc_bytes', 'bytes'), figure('inuse_bytes', 'live'),
      figure('lock_wait_ns', 'lock wait'), figure('cpu_ns', 'CPU time'),
      ...FIGURES.some(([key]) => key === this.app.state.figure && ['lock_contended', 'dropped'].includes(key)) ? [figure(this.app.state.figure, FIGURES.find(([key]) => key === this.app.state.figure)[1], 130)] : [],
      plain('exit', 'exit', { width: 80 }),
      { key: 'tags', title: 'tags', isText: true, width: 170, text: run => text(Object.entries(run.tags).map(([key, of]) => `${key}=${of}`).join(' ')) },
      plain('flags', 'lost', { width: 130, class: run => run.flags ? 'warned' : '' }),
    ];
    // What no run has takes no room: nothing failed, nothing was lost, no tags.
    const isSaid = { exit: run => run.exit_status || run.exit_signal, tags: run => Object.keys(run.tags).length, flags: run => run.flags };
    return list.filter(column => !isSaid[column.key] || this.rows.some(isSaid[column.key]) || this.app.state.sort === column.key);
  }

  sideOf(run) {
    const { pick, against } = this.app.state, name = shortName(run.uuid);
    return names(pick).includes(name) ? 'new' : names(against).includes(name) ? 'base' : '';
  }

  boxes(run) {
    const side = this.sideOf(run), title = shorten(text(run.label || shortName(run.uuid)), 60);
    const box = (name, words) => h('label', { class: 'tick', title: words }, (() => {
      const input = h('input', { type: 'checkbox', tabindex: '-1', 'aria-label': `${words}: ${title}`, onchange: () => this.choose(run, name) });
      input.checked = side === name;
      return input;
    })(), h('span', { 'aria-hidden': 'true' }, name));
    return h('span', { class: 'ticks' }, box('new', 'choose'), box('base', 'choose as base'));
  }

  choose(run, side) {
    const name = shortName(run.uuid), now = this.app.state, field = side === 'new' ? 'pick' : 'against', other = side === 'new' ? 'against' : 'pick';
    const list = names(now[field]), isThere = list.includes(name);
    this.app.go(state.change(now, {
      [field]: (isThere ? list.filter(one => one !== name) : [...list, name]).join(','), [other]: names(now[other]).filter(one => one !== name).join(','),
    }), { replace: true });
  }

  drawChoice() {
    const { pick, against, label, tag, kind, since, until } = this.app.state, news = names(pick), bases = names(against);
    const runs = list => list.length === 1 && list[0].includes(':') ? text(list[0]) : `${count(list.length)} ${list.length === 1 ? 'run' : 'runs'}`;
    // All of a label or a tag are a set by that name, however many they are.
    const all = kind || since || until || this.rows.length < 2 || Boolean(label) === Boolean(tag) ? '' : label ? `all:${label}` : `tag:${tag}`;
    const whole = (words, changes) => button(words, () => this.app.go(state.change(this.app.state, changes), { replace: true }));
    this.choice.hidden = !news.length && !bases.length && !all;
    replace(this.choice, h('span', {}, news.length ? `${runs(news)} chosen` : '', bases.length ? `${news.length ? ', ' : ''}${runs(bases)} as base` : ''),
      all && pick !== all && against !== all ? [whole(`Choose all of ${text(label || tag)}`, { pick: all }), whole('All as the base', { against: all })] : null,
      news.length ? h('a', { class: 'button', href: state.format(state.change(state.empty(), { runs: pick })) }, news.length === 1 ? 'Open' : 'Open as one set') : null,
      news.length && bases.length ? [h('a', { class: 'button main', href: state.format(state.change(state.empty(), { runs: pick, base: against, page: 'compare' })) }, 'Compare with the base'),
        h('a', { class: 'button', href: state.format(state.change(state.empty(), { runs: pick, base: against, page: 'flame' })) }, 'Difference as a flame graph')] : null,
      news.length || bases.length ? button('Choose none', () => this.app.go(state.change(this.app.state, { pick: '', against: '' }), { replace: true }), { class: 'quiet' }) : null);
  }

  drawFigure() {
    const key = this.app.state.figure || 'duration_ns', title = FIGURES.find(([name]) => name === key)[1];
    const rows = [...this.table.rows].sort((a, b) => a.started_ns - b.started_ns), numbers = rows.map(run => run[key] || 0);
    if (rows.length < 2) {
      replace(this.figure);
      return;
    }
    const current = this.table.current, unit = unitOfColumn(key), most = Math.max(...numbers);
    replace(this.figure, h('div', { class: 'figure-words' }, h('strong', {}, title), ` over ${count(rows.length)} runs, oldest first; largest ${value(most, unit)}`,
      current ? `; this one ${value(current[key], unit)}` : ''), sparkline(numbers, current ? rows.indexOf(current) : -1, `${title} over ${rows.length} runs, oldest first`));
  }

  onkey(action, run) {
    if (action === 'mark') this.choose(run, 'new');
    else if (action === 'base') this.choose(run, 'base');
    else return false;
    return true;
  }

  menu(run, x, y) {
    const to = (title, page) => ({ label: title, href: state.format(state.change(state.empty(), { runs: run.uuid, page })) });
    openMenu(x, y, run.label || shortName(run.uuid), [to('Overview', 'overview'), to('Flame graph', 'flame'), to('Top', 'top'), to('Doctor', 'doctor'), to('Windows', 'live'), null,
      { label: 'Choose', run: () => this.choose(run, 'new') }, { label: 'Choose as base', run: () => this.choose(run, 'base') },
      ...run.label ? [{ label: 'Only this label', run: () => this.app.go(state.change(this.app.state, { label: run.label })) }] : []]);
  }

  show() {
    const key = this.app.state.figure || 'duration_ns';
    this.most = this.rows.reduce((most, run) => Math.max(most, run[key] || 0), 0);
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} of ${count(this.rows.length)}` : '');
    this.drawChoice();
    this.drawFigure();
  }

  async update() {
    if (this.key() !== this.loaded) await this.start();
    else if (this.figureShown !== this.app.state.figure) this.build();
    else this.show();
  }
}

export const open = opener(RunsPage);
