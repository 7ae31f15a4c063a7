/* The dialog of all filters, and the configurations that this browser keeps. Everything that is chosen goes into the URL. */
import { h, button, remember, remembered, replace, announce } from './dom.js';
import * as states from '../state/state.js';
import { openDialog } from './menu.js';
import * as api from '../state/api.js';
import { shorten, text, UNITS } from '../names/format.js';

const HINTS = { tf: 'REGEX, KEY=REGEX or 128kb:512kb', ti: 'as tagfocus', n: 'a number', nf: '0.005', from: '10s', to: '20s', window: '-1: the last', tagroot: 'KEY,KEY', tagleaf: 'KEY,KEY' };

/* The kept configurations: { name: { parameter: text } }. What the browser kept may be anything. */
export function kept() {
  try {
    const found = JSON.parse(remembered('configurations', '{}'));
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

function field([name, title, means, kind, words], now) {
  if (kind === 'switch') {
    const box = h('input', { type: 'checkbox', name });
    box.checked = now[name] === '1';
    return h('label', { class: 'tick-line' }, box, h('span', {}, title), h('small', {}, means));
  }
  const choices = kind === 'choice' ? [['', 'as the page has it'], ...words.split(' ').map(word => [word, word])] : name === 'unit' && [['', 'as it fits'], ...UNITS];
  if (choices) {
    return h('label', {}, h('span', {}, title), h('select', { name }, choices.map(([key, words]) => h('option', { value: key, selected: key === now[name] }, words))), h('small', {}, means));
  }
  const input = h('input', { type: 'text', name, spellcheck: 'false', autocomplete: 'off', maxlength: '1000', placeholder: HINTS[name] || 'regular expression' });
  input.value = now[name];
  return h('label', {}, h('span', {}, title), input, h('small', {}, means));
}

export function openRefine(app) {
  const now = app.state, first = states.FILTERS.findIndex(([name]) => name === 'f');
  const form = h('form', { class: 'refine' }, [...states.FILTERS.slice(first), ...states.FILTERS.slice(0, first)].map(filter => field(filter, now)));
  const chosen = () => Object.fromEntries(states.FILTERS.map(([name]) => {
    const control = form.elements[name];
    return [name, control.type === 'checkbox' ? control.checked ? '1' : '' : control.value.trim()];
  }));
  const take = filters => {
    dialog.close();
    app.go(states.change(app.state, { ...filters, zoom: '' }));
  };
  const empty = Object.fromEntries(states.FILTERS.map(([name]) => [name, '']));
  const apply = filters => take({ ...empty, ...Object.fromEntries(Object.entries(filters).filter(([key, value]) => key in empty && typeof value === 'string')) });
  form.addEventListener('submit', event => {
    event.preventDefault();
    take(chosen());
  });
  form.append(h('div', { class: 'toolbar' }, h('button', { type: 'submit', class: 'main' }, 'Apply'), button('Remove all', () => take(empty))));
  const dialog = openDialog('Refine', form, shared(app, apply), configurations(app, chosen, apply));
  form.elements[0].focus();
}

/* Those that clear.yaml has for everybody who looks at this warehouse. */
function shared(app, apply) {
  const host = h('section', { class: 'shared', hidden: true });
  api.get('server', '').then(({ body }) => {
    host.hidden = !body.filters.length;
    replace(host, h('h3', {}, 'Shared by clear.yaml'), body.filters.map(({ name, filters }) => h('span', { class: 'chip' }, button(shorten(text(name), 40), () => apply(filters), { class: 'word', title: describe(filters), 'aria-pressed': String(isNow(app, filters)) }))));
  }, error => replace(host, h('p', { class: 'failure' }, text(error.message))) && (host.hidden = false));
  return host;
}

/* Whether these are the filters of the page as it is. */
function isNow(app, filters) {
  return states.FILTERS.every(([name]) => (filters[name] || '') === app.state[name]);
}

/* The second click means it. */
function isSure(button) {
  if (button.className) return true;
  button.className = 'sure';
  button.textContent = 'Forget?';
  return false;
}

function describe(filters) {
  return states.FILTERS.filter(([key]) => filters[key]).map(([key, title]) => `${title}: ${text(String(filters[key]))}`).join('\n');
}

/* Configurations by name: a click applies one, Keep stores what the form says. */
function configurations(app, chosen, apply) {
  const host = h('section', { class: 'kept' });
  const draw = () => {
    const all = kept(), name = h('input', { type: 'text', 'aria-label': 'name of the configuration', placeholder: 'name', maxlength: '60' });
    const keep = () => {
      if (!name.value.trim()) return;
      remember('configurations', JSON.stringify({ ...all, [name.value.trim()]: Object.fromEntries(Object.entries(chosen()).filter(([, value]) => value)) }));
      announce('Kept in this browser');
      draw();
    };
    const forget = key => {
      remember('configurations', JSON.stringify(Object.fromEntries(Object.entries(all).filter(([other]) => other !== key))));
      draw();
    };
    replace(host, h('h3', {}, 'Kept in this browser'), Object.entries(all).map(([key, filters]) => h('span', { class: 'chip' }, button(shorten(text(key), 40), () => apply(filters || {}), { class: 'word', title: describe(filters || {}), 'aria-pressed': String(isNow(app, filters || {})) }), button('×', event => isSure(event.target) && forget(key), { 'aria-label': `Forget ${shorten(text(key), 40)}` }))),
      h('div', { class: 'toolbar' }, name, button('Keep', keep)));
  };
  draw();
  return host;
}
