/* Beside a flame graph or a table of functions: what is known of the chosen function. Its figures, who calls it and what it calls, its hottest lines, and
 * itself over the runs. What the page has already is there at once; the rest is asked for when the choice has rested for a moment. What a run does not have takes
 * no room. */
import { h, replace, button, remember, remembered } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { sparkline } from '../charts/chart.js';
import { titleOf, kindOf } from '../widgets/actions.js';
import { setOfRun, pointLabel } from './history.js';
import { value, inUnit, percent, text, shorten, difference, relative } from '../names/format.js';
import { usual } from '../names/names.js';

const REST = 120; // milliseconds
const NEIGHBOURS = 6, LINES = 7, RUNS = 40;
const ROOMY = 1400; // pixels of a window that has room for it without being asked

export function isWanted() {
  const chosen = remembered('about', '');
  return chosen ? chosen === 'shown' : innerWidth >= ROOMY;
}

/* The button that shows and hides it; `ontoggle` builds the page anew. */
export function toggle(ontoggle) {
  return button('Details', () => {
    remember('about', isWanted() ? 'hidden' : 'shown');
    ontoggle();
  }, { 'aria-pressed': String(isWanted()), class: 'about-toggle', title: 'the chosen function: its figures, callers, callees, lines and history (d)' });
}

export class AboutFunction {
  constructor(app) {
    this.app = app;
    this.name = '';
    this.known = new Map();
    this.element = h('aside', { class: 'about', 'aria-label': 'The chosen function' });
    this.empty();
  }

  close() {
    clearTimeout(this.timer);
    if (this.abort) this.abort.abort();
    this.name = '';
  }

  empty() {
    this.close();
    replace(this.element, h('p', { class: 'quiet-text' }, 'Choose a function.'));
  }

  /* table(): what the page itself can say of it, as /api/table does. */
  show(name, table) {
    if (!name) return this.empty();
    if (name === this.name) return undefined;
    this.close();
    this.name = name;
    if (this.known.has(name)) return this.draw(this.known.get(name));
    const parts = { name, table: table && table() };
    this.timer = setTimeout(() => this.ask(parts), REST);
    return this.draw(parts);
  }

  /* Each part comes when it is there; a part that cannot be had is left out. */
  async ask(parts) {
    const { app } = this, { name } = parts, exact = state.quote(name);
    this.abort = new AbortController();
    const put = async (key, asked) => {
      const answer = await asked.catch(error => error);
      if (this.name !== name) return;
      if (!(answer instanceof Error)) parts[key] = answer.body;
      this.draw(parts);
    };
    const get = (resource, more, from = app.state) => api.get(resource, state.query(from, more), this.abort.signal);
    const runs = setOfRun(app), hasHistory = !app.state.base && !state.hasPart(app.state) && api.HAS.live;
    await Promise.all([put('table', get('table', { report: 'peek', function: exact })), put('source', get('source', { function: exact })),
      hasHistory && put('series', get('series', { function: exact }, state.change(app.state, { runs: `${runs},last=${RUNS}`, kind: app.state.kind || kindOf(app) })))].filter(Boolean));
    if (this.name === name) this.known.set(name, parts);
  }

  to(page, changes) {
    return state.format(state.turn(this.app.state, page, changes));
  }

  draw(parts) {
    const exact = state.quote(parts.name), link = (label, page, changes) => this.app.has(page) ? h('a', { href: this.to(page, changes) }, label) : null;
    replace(this.element, h('h2', { title: text(parts.name) }, text(shorten(usual(parts.name), 120))),
      h('p', { class: 'links' }, link('Source', 'source', { function: exact }), link('Disassembly', 'disasm', { function: exact }), link('Callers and callees', 'flame', { pivot: exact }),
        link('Over runs', 'trend', { function: exact })),
      parts.table ? this.figures(parts) : null, parts.table ? this.neighbours(parts) : null, parts.source ? this.lines(parts) : null, parts.series ? this.history(parts) : null);
  }

  unitOf(answer) {
    return inUnit(answer.unit, this.app.state.unit);
  }

  // ---- its parts

  nodeOf({ table, name }) {
    return table.nodes.findIndex(node => node.function === name || node.name === name);
  }

  figures({ table, name }) {
    const node = table.nodes[this.nodeOf({ table, name })], unit = this.unitOf(table), isDiff = Boolean(this.app.state.base);
    if (!node) return null;
    const sure = error => error === undefined ? null : h('span', { class: 'quiet-text', title: 'in 95 of 100 runs the truth is within so much' }, ` ± ${value(error, unit)}`);
    const row = (label, figure, error) => [h('dt', {}, label), h('dd', { 'data-value': figure, 'data-of': label }, isDiff ? difference(figure, unit) : value(figure, unit), table.isPartial ? ' or more' : '', sure(error),
      h('span', { class: 'quiet-text' }, `, ${percent(figure, table.total)}`))];
    return h('dl', { class: 'figures' }, row('itself', node.flat, node.flat_error), row('with callees', node.cum, node.cum_error));
  }

  neighbours({ table, name }) {
    const at = this.nodeOf({ table, name }), unit = this.unitOf(table), whole = Math.abs((table.nodes[at] || {}).cum) || 1;
    const list = (title, edges, other) => {
      const sorted = edges.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
      return !sorted.length ? null : h('section', {}, h('h3', {}, title), h('ul', {}, sorted.slice(0, NEIGHBOURS).map(edge => {
        const node = table.nodes[other(edge)], of = node.function || node.name;
        return h('li', {}, h('a', { href: this.to('flame', { pivot: state.quote(of) }), title: text(of), 'data-name': of }, titleOf(of)), edge.inline ? h('em', {}, ' inlined') : null,
          h('span', { class: 'figure', 'data-value': edge.weight }, value(edge.weight, unit)), h('i', { class: 'heat', 'aria-hidden': 'true', style: { width: Math.min(100, 100 * Math.abs(edge.weight) / whole) + '%' } }));
      })), sorted.length > NEIGHBOURS ? h('p', { class: 'quiet-text' }, `and ${sorted.length - NEIGHBOURS} more`) : null);
    };
    return [list('Callers', table.edges.filter(edge => edge.to === at), edge => edge.from), list('Callees', table.edges.filter(edge => edge.from === at), edge => edge.to)];
  }

  lines({ source, name }) {
    const unit = this.unitOf(source), of = source.functions.find(one => one.name === name) || source.functions[0];
    const hot = ((of && of.lines) || []).filter(line => line.flat || line.cum).sort((a, b) => Math.abs(b.flat) - Math.abs(a.flat) || Math.abs(b.cum) - Math.abs(a.cum)).slice(0, LINES);
    if (!hot.length) return null;
    const most = Math.max(...hot.map(line => Math.abs(line.cum))) || 1;
    return h('section', {}, h('h3', {}, h('a', { href: this.to('source', { function: state.quote(name) }) }, `Hottest lines of ${text((of.file || '').replace(/^.*\//, ''))}`)),
      h('ul', { class: 'lines' }, hot.sort((a, b) => a.line - b.line).map(line => h('li', { title: `${text(line.text || '')}\n${value(line.flat, unit)} itself, ${value(line.cum, unit)} with callees` },
        h('span', { class: 'number' }, String(line.line)), h('code', {}, text((line.text || '').trim()) || ' '), h('span', { class: 'figure', 'data-line': line.line, 'data-value': line.cum }, value(line.cum, unit)),
        h('i', { class: 'heat', 'aria-hidden': 'true', style: { width: 100 * Math.abs(line.cum) / most + '%' } })))));
  }

  history({ series, name }) {
    if (series.length < 2) return null;
    const now = this.app.run && this.app.run.runs[0], at = series.findIndex(point => now && point.uuid === now.uuid);
    const first = series[0], last = series[series.length - 1], changed = first.cum ? `, ${relative(100 * (last.cum - first.cum) / first.cum, 1)} from the first to the last` : '';
    return h('section', {}, h('h3', {}, h('a', { href: this.to('trend', { function: state.quote(name) }) }, `Over the last ${series.length} runs`)),
      sparkline(series.map(point => point.cum), at, `with callees, over ${series.length} runs${changed}`), h('p', { class: 'quiet-text' }, `${pointLabel(first) === pointLabel(last) ? pointLabel(last) : `${pointLabel(first)} to ${pointLabel(last)}`}${changed}`));
  }
}
