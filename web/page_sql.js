/* SQL over all runs, read-only: an editor with highlighting and completion, rows as they come, cancel, and the result as a flame graph or a
 * chart. The text of the query is in the fragment of the URL. */
import { h, replace, button, select, copy, download, announce } from './dom.js';
import * as api from './api.js';
import * as state from './state.js';
import * as sqlText from './sql_text.js';
import { SqlSide } from './sql_side.js';
import { Table } from './table.js';
import { chart } from './chart.js';
import { FlameView } from './flame_view.js';
import { Page, opener } from './page.js';
import { decode, patternOf } from './tree.js';
import { cell, count, text, shorten, value, percent, unitOfColumn } from './format.js';

const LIMIT = 10000;
const EXAMPLE = `SELECT label, started, duration_ns, alloc_bytes, cpu_ns\nFROM run_summary\nORDER BY started_ns DESC\nLIMIT 20`;

/* Rows of a folded stack (root first) and a number, as the tree that flame_view draws. */
export function treeOfStacks(stacks) {
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

class SqlPage extends Page {
  columns = [];
  rows = [];

  close() {
    super.close();
    this.cancel();
    this.closeResult();
  }

  closeResult() {
    this.setTable(null);
    if (this.flame) this.flame.close();
    this.flame = null;
  }

  async load() {
    this.build();
    if (this.app.state.sql) this.run();
    this.fillSide();
  }

  /* The page does not wait for what stands beside the editor. */
  async fillSide() {
    try {
      const [schema, saved] = await Promise.all([api.get('schema', '', this.signal), api.get('queries', '', this.signal)]);
      this.schema = schema.body;
      this.saved = saved.body;
      this.side.fill(this.schema, this.saved, this.app.run && this.app.run.runs.length ? this.app.run.runs[0].uuid : '');
    } catch (error) {
      if (error.name !== 'AbortError') this.side.fail(error.message);
    }
  }

  build() {
    this.editor = h('textarea', { class: 'sql-text', 'aria-label': 'SQL', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'data-first': true, maxlength: '65536',
      'aria-controls': 'sql-offers', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox' });
    this.editor.value = this.app.state.sql || EXAMPLE;
    this.colours = h('pre', { class: 'sql-colours', 'aria-hidden': 'true' });
    this.offers = h('div', { class: 'offers', id: 'sql-offers', role: 'listbox', 'aria-label': 'What could come next', hidden: true });
    this.editor.addEventListener('input', () => { this.side.forget(); this.paint(); this.offer(); });
    this.editor.addEventListener('scroll', () => { this.colours.scrollTop = this.editor.scrollTop; this.colours.scrollLeft = this.editor.scrollLeft; });
    this.editor.addEventListener('keydown', event => this.editorKey(event));
    this.editor.addEventListener('blur', () => setTimeout(() => this.hideOffers(), 150));
    this.runButton = button('Run', () => this.take(), { class: 'main', title: 'Control+Enter' });
    this.stopButton = button('Cancel', () => this.cancel(true), { disabled: true });
    this.progress = h('span', { class: 'total', role: 'status' });
    this.result = h('div', { class: 'result' });
    this.side = new SqlSide({ onquery: sql => this.setText(sql), onrun: () => this.take(), onword: word => this.insert(word) });
    replace(this.host, h('div', { class: 'sql' }, h('div', { class: 'sql-main' }, h('div', { class: 'sql-editor' }, this.colours, this.editor, this.offers), this.side.values,
      h('div', { class: 'toolbar' }, this.runButton, this.stopButton, this.progress, h('span', { class: 'end' }, button('Save as .sql', () => this.save(), { class: 'quiet' }), button('Copy clear query', () => copy(state.command({ ...this.app.state, page: 'sql', sql: this.editor.value }), 'the command line'), { class: 'quiet' }))),
      this.result), this.side.element));
    this.paint();
  }

  setText(sql) {
    this.editor.value = sql;
    this.paint();
  }

  insert(word) {
    this.editor.focus();
    this.editor.setRangeText(word, this.editor.selectionStart, this.editor.selectionEnd, 'end');
    this.paint();
  }

  paint() {
    replace(this.colours, sqlText.tokens(this.editor.value).map(([kind, part]) => kind ? h('span', { class: 'sql-' + kind }, part) : part), '\n');
    this.editor.style.height = Math.min(340, Math.max(120, 24 + 20 * this.editor.value.split('\n').length)) + 'px';
  }

  // ---- completion

  offer(isAsked = false) {
    if (!this.schema) return;
    const at = this.editor.selectionStart, { from, items } = sqlText.complete(this.editor.value, at, this.schema, this.saved);
    if (!items.length || (!isAsked && at - from < 2 && this.editor.value[from - 1] !== '.')) {
      this.hideOffers();
      return;
    }
    this.list = items.slice(0, 12);
    this.listFrom = from;
    this.listAt = 0;
    this.drawOffers();
  }

  drawOffers() {
    const before = this.editor.value.slice(0, this.listFrom), lines = before.split('\n');
    replace(this.offers, this.list.map((item, i) => h('div', { role: 'option', id: `offer-${i}`, 'aria-selected': String(i === this.listAt), onmousedown: event => { event.preventDefault(); this.listAt = i; this.accept(); } }, h('code', {}, item.text), h('span', {}, ` ${item.kind}`), i === this.listAt && item.help ? h('small', {}, shorten(text(item.help), 160)) : null)));
    this.offers.hidden = false;
    this.offers.style.left = Math.min(this.editor.clientWidth - 260, 12 + 7.5 * lines[lines.length - 1].length - this.editor.scrollLeft) + 'px';
    this.offers.style.top = 12 + 20 * lines.length - this.editor.scrollTop + 'px';
    this.editor.setAttribute('aria-activedescendant', `offer-${this.listAt}`);
  }

  hideOffers() {
    this.list = null;
    this.offers.hidden = true;
    this.editor.removeAttribute('aria-activedescendant');
  }

  accept() {
    const item = this.list[this.listAt], query = item.kind === 'saved query' && this.saved.find(one => '@' + one.name === item.text);
    if (query) this.side.choose(query);
    else this.editor.setRangeText(item.text, this.listFrom, this.editor.selectionStart, 'end');
    this.hideOffers();
    this.paint();
  }

  editorKey(event) {
    const known = this.list && { ArrowDown: () => this.moveOffer(1), ArrowUp: () => this.moveOffer(-1), Tab: () => this.accept(), Enter: () => this.accept(), Escape: () => this.hideOffers() }[event.key];
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.take();
    else if (event.key === ' ' && event.ctrlKey) this.offer(true);
    else if (known && !event.shiftKey) known();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  moveOffer(by) {
    this.listAt = (this.listAt + by + this.list.length) % this.list.length;
    this.drawOffers();
  }

  // ---- running

  take() {
    const sql = this.editor.value;
    if (sql === this.app.state.sql) this.run();
    else this.app.go(state.change(this.app.state, { page: 'sql', sql, query: '', sort: '', order: '' }));
  }

  cancel(isAsked = false) {
    if (!this.asked) return;
    this.asked.abort();
    this.asked = null;
    if (isAsked) this.finish(`Cancelled after ${count(this.rows.length)} rows`);
  }

  finish(words) {
    clearInterval(this.clock);
    this.runButton.disabled = false;
    this.stopButton.disabled = true;
    this.progress.textContent = words;
  }

  async run() {
    const sql = this.app.state.sql, asked = new AbortController(), start = performance.now();
    this.cancel();
    clearInterval(this.clock);
    this.asked = asked;
    this.ran = sql;
    this.rows = [];
    this.columns = [];
    this.closeResult();
    replace(this.result);
    this.runButton.disabled = true;
    this.stopButton.disabled = false;
    const seconds = () => ((performance.now() - start) / 1000).toFixed(1);
    const say = () => { this.progress.textContent = `${count(this.rows.length)} rows, ${seconds()} s`; };
    say();
    this.clock = setInterval(say, 100);
    try {
      const end = await api.rows(sql, `limit=${LIMIT}`, asked.signal, {
        columns: names => { this.columns = names; this.showResult(); },
        rows: batch => { this.rows.push(...batch); this.table.fill(this.rows); },
      });
      this.finish(`${count(this.rows.length)} rows${end.truncated ? ` (the first ${count(LIMIT)} are kept)` : ''} in ${seconds()} s`);
      this.showResult();
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.finish('');
      replace(this.result, h('div', { class: 'failure', role: 'alert' }, h('h2', {}, 'The query failed'), h('pre', {}, text(error.message).replace(/\\u000a/g, '\n'))));
    } finally {
      if (this.asked === asked) this.asked = null;
    }
  }

  /* The result as a table, a flame graph or a chart, as `query` in the state says. */
  showResult() {
    const now = this.app.state, shape = sqlText.shapeOf(this.columns, this.rows), canFlame = shape.values.length && (shape.stack >= 0 || shape.trace >= 0), canChart = shape.values.length && this.rows.length > 1;
    const as = now.query === 'flame' && canFlame ? 'flame' : now.query === 'chart' && canChart ? 'chart' : '';
    this.closeResult();
    this.table = this.makeTable();
    const tabs = [['', 'Table'], canFlame ? ['flame', 'Flame graph'] : null, canChart ? ['chart', 'Chart'] : null].filter(Boolean);
    const picture = as === 'flame' ? this.makeFlame(shape) : as === 'chart' ? this.makeChart(shape) : this.table.element;
    replace(this.result, tabs.length > 1 ? h('div', { class: 'toolbar', role: 'group', 'aria-label': 'Result as' }, tabs.map(([key, words]) => button(words, () => this.app.go(state.change(this.app.state, { query: key })), { 'aria-pressed': String(key === as) })),
      as && shape.values.length > 1 ? select('figure', shape.values.map(i => [this.columns[i], this.columns[i]]), now.figure, figure => this.change({ figure })) : null) : null, picture);
    this.table.pattern = patternOf(now.q);
    this.table.fill(this.rows);
  }

  makeTable() {
    const widths = this.columns.map((name, i) => Math.min(420, Math.max(80, 30 + 8 * name.length, ...this.rows.slice(0, 100).map(row => 24 + 8 * cell(name, row[i]).length))));
    return new Table({
      label: 'Result', name: 'query', none: 'No row.', sort: this.app.state.sort, order: this.app.state.order,
      onsort: (sort, order) => this.app.go(state.change(this.app.state, { sort, order }), { replace: true }),
      columns: this.columns.map((name, i) => ({ key: `${i}:${name}`, title: name, width: widths[i], isText: this.rows.some(row => typeof row[i] === 'string'), value: row => row[i], exact: row => row[i] === null ? '' : row[i], text: row => cell(name, row[i]) })),
    });
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
      await api.rows(`SELECT trace_id, json_group_array(function) FROM (${frames}) GROUP BY trace_id`, 'limit=400', this.signal, {
        columns: () => {}, rows: batch => batch.forEach(([trace, names]) => out.set(trace, JSON.parse(names))),
      });
    }
    return out;
  }

  makeChart(shape) {
    const at = this.valueColumn(shape), unit = unitOfColumn(this.columns[at]), label = row => shape.x >= 0 ? cell(this.columns[shape.x], row[shape.x]) : '';
    const rows = this.rows.slice(0, 500);
    return chart(rows.map((row, i) => ({ key: String(i), y: typeof row[at] === 'number' ? row[at] : NaN, label: label(row), title: `${label(row)}: ${cell(this.columns[at], row[at])}` })), { label: `${this.columns[at]} of ${rows.length} rows`, unit, height: 300, space: this.result.clientWidth - 4 });
  }

  save() {
    download(new Blob([this.editor.value + '\n'], { type: 'text/plain' }), 'query.sql');
    announce('Saved query.sql: clear query -f query.sql runs it, clear query --save NAME keeps it in the warehouse');
  }

  async update() {
    const now = this.app.state;
    if (now.sql !== this.ran) {
      if (this.editor.value !== now.sql) {
        this.side.forget();
        this.setText(now.sql || EXAMPLE);
      }
      if (now.sql) await this.run();
      else { this.cancel(); this.ran = ''; replace(this.result); this.finish(''); }
    } else if (this.table) this.showResult();
    this.app.tellSearch(now.q && this.table ? `${count(this.table.rows.length)} rows` : '');
  }

  refresh() {} // a query runs when it is asked for

  act(action) {
    if (action === 'escape' && this.asked) {
      this.cancel(true);
      return true;
    }
    return this.table && this.table.element.contains(document.activeElement) ? this.table.key(action) : false;
  }
}

export const open = opener(SqlPage);
