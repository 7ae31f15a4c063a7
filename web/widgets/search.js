/* The field of the header that searches in the page, and what was found. The text is the state's q. */
import { h } from './dom.js';
import * as states from '../state/state.js';

const PAUSE = 120; // ms without a key, before the page searches

export class Search {
  constructor(app) {
    this.app = app;
    this.found = h('output', { class: 'found', for: 'search' });
    this.field = h('input', { id: 'search', type: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search in this page', autocomplete: 'off', spellcheck: 'false',
      maxlength: '1000', oninput: () => this.typed(), onkeydown: event => this.key(event) });
    this.element = h('div', { class: 'search' }, this.field, this.found);
  }

  get isTyping() {
    return document.activeElement === this.field;
  }

  show(text) {
    this.field.value = text;
  }

  tell(words) {
    this.found.textContent = words;
    this.found.hidden = !words;
  }

  take() {
    this.field.focus();
    this.field.select();
  }

  clear() {
    this.field.value = '';
    this.go();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.go(), PAUSE);
  }

  go() {
    clearTimeout(this.timer);
    if (this.field.value !== this.app.state.q) this.app.go(states.change(this.app.state, { q: this.field.value }), { replace: true });
  }

  key(event) {
    if (event.key === 'Enter') {
      event.preventDefault();
      this.go();
      if (this.app.page) this.app.page.act(event.shiftKey ? 'previous' : 'next');
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      this.go();
      this.app.focusPage();
    }
  }
}
