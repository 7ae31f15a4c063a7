/* What stands above a flame graph: its order, what can be switched, the colours of a difference, the sum, and what can be downloaded. */
import { h, button, remember, remembered, select } from '../widgets/dom.js';
import * as state from '../state/state.js';
import * as palette from './palette.js';
import { menuButton } from '../widgets/menu.js';
import { downloads } from '../widgets/actions.js';
import { totalOf } from './flame_words.js';

/* options: isSandwich; hasNoise: what changed is known from what is noise; oncolours(): another pair of colours was chosen; onpicture(). */
export function flameToolbar(app, head, options) {
  const { isSandwich } = options, now = app.state, go = changes => app.go(state.change(now, changes));
  return h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Flame graph' },
    isSandwich ? button('All functions', () => go({ pivot: '', zoom: '' }), { title: 'leave the view of one function' })
      : select('order', [['', 'from the root'], ['1', 'from the leaves']], now.inverted, inverted => go({ inverted, zoom: '' })),
    button('Fold recursion', () => go({ fold: now.fold ? '' : '1' }), { 'aria-pressed': String(Boolean(now.fold)), title: 'r' }),
    button('Zoom out', () => app.act('reset'), { disabled: !now.zoom, title: '0', class: 'zoom-out' }),
    head.is_diff ? button('Normalize', () => go({ norm: now.norm ? '' : '1', zoom: '' }), { 'aria-pressed': String(Boolean(now.norm)), title: 'scale to the total of the base: for sides of different length or number of runs' }) : null,
    head.is_diff ? legend(options) : null,
    h('span', { class: 'end' }, h('span', { class: 'total', 'data-value': head.total }, totalOf(head)),
      menuButton('Download', 'Download what is shown', () => downloads(app, [{ label: 'picture (.png)', run: () => options.onpicture() }]))));
}

function legend({ hasNoise, oncolours }) {
  const scale = remembered('scale', 'redblue'), steps = [-1, -0.5, 0, 0.5, 1];
  const swatch = share => h('i', { class: 'swatch', style: { background: palette.changeColour(share, document.documentElement.dataset.shade === 'dark', scale) } });
  const words = palette.SCALES[scale].words;
  return h('span', { class: 'legend', role: 'group', 'aria-label': 'Colours of the difference' },
    words[1], steps.map(swatch), words[0], hasNoise ? [swatch(NaN), 'grey: noise'] : null,
    select('colours', Object.entries(palette.SCALES).map(([key, { name }]) => [key, name]), scale, chosen => {
      remember('scale', chosen);
      oncolours();
    }));
}
