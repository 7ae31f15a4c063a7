/* The labels of the samples and their values, as pprof's tags shows them; a value's samples can be kept or dropped. */
import { h, replace, copy } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { Table } from '../widgets/table.js';
import { openMenu } from '../widgets/menu.js';
import { text, shorten, count } from '../names/format.js';
import { patternOf } from '../charts/tree.js';

const UNITS = { '': 1, B: 1, kB: 1024, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40, PB: 2 ** 50, ns: 1, us: 1e3, ms: 1e6, s: 1e9, mins: 6e10, hrs: 3.6e12, days: 8.64e13, wks: 6.048e14, yrs: 3.15576e16 };

/* A figure as pprof writes it ("1.50kB", "2mins"), as a number for sorting. */
function magnitude(figure) {
  const found = /^(-?[\d.]+)([A-Za-z]*)$/.exec(figure);
  return found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : NaN;
}

/* The text of `clear report tags` as rows { key, total, value, share, label }: "KEY: Total 4.0kB", then lines "4.0kB (  100%): VALUE". */
export function parse(report) {
  const rows = [];
  let group = null;
  for (const line of report.split('\n')) {
    const head = /^ *(.+?): Total (.+)$/.exec(line), row = /^ *(\S+) \( *(\S+?)\): (.*)$/.exec(line);
    if (row && group) rows.push({ ...group, value: row[1], share: row[2], label: row[3] });
    else if (head) group = { key: head[1], total: head[2] };
  }
  return rows;
}

class TagsPage extends Page {
  part = 'table';

  async load() {
    this.rows = parse((await api.get('table', state.query(this.app.state, { report: 'tags' }), this.signal)).body);
    this.setTable(new Table({
      label: 'Labels of the samples', name: 'tags', ...this.sorting(), columns: this.columns(), none: 'The samples have no labels.',
      onopen: row => this.app.go(this.filtered(row, 'tf')), onmenu: (row, x, y) => this.menu(row, x, y), onkey: (action, row) => action === 'focus' && Boolean(this.app.go(this.filtered(row, 'tf'))),
    }));
    replace(this.host, this.table.element);
    this.show();
  }

  /* The state with only the samples of a value, or without them. */
  filtered(row, letter) {
    return state.change(this.app.state, { [letter]: `${row.key}=${state.quote(row.label)}` });
  }

  columns() {
    const link = (row, letter, word, means) => h('a', { href: state.format(this.filtered(row, letter)), tabindex: '-1', 'aria-label': `${means} ${shorten(row.label, 60)}` }, word);
    return [{ key: 'key', title: 'label', isText: true, width: 150, text: row => text(row.key) },
      { key: 'label', title: 'value', isText: true, grow: true, width: 220, text: row => text(row.label) },
      { key: 'value', title: 'sum', width: 120, value: row => magnitude(row.value), text: row => row.value, part: row => (parseFloat(row.share) || 0) / 100 },
      { key: 'share', title: 'share', width: 90, value: row => parseFloat(row.share) || 0, text: row => row.share },
      { key: 'total', title: 'of the label', width: 120, value: row => magnitude(row.total), text: row => row.total },
      { key: 'act', title: '', isFixed: true, width: 110, text: () => '', render: row => h('span', {}, link(row, 'tf', 'keep', 'keep only'), '  ', link(row, 'ti', 'drop', 'drop')) }];
  }

  menu(row, x, y) {
    openMenu(x, y, shorten(text(`${row.key}=${row.label}`), 60), [{ label: 'Keep only its samples', run: () => this.app.go(this.filtered(row, 'tf')) }, { label: 'Drop its samples', run: () => this.app.go(this.filtered(row, 'ti')) },
      ...[['root', 'roots'], ['leaf', 'leaves']].map(([at, where]) => ({ label: `Its label as frames at the ${where}`, href: state.format(state.turn(this.app.state, 'flame', { ['tag' + at]: row.key })) })),
      null, { label: 'Copy value', run: () => copy(row.label, 'the value') }]);
  }

  show() {
    this.table.pattern = patternOf(this.app.state.q);
    this.table.fill(this.rows);
    this.app.tellSearch(this.app.state.q ? `${count(this.table.rows.length)} labels` : '');
  }
}

export const open = opener(TagsPage);
