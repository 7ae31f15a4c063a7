/* The editor of SQL: a text field with its words coloured behind it, and a list of what could come next. */
import { h, replace } from '../widgets/dom.js';
import * as sqlText from './sql_text.js';
import { text, shorten } from '../names/format.js';

export class SqlEditor {
  /* options: text, onedit(), onrun(), onquery(saved query). */
  constructor(options) {
    this.options = options;
    this.schema = this.saved = null; // what could come next is known when know() was called
    this.editor = h('textarea', { class: 'sql-text', 'aria-label': 'SQL', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', 'data-first': true, maxlength: '65536',
      'aria-controls': 'sql-offers', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox' });
    this.editor.value = options.text;
    this.colours = h('pre', { class: 'sql-colours', 'aria-hidden': 'true' });
    this.offers = h('div', { class: 'offers', id: 'sql-offers', role: 'listbox', 'aria-label': 'What could come next', hidden: true });
    this.editor.addEventListener('input', () => { options.onedit(); this.paint(); this.offer(); });
    this.editor.addEventListener('scroll', () => { this.colours.scrollTop = this.editor.scrollTop; this.colours.scrollLeft = this.editor.scrollLeft; });
    this.editor.addEventListener('keydown', event => this.editorKey(event));
    this.editor.addEventListener('blur', () => setTimeout(() => this.hideOffers(), 150));
    this.element = h('div', { class: 'sql-editor' }, this.colours, this.editor, this.offers);
    this.paint();
  }

  know(schema, saved) {
    this.schema = schema;
    this.saved = saved;
  }

  get text() {
    return this.editor.value;
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
    if (query) this.options.onquery(query);
    else this.editor.setRangeText(item.text, this.listFrom, this.editor.selectionStart, 'end');
    this.hideOffers();
    this.paint();
  }

  editorKey(event) {
    const known = this.list && { ArrowDown: () => this.moveOffer(1), ArrowUp: () => this.moveOffer(-1), Tab: () => this.accept(), Enter: () => this.accept(), Escape: () => this.hideOffers() }[event.key];
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.options.onrun();
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
}
