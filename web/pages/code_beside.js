/* Beside the source of a function: its machine code, by address. The instructions of the chosen line are marked, and below which calls were inlined into it they
 * stand; an instruction that is clicked leads to its line. */
import { h, replace } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Table } from '../widgets/table.js';
import { value, text, fileLine } from '../names/format.js';
import { usual } from '../names/names.js';

/* The rows of a function: its instructions by address, each once with its lines, and before them the calls that were inlined, where those change. */
export function codeRows(functions) {
  const points = new Map(), rows = [];
  for (const of of functions) for (const line of of.lines || []) for (const one of line.instructions || []) {
    const known = points.get(one.address);
    if (known) known.lines.push(line.line);
    else points.set(one.address, { ...one, at: parseInt(one.address, 16), lines: [line.line] });
  }
  let before = [];
  for (const one of [...points.values()].sort((a, b) => a.at - b.at)) {
    const calls = (one.inlined || []).map(call => `${usual(call.function)} ${fileLine(call.file, call.line)}`), same = calls.findIndex((call, i) => call !== before[i]);
    if (same >= 0) calls.slice(same).forEach((call, i) => rows.push({ call: '  '.repeat(same + i) + call, lines: one.lines }));
    rows.push(one);
    before = calls;
  }
  return rows;
}

export class CodeBeside {
  /* unit: of the figures; online(line): an instruction was chosen. */
  constructor(app, { unit, online }) {
    Object.assign(this, { app, unit, online, line: 0 });
    this.element = h('div', { class: 'code-beside', hidden: true });
  }

  close() {
    if (this.table) this.table.close();
  }

  /* Of a function that has no machine code here there is nothing beside. True: there is. */
  async load(signal) {
    const { body } = await api.get('disasm', state.query(this.app.state, { function: this.app.state.function }), signal).catch(() => ({ body: { functions: [] } }));
    const rows = codeRows(body.functions);
    if (!rows.length) return false;
    const figure = key => ({ key, title: key, isPlain: true, width: 94, exact: row => row[key], text: row => row[key] ? value(row[key], this.unit) : '', class: () => 'code' });
    this.table = new Table({
      label: 'Machine code', name: 'code', isChosen: row => row.lines.includes(this.line), ongo: row => row.lines.includes(this.line) || this.online(row.lines[0]),
      columns: [figure('flat'), figure('cum'), { key: 'address', title: 'address', isPlain: true, width: 78, text: row => row.address || '', class: () => 'code' },
        { key: 'text', title: 'machine code', isText: true, isPlain: true, grow: true, width: 220, text: row => text(row.call || row.text.replace(/\t/g, ' ')), class: row => row.call ? 'source inlined' : 'source code' }],
    });
    replace(this.element, this.table.element);
    this.element.hidden = false;
    this.table.fill(rows);
    this.show(this.line);
    return true;
  }

  /* The code of a line comes in sight: what costs most of it. */
  show(line) {
    this.line = line;
    if (!this.table) return;
    const { rows, at } = this.table, hot = rows.reduce((best, row, i) => row.lines.includes(line) && (best < 0 || (row.cum || 0) > (rows[best].cum || 0)) ? i : best, -1);
    if (hot >= 0 && !(rows[at] && rows[at].lines.includes(line))) this.table.go(hot);
    else this.table.draw();
  }

  isIn(element) {
    return this.element.contains(element);
  }
}
