/* What the pages do alike: when they ask the server again, how a request ends with the page, and the keys of a table and of the search.
 *
 * A page overrides load() (asks, and builds the page), show() (draws anew what is there, for the state's search and order), and, where more
 * than the selection decides what is asked for, key(). */
import { h, button } from './dom.js';
import * as state from '../state/state.js';

export class Page {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.part = 'none';
    this.table = null;
    this.abort = new AbortController();
  }

  get signal() {
    return this.abort.signal;
  }

  /* What the answer depends on: while it is the same, a change of the state asks for nothing. */
  key() {
    return state.query(this.app.state);
  }

  /* Asks for what the state says; what was asked before is of no use any more. */
  async start() {
    this.abort.abort();
    this.abort = new AbortController();
    this.loaded = this.key();
    await this.load();
  }

  async update() {
    if (this.key() !== this.loaded) await this.start();
    else this.show();
  }

  /* A recording has a new window. */
  refresh() {
    return this.start();
  }

  close() {
    this.abort.abort();
    this.setTable(null);
  }

  /* The table of the page, in the place of the one before. */
  setTable(table) {
    if (this.table) this.table.close();
    if (this.table && table) Object.assign(table, { rows: this.table.rows, at: this.table.at }); // its current row stays so
    this.table = table;
  }

  change(changes, how) {
    return this.app.go(state.change(this.app.state, changes), how);
  }

  /* The field that says which function the page is about, and its button. */
  functionField() {
    const input = h('input', { type: 'text', 'aria-label': 'function: a regular expression', placeholder: 'function (regular expression)', spellcheck: 'false', class: 'function-field', maxlength: '2000' });
    const submit = () => this.change({ function: input.value });
    input.value = this.app.state.function;
    input.addEventListener('keydown', event => event.key === 'Enter' && submit());
    return [input, button('Show', submit)];
  }

  /* How the state has the order of the table, for its options. */
  sorting(key = '', order = '') {
    const now = this.app.state;
    return { sort: now.sort || key, order: now.order || order, onsort: (sort, to) => this.change({ sort, order: to }, { replace: true }) };
  }

  act(action) {
    if (action !== 'escape') return Boolean(this.table) && this.table.key({ next: 'down', previous: 'up' }[action] || action);
    if (!this.app.state.q) return false;
    this.change({ q: '' }, { replace: true });
    return true;
  }
}

/* The function `open` of a page's module. */
export function opener(Made) {
  return async (host, app) => {
    const page = new Made(host, app, state.page(app.state));
    await page.start();
    return page;
  };
}
