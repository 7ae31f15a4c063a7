/* Two sets of runs: what changed, in words; then every figure side by side with its noise. */
import { h, replace, select } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import * as place from '../state/place.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { patternOf } from '../charts/tree.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, titleOf } from '../widgets/actions.js';
import { CHANGES, linesOf, errorText, typeOf, kindOfTotal } from './changes.js';
import { OBJECTS } from './evidence.js';
import { value, heading, text, count, unitOfColumn, relative, fileLine } from '../names/format.js';
import { apart } from '../names/names.js';

class ComparePage extends Page {
  part = 'table';

  async load() {
    const now = this.app.state;
    if (!now.base) {
      replace(this.host, h('div', { class: 'empty' }, h('p', {}, 'A comparison needs two sides: choose runs, and others as their base.'), h('p', {}, h('a', { class: 'button main', href: place.address('page=runs') }, 'Choose runs'), ' ',
        h('a', { class: 'button', href: state.format(state.change(now, { page: 'compare', runs: now.runs || 'latest', base: `${now.runs || 'latest'}~1` })) }, 'Compare with the run before it'))));
      return;
    }
    this.answer = (await api.get('compare', new URLSearchParams({ runs: now.runs || 'latest', base: now.base }).toString(), this.signal)).body;
    this.build();
  }

  build() {
    const now = this.app.state, { old, new: fresh, saturation, quote } = this.answer;
    this.lines = linesOf(this.answer.rows);
    this.setTable(new Table({
      label: 'What changed', name: 'compare', columns: this.columns(), ...this.sorting(), none: 'No figure changed by more than the noise.',
      onopen: row => this.open(row),
      onmenu: (row, x, y) => openMenu(x, y, row.subject ? titleOf(row.subject) : 'the whole run', this.items(row)),
    }));
    const side = (title, of, named) => h('div', { class: 'side' }, h('h3', {}, title), h('strong', {}, text(/[:,]|^latest/.test(named) && named.length < 60 ? named : of.name)), h('span', {}, `${count(of.n)} ${of.n === 1 ? 'run' : 'runs'}`));
    const unlike = [...saturation || []].map(one => `${one.side === 'old' ? 'before' : 'after'}: ${one.code}${one.subject ? ` (${one.subject})` : ''}, ${count(one.count)} in ${count(one.runs)} ${one.runs === 1 ? 'run' : 'runs'}`);
    replace(this.host, h('section', { class: 'verdict', 'aria-label': 'In words' }, h('h2', {}, text(quote || 'Nothing changed by more than the noise.'))),
      unlike.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'What limits the comparison' }, h('strong', {}, 'This limits the comparison'), h('ul', {}, unlike.map(line => h('li', {}, text(line))))) : null,
      state.hasPart(now) ? h('p', { class: 'quiet-text' }, 'These figures are of whole runs; the flame graph and the table of functions are of the parts that are chosen.') : null,
      h('div', { class: 'sides' }, side('before', old, now.base), side('after', fresh, now.runs)),
      h('div', { class: 'toolbar' }, select('rows', [['', 'what changed'], ['all', 'all figures']], now.fold, fold => this.change({ fold })),
        select('section', [['', 'all sections'], ...[...new Set(this.lines.map(line => line.section))].map(one => [one, one])], now.subject, subject => this.change({ subject })),
        h('a', { class: 'button', href: state.format(state.turn(now, 'flame')) }, 'As a flame graph'), h('a', { class: 'button', href: state.format(state.turn(now, 'top')) }, 'As a table of functions')),
      this.table.element);
    this.show();
  }

  /* The selection of a row: its kind and sample type, if the runs have such a profile. */
  of(row) {
    const kind = row.by === 'run' ? kindOfTotal(row.figure) : row.section, has = this.app.run.kinds.some(one => one.kind === kind);
    return has ? state.change(this.app.state, { kind, si: typeOf(this.app.run, { section: kind, figure: row.figure }) }) : null;
  }

  /* A row opens as a flame graph, of the function that it is about; of a lock and the like its row. */
  open(row) {
    const of = this.of(row), isFunction = ['function', 'site'].includes(row.by);
    if (!of) return;
    if (OBJECTS[row.section] && !isFunction && row.subject) this.app.go(state.turn(of, OBJECTS[row.section], { q: row.subject }));
    else this.app.go(state.turn(of, 'flame', isFunction ? { f: state.quote(row.subject) } : {}));
  }

  /* Everything about it is of the row's sample type. */
  items(row) {
    const of = this.of(row), to = (label, page, more) => ({ label, href: state.format(state.turn(of, page, more)) });
    if (!of) return [];
    return [to('Difference as a flame graph', 'flame', row.subject ? { f: state.quote(row.subject) } : {}), to('Table of functions', 'top', row.subject ? { q: row.subject } : {}),
      ...row.subject ? [null, ...functionItems(Object.assign(Object.create(this.app), { state: of }), row.subject)] : []];
  }

  columns() {
    const looks = apart(this.lines.map(line => line.subject || ''));
    const subject = (row, name) => text(name ? name + (row.file ? `  ${fileLine(row.file, row.line)}` : '') : 'the whole run');
    const side = (key, title) => ({ key, title, width: 100, value: row => row[key], exact: row => row[key], text: row => value(row[key], unitOfColumn(row.figure)) });
    return [
      { key: 'word', title: 'change', isText: true, width: 104, text: row => CHANGES[row.word], class: row => row.word === 'noise' || row.word === 'unchanged' ? 'faint' : row.delta > 0 ? 'grew' : 'shrank' },
      { key: 'subject', title: 'of', isText: true, grow: true, width: 190, text: row => subject(row, row.subject), shown: row => subject(row, looks.get(row.subject || '')) },
      { key: 'section', title: 'section', isText: true, width: 72, text: row => row.section },
      { key: 'figure', title: 'figure', isText: true, width: 136, text: row => heading(row.figure) },
      side('before', 'before'), side('after', 'after'),
      { key: 'delta', title: 'Δ', width: 104, value: row => Math.abs(row.delta), exact: row => row.delta, text: row => (row.delta > 0 ? '+' : '') + value(row.delta, unitOfColumn(row.figure)) },
      ...this.lines.some(line => line.error !== null) ? [{ key: 'error', title: '±95%', width: 96, help: 'in 95 of 100 cases the true difference is within so much', value: row => row.error ?? -1, exact: row => row.error, text: row => errorText(row, unitOfColumn(row.figure)) }] : [],
      { key: 'percent', title: 'relative', width: 98, value: row => row.percent === null ? row.delta ? Infinity : 0 : Math.abs(row.percent), exact: row => row.percent, text: row => row.percent === null && !row.delta ? '' : relative(row.percent) },
    ];
  }

  refresh() {} // a comparison is of runs that are over

  show() {
    const { fold, subject, q } = this.app.state;
    this.table.pattern = patternOf(q);
    this.table.fill(this.lines.filter(line => (fold === 'all' || line.is_change && line.isMain) && (!subject || line.section === subject)));
    this.app.tellSearch(q ? `${count(this.table.rows.length)} rows` : '');
  }

  async update() {
    if (this.key() !== this.loaded) await this.start();
    else if (this.table) this.build();
  }
}

export const open = opener(ComparePage);
