/* A table of any length: only the rows in sight are in the page. Sortable, filterable, copyable, and everything by keys.
 *
 * A column: { key, title, text(row), shown(row), value(row), exact(row), width, isText, part(row), grow, render(row) }. `value` sorts, `exact` is the unrounded
 * figure (the cell's data-value and its tooltip), `part` from 0 to 1 draws a bar behind the text, `shown` is what the cell shows of a text that stays the
 * tooltip and what is copied and filtered, `render` makes an element instead. A column that is no figure of the row (`isFixed`) is not copied; by one that is
 * `isPlain` rows cannot be sorted. */
import { h, replace, button, copy, announce, download } from './dom.js';

const ROW = 28, SPARE = 12;
let serial = 0;

/* The width of a column of figures below a heading, with its arrow. */
export function widthOf(title) {
  return Math.max(104, 40 + Math.round(7.6 * title.length));
}

export class Table {
  /* options: label, role ('grid'), attributes(row), columns, sort, order, onsort(key, order), onopen(row), onmenu(row, x, y), onkey(action, row), isChosen(row), name, isFree: no row is current by itself. */
  constructor(options) {
    this.options = options;
    this.columns = options.columns;
    this.all = [];
    this.rows = [];
    this.at = -1;
    this.sortKey = options.sort || '';
    this.order = options.order || 'down';
    this.pattern = null;
    this.id = 'table' + ++serial;
    this.head = h('div', { role: 'rowgroup', class: 'table-head' });
    this.body = h('div', { role: 'rowgroup', class: 'table-body' });
    this.box = h('div', { class: 'table', role: options.role || 'grid', tabindex: '0', 'aria-label': options.label, onscroll: () => this.draw() }, this.head, this.body);
    this.count = h('span', { class: 'count' });
    this.element = h('div', { class: 'table-frame' }, this.box, h('div', { class: 'table-foot' }, this.count,
      button('Copy table', () => this.copyAll(), { class: 'quiet', title: 'copy all rows as text with tabs' }),
      button('Save as CSV', () => this.save(), { class: 'quiet' })));
    this.box.addEventListener('click', event => this.click(event));
    this.box.addEventListener('dblclick', event => this.rowOf(event) && this.open());
    this.box.addEventListener('contextmenu', event => this.menuAt(event));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.box);
    this.drawHead();
  }

  close() {
    this.watch.disconnect();
  }

  /* Rows in the order in which they came, until a column is chosen for sorting. The row that was current stays so if `keyOf` knows it; else it is the first. */
  fill(rows) {
    const keyOf = this.options.keyOf, old = this.rows[this.at];
    this.all = rows;
    this.arrange();
    if (old && keyOf) this.at = this.rows.findIndex(row => keyOf(row) === keyOf(old));
    if (!this.rows[this.at]) this.at = this.rows.length && !this.options.isFree ? 0 : -1;
    this.draw();
  }

  filter(pattern) {
    this.pattern = pattern;
    this.at = -1;
    this.arrange();
    this.box.scrollTop = 0;
    this.draw();
  }

  sortBy(key, order) {
    this.sortKey = key;
    this.order = order;
    this.arrange();
    this.drawHead();
    this.draw();
  }

  arrange() {
    const column = this.columns.find(one => one.key === this.sortKey);
    let rows = this.all;
    if (this.pattern) rows = rows.filter(row => this.columns.some(one => this.pattern.test(one.text(row))));
    if (column) {
      const value = column.value || column.text, sign = this.order === 'up' ? 1 : -1;
      rows = rows.map((row, index) => [value(row), index, row]).sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]).map(entry => entry[2]);
    }
    this.rows = rows;
    const all = this.all.length, shown = rows.length;
    this.count.textContent = shown === all ? `${all.toLocaleString('en')} ${all === 1 ? 'row' : 'rows'}`
      : `${shown.toLocaleString('en')} of ${all.toLocaleString('en')} rows`;
    this.box.setAttribute('aria-rowcount', shown + 1);
  }

  drawHead() {
    const template = this.columns.map(column => column.grow ? `minmax(${column.width || 220}px, ${column.grow === true ? 1 : column.grow}fr)`
      : `${column.width || 110}px`).join(' ');
    this.box.style.setProperty('--columns', template);
    this.box.style.setProperty('--least', this.columns.reduce((sum, column) => sum + (column.width || (column.grow ? 220 : 110)), 0) + 'px');
    replace(this.head, h('div', { role: 'row', class: 'table-row', 'aria-rowindex': '1' }, this.columns.map(column => {
      const isSorted = column.key === this.sortKey;
      return h('div', { role: 'columnheader', class: column.isText ? 'left' : 'right', title: column.help,
        'aria-sort': isSorted ? this.order === 'up' ? 'ascending' : 'descending' : 'none' },
      column.isFixed || column.isPlain ? column.title || h('span', { class: 'hidden-visually' }, column.key)
        : h('button', { type: 'button', tabindex: '-1', 'data-key': column.key }, column.title, isSorted ? h('span', { 'aria-hidden': 'true' }, this.order === 'up' ? ' ▲' : ' ▼') : ''));
    })));
  }

  draw() {
    const height = this.box.clientHeight || 600, top = Math.max(0, this.box.scrollTop - this.head.offsetHeight);
    const from = Math.max(0, Math.floor(top / ROW) - SPARE), to = Math.min(this.rows.length, Math.ceil((top + height) / ROW) + SPARE);
    this.body.style.height = this.rows.length * ROW + 'px';
    replace(this.body, Array.from({ length: to - from }, (unused, i) => this.row(from + i)));
    if (!this.rows.length) this.body.append(h('div', { role: 'row', class: 'table-none' }, h('div', { role: 'gridcell' }, this.options.none || 'Nothing matches.')));
    if (this.at >= from && this.at < to) this.box.setAttribute('aria-activedescendant', `${this.id}-${this.at}`);
    else this.box.removeAttribute('aria-activedescendant');
  }

  /* One row of those that are drawn; false: it is none of them. */
  redraw(index) {
    const old = this.body.querySelector(`[data-index="${index}"]`);
    if (!old) return false;
    old.replaceWith(this.row(index));
    if (index === this.at) this.box.setAttribute('aria-activedescendant', `${this.id}-${index}`);
    return true;
  }

  row(index) {
    const row = this.rows[index], isChosen = this.options.isChosen ? this.options.isChosen(row) : '';
    return h('div', { role: 'row', id: `${this.id}-${index}`, 'data-index': index, 'aria-rowindex': index + 2,
      class: `table-row${index === this.at ? ' current' : ''}${isChosen ? ' chosen ' + isChosen : ''}`, 'aria-selected': String(Boolean(isChosen) || index === this.at),
      style: { top: index * ROW + 'px' }, ...this.options.attributes && this.options.attributes(row) },
    this.columns.map(column => this.cell(column, row)));
  }

  cell(column, row) {
    const exact = column.exact ? column.exact(row) : undefined, text = column.text(row), shown = column.shown ? column.shown(row) : text, part = column.part ? column.part(row) : 0;
    return h('div', { role: 'gridcell', class: `${column.isText ? 'left' : 'right'}${column.class ? ' ' + column.class(row) : ''}`, 'data-value': exact, 'data-column': column.key,
      title: exact !== undefined && String(exact) !== text ? `${text} (${exact})` : text.length > 24 || shown !== text ? text.slice(0, 1000) : null },
    part > 0 ? h('span', { class: 'bar', 'aria-hidden': 'true', style: { width: Math.min(100, 100 * part) + '%' } }) : null,
    column.render ? column.render(row) : h('span', {}, shown.slice(0, 2000)));
  }

  rowOf(event) {
    const element = event.target.closest('[data-index]');
    return element ? this.rows[Number(element.dataset.index)] : null;
  }

  click(event) {
    const header = event.target.closest('[data-key]');
    if (header) return this.sortClick(header.dataset.key);
    if (event.target.closest('a, button, input, label')) return undefined;
    const row = this.rowOf(event);
    if (row) {
      this.go(this.rows.indexOf(row));
      if (this.options.onclick) this.options.onclick(row, event);
    }
    return undefined;
  }

  sortClick(key) {
    const column = this.columns.find(one => one.key === key), first = column.isText ? 'up' : 'down';
    const order = this.sortKey === key ? this.order === 'up' ? 'down' : 'up' : first;
    this.sortBy(key, order);
    if (this.options.onsort) this.options.onsort(key, order);
  }

  menuAt(event) {
    const row = this.rowOf(event);
    if (!row || !this.options.onmenu) return;
    event.preventDefault();
    this.go(this.rows.indexOf(row));
    this.options.onmenu(row, event.clientX, event.clientY);
  }

  go(index) {
    if (!this.rows.length) return;
    const before = this.at, stood = this.box.scrollTop;
    this.at = Math.max(0, Math.min(this.rows.length - 1, index));
    const top = this.at * ROW, seen = this.box.clientHeight - this.head.offsetHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + ROW > this.box.scrollTop + seen) this.box.scrollTop = top + ROW - seen;
    if (stood !== this.box.scrollTop || !this.redraw(this.at)) this.draw();
    else this.redraw(before);
    if (this.options.ongo) this.options.ongo(this.rows[this.at]);
  }

  get current() {
    return this.rows[this.at] || null;
  }

  open() {
    if (this.current && this.options.onopen) this.options.onopen(this.current);
  }

  /* An action of keys.js; false: it is not the table's. */
  key(action) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 2);
    const moves = { up: this.at - 1, down: this.at + 1, pageup: this.at - page, pagedown: this.at + page, first: 0, last: this.rows.length - 1 };
    if (action in moves) this.go(moves[action]);
    else if (action === 'enter') this.open();
    else if (action === 'copy' && this.current) copy(this.line(this.current), 'the row');
    else if (action === 'menu' && this.current && this.options.onmenu) {
      const box = (document.getElementById(`${this.id}-${this.at}`) || this.box).getBoundingClientRect();
      this.options.onmenu(this.current, box.left + 40, box.bottom);
    } else return Boolean(this.current && this.options.onkey && this.options.onkey(action, this.current));
    return true;
  }

  line(row) {
    return this.columns.filter(column => !column.isFixed).map(column => String((column.exact ? column.exact(row) : column.text(row)) ?? '').replace(/[\t\n]/g, ' ')).join('\t');
  }

  copyAll() {
    const head = this.columns.filter(column => !column.isFixed).map(column => column.title).join('\t');
    copy([head, ...this.rows.map(row => this.line(row))].join('\n') + '\n', `${this.rows.length} rows`);
  }

  /* A field that a spreadsheet would take for a formula gets an apostrophe in front. */
  save() {
    const field = text => /["\n\r,]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    const safe = text => /^[=@\t\r]|^[+-](?![\d.]+$)/.test(text) ? `'${text}` : text;
    const lines = [this.columns.filter(column => !column.isFixed).map(column => column.title), ...this.rows.map(row => this.line(row).split('\t').map(safe))];
    download(new Blob([lines.map(line => line.map(field).join(',')).join('\r\n') + '\r\n'], { type: 'text/csv' }), (this.options.name || 'table') + '.csv');
    announce(`Saved ${this.rows.length} rows`);
  }
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined || a === '') return -1;
  if (b === null || b === undefined || b === '') return 1;
  return a < b ? -1 : 1;
}
