/* Findings of a run, worst first, each with its figures, its stacks, its advice, and links to the evidence. */
import { h, replace, button, copy } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { globOf } from '../sql/series_sql.js';
import { patternOf } from '../charts/tree.js';
import { sqlText } from '../widgets/actions.js';
import { OBJECTS, evidenceOf, nameOf } from './evidence.js';
import { cell, heading, text, cut, count, fileLine } from '../names/format.js';
import { usual } from '../names/names.js';

const AT_ONCE = 60; // cards; more come when the last one is near
const RANK = { critical: 0, warning: 1, note: 2 };

class DoctorPage extends Page {
  async load() {
    const only = state.empty();
    for (const name of ['runs', 'from', 'to', 'window', 'f', 'i']) only[name] = this.app.state[name];
    const { body } = await api.get('findings', state.query(only), this.signal);
    this.findings = body.map((finding, index) => ({ ...finding, index })).sort((a, b) => (RANK[a.severity] ?? 3) - (RANK[b.severity] ?? 3) || a.index - b.index);
    this.show();
  }

  show() {
    const pattern = patternOf(this.app.state.q);
    const list = this.findings.filter(one => !pattern || pattern.test(`${one.code} ${one.section} ${one.subject} ${nameOf(one)} ${one.advice}`));
    this.app.tellSearch(pattern ? `${count(list.length)} of ${count(this.findings.length)}` : '');
    const by = severity => list.filter(one => one.severity === severity).length;
    replace(this.host, h('p', { class: 'summary' }, this.findings.length ? ['critical', 'warning', 'note'].filter(by).map(severity => h('span', { class: `badge ${severity}` }, `${by(severity)} ${severity}${by(severity) > 1 && severity !== 'critical' ? 's' : ''}`))
      : 'Nothing was found that costs enough to be worth a change.'), this.cards = h('div', { class: 'findings' }));
    this.list = list;
    this.more();
  }

  /* The next cards. A button asks for those that follow, and is pressed by itself when it comes in sight. */
  more() {
    const from = this.cards.children.length, left = () => this.list.length - this.cards.children.length;
    this.cards.append(...this.list.slice(from, from + AT_ONCE).map(finding => this.card(finding)));
    if (this.seen) this.seen.disconnect();
    this.host.querySelectorAll('.more').forEach(button => button.remove());
    if (!left()) return;
    const next = button(`${count(Math.min(AT_ONCE, left()))} of ${count(left())} more findings`, () => this.more(), { class: 'more' });
    this.seen = new IntersectionObserver(entries => entries.some(entry => entry.isIntersecting) && this.more(), { root: this.app.main, rootMargin: '400px' });
    this.host.append(next);
    this.seen.observe(next);
  }

  close() {
    super.close();
    if (this.seen) this.seen.disconnect();
  }

  card(finding) {
    const id = `finding-${finding.index}`, figures = Object.entries(finding.evidence || {}).filter(([, of]) => of !== null && of !== '' && of !== 0);
    const stack = h('div', { class: 'stacks' });
    return h('article', { class: `finding ${finding.severity}`, 'aria-labelledby': id, 'data-code': finding.code },
      h('h2', { id }, h('span', { class: `badge ${finding.severity}` }, finding.severity), h('span', { class: 'code' }, `${finding.section}: ${finding.code}`), h('span', { class: 'subject-name', title: text(finding.subject || '') }, cut(text(nameOf(finding)), 160))),
      h('dl', { class: 'evidence' }, figures.map(([name, of]) => h('div', {}, h('dt', {}, heading(name)), h('dd', { 'data-value': of, 'data-name': name }, cell(name, of))))),
      h('p', { class: 'advice' }, text(finding.short || finding.advice || ''), finding.unless ? [h('br'), text(`Not a fault if ${finding.unless}`)] : null),
      finding.short && finding.advice ? h('details', { class: 'advice' }, h('summary', {}, 'More'), text(finding.advice)) : null, this.links(finding, stack), stack);
  }

  links(finding, stack) {
    const now = this.app.state, subject = finding.subject || '', [kind, view] = evidenceOf(this.app.run, finding);
    const isFunction = kind && !OBJECTS[finding.section];
    const to = (title, page, changes) => this.app.has(page) && h('a', { class: 'button', href: state.format(state.change(state.turn(now, page), { kind, si: '', ...changes })) }, title);
    const traces = (finding.trace_ids || []).slice(0, 50);
    return h('div', { class: 'toolbar' },
      isFunction && subject ? [to('Flame graph', 'flame', api.only(state.quote(subject))), to('Source', 'source', { function: state.quote(subject) }), to('History', 'trend', { function: state.quote(subject) })]
        : kind ? to('Flame graph', 'flame', {}) : null,
      OBJECTS[finding.section] && kind ? to('Its row', OBJECTS[finding.section], { q: subject }) : null,
      view && traces.length ? to('Rows', 'sql', { sql: `SELECT *\nFROM ${view}\nWHERE run_id = ${Number(finding.run_id)}\n  AND trace_id IN (${traces.map(Number).join(', ')})` })
        : to('Rows', 'sql', { sql: `SELECT *\nFROM doctor\nWHERE run_id = ${Number(finding.run_id)}\n  AND code = ${sqlText(finding.code)}\n  AND subject = ${sqlText(subject)}` }),
      to('Over runs', 'trend', { kind: '', function: `finding ${finding.section}-${finding.code} ${globOf(subject)}` }),
      OBJECTS[finding.section] && kind ? to('Its history', 'trend', { function: `${finding.section} ${globOf(subject)}` }) : null,
      traces.length ? button(traces.length === 1 ? 'Stack' : `${traces.length} stacks`, event => this.stacks(event.target, traces, stack), { 'aria-expanded': 'false' }) : null);
  }

  async stacks(opener, traces, host) {
    const isOpen = opener.getAttribute('aria-expanded') === 'true';
    opener.setAttribute('aria-expanded', String(!isOpen));
    replace(host);
    if (isOpen) return;
    const found = new Map();
    try {
      for (const [trace, ...frame] of await api.stacks(traces.slice(0, 5), this.signal)) found.set(trace, [...found.get(trace) || [], frame]);
    } catch (error) {
      replace(host, h('p', { class: 'failure' }, text(error.message)));
      return;
    }
    replace(host, [...found.values()].map(frames => h('div', { class: 'stack' }, h('ol', {}, frames.map(([name, file, line]) => h('li', {}, h('code', { title: text(name) }, text(usual(name))), file ? h('span', {}, ` ${text(fileLine(file, line))}`) : null))),
      button('Copy stack', () => copy(frames.map(frame => frame[0]).reverse().join(';'), 'the stack'), { class: 'quiet' }))));
  }
}

export const open = opener(DoctorPage);
