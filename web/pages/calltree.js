/* The call tree as a table that opens and closes: the same tree as the flame graph's, with figures in columns. It opens on the path to the function that does
 * most itself. */
import { h, replace, button, select, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import * as trees from '../charts/tree.js';
import { rowsOf, canOpen, pathIds, hottest } from '../charts/tree_rows.js';
import { FlameTrees } from '../charts/flame_trees.js';
import { foundText, totalOf } from '../charts/flame_words.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, downloadButton, titleOf } from '../widgets/actions.js';
import { AboutFunction, isWanted, toggle } from './about_function.js';
import { value, difference, percent, text, count } from '../names/format.js';
import { usual } from '../names/names.js';

const STEP = 11, LEVELS = 36; // pixels a level; deeper rows stand below each other
const FOUND_MAX = 500; // matches whose paths are opened

class CallTreePage extends Page {
  part = 'tree';
  open = new Set();
  found = new Set();

  key() {
    return state.query(this.app.state, { inverted: this.app.state.inverted });
  }

  close() {
    super.close();
    if (this.about) this.about.close();
  }

  get root() {
    return this.trees.roots[0];
  }

  /* From the leaves the functions stand below the root with what they do themselves, the hottest first. */
  get hottest() {
    return this.app.state.inverted ? this.root.children[0] || this.root : hottest(this.root);
  }

  async load() {
    this.trees = new FlameTrees({ state: state.change(this.app.state, { pivot: '', zoom: '' }), width: this.app.width }, this.signal);
    await this.trees.load();
    this.open = new Set([this.root.id]);
    this.openPath(this.hottest);
    this.build();
  }

  openPath(node) {
    for (const id of pathIds(node).slice(node.parent ? 1 : 0)) this.open.add(id);
  }

  build() {
    const { head } = this.trees, now = this.app.state;
    if (this.about) this.about.close();
    this.about = isWanted() ? new AboutFunction(this.app) : null;
    this.setTable(new Table({
      label: 'Call tree', name: 'calltree', isFree: true, role: 'treegrid', columns: this.columns(), keyOf: row => row.node.id + row.isMore, none: this.trees.note || 'No sample is left.',
      attributes: row => ({ 'aria-level': row.level, 'aria-expanded': !row.isMore && canOpen(row.node) ? String(row.isOpen) : null }),
      onopen: row => this.turn(row), onclick: (row, event) => event.target.closest('.twist') && this.turn(row),
      ongo: row => this.about && this.about.show(row.node.parent && !row.isMore ? row.node.name : '', this.trees.tableOf(row.node.name)),
      onmenu: (row, x, y) => row.node.parent && !row.isMore && openMenu(x, y, titleOf(row.node.name), functionItems(this.app, row.node.name, { stack: trees.stackText(row.node), module: row.node.word.module })),
      onkey: (action, row) => this.keyOf(action, row),
    }));
    replace(this.host, h('div', { class: 'toolbar' },
      select('order', [['', 'from the root'], ['1', 'from the leaves']], now.inverted, inverted => this.change({ inverted })),
      button('Hottest path', () => this.goTo(this.hottest), { title: 'opens the path to the function that does most itself' }),
      button('Close all', () => { this.open = new Set([this.root.id]); this.show(); }),
      h('span', { class: 'end' }, toggle(() => this.build()), h('span', { class: 'total', 'data-value': head.total }, totalOf(head)), downloadButton(this.app))),
    this.about ? h('div', { class: 'beside' }, this.table.element, this.about.element) : this.table.element);
    this.show();
    if (this.table.at < 0) this.goTo(this.hottest);
    else this.table.go(this.table.at);
  }

  columns() {
    const { unit, total, of, base_total: before, is_diff: isDiff } = this.trees.head, whole = (isDiff ? before : of || total) || 1;
    const figure = (key, title, valueOf, words = number => value(number, unit)) => ({ key, title, width: 124, isPlain: true, exact: row => row.isMore ? undefined : valueOf(row.node), text: row => row.isMore ? '' : words(valueOf(row.node)),
      part: row => row.isMore ? 0 : Math.abs(valueOf(row.node)) / whole });
    const share = (key, valueOf) => ({ key, title: '%', width: 76, isPlain: true, text: row => row.isMore ? '' : percent(valueOf(row.node), whole) });
    const name = { key: 'name', title: 'function', isText: true, isPlain: true, grow: true, width: 320, text: row => row.isMore ? '' : text(row.node.name), render: row => this.name(row), class: row => this.found.has(row.node) && !row.isMore ? 'match' : '' };
    return isDiff ? [figure('base', 'before', node => node.base), figure('value', 'after', node => node.value), figure('change', 'Δ', node => node.value - node.base, number => difference(number, unit)), name]
      : this.app.state.inverted ? [figure('value', 'itself, by caller', node => node.value), share('value%', node => node.value), name]
      : [figure('value', 'with callees', node => node.value), share('value%', node => node.value), figure('self', 'itself', node => node.self), share('self%', node => node.self), name];
  }

  name(row) {
    const indent = { style: { 'padding-left': Math.min(row.level - 1, LEVELS) * STEP + 'px' }, class: 'tree-name' };
    if (row.isMore) return h('span', indent, h('em', {}, `${count(row.node.hiddenCount)} more, too small to be sent: ${value(row.node.hiddenValue, this.trees.head.unit)}`));
    return h('span', indent, h('i', { class: 'twist', 'aria-hidden': 'true' }, canOpen(row.node) ? row.isOpen ? '▾' : '▸' : ''), row.node.isInlined ? h('em', {}, text(usual(row.node.name))) : text(usual(row.node.name)));
  }

  show() {
    const isNew = this.find(this.app.state.q);
    this.table.fill(rowsOf(this.root, this.open));
    if (isNew) this.next(1, 0);
  }

  // ---- opening

  turn(row) {
    if (row.isMore) return this.ask(row.node);
    if (!canOpen(row.node)) return undefined;
    if (row.isOpen) this.open.delete(row.node.id);
    else this.open.add(row.node.id);
    this.show();
    return undefined;
  }

  /* What was too small for the tree as a whole, from the server. */
  async ask(node) {
    if (!api.HAS.detail) return announce('The file has no more: clear web shows it');
    const { body } = await this.trees.request({ root: node.id, inverted: this.app.state.inverted, width: this.trees.widthFor(node) });
    this.trees.roots[0] = this.trees.place(body);
    this.show();
    return undefined;
  }

  goTo(node) {
    this.openPath(node);
    this.show();
    const at = this.table.rows.findIndex(row => row.node === node && !row.isMore);
    if (at >= 0) this.table.go(at);
  }

  keyOf(action, row) {
    const { node } = row;
    if (action === 'right' && !row.isMore && canOpen(node) && !row.isOpen || action === 'left' && row.isOpen) this.turn(row);
    else if (action === 'right') this.table.go(this.table.at + 1);
    else if (action === 'left') this.goTo(row.isMore ? node : node.parent || node);
    else if (action === 'focus' && node.parent) this.app.go(state.addFilter(this.app.state, 'f', state.quote(node.name)));
    else return false;
    return true;
  }

  // ---- search

  /* True: it is another search, which found something. */
  find(words) {
    const isNew = words !== this.sought, pattern = trees.patternOf(words), result = pattern && trees.search(this.root, pattern);
    this.found = new Set(pattern ? result.matches : []);
    if (isNew) for (const node of [...this.found].slice(0, FOUND_MAX)) this.openPath(node);
    this.sought = words;
    this.app.tellSearch(pattern ? foundText(this.trees.head, this.found.size, result.sum, result.isPartial) : '');
    return isNew && this.found.size > 0;
  }

  next(by, first = this.table.at + by) {
    const { rows } = this.table;
    for (let i = 0; i < rows.length; i++) {
      const at = (first + by * i + 2 * rows.length) % rows.length;
      if (this.found.has(rows[at].node) && !rows[at].isMore) return this.table.go(at);
    }
    return undefined;
  }

  act(action) {
    if (action === 'about') this.host.querySelector('.about-toggle').click();
    else if (this.app.state.q && ['next', 'previous'].includes(action)) {
      if (this.found.size && this.sought === this.app.state.q) this.next(action === 'next' ? 1 : -1);
    }
    else return super.act(action);
    return true;
  }
}

export const open = opener(CallTreePage);
