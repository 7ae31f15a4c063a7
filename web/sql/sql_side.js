/* What stands beside the editor of SQL: saved queries with fields for their parameters, and the tables and views with their columns and
 * comments.
 *
 * Emits through the options: onquery(sql) when a saved query or one of its values is chosen, onrun() for Enter in a field, onword(name). */
import { h, replace, button } from '../widgets/dom.js';
import { paramsOf, withValues } from './sql_text.js';
import { text } from '../names/format.js';

const HINTS = { run: 'a run: label, uuid, number, latest~1', integer: 'a whole number', real: 'a number', text: 'a text' };

export class SqlSide {
  constructor(options) {
    this.options = options;
    this.element = h('div', { class: 'sql-side' });
    this.values = h('form', { class: 'sql-values', hidden: true, 'aria-label': 'Values of the saved query', onsubmit: event => {
      event.preventDefault();
      this.options.onrun();
    } });
  }

  fail(message) {
    replace(this.element, h('p', { class: 'failure' }, text(message)));
  }

  /* `uuid` is that of the run of the page: the one that "latest" means. */
  fill(schema, saved, uuid) {
    this.uuid = uuid;
    const column = of => h('li', {}, button(of.name, () => this.options.onword(of.name), { class: 'word' }), h('span', {}, ` ${of.unit ? `[${text(of.unit)}] ` : ''}${text(of.comment || '')}`));
    const query = of => h('div', { class: 'saved' }, button(of.name, () => this.choose(of), { class: 'word', title: of.description || '' }), h('span', {}, text(of.description || '')));
    replace(this.element, saved.length ? h('section', {}, h('h2', {}, 'Saved queries'), saved.map(query)) : null,
      h('section', {}, h('h2', {}, 'Tables and views'), schema.map(table => h('details', {}, h('summary', { title: table.comment || null }, text(table.name)),
        h('p', {}, text(table.comment || '')), h('ul', {}, table.columns.map(column))))));
  }

  /* The text of a saved query with its parameters' defaults; what is typed into the fields goes into the text at once. */
  choose(query) {
    const params = paramsOf(query), fields = params.map(({ name, type, default: preset }) => {
      const input = h('input', { type: 'text', name, placeholder: HINTS[type] || '', spellcheck: 'false', autocomplete: 'off', maxlength: '1000', oninput: () => this.take(query, fields) });
      input.value = preset ?? '';
      return input;
    });
    this.values.hidden = !params.length;
    replace(this.values, h('span', { class: 'quiet-text' }, text(query.name)), params.map((of, i) => h('label', { class: 'inline' }, `${of.name} `, fields[i])), h('button', { type: 'submit' }, 'Run with these'));
    this.take(query, fields);
    (fields.find(field => !field.value) || fields[0] || { focus() {} }).focus();
  }

  take(query, fields) {
    this.options.onquery(withValues(query, this.uuid, Object.fromEntries(fields.map(field => [field.name, field.value.trim()]))));
  }

  /* A text of the user's own is no saved query's. */
  forget() {
    this.values.hidden = true;
  }
}
