/* The page that a run opens on: what is wrong, or what the time went to, in words; below it what happened over time, the worst findings, what costs
 * most, and what changed since the run before. Each name leads to its evidence. What the runs do not have takes no room. */
import { h, replace, button, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { OBJECTS, evidenceOf } from './evidence.js';
import { linesOf, typeOf, CHANGES } from './changes.js';
import { lanes } from '../charts/overview_chart.js';
import { timeText, timeOf } from '../state/time_span.js';
import { losses } from '../widgets/frame.js';
import { value, heading, text, cut, percent, time, nanoseconds, unitOfColumn, relative } from '../names/format.js';
import { apart, usual } from '../names/names.js';

const CHANGES_SHOWN = 6;
const LISTS = { cpu: ['Hottest functions', 'hottest'], heap: ['Top allocators', 'allocator'], lock: ['Who waits for locks', 'waiter'] };

class OverviewPage extends Page {
  part = 'list';

  key() {
    const { runs, base, from, to, window } = this.app.state;
    return new URLSearchParams({ runs, base, from, to, window }).toString();
  }

  /* The axis of time is that of the whole run, whatever part of it is chosen. */
  async load() {
    const { runs, base, from, to, window } = this.app.state, of = { ...runs && { runs } }, part = { ...from && { from }, ...to && { to }, ...window && { window } };
    const ask = more => api.get('overview', new URLSearchParams({ ...of, ...more }).toString(), this.signal).then(({ body }) => body);
    const [whole, chosen, difference] = await Promise.all([ask({}), Object.keys(part).length ? ask(part) : null, base ? this.difference(runs || 'latest', base) : null]);
    this.whole = whole;
    this.answer = chosen || whole;
    this.changed = difference;
    this.app.tellKind(whole.kind);
    this.build();
    if (!base && this.answer.previous && api.HAS.filters) await this.sincePrevious();
  }

  difference(runs, base) {
    return api.get('compare', new URLSearchParams({ runs, base }).toString(), this.signal).then(({ body }) => body);
  }

  /* It comes last, for a comparison may take longer than all the rest. */
  async sincePrevious() {
    const { uuid } = this.answer.previous, panel = this.host.querySelector('.since');
    try {
      const changed = await this.difference(this.app.run.runs[0].uuid, uuid);
      replace(panel, this.changes(changed, uuid));
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      panel.append(h('p', { class: 'quiet-text' }, text(error.message)));
    }
    panel.removeAttribute('aria-busy');
  }

  build() {
    const { answer, whole } = this, { base } = this.app.state;
    replace(this.host, this.verdict(), losses(this.app), whole.series.length ? this.time() : null,
      h('div', { class: 'panels' }, [[base ? this.since() : this.findings()], [...answer.functions.map(list => this.functions(list)), base ? null : this.since()]]
        .map(column => column.filter(Boolean)).filter(column => column.length).map(column => h('div', { class: 'column' }, column))));
  }

  // ---- words

  link(title, page, changes, more = {}) {
    return h('a', { href: state.format(state.turn(this.app.state, page, changes)), 'data-row': true, ...more }, title);
  }

  /* A line of the doctor, its names as links. Who held a lock need not have waited for it. */
  words(parts, finding, jump) {
    const [kind] = evidenceOf(this.app.run, finding), holders = parts.filter(part => part.is === 'holder').map(part => part.function);
    return parts.map(part => {
      const name = text(part.text), of = part.function && state.quote(part.function);
      if (!part.is || !kind) return name;
      if (part.is === 'subject' && OBJECTS[finding.section]) return this.link(name, OBJECTS[finding.section], { q: part.function });
      return this.link(name, 'source', { kind, function: of, si: holders.includes(part.function) ? 'hold' : '' }, { title: text(part.function), 'data-is': part.is, 'data-jump': jump && part.is === 'place' ? jump : null });
    });
  }

  verdict() {
    const { verdict, sentence } = this.answer, { base } = this.app.state;
    if (base) return h('section', { class: 'verdict', 'aria-label': 'In words' }, h('h2', {}, this.link(text(this.changed.quote || 'Nothing changed by more than the noise.'), 'compare', {}, { 'data-jump': 'changed' })));
    const first = verdict.severity ? this.words(verdict.parts, verdict, 'wrong') : [text(sentence || verdict.text)];
    const second = verdict.severity ? sentence : sentence && verdict.text;
    return h('section', { class: `verdict ${verdict.severity}`, 'aria-label': 'In words' }, h('h2', {}, first), second ? h('p', {}, text(second)) : null);
  }

  // ---- time

  time() {
    const { from, to, base } = this.app.state, end = Math.max(1, this.whole.duration_ns, ...this.whole.series.flatMap(one => one.groups.flatMap(group => group.points.map(point => point[1]))));
    const kinds = this.app.run.kinds.map(one => one.kind), peak = kinds.includes('heap-peak') ? { kind: 'heap-peak' } : { kind: 'heap', si: 'inuse_space' };
    const chosen = from || to ? [timeOf(from) ?? 0, timeOf(to) ?? end] : null, isOne = this.app.run.runs.length === 1 && !base && api.HAS.filters;
    const drawn = lanes(this.whole.series, { end, chosen, onchoose: isOne && ((low, high) => this.choose(low, high)),
      peakOf: at => state.format(state.turn(this.app.state, 'flame', { from: '', to: peak.si ? timeText(at) : '', window: '', ...peak })) });
    return h('section', { class: 'over-time', 'aria-label': 'Over time' }, drawn, isOne ? h('p', { class: 'quiet-text' },
      chosen ? [`Every page shows ${nanoseconds(chosen[0])} to ${nanoseconds(chosen[1])} of the run. `, button('Whole run', () => this.change({ from: '', to: '', window: '' }))]
        : ['Drag over it, and every page shows that part of the run. By keys: ', this.link('Windows', 'live', {}), '.']) : null);
  }

  choose(low, high) {
    this.change({ from: timeText(low), to: timeText(high), window: '' });
    announce(`Every page shows ${nanoseconds(low)} to ${nanoseconds(high)}`);
  }

  // ---- panels

  panel(title, body, more = {}) {
    return h('section', { class: 'panel', ...more }, h('h2', {}, title), body);
  }

  findings() {
    const { findings } = this.answer;
    if (!findings.length) return null;
    return this.panel(this.link('Worst findings', 'doctor', {}), h('ol', { class: 'worst' }, findings.map(finding => h('li', { class: finding.severity, 'data-code': finding.code },
      h('p', {}, this.link(finding.severity, 'doctor', { q: finding.code }, { class: `badge ${finding.severity}`, 'aria-label': `${finding.severity}: ${finding.code}` }), ' ', this.words(finding.parts, finding)), finding.short ? h('p', { class: 'quiet-text' }, text(finding.short)) : null))));
  }

  /* What has no name has no source: it leads to its stacks. */
  functions({ kind, type, unit, total, rows }) {
    const [title, jump] = LISTS[kind] || [`Most ${type}`, 'hottest'], most = rows[0].value, looks = apart(rows.map(row => row.function));
    const to = name => /^\[|\+0x[0-9a-f]+$/.test(name) ? ['flame', api.only(state.quote(name))] : ['source', { function: state.quote(name) }];
    return this.panel(this.link(title, 'top', { kind, si: type }), h('ol', { class: 'costs', 'data-kind': kind }, rows.map((row, i) => {
      const [page, changes] = to(row.function);
      return h('li', { style: { '--part': `${100 * row.value / most}%` } }, this.link(text(looks.get(row.function)), page, { kind, si: type, ...changes }, { title: text(row.function), 'data-jump': i ? null : jump }),
        h('span', { 'data-value': row.value }, value(row.value, unit)), h('span', { class: 'share' }, percent(row.value, total)));
    })));
  }

  since() {
    const { previous } = this.answer, { base } = this.app.state;
    const body = base && this.changes(this.changed, base);
    if (base) return body && h('section', { class: 'panel since' }, body);
    return previous && api.HAS.filters ? h('section', { class: 'panel since', 'aria-busy': 'true' }, h('h2', {}, 'Changed since the run before')) : null;
  }

  /* By the judgement of Compare, with its words. */
  changes(answer, base) {
    const isSame = (one, other) => ['subject', 'figure', 'before', 'after'].every(key => one[key] === other[key]); // a function with one line of code that allocates is a row as both
    const lines = linesOf(answer.rows).filter(line => line.is_change && line.isMain).filter((line, i, all) => !all.slice(0, i).some(one => isSame(one, line))), { previous } = this.answer, isBase = base === this.app.state.base;
    const to = (title, page, changes, more) => this.link(title, page, { base, from: '', to: '', window: '', ...changes }, more);
    if (isBase && !lines.length) return null;
    const row = line => h('li', {}, this.changeLink(line, to), h('span', { class: line.delta > 0 ? 'grew' : 'shrank' }, CHANGES[line.word]),
      h('span', { 'data-value': line.delta }, `${value(line.before, unitOfColumn(line.figure))} → ${value(line.after, unitOfColumn(line.figure))}`), h('span', { class: 'share' }, relative(line.percent)));
    return [h('h2', {}, to(isBase ? 'What changed' : 'Changed since the run before', 'compare', {}, { 'data-jump': 'changed' })),
      isBase ? null : h('p', { class: 'quiet-text' }, `${time(previous.started_ns)} UTC${previous.label ? ', ' + text(previous.label) : ''}${previous.is_same_command ? '' : ', with other arguments'}: ${text(answer.quote || 'nothing changed by more than the noise.')}`),
      lines.length ? h('ol', { class: 'costs changed' }, lines.slice(0, CHANGES_SHOWN).map(row)) : null,
      lines.length > CHANGES_SHOWN ? h('p', {}, to(`${lines.length - CHANGES_SHOWN} more`, 'compare', {})) : null];
  }

  /* A function leads to the difference of its stacks, another subject to its lines of the comparison. */
  changeLink(line, to) {
    const title = `${heading(line.figure)}${line.subject ? ` of ${cut(text(usual(line.subject)), 60)}` : ''}`;
    const isKind = line.by === 'function' && this.app.run.kinds.some(one => one.kind === line.section);
    return isKind ? to(title, 'flame', { kind: line.section, si: typeOf(this.app.run, line), f: state.quote(line.subject) }) : to(title, 'compare', line.subject ? { q: line.subject } : { subject: line.section });
  }

  // ---- keys

  act(action) {
    const rows = [...this.host.querySelectorAll('[data-row]')], at = rows.indexOf(document.activeElement), step = { down: 1, next: 1, up: -1, previous: -1 }[action];
    if (step) {
      const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))];
      if (next) next.focus();
      return Boolean(next);
    }
    const link = this.host.querySelector(`[data-jump="${action}"]`);
    if (link) link.click();
    return Boolean(link);
  }

  show() {
    this.build();
  }

  async update() {
    if (this.key() !== this.loaded) await this.start();
  }
}

export const open = opener(OverviewPage);
