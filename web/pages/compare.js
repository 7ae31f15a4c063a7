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
import { CHANGES, linesOf, typeOf } from './changes.js';
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
      onopen: row => row.by === 'function' && this.app.go(state.turn(this.app.state, 'flame', { kind: row.section, si: typeOf(this.app.run, row), f: state.quote(row.subject) })),
      onmenu: (row, x, y) => row.subject && openMenu(x, y, titleOf(row.subject), functionItems(this.app, row.subject)),
    }));
    const side = (title, of) => h('div', { class: 'side' }, h('h3', {}, title), h('strong', {}, text(of.name)), h('span', {}, `${count(of.n)} ${of.n === 1 ? 'run' : 'runs'}`));
    const unlike = [...saturation || []].map(one => `${one.side === 'old' ? 'before' : 'after'}: ${one.code}${one.subject ? ` (${one.subject})` : ''}, ${count(one.count)} in ${count(one.runs)} ${one.runs === 1 ? 'run' : 'runs'}`);
    replace(this.host, h('section', { class: 'verdict', 'aria-label': 'In words' }, h('h2', {}, text(quote || 'Nothing changed by more than the noise.'))),
      unlike.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'What limits the comparison' }, h('strong', {}, 'This limits the comparison'), h('ul', {}, unlike.map(line => h('li', {}, text(line))))) : null,
      state.hasPart(now) ? h('p', { class: 'quiet-text' }, 'These figures are of whole runs; the flame graph and the table of functions are of the parts that are chosen.') : null,
      h('div', { class: 'sides' }, side('before', old), side('after', fresh)),
      h('div', { class: 'toolbar' }, select('rows', [['', 'what changed'], ['all', 'all figures']], now.fold, fold => this.change({ fold })),
        select('section', [['', 'all sections'], ...[...new Set(this.lines.map(line => line.section))].map(one => [one, one])], now.subject, subject => this.change({ subject })),
        h('a', { class: 'button', href: state.format(state.turn(now, 'flame')) }, 'As a flame graph'), h('a', { class: 'button', href: state.format(state.turn(now, 'top')) }, 'As a table of functions')),
      this.table.element);
    this.show();
  }

  columns() {
    const { old, new: fresh } = this.answer, looks = apart(this.lines.map(line => line.subject || ''));
    const subject = (row, name) => text(name ? name + (row.file ? `  ${fileLine(row.file, row.line)}` : '') : 'the whole run');
    const side = (key, title) => ({ key, title, width: 100, value: row => row[key], exact: row => row[key], text: row => value(row[key], unitOfColumn(row.figure)) });
    const noise = (key, of) => ({ key, title: 'sd', width: 74, value: row => row[of].sd ?? -1, text: row => row[of].sd === null ? '' : value(Math.round(row[of].sd), unitOfColumn(row.figure)) });
    return [
      { key: 'word', title: 'change', isText: true, width: 104, text: row => CHANGES[row.word], class: row => row.word === 'noise' || row.word === 'unchanged' ? 'faint' : row.delta > 0 ? 'grew' : 'shrank' },
      { key: 'subject', title: 'of', isText: true, grow: true, width: 190, text: row => subject(row, row.subject), shown: row => subject(row, looks.get(row.subject || '')) },
      { key: 'section', title: 'section', isText: true, width: 72, text: row => row.section },
      { key: 'figure', title: 'figure', isText: true, width: 136, text: row => heading(row.figure) },
      side('before', 'before'), ...old.n > 1 ? [noise('sd1', 'old')] : [], side('after', 'after'), ...fresh.n > 1 ? [noise('sd2', 'new')] : [],
      { key: 'delta', title: 'difference', width: 104, value: row => Math.abs(row.delta), exact: row => row.delta, text: row => (row.delta > 0 ? '+' : '') + value(row.delta, unitOfColumn(row.figure)) },
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
