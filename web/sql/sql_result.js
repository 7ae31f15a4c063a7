/* The result of a query: a table, and where its columns allow it a flame graph or a chart. */
import { h, replace, button, select, copy, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import * as sqlText from './sql_text.js';
import { Table } from '../widgets/table.js';
import { chart } from '../charts/chart.js';
import { FlameView } from '../charts/flame_view.js';
import { decode, patternOf } from '../charts/tree.js';
import { cell, count, text, value, percent, unitOfColumn } from '../names/format.js';

/* Rows of a folded stack (root first) and a number, as the tree that flame_view draws. */
function treeOfStacks(stacks) {
  const names = ['all'], known = new Map(), nodes = { id: [0], parent: [0], name: [0], value: [0], self: [0], hidden_count: [0], hidden_value: [0] }, below = [new Map()];
  for (const [frames, number] of stacks) {
    let at = 0;
    nodes.value[0] += number;
    for (const frame of frames) {
      let next = below[at].get(frame);
      if (next === undefined) {
        if (!known.has(frame)) known.set(frame, names.push(frame) - 1);
        next = nodes.id.length;
        below[at].set(frame, next);
        below.push(new Map());
        for (const [key, number2] of Object.entries({ id: next, parent: at, name: known.get(frame), value: 0, self: 0, hidden_count: 0, hidden_value: 0 })) nodes[key].push(number2);
      }
      nodes.value[next] += number;
      at = next;
    }
    nodes.self[at] += number;
  }
  return decode({ names, nodes });
}

export class SqlResult {
  columns = [];
  rows = [];
  table = null;
  flame = null;

  /* `host` is where it stands. */
  constructor(app, host) {
    this.app = app;
    this.host = host;
    this.abort = new AbortController();
  }

  /* Takes away what is shown. */
  close() {
    this.abort.abort();
    this.abort = new AbortController();
    if (this.table) this.table.close();
    if (this.flame) this.flame.close();
    this.table = this.flame = null;
  }

  clear() {
    this.close();
    this.rows = [];
    this.columns = [];
    replace(this.host);
  }

  begin(columns) {
    this.columns = columns;
    this.show();
  }

  add(rows) {
    this.rows.push(...rows);
    this.table.fill(this.rows);
  }

  /* As a table, a flame graph or a chart, as `query` in the state says. */
  show() {
    const now = this.app.state, shape = sqlText.shapeOf(this.columns, this.rows), canFlame = shape.values.length && (shape.stack >= 0 || shape.trace >= 0), canChart = shape.values.length && this.rows.length > 1;
    const as = now.query === 'flame' && canFlame ? 'flame' : now.query === 'chart' && canChart ? 'chart' : '';
    this.close();
    this.table = this.makeTable();
    const tabs = [['', 'Table'], canFlame ? ['flame', 'Flame graph'] : null, canChart ? ['chart', 'Chart'] : null].filter(Boolean);
    const picture = as === 'flame' ? this.makeFlame(shape) : as === 'chart' ? this.makeChart(shape) : this.table.element;
    replace(this.host, tabs.length > 1 ? h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Result as' }, tabs.map(([key, words]) => button(words, () => this.app.go(state.change(this.app.state, { query: key })), { 'aria-pressed': String(key === as) })),
      as && shape.values.length > 1 ? select('figure', shape.values.map(i => [this.columns[i], this.columns[i]]), now.figure, figure => this.app.go(state.change(this.app.state, { figure }))) : null) : null, picture);
    this.table.pattern = patternOf(now.q);
    this.table.fill(this.rows);
  }

  makeTable() {
    const widths = this.columns.map((name, i) => Math.min(420, Math.max(80, 30 + 8 * name.length, ...this.rows.slice(0, 100).map(row => 24 + 8 * cell(name, row[i]).length))));
    return new Table({
      label: 'Result', name: 'query', none: 'No row.', onopen: row => this.open(row), sort: this.app.state.sort, order: this.app.state.order,
      onsort: (sort, order) => this.app.go(state.change(this.app.state, { sort, order }), { replace: true }),
      columns: this.columns.map((name, i) => ({ key: `${i}:${name}`, title: name, width: widths[i], isText: this.rows.some(row => typeof row[i] === 'string'), value: row => row[i], exact: row => row[i] === null ? '' : row[i], text: row => cell(name, row[i]) })),
    });
  }

  /* A row leads to its function's source, else to its run. */
  open(row) {
    const of = names => row[this.columns.findIndex(column => names.includes(column))], name = of(['function']), run = of(['run_id', 'uuid', 'run']);
    if (name) this.app.go(state.turn(this.app.state, 'source', { runs: run ? String(run) : this.app.state.runs || 'latest', function: state.quote(String(name)) }));
    else if (run) this.app.go(state.change(state.empty(), { runs: String(run) }));
    else announce('This row names no function and no run');
  }

  valueColumn(shape) {
    const wanted = shape.values.find(i => this.columns[i] === this.app.state.figure);
    return wanted ?? shape.values[0];
  }

  makeFlame(shape) {
    const at = this.valueColumn(shape), unit = unitOfColumn(this.columns[at]), host = h('div', { class: 'result-flame' });
    const draw = stacks => {
      const root = treeOfStacks(stacks), say = number => value(number, unit);
      this.flame = new FlameView({ label: 'Result as a flame graph', describe: box => `${say(box.node.value)}, ${percent(box.node.value, root.value)}`, describeRest: box => `${count(box.rest.count)} more, ${say(box.rest.value)}`,
        onzoom: id => this.flame.show(root, { zoom: id === root.id ? '' : id }), onfocus: () => {}, onmenu: box => copy(box.node.name, 'the name') });
      replace(host, this.flame.element);
      this.flame.show(root);
    };
    if (shape.stack >= 0) draw(this.rows.map(row => [row[shape.stack].split(';'), Number(row[at]) || 0]));
    else this.stacksOf(this.rows.map(row => row[shape.trace])).then(stacks => draw(this.rows.map(row => [stacks.get(row[shape.trace]) || [], Number(row[at]) || 0])), error => error.name !== 'AbortError' && replace(host, h('p', { class: 'failure' }, text(error.message))));
    return host;
  }

  /* The frames of traces, root first, in as many requests as the limit of rows asks for. */
  async stacksOf(traces) {
    const out = new Map(), wanted = [...new Set(traces.filter(Number.isInteger))];
    for (let from = 0; from < wanted.length; from += 400) {
      const frames = `SELECT trace_id, function FROM frames WHERE trace_id IN (${wanted.slice(from, from + 400).join(', ')}) ORDER BY trace_id, depth DESC`;
      await api.rows(`SELECT trace_id, json_group_array(function) FROM (${frames}) GROUP BY trace_id`, 'limit=400', this.abort.signal, {
        columns: () => {}, rows: batch => batch.forEach(([trace, names]) => out.set(trace, JSON.parse(names))),
      });
    }
    return out;
  }

  makeChart(shape) {
    const at = this.valueColumn(shape), unit = unitOfColumn(this.columns[at]), label = row => shape.x >= 0 ? cell(this.columns[shape.x], row[shape.x]) : '';
    const rows = this.rows.slice(0, 500);
    return chart(rows.map((row, i) => ({ key: String(i), y: typeof row[at] === 'number' ? row[at] : NaN, label: label(row), title: `${label(row)}: ${cell(this.columns[at], row[at])}` })), { label: `${this.columns[at]} of ${rows.length} rows`, unit, height: 300, space: this.host.clientWidth - 4 });
  }
}
