/* Locks, waits, channels, cells, fibers: one row for each object, waits and holds as bars, its callers below. */
import { h, replace } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table, widthOf } from '../widgets/table.js';
import { patternOf } from '../charts/tree.js';
import { globOf } from '../sql/series_sql.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, titleOf, sqlText } from '../widgets/actions.js';
import { cell, heading, text, count, shorten, fileLine } from '../names/format.js';
import { apart } from '../names/names.js';

const KINDS = {
  locks: { of: 'lock', scope: 'lock', title: 'Locks', view: 'lock_use', main: ['wait_ns', 'hold_ns'], object: 'object' },
  channels: { of: 'channels', scope: 'channel', title: 'Channels', view: 'channel_use', main: ['push_blocked_ns', 'pop_blocked_ns'], object: 'object' },
  cells: { of: 'mvcc', scope: 'cell', title: 'Cells', view: 'cell_use', main: ['retries', 'commits'], object: 'object' },
  waits: { of: 'wait', scope: 'wait', title: 'Waits', view: 'wait_use', main: ['wait_ns'], object: 'object', titles: { acquires: 'passes', contended: 'waited' } },
  fibers: { of: 'fibers', title: 'Fibers', view: '', main: [], object: '' },
};
const NOT_FIGURES = ['name', 'identity', 'object', 'channel', 'kind', 'function', 'file', 'line', 'module', 'stack_of', 'address', 'callers', 'trace_ids', 'allocated'];

/* Of the row of all calls that are not counted by caller: whose stack it shows. */
const whoseRow = { first: 'first caller, of all without a row of their own', allocation: 'who allocated it, of all without a row of their own' };

class ObjectsPage extends Page {
  part = 'table';

  constructor(host, app, which) {
    super(host, app);
    this.which = KINDS[which];
  }

  close() {
    super.close();
    if (this.callers) this.callers.close();
  }

  async load() {
    const only = state.empty();
    for (const name of ['runs', 'from', 'to', 'window']) only[name] = this.app.state[name];
    this.rows = (await api.get('objects', state.query(only, { of: this.which.of }), this.signal)).body;
    this.build();
  }

  build() {
    const first = this.rows[0] || {};
    const has = key => this.which.main.includes(key) || this.rows.some(row => row[key]); // a lock's readers, a wait's holds: 0 in all rows tells nothing
    const figures = Object.keys(first).filter(key => !NOT_FIGURES.includes(key) && !/(^|_)ids?$/.test(key) && has(key));
    const titleOfFigure = key => (this.which.titles || {})[key] || heading(key);
    const chosen = [...this.which.main.filter(key => figures.includes(key)), ...figures.filter(key => !this.which.main.includes(key))];
    const most = Object.fromEntries(chosen.map(key => [key, Math.max(1, ...this.rows.map(row => Number(row[key]) || 0))]));
    this.setTable(new Table({
      label: this.which.title, name: this.which.of, keyOf: row => row.identity || row.name, none: 'This run has none of these.',
      ...this.sorting(chosen.find(key => typeof first[key] === 'number'), 'down'),
      columns: [{ key: 'name', title: this.which.title.toLowerCase().replace(/s$/, ''), isText: true, grow: true, width: 260, text: row => text(String(row.name ?? '')) },
        ...chosen.map(key => ({ key, title: titleOfFigure(key), width: widthOf(titleOfFigure(key)), value: row => row[key], exact: row => row[key], text: row => cell(key, row[key]),
          part: row => this.which.main.includes(key) ? (Number(row[key]) || 0) / most[key] : 0, isText: typeof first[key] === 'string' }))],
      ongo: row => this.showCallers(row), onopen: row => this.change({ subject: row.name }),
      onmenu: (row, x, y) => this.menu(row, x, y),
    }));
    this.below = h('section', { class: 'callers', 'aria-label': 'Callers' });
    replace(this.host, this.table.element, this.below);
    this.show();
    const wanted = this.app.state.subject;
    this.table.go(wanted ? this.table.rows.findIndex(row => row.name === wanted) : this.table.at);
  }

  menu(row, x, y) {
    const site = /^(.*?)(\+\d+)?$/.exec(String(row.name))[1];
    openMenu(x, y, titleOf(String(row.name)), [{ label: 'Callers', run: () => this.showCallers(row) },
      { label: 'Flame graph of its kind', href: state.format(state.turn(this.app.state, 'flame', { kind: this.which.of })) },
      ...String(row.identity || '').startsWith('heap:') ? [{ label: 'Its allocation', href: state.format(state.turn(this.app.state, 'flame', { kind: 'heap', ...api.only(state.quote(site)) })) }] : [],
      this.which.scope && { label: 'Over runs', href: state.format(state.turn(this.app.state, 'trend', { function: `${this.which.scope} ${globOf(String(row.name))}` })) },
      null, ...functionItems(this.app, site).filter(item => item === null || item.label === 'Copy name')].filter(item => item !== undefined));
  }

  /* Who uses the object, with the figures of each caller. What is not counted by caller stands at the first one, or at who allocated the object: a column says so. */
  async showCallers(row) {
    if (!this.which.view || !row) return;
    if (this.asked) this.asked.abort();
    this.asked = new AbortController();
    const figures = { lock_use: ['acquires', 'contended', 'wait_ns', 'hold_ns', 'read_acquires', 'read_wait_ns'], channel_use: ['pushes', 'pops', 'push_blocked_ns', 'pop_blocked_ns'], cell_use: ['reads', 'commits', 'retries'], wait_use: ['passes', 'waited', 'timeouts', 'wait_ns'] }[this.which.view];
    const runs = this.app.run.runs.map(run => sqlText(run.uuid)).join(', ');
    const stackOf = this.which.view === 'channel_use' ? "''" : 'stack_of';
    const sql = `SELECT function, file, line, ${stackOf} AS stack_of, ${figures.map(one => `sum(${one}) AS ${one}`).join(', ')}\nFROM ${this.which.view}\nWHERE ${this.which.object} = ${sqlText(row.name)}\n  AND run_id IN (SELECT id FROM runs WHERE uuid IN (${runs}))\nGROUP BY 1, 2, 3, 4\nORDER BY 6 DESC`;
    let columns, rows;
    try {
      ({ columns, rows } = await api.callers({ of: this.which.of, name: row.name, sql, figures }, this.asked.signal));
    } catch (error) {
      if (error.name !== 'AbortError') replace(this.below, h('p', { class: 'failure' }, text(error.message)));
      return;
    }
    if (this.callers) this.callers.close();
    const looks = apart(rows.map(of => String(of[0] ?? '')));
    this.callers = new Table({
      label: `Callers of ${shorten(String(row.name), 80)}`, name: 'callers', none: 'Its callers were not recorded: --sync-callstacks records them.',
      columns: columns.map((name, i) => i === 0 ? { key: name, title: 'caller', isText: true, grow: true, text: of => text(String(of[0] ?? '')), shown: of => text(looks.get(String(of[0] ?? ''))) }
        : i === 1 ? { key: name, title: 'place', isText: true, grow: 0.6, text: of => text(fileLine(of[1], of[2])) }
          : i === 3 ? !rows.some(of => whoseRow[of[3]]) ? null : { key: name, title: 'whose', isText: true, grow: 0.8, text: of => whoseRow[of[3]] || 'caller' }
            : i === 2 || !rows.some(of => of[i]) ? null : { key: name, title: heading(name), width: widthOf(heading(name)), value: of => of[i], exact: of => of[i], text: of => cell(name, of[i]) }).filter(Boolean),
      onopen: of => this.app.go(state.turn(this.app.state, 'source', { kind: this.which.of, function: state.quote(of[0]) })),
      onmenu: (of, x, y) => openMenu(x, y, titleOf(of[0]), functionItems(this.app, of[0])),
    });
    replace(this.below, h('div', { class: 'toolbar' }, h('h2', {}, 'Callers of ', h('code', {}, shorten(text(String(row.name)), 100))), h('span', { class: 'end' }, this.app.has('sql') && h('a', { class: 'button', href: state.format(state.turn(this.app.state, 'sql', { sql })) }, 'As SQL'))), this.callers.element);
    this.callers.fill(rows.some(of => of[0]) ? rows : []); // without any stack there is one row, of nobody
  }

  show() {
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} of ${count(this.rows.length)}` : '');
  }

  act(action) {
    if (this.callers && this.callers.element.contains(document.activeElement) && action !== 'escape') return this.callers.key(action);
    return super.act(action);
  }
}

export const open = opener(ObjectsPage);
