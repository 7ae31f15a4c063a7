/* What stands above a flame graph: its order, what can be switched, the colours of a difference, the sum, and what can be downloaded. */
import { h, button, remember, remembered, select } from '../widgets/dom.js';
import * as state from '../state/state.js';
import * as palette from './palette.js';
import * as colours from './colours.js';
import { downloadButton } from '../widgets/actions.js';
import { totalOf } from './flame_words.js';
import { text, shorten } from '../names/format.js';

/* options: isSandwich; hasNoise: what changed is known from what is noise; groups, mode: of charts/colours.js; oncolours(): other colours were chosen;
 * onpicture(kind), 'png' or 'svg'; views(); extra: an element of the page's own. */
export function flameToolbar(app, head, options) {
  const { isSandwich } = options, now = app.state, go = changes => app.go(state.change(now, changes));
  return h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Flame graph' },
    isSandwich ? button('All functions', () => go({ pivot: '', zoom: '' }), { title: 'leave the view of one function' })
      : select('order', [['', 'from the root'], ['1', 'from the leaves']], now.inverted, inverted => go({ inverted, zoom: '' })),
    button('Fold recursion', () => go({ fold: now.fold ? '' : '1' }), { 'aria-pressed': String(Boolean(now.fold)), title: 'r' }),
    button('Zoom out', () => app.act('reset'), { disabled: !now.zoom, title: '0', class: 'zoom-out' }),
    head.is_diff ? button('Normalize', () => go({ norm: now.norm ? '' : '1', zoom: '' }), { 'aria-pressed': String(Boolean(now.norm)), title: 'scale to the total of the base: for sides of different length or number of runs' }) : null,
    head.is_diff ? legend(options) : colourChoice(options),
    h('span', { class: 'end' }, options.extra, h('span', { class: 'total', 'data-value': head.total }, totalOf(head)),
      downloadButton(app, ['png', 'svg'].map(kind => ({ label: `picture (.${kind})`, run: () => options.onpicture(kind) })), () => shown(now, options.views()))),
    head.is_diff || options.mode !== 'module' ? null : moduleLegend(app, options.groups));
}

/* The zoomed box, or the function in the middle, for /api/export. */
function shown({ pivot, fold, inverted }, views) {
  const view = views.find(one => one.zoomed.parent);
  return view ? { root: view.zoomed.id, pivot, fold, inverted: pivot ? Number(view.options.upwards) : inverted } : pivot && { root: 1, pivot };
}

function isShadeDark() {
  return document.documentElement.dataset.shade === 'dark';
}

function colourChoice({ groups, mode, oncolours }) {
  const modes = colours.MODES.filter(([key]) => key !== 'module' || colours.tellsModules(groups));
  return select('colours', modes, mode, chosen => {
    remember('colours', chosen);
    oncolours();
  });
}

/* Whose code has which colour. A group that is chosen keeps its colour, and the others are pale. */
function moduleLegend(app, groups) {
  const now = app.state, lit = colours.litOf(now), { groups: shown, more } = colours.named(groups), dark = isShadeDark();
  const entry = ({ key, title, modules }) => h('button', { type: 'button', class: 'entry', 'aria-pressed': String(lit.includes(key)), title: shorten([...modules].map(text).join('\n') || title, 600),
    onclick: () => app.go(state.change(now, { lit: colours.toggled(now, key) }), { replace: true }) },
    h('i', { class: 'swatch', style: { background: colours.groupColour(key, dark) } }), shorten(text(title), 40));
  return h('span', { class: 'legend modules', role: 'group', 'aria-label': 'Colours by module: choose those that stand out' }, shown.map(entry), more ? `and ${more} smaller libraries` : null,
    lit.length ? h('button', { type: 'button', class: 'entry', onclick: () => app.go(state.change(now, { lit: '' }), { replace: true }) }, 'show all') : null);
}

function legend({ hasNoise, oncolours }) {
  const scale = remembered('scale', 'redblue'), steps = [-1, -0.5, 0, 0.5, 1];
  const swatch = share => h('i', { class: 'swatch', style: { background: palette.changeColour(share, isShadeDark(), scale) } });
  const words = palette.SCALES[scale].words;
  return h('span', { class: 'legend', role: 'group', 'aria-label': 'Colours of the difference' },
    words[1], steps.map(swatch), words[0], hasNoise ? [swatch(NaN), 'grey: noise'] : null,
    select('colours', Object.entries(palette.SCALES).map(([key, { name }]) => [key, name]), scale, chosen => {
      remember('scale', chosen);
      oncolours();
    }));
}
