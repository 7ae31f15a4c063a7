/* Source and disassembly of the functions that match: each line, and each instruction below its line, with its figures. */
import { h, replace, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { patternOf } from '../charts/tree.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, titleOf } from '../widgets/actions.js';
import { value, inUnit, percent, text, count } from '../names/format.js';
import { lookOf } from '../names/names.js';
import { CodeBeside } from './code_beside.js';

/* The rows of the table: a head for each function, its lines, and the instructions of a line below it. */
export function rowsOf(answer, withCode) {
  const out = [];
  for (const of of answer.functions) {
    out.push({ type: 'function', name: of.name, file: of.file || '', flat: of.flat, cum: of.cum, text: of.error || '', line: '' });
    for (const line of of.lines || []) {
      out.push({ type: 'line', name: of.name, line: line.line, flat: line.flat, cum: line.cum, text: line.text ?? '' });
      if (!withCode) continue;
      for (const one of line.instructions || []) out.push({ type: 'code', name: of.name, line: typeof one.address === 'number' ? one.address.toString(16) : String(one.address ?? ''), flat: one.flat, cum: one.cum, text: one.text ?? '' });
    }
  }
  return out;
}

/* Tabs as spaces up to the next column of eight. */
function untab(line) {
  let out = '';
  for (const part of line.split(/(\t)/)) out += part === '\t' ? ' '.repeat(8 - out.length % 8) : part;
  return out;
}

class SourcePage extends Page {
  part = 'code';

  constructor(host, app, which) {
    super(host, app);
    this.which = which;
  }

  key() {
    return state.query(this.app.state, { function: this.app.state.function });
  }

  async load() {
    const wanted = this.app.state.function;
    if (!wanted) {
      await this.offer();
      return;
    }
    const { body, note } = await api.get(this.which === 'source' ? 'source' : 'disasm', state.query(this.app.state, { function: wanted }), this.signal);
    this.answer = { ...body, unit: inUnit(body.unit, this.app.state.unit) };
    this.note = note;
    this.build();
  }

  /* Without a function: those that cost most, to choose from. */
  async offer() {
    const { body } = await api.get('table', state.query(state.change(this.app.state, { n: '40' }), { report: 'top' }), this.signal);
    const look = this.app.state.g === 'files' ? row => row.name : lookOf(body.nodes);
    this.setTable(null);
    replace(this.host, h('div', { class: 'toolbar' }, this.functionField()), h('p', {}, 'Which function? These cost most:'), h('ul', { class: 'offer' }, body.nodes.map(node => h('li', {},
      h('a', { title: text(node.name), href: state.format(state.change(this.app.state, { function: state.quote(node.function || node.name) })) }, text(look(node))), h('span', { class: 'quiet-text' }, ` ${value(node.flat, body.unit)} itself, ${value(node.cum, body.unit)} with callees`)))));
  }

  build() {
    const { unit, total } = this.answer, withCode = this.which === 'disasm';
    const look = lookOf(this.answer.functions), rows = rowsOf(this.answer, withCode), most = Math.max(1, ...rows.filter(row => row.type === 'line').map(row => Math.abs(row.cum)));
    const figure = (key, title) => ({ key, title, width: this.which === 'source' ? 92 : 104, value: row => row[key], exact: row => row[key], text: row => row[key] ? value(row[key], unit) : '.', part: row => row.type === 'function' ? 0 : Math.abs(row[key]) / most, class: row => row.type });
    if (this.beside) this.beside.close();
    this.beside = !withCode && this.answer.functions.length === 1 ? new CodeBeside(this.app, { unit, online: line => this.toLine(line) }) : null;
    this.setTable(new Table({
      label: TITLES[this.which], name: this.which, none: this.note || 'No function matches.',
      columns: [figure('flat', 'flat'), figure('cum', 'cum'), { key: 'share', title: 'cum%', width: 76, value: row => row.cum, text: row => row.cum ? percent(row.cum, total) : '', class: row => row.type },
        { key: 'line', title: withCode ? 'line, address' : 'line', width: withCode ? 116 : 70, value: row => row.line, text: row => String(row.line), class: row => row.type },
        { key: 'text', title: 'text', isText: true, grow: true, width: this.beside ? 260 : 520, class: row => 'source ' + row.type, shown: row => row.type === 'function' ? `${text(look(row))}  ${text(row.file)}${row.text ? '  ' + text(row.text) : ''}` : text(untab(String(row.text))), text: row => row.type === 'function' ? `${text(row.name)}  ${text(row.file)}${row.text ? '  ' + text(row.text) : ''}` : text(untab(String(row.text))) }],
      onmenu: (row, x, y) => openMenu(x, y, titleOf(row.name), functionItems(this.app, row.name)),
      onopen: row => this.app.go(state.turn(this.app.state, 'flame', { pivot: state.quote(row.name) })),
      ongo: row => this.beside && row.type === 'line' && this.beside.show(row.line),
    }));
    const other = this.which === 'source' ? 'disasm' : 'source';
    replace(this.host, h('div', { class: 'toolbar' }, this.functionField(), h('span', { class: 'total' }, `${count(this.answer.functions.length)} ${this.answer.functions.length === 1 ? 'function' : 'functions'}, ${this.answer.type}: ${value(total, unit)}`),
      h('span', { class: 'end' }, h('a', { class: 'button', href: state.format(state.change(this.app.state, { page: other })) }, TITLES[other]))), this.besideTable());
    this.rows = rows;
    this.show();
    const hottest = rows.reduce((best, row, i) => row.type === (withCode ? 'code' : 'line') && (best < 0 || row.cum > rows[best].cum) ? i : best, -1);
    if (hottest >= 0 && !this.app.state.q) this.table.go(hottest);
    if (this.beside) this.beside.load(this.signal);
  }

  close() {
    super.close();
    if (this.beside) this.beside.close();
  }

  /* Where there is room, the machine code of one function stands beside its lines. */
  besideTable() {
    return this.beside ? h('div', { class: 'beside code-pair' }, this.table.element, this.beside.element) : this.table.element;
  }

  toLine(line) {
    const at = this.table.rows.findIndex(row => row.type === 'line' && row.line === line);
    if (at >= 0) this.table.go(at);
  }

  /* To the next line by its cost, the hottest first; of machine code to the next instruction. */
  hot(by) {
    const type = this.which === 'source' ? 'line' : 'code', { table } = this, of = row => Math.abs(row.flat) || Math.abs(row.cum) / 1e6;
    const order = table.rows.filter(row => row.type === type && (row.flat || row.cum)).sort((a, b) => of(b) - of(a)), place = order.indexOf(table.current);
    const next = order[place < 0 ? 0 : (place + by + order.length) % order.length];
    if (!next) return false;
    table.go(table.rows.indexOf(next));
    announce(`${type === 'line' ? `Line ${next.line}` : next.line}: ${order.indexOf(next) + 1} of ${order.length} by cost, ${value(next.flat, this.answer.unit)} itself, ${value(next.cum, this.answer.unit)} with callees`);
    return true;
  }

  act(action) {
    if (action === 'hot' || action === 'cooler') return Boolean(this.table) && this.hot(action === 'hot' ? 1 : -1);
    const { beside } = this;
    return beside && beside.table && beside.isIn(document.activeElement) && action !== 'escape' ? beside.table.key(action) : super.act(action);
  }

  show() {
    if (!this.table) return;
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} lines` : '');
  }
}

const TITLES = { source: 'Source', disasm: 'Disassembly' };

export const open = opener(SourcePage);
