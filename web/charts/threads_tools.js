/* What stands above the threads of a timeline: how they are sorted, grouped and filtered, and what the colours mean, which filters too. */
import { h, replace, button, select } from '../widgets/dom.js';
import { colourOf } from './threads_view.js';
import { isGrouped } from './timeline_layout.js';
import { nanoseconds } from '../names/format.js';

const WORDS = { sample: 'ran (samples of CPU time)', wait: 'waits', io: 'system calls', sleep: 'sleeps', ready: 'has no processor', hold: 'has a lock', region: 'regions', release: 'lets go', mark: 'marks' };
const ORDERS = [['', 'threads: by start'], ['cpu', 'threads: by CPU time'], ['wait', 'threads: by waits'], ['name', 'threads: by name']];

/* The figure that threads are sorted by. */
export function wordsOf({ cpu_ns: cpu, wait_ns: wait }, by) {
  return by === 'cpu' && cpu !== null ? nanoseconds(cpu) : by === 'wait' ? nanoseconds(wait) : '';
}

export class ThreadTools {
  constructor(page) {
    this.page = page;
    const now = page.app.state;
    this.order = select('order of the threads', ORDERS.filter(([key]) => key !== 'cpu' || page.threads.some(one => one.cpu_ns !== null)), now.figure, figure => page.change({ figure }, { replace: true }));
    this.groups = button('Groups', () => page.change({ fold: this.isGrouped() ? '0' : '1' }, { replace: true }), { title: 'threads whose names differ only by a number at the end stand together' });
    this.filter = h('input', { type: 'search', 'aria-label': 'threads: a regular expression', placeholder: 'filter threads', spellcheck: 'false', class: 'thread-filter', maxlength: '200',
      oninput: () => page.change({ find: this.filter.value }, { replace: true }) });
    this.legend = h('span', { class: 'legend modules threads-legend', role: 'group', 'aria-label': 'What the colours mean' });
    this.element = h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Threads' }, this.order, this.groups, this.filter, this.legend);
  }

  isGrouped() {
    return isGrouped(this.page.threads, this.page.app.state.fold);
  }

  show(classes) {
    const { state } = this.page.app, lit = state.lit ? state.lit.split(',') : [], had = document.activeElement && document.activeElement.dataset.class;
    this.order.value = state.figure;
    this.groups.setAttribute('aria-pressed', String(this.isGrouped()));
    if (document.activeElement !== this.filter) this.filter.value = state.find;
    const entry = name => button([h('i', { class: 'swatch', style: { background: colourOf(name) } }), WORDS[name]], () => this.page.change({ lit: (lit.includes(name) ? lit.filter(one => one !== name) : [...lit, name]).join(',') }, { replace: true }),
      { class: 'entry', 'aria-pressed': String(lit.includes(name)), 'data-class': name, title: 'the others pale' });
    replace(this.legend, Object.keys(WORDS).filter(name => classes.includes(name)).map(entry), h('span', { class: 'entry' }, h('i', { class: 'swatch', style: { background: colourOf('alive') } }), this.page.threads.some(one => one.samples) ? 'off the processor, or too briefly on it for a sample' : 'runs, or is off the processor: no samples'));
    const again = had && this.legend.querySelector(`[data-class=${had}]`);
    if (again) again.focus();
  }
}
