/* Callers and callees of the functions that match, as pprof's peek shows them: for each function its callers, itself, its callees. */
import { h, replace } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, titleOf } from '../widgets/actions.js';
import { patternOf } from '../charts/tree.js';
import { value, inUnit, percent, text, count } from '../names/format.js';
import { lookOf } from '../names/names.js';

const WORDS = { caller: 'caller', self: 'function', callee: 'callee' };

/* The rows of the table: for each function of the answer that matches, its callers, itself, its callees, the heaviest first. `share` is the
 * part of the function's own sum, and of the function itself the part of the total. */
export function rowsOf(answer, pattern) {
  const heaviest = (a, b) => Math.abs(b.weight) - Math.abs(a.weight), known = new Map(answer.nodes.map((node, index) => [index, { callers: [], callees: [] }]));
  for (const edge of answer.edges) {
    known.get(edge.to).callers.push(edge);
    known.get(edge.from).callees.push(edge);
  }
  const row = (what, of, node, weight, whole, isInline = false) => ({ what, name: of.name, function: of.function || of.name, of: node.name, ofFunction: node.function, weight, whole, flat: of.flat, isInline });
  return answer.nodes.flatMap((node, index) => {
    if (!pattern.test(node.name) && !pattern.test(node.function || '') && !pattern.test(node.file || '')) return [];
    const { callers, callees } = known.get(index);
    return [...callers.sort(heaviest).map(edge => row('caller', answer.nodes[edge.from], node, edge.weight, node.cum, edge.inline)), row('self', node, node, node.cum, answer.total),
      ...callees.sort(heaviest).map(edge => row('callee', answer.nodes[edge.to], node, edge.weight, node.cum, edge.inline))];
  });
}

/* The pattern of the server's dialect in the browser's; where that fails, all: the server chose the functions. */
function patternFor(wanted) {
  try {
    return new RegExp(wanted);
  } catch {
    return /(?:)/;
  }
}

class PeekPage extends Page {
  part = 'table';

  key() {
    return state.query(this.app.state, { function: this.app.state.function });
  }

  async load() {
    const wanted = this.app.state.function;
    const { body } = await api.get('table', state.query(state.change(this.app.state, { n: wanted ? this.app.state.n : '40' }), wanted ? { report: 'peek', function: wanted } : { report: 'top' }), this.signal);
    this.answer = { ...body, unit: inUnit(body.unit, this.app.state.unit) };
    this.setTable(wanted ? this.makeTable() : null);
    this.look = this.app.state.g === 'files' ? row => row.name : lookOf(body.nodes);
    this.rows = wanted ? rowsOf(body, patternFor(wanted)) : [];
    replace(this.host, this.form(), wanted ? this.table.element : this.offer());
    this.show();
  }

  form() {
    return h('div', { class: 'toolbar' }, this.functionField(), h('span', { class: 'end' }, h('span', { class: 'total', 'data-value': this.answer.total }, `${this.answer.type}: ${value(this.answer.total, this.answer.unit)}`)));
  }

  /* Without a function: those that cost most, to choose from. */
  offer() {
    const { nodes, unit } = this.answer;
    return [h('p', {}, 'Which function? These cost most:'), h('ul', { class: 'offer' }, nodes.map(node => h('li', {}, this.link({ name: node.name, function: node.function || node.name }), h('span', { class: 'quiet-text' }, ` ${value(node.cum, unit)}`))))];
  }

  link(row) {
    return h('a', { href: state.format(state.change(this.app.state, { function: state.quote(row.function), q: '' })), tabindex: this.app.state.function ? '-1' : null, title: text(row.name) }, text(this.look(row)));
  }

  makeTable() {
    const { unit } = this.answer, mark = row => row.what === 'self' ? 'self' : '';
    return new Table({
      label: 'Callers and callees', name: 'peek', ...this.sorting(), none: 'No function matches.',
      onopen: row => this.change({ function: state.quote(row.function), q: '' }),
      onmenu: (row, x, y) => openMenu(x, y, titleOf(row.name), functionItems(this.app, row.function)),
      onkey: (action, row) => action === 'focus' && Boolean(this.app.go(state.addFilter(this.app.state, 'f', state.quote(row.function)))),
      columns: [{ key: 'value', title: 'value', width: 120, value: row => Math.abs(row.weight), exact: row => row.weight, text: row => value(row.weight, unit), part: row => row.what === 'self' ? 0 : Math.abs(row.weight / (row.whole || 1)), class: mark },
        { key: 'share', title: 'share', width: 90, value: row => Math.abs(row.weight / (row.whole || 1)), text: row => percent(row.weight, row.whole), class: mark },
        { key: 'what', title: 'is', isText: true, width: 92, text: row => WORDS[row.what], class: mark },
        { key: 'name', title: 'function', isText: true, grow: true, width: 240, class: mark, text: row => `${text(row.name)}${row.isInline ? ' (inline)' : ''}${row.what === 'self' ? `  itself ${value(row.flat, unit)}` : ''}`,
          render: row => row.what === 'self' ? h('span', {}, h('strong', { title: text(row.name) }, text(this.look(row))), h('span', { class: 'quiet-text' }, `  itself ${value(row.flat, unit)}`)) : h('span', {}, this.link(row), row.isInline ? ' (inline)' : '') },
        { key: 'of', title: 'of', isText: true, grow: 0.6, width: 150, text: row => row.what === 'self' ? '' : text(row.of), shown: row => row.what === 'self' ? '' : text(this.look({ name: row.of, function: row.ofFunction })), class: mark }],
    });
  }

  show() {
    if (!this.table) return;
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} of ${count(this.rows.length)} rows` : '');
  }
}

export const open = opener(PeekPage);
