/* Functions by cost: what pprof's top shows, sortable by every column. */
import { h, replace, select } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { patternOf } from '../charts/tree.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, downloadButton, titleOf, kindOf } from '../widgets/actions.js';
import { CHANGES, linesOf, errorText, typeOf } from './changes.js';
import { value, inUnit, percent, relative, text, count } from '../names/format.js';
import { lookOf } from '../names/names.js';
import { AboutFunction, isWanted, toggle } from './about_function.js';

class TopPage extends Page {
  part = 'table';

  async load() {
    const { n, nf } = this.app.state;
    const { body, note } = await api.get('table', state.query(state.change(this.app.state, { n: n || '100000', nf: nf || '0' }), { report: 'top' }), this.signal);
    this.answer = { ...body, unit: inUnit(body.unit, this.app.state.unit) };
    this.note = note;
    if (this.app.state.base) this.answer.nodes = await this.sides(body);
    this.build();
  }

  /* Of a difference: what each function was before and is after. Whole runs are judged as Compare judges them, with the noise, by their means; of parts, filters and kinds
   * that are not judged there are the sums alone. */
  async sides({ nodes, type }) {
    const now = this.app.state, kind = kindOf(this.app), isPlain = !state.chips(now).length, of = node => node.function || node.name;
    const judged = isPlain ? (await api.get('compare', state.query(now), this.signal)).body : { rows: [] };
    const lines = linesOf(judged.rows).filter(line => line.by === 'function' && line.section === kind && typeOf(this.app.run, line) === type);
    if (lines.length) {
      const known = new Map(lines.map(line => [line.subject, line])), isEven = judged.old.n === judged.new.n && judged.new.n === 1;
      return [...nodes.filter(node => known.has(of(node)) || isEven).map(node => ({ ...node, before: 0, after: 0, ...known.get(of(node)), flat: (known.get(of(node)) || node).delta ?? node.flat, cum: isEven ? node.cum : undefined })),
        ...lines.filter(line => line.delta && !nodes.some(node => of(node) === line.subject)).map(line => ({ ...line, name: line.subject, function: line.subject, flat: line.delta }))];
    }
    const part = { from: now.base_from || now.from, to: now.base_to || now.to, window: now.base_window || now.window };
    const { body } = await api.get('table', state.query(state.change(now, { ...part, runs: now.base, base: '', n: '100000', nf: '0' }), { report: 'top' }), this.signal).catch(() => ({ body: { nodes: [] } }));
    const before = new Map(body.nodes.map(node => [node.name, node.flat]));
    return nodes.map(node => ({ ...node, before: before.get(node.name) || 0, after: (before.get(node.name) || 0) + node.flat }));
  }

  close() {
    super.close();
    if (this.about) this.about.close();
  }

  build() {
    const { unit, total, type, nodes } = this.answer, { g } = this.app.state;
    if (this.about) this.about.close();
    this.about = isWanted() && (!g || g === 'functions') ? new AboutFunction(this.app) : null;
    this.setTable(new Table({
      label: 'Functions by cost', name: 'top', columns: this.columns(unit, total), ...this.sorting('flat', 'down'), keyOf: row => row.name,
      none: this.note || 'No sample is left.',
      onopen: row => this.app.go(state.turn(this.app.state, 'flame', { pivot: state.quote(row.function || row.name) })),
      onmenu: (row, x, y) => openMenu(x, y, titleOf(row.name), functionItems(this.app, row.function || row.name)),
      ongo: row => this.about && this.about.show(row.function || row.name, this.app.state.base ? undefined : () => this.answer),
      onkey: (action, row) => action === 'focus' && Boolean(this.app.go(state.addFilter(this.app.state, 'f', state.quote(row.function || row.name)))),
    }));
    replace(this.host, h('div', { class: 'toolbar' }, h('span', { class: 'total', 'data-value': total }, `${type}: ${value(total, unit)}`), h('span', { class: 'space' }),
      this.granularity(), !g || g === 'functions' ? toggle(() => this.build()) : null, downloadButton(this.app)), this.about ? h('div', { class: 'beside' }, this.table.element, this.about.element) : this.table.element);
    this.rows = nodes;
    this.show();
    if (this.about && this.table.current) this.table.go(this.table.at);
  }

  granularity() {
    const now = this.app.state, choices = [['', 'by function'], ['filefunctions', 'by function and file'], ['files', 'by file'], ['lines', 'by line'], ['addresses', 'by address']];
    return select('granularity', choices, now.g, g => this.change({ g }));
  }

  columns(unit, total) {
    const { nodes } = this.answer;
    const sure = key => nodes.some(row => row[key] !== undefined) ? [{ key, title: '±95%', width: 84, help: 'in 95 of 100 runs the truth is within so much', value: row => row[key] ?? -1, exact: row => row[key], text: row => row[key] === undefined ? '' : percent(row[key], total) }] : [];
    const figure = key => ({ key, title: key, width: 120, value: row => Math.abs(row[key]), exact: row => row[key], text: row => value(row[key], unit), part: row => Math.abs(row[key] / (total || 1)) });
    const share = key => ({ key: key + '%', title: key + '%', width: 84, value: row => Math.abs(row[key]), text: row => percent(row[key], total) });
    const look = this.app.state.g === 'files' ? row => row.name : lookOf(this.answer.nodes);
    const place = this.answer.nodes.some(row => row.file); // functions have none: they are merged over their lines, as pprof does
    if (this.app.state.base) return this.changes(look);
    return [figure('flat'), share('flat'), ...sure('flat_error'), figure('cum'), share('cum'), ...sure('cum_error'),
      { key: 'name', title: 'function', isText: true, grow: true, width: 260, text: row => text(row.name), shown: row => text(look(row)) },
      ...!place ? [] : [{ key: 'file', title: 'place', isText: true, grow: 0.6, width: 160, text: row => text(row.file ? row.file + (row.line ? ':' + row.line : '') : '') }]];
  }

  changes(look) {
    const { unit, nodes } = this.answer, has = key => nodes.some(row => row[key] !== undefined && row[key] !== null), signed = of => of === undefined ? '' : (of > 0 ? '+' : '') + value(of, unit);
    const side = key => ({ key, title: key, width: 104, value: row => row[key], exact: row => row[key], text: row => value(row[key] ?? 0, unit) }), change = row => row.before ? 100 * row.flat / row.before : row.flat ? null : 0;
    return [...has('word') ? [{ key: 'word', title: 'change', isText: true, width: 104, text: row => CHANGES[row.word] || '', class: row => row.is_change ? row.flat > 0 ? 'grew' : 'shrank' : 'faint' }] : [],
      side('before'), side('after'), { key: 'flat', title: 'Δ', width: 104, value: row => Math.abs(row.flat), exact: row => row.flat, text: row => signed(row.flat) },
      ...has('error') ? [{ key: 'error', title: '±95%', width: 96, help: 'in 95 of 100 cases the true difference is within so much', value: row => row.error ?? -1, exact: row => row.error, text: row => errorText(row, unit) }] : [],
      { key: 'percent', title: 'relative', width: 98, value: row => Math.abs(change(row) ?? Infinity), exact: change, text: row => row.flat ? relative(change(row)) : '' },
      ...has('cum') ? [{ key: 'cum', title: 'Δ with callees', width: 140, value: row => Math.abs(row.cum ?? 0), exact: row => row.cum, text: row => signed(row.cum) }] : [],
      { key: 'name', title: 'function', isText: true, grow: true, width: 240, text: row => text(row.name), shown: row => text(look(row)) }];
  }

  show() {
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    const matches = this.table.rows, sum = matches.reduce((all, row) => all + row.flat, 0);
    this.app.tellSearch(this.app.state.q ? `${count(matches.length)} of ${count(this.rows.length)}, flat ${value(sum, this.answer.unit)}` : '');
  }

  async update() {
    if (this.key() !== this.loaded) return this.start();
    const { sort, order } = this.app.state;
    if ((sort || 'flat') !== this.table.sortKey || (order || 'down') !== this.table.order) this.table.sortBy(sort || 'flat', order || 'down');
    return this.show();
  }
}

export const open = opener(TopPage);
