/* Callers and callees of the functions that match, as pprof's peek shows them. */
import { h, replace, button } from './dom.js';
import * as api from './api.js';
import * as state from './state.js';
import { openMenu } from './menu.js';
import { functionItems, titleOf } from './actions.js';
import { value, percent, text, shorten } from './format.js';

/* For each function of the answer that matches: its callers and callees, the heaviest first. */
export function groupsOf(answer, pattern) {
  const heaviest = (a, b) => Math.abs(b.weight) - Math.abs(a.weight);
  return answer.nodes.map((node, index) => ({ node, index })).filter(({ node }) => pattern.test(node.name) || pattern.test(node.function || '') || pattern.test(node.file || '')).map(({ node, index }) => ({
    node, callers: answer.edges.filter(edge => edge.to === index).sort(heaviest), callees: answer.edges.filter(edge => edge.from === index).sort(heaviest),
  }));
}

class PeekPage {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.part = 'none';
    this.abort = new AbortController();
  }

  close() {
    this.abort.abort();
  }

  async load() {
    const wanted = this.app.state.function;
    const input = h('input', { type: 'text', 'aria-label': 'function: a regular expression', placeholder: 'function (regular expression)', spellcheck: 'false', class: 'function-field', maxlength: '2000' });
    input.value = wanted;
    const submit = () => this.app.go(state.change(this.app.state, { function: input.value }));
    input.addEventListener('keydown', event => event.key === 'Enter' && submit());
    const form = h('div', { class: 'toolbar' }, input, button('Show', submit));
    const { body } = await api.get('table', state.query(state.change(this.app.state, { n: wanted ? this.app.state.n : '40' }), wanted ? { report: 'peek', function: wanted } : { report: 'top' }), this.abort.signal);
    this.answer = body;
    replace(this.host, form, wanted ? this.groups(wanted) : h('p', {}, 'Which function? These cost most:'), wanted ? null : h('ul', { class: 'offer' }, body.nodes.map(node => h('li', {}, this.link(node.name, node.function), h('span', { class: 'quiet-text' }, ` ${value(node.cum, body.unit)}`)))));
  }

  groups(wanted) {
    let pattern;
    try {
      pattern = new RegExp(wanted);
    } catch {
      pattern = /(?:)/; // a pattern of the server's dialect: it chose the functions
    }
    const groups = groupsOf(this.answer, pattern);
    return groups.length ? groups.map(group => this.group(group)) : h('p', { class: 'empty' }, 'No function matches.');
  }

  link(name, exact) {
    return h('a', { href: state.format(state.change(this.app.state, { function: state.quote(exact || name) })), oncontextmenu: event => {
      event.preventDefault();
      openMenu(event.clientX, event.clientY, titleOf(name), functionItems(this.app, exact || name));
    } }, shorten(text(name), 160));
  }

  group({ node, callers, callees }) {
    const { unit, total, nodes } = this.answer;
    const row = (edge, of) => h('tr', {}, h('td', { 'data-value': edge.weight }, value(edge.weight, unit)), h('td', {}, percent(edge.weight, node.cum)), h('td', {}, h('span', { class: 'meter', 'aria-hidden': 'true', style: { width: Math.min(100, 100 * Math.abs(edge.weight / (node.cum || 1))) + '%' } }), this.link(of.name, of.function), edge.inline ? ' (inline)' : ''));
    const part = (title, rows) => h('tbody', {}, h('tr', { class: 'part' }, h('th', { colspan: '3', scope: 'rowgroup' }, title)), rows.length ? rows : h('tr', {}, h('td', { colspan: '3', class: 'quiet-text' }, 'none')));
    return h('table', { class: 'peek', 'aria-label': `Callers and callees of ${shorten(node.name, 80)}` },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'value'), h('th', { scope: 'col' }, 'share'), h('th', { scope: 'col' }, 'function'))),
      part('callers', callers.map(edge => row(edge, nodes[edge.from]))),
      h('tbody', {}, h('tr', { class: 'self' }, h('td', { 'data-value': node.cum }, value(node.cum, unit)), h('td', {}, percent(node.cum, total)), h('td', {}, h('strong', {}, shorten(text(node.name), 160)), h('span', { class: 'quiet-text' }, `  itself ${value(node.flat, unit)}`)))),
      part('callees', callees.map(edge => row(edge, nodes[edge.to]))));
  }

  refresh() {
    return this.load();
  }
}

export async function open(host, app) {
  const page = new PeekPage(host, app);
  await page.load();
  return page;
}
