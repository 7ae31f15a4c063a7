/* The flame graph: of one selection, as a difference, or of one function with callers above and callees below (a sandwich). */
import { h, button, replace, copy, download, remember, remembered, select, announce } from './dom.js';
import * as api from './api.js';
import * as state from './state.js';
import * as trees from './tree.js';
import * as palette from './palette.js';
import { FlameView } from './flame_view.js';
import { openMenu, menuButton } from './menu.js';
import { functionItems, downloads, titleOf, kindOf } from './actions.js';
import { value, difference, percent, count } from './format.js';

const WIDEST = 20000; // pixels that the server takes
const DETAILS = 60; // answers for zoomed nodes that are kept

class FlamePage {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.part = 'flame';
    this.details = new Map();
    this.noise = null;
    this.matchAt = -1;
    this.views = [];
  }

  close() {
    this.views.forEach(view => view.close());
    this.views = [];
    if (this.abort) this.abort.abort();
  }

  // ---- requests

  request(more) {
    return api.get('tree', state.query(this.app.state, { width: Math.max(200, Math.round(this.host.clientWidth)), ...more }), this.abort.signal);
  }

  /* What the trees depend on: with the same key a change of the state asks for no new tree. */
  key(now) {
    return state.query(now, { pivot: now.pivot, inverted: now.inverted });
  }

  async load() {
    const now = this.app.state, isSandwich = Boolean(now.pivot);
    if (this.abort) this.abort.abort();
    this.abort = new AbortController();
    this.loaded = this.key(now);
    this.details.clear();
    const answers = await Promise.all(isSandwich
      ? [this.request({ pivot: now.pivot, inverted: 1 }), this.request({ pivot: now.pivot })]
      : [this.request({ inverted: now.inverted })]);
    this.head = answers[answers.length - 1].body;
    this.note = answers.map(answer => answer.note).find(Boolean) || '';
    this.roots = answers.map(answer => trees.decode(answer.body));
    this.roots.forEach(root => { root.name = 'all'; });
    await this.askNoise();
    await this.askDetail();
    if (this.views.length === this.roots.length && this.pictures.isConnected && this.hasSamples()) {
      this.redrawToolbar(); // the same pictures of new trees: what has the focus keeps it
      this.show();
    } else {
      this.build();
    }
  }

  hasSamples() {
    return Boolean(this.head.total || this.head.base_total);
  }

  /* Which functions changed by more than the noise, if a side has several runs: callers of none of them are grey. */
  async askNoise() {
    this.noise = null;
    const runs = this.app.run ? this.app.run.runs.length : 1;
    if (!this.head.is_diff || runs < 2) return;
    try {
      const { body } = await api.get('compare', state.query(this.app.state), this.abort.signal);
      const kind = kindOf(this.app);
      this.noise = new Set(body.rows.filter(row => row.by === 'function' && row.is_change && row.section === kind).map(row => row.subject));
      trees.markChanged(this.roots, this.noise);
    } catch (error) {
      if (error.name === 'AbortError') throw error;
    }
  }

  /* Asks for what is below the zoomed node in more detail; the picture stands already. */
  async askDetail() {
    const now = this.app.state, id = now.zoom.replace(/~$/, '');
    if (!id || now.pivot) return;
    const isRest = now.zoom.endsWith('~');
    if (this.details.has(now.zoom)) return;
    try {
      const { body } = await this.request({ root: id, inverted: now.inverted, ...isRest && { width: this.widthFor(trees.find(this.roots[0], id)) } });
      this.details.set(now.zoom, true);
      if (this.details.size > DETAILS) this.details.clear();
      this.roots[0] = this.place(body);
      if (this.app.state.zoom === now.zoom) this.show();
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (error.status === 404) announce('The zoomed box is not in this selection: all is shown');
      else throw error;
    }
  }

  /* How wide a node would be if what is hidden below it were as wide as the picture four times. */
  widthFor(node) {
    const share = node && node.hiddenValue > 0 ? node.width / node.hiddenValue : 1;
    return Math.min(WIDEST, Math.ceil(4 * this.host.clientWidth * share));
  }

  /* The whole tree with this answer in it. A node that was too narrow to be sent gets the callers that the answer names. */
  place(body) {
    const finer = trees.decode(body);
    if (trees.find(this.roots[0], finer.id)) return trees.graft(this.roots[0], finer);
    let at = this.roots[0];
    for (const step of body.path.slice(1)) at = trees.child(at, step);
    return trees.attach(this.roots[0], at, finer);
  }

  // ---- the page

  build() {
    this.views.forEach(view => view.close());
    const isSandwich = this.roots.length === 2;
    this.views = this.roots.map((root, i) => this.view(isSandwich && i === 0));
    this.detail = h('div', { class: 'detail', 'aria-live': 'off' });
    this.pictures = isSandwich
      ? h('div', { class: 'sandwich' }, h('h2', {}, 'Callers'), this.views[0].element, h('h2', {}, 'Callees'), this.views[1].element)
      : this.views[0].element;
    replace(this.host, this.toolbar(isSandwich), this.hasSamples() ? this.pictures : this.nothing(), this.detail);
    this.show();
  }

  nothing() {
    return h('p', { class: 'empty' }, this.note || 'No sample is left: remove a filter above, or choose another kind of profile.');
  }

  view(upwards) {
    const view = new FlameView({
      label: upwards ? 'Flame graph of callers' : 'Flame graph', upwards,
      describe: box => this.describe(box),
      describeRest: box => `${count(box.rest.count)} more, ${value(box.rest.value, this.head.unit)}`,
      colour: (node, dark) => this.head.is_diff && this.changeColour(node, dark),
      onfocus: box => this.tell(box),
      onzoom: id => this.zoom(id, view),
      onmenu: (box, x, y) => this.menu(box, x, y),
    });
    return view;
  }

  changeColour(node, dark) {
    return palette.changeColour(palette.share(node.base, node.value, this.noise && !node.isChanged), dark, remembered('scale', 'redblue'));
  }

  toolbar(isSandwich) {
    const now = this.app.state, go = changes => this.app.go(state.change(now, changes));
    return h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Flame graph' },
      isSandwich ? button('All functions', () => go({ pivot: '', zoom: '' }), { title: 'leave the view of one function' })
        : select('order', [['', 'from the root'], ['1', 'from the leaves']], now.inverted, inverted => go({ inverted, zoom: '' })),
      button('Fold recursion', () => go({ fold: now.fold ? '' : '1' }), { 'aria-pressed': String(Boolean(now.fold)), title: 'r' }),
      button('Zoom out', () => this.app.act('reset'), { disabled: !now.zoom, title: '0', class: 'zoom-out' }),
      this.head.is_diff ? button('Normalize', () => go({ norm: now.norm ? '' : '1', zoom: '' }), { 'aria-pressed': String(Boolean(now.norm)), title: 'scale to the total of the base: for sides of different length or number of runs' }) : null,
      this.head.is_diff ? this.legend() : null,
      h('span', { class: 'end' }, h('span', { class: 'total', 'data-value': this.head.total }, this.total()),
        menuButton('Download', 'Download what is shown', () => downloads(this.app, [{ label: 'picture (.png)', run: () => this.savePicture() }]))));
  }

  total() {
    const { type, unit, total, base_total: before, is_diff: isDiff } = this.head;
    return isDiff ? `${type}: ${value(before, unit)} before, ${value(total, unit)} after (${difference(total - before, unit)})` : `${type}: ${value(total, unit)}`;
  }

  legend() {
    const scale = remembered('scale', 'redblue'), steps = [-1, -0.5, 0, 0.5, 1];
    const swatch = share => h('i', { class: 'swatch', style: { background: palette.changeColour(share, document.documentElement.dataset.shade === 'dark', scale) } });
    const words = palette.SCALES[scale].words;
    return h('span', { class: 'legend', role: 'group', 'aria-label': 'Colours of the difference' },
      words[1], steps.map(swatch), words[0], this.noise ? [swatch(NaN), 'grey: noise'] : null,
      select('colours', Object.entries(palette.SCALES).map(([key, { name }]) => [key, name]), scale, chosen => {
        remember('scale', chosen);
        this.build();
      }));
  }

  /* Draws the trees in the state's order of things: folded, zoomed, searched. */
  show() {
    const now = this.app.state, isSandwich = this.views.length === 2;
    this.shown = this.roots.map(root => now.fold ? trees.fold(root) : root);
    this.find(now.q);
    this.views.forEach((view, i) => view.show(this.shown[i], { zoom: isSandwich ? view.zoomId : now.zoom, matches: this.found.nodes }));
    const out = this.host.querySelector('.zoom-out');
    if (out) out.disabled = !now.zoom && !this.views.some(view => view.zoomId);
    this.tell((this.active || {}).focused);
  }

  get active() {
    return this.views.find(view => view.element.contains(document.activeElement)) || this.views[this.views.length - 1];
  }

  zoom(id, view = this.active) {
    const isRoot = id === view.root.id;
    if (this.views.length === 2) {
      view.show(view.root, { zoom: isRoot ? '' : id });
      this.host.querySelector('.zoom-out').disabled = !this.views.some(one => one.zoomId);
    } else {
      this.app.go(state.change(this.app.state, { zoom: isRoot ? '' : id }));
    }
  }

  describe({ node, rest }) {
    const { unit, total, is_diff: isDiff } = this.head;
    if (rest) return `${count(rest.count)} functions too narrow to draw: ${value(rest.value, unit)}, open them with Enter`;
    if (isDiff) return `${value(node.base, unit)} before, ${value(node.value, unit)} after: ${difference(node.value - node.base, unit)}${node.base ? ` (${percent(node.value - node.base, node.base)})` : ', new'}`;
    const share = this.head.of || total; // as in pprof: of the whole profile, before filters
    return `${value(node.value, unit)}, ${percent(node.value, share)}${node.self ? `; itself ${value(node.self, unit)}` : ''}${node.place ? `; ${node.place}` : ''}`;
  }

  tell(box) {
    if (!this.detail) return;
    if (!box) replace(this.detail, h('span', { class: 'quiet-text' }, 'Click or press Enter to zoom, / to search, m for what can be done, ? for all keys'));
    else {
      replace(this.detail, h('strong', {}, titleOf(box.rest ? 'narrow functions' : box.node.name)),
        h('span', { 'data-value': box.rest ? box.rest.value : box.node.value, 'data-name': box.rest ? null : box.node.name }, ' ' + this.describe(box)));
    }
  }

  // ---- search

  find(words) {
    const pattern = trees.patternOf(words), scope = this.shown.map((root, i) => (this.scopeOf(root, i)));
    const results = pattern ? scope.map(root => trees.search(root, pattern)) : [];
    this.found = { nodes: new Set(results.flatMap(result => result.matches)), list: results.flatMap(result => result.matches) };
    this.matchAt = -1;
    const last = results[results.length - 1];
    this.app.tellSearch(pattern ? this.foundText(results, last) : '', this.found.list.length);
  }

  scopeOf(root, i) {
    const id = this.views.length === 2 ? this.views[i].zoomId : this.app.state.zoom;
    return (id && trees.find(root, id.replace(/~$/, ''))) || root;
  }

  foundText(results, last) {
    const matches = this.found.list.length, { unit, total, is_diff: isDiff } = this.head;
    const more = last.isPartial ? 'at least ' : '', share = isDiff ? '' : ` (${percent(last.sum, this.head.of || total)})`;
    return `${count(matches)} ${matches === 1 ? 'match' : 'matches'}, ${more}${value(last.sum, unit)}${share}`;
  }

  next(by) {
    const list = this.found.list;
    if (!list.length) return;
    for (let tries = 0; tries < list.length; tries++) {
      this.matchAt = (this.matchAt + by + list.length) % list.length;
      const view = this.views.find(one => one.focusNode(list[this.matchAt]));
      if (view) {
        announce(`Match ${this.matchAt + 1} of ${list.length}: ${titleOf(list[this.matchAt].name)}`);
        return;
      }
    }
  }

  // ---- menus and keys

  menu(box, x, y) {
    if (box.rest || !box.node.parent) {
      openMenu(x, y, box.rest ? 'Narrow functions' : 'All', [{ label: 'Zoom', run: () => this.zoom(box.node.id + (box.rest ? '~' : '')) },
        { label: 'Copy the clear command line', run: () => copy(state.command(this.app.state), 'the command line') }]);
      return;
    }
    openMenu(x, y, titleOf(box.node.name), functionItems(this.app, box.node.name, trees.stackText(box.node)));
  }

  menuAtBox(box) {
    const frame = this.active.element.getBoundingClientRect();
    this.menu(box, frame.left + box.x + Math.min(40, box.width), frame.top + (this.active.drawn(box.row) + 1) * 20 - this.active.element.scrollTop);
  }

  act(action) {
    const now = this.app.state, view = this.active, box = view && view.focused;
    if (!view) return false;
    const go = changes => this.app.go(state.change(now, changes));
    const known = {
      up: () => view.move('up'), down: () => view.move('down'), left: () => view.move('left'), right: () => view.move('right'),
      first: () => view.move('first'),
      enter: () => now.q && this.found.list.length && (!box || this.found.nodes.has(box.node)) ? this.next(1) : box && this.zoom(this.idOfBox(box)),
      previous: () => this.next(-1), next: () => this.next(1),
      in: () => box && this.zoom(this.idOfBox(box)),
      out: () => this.zoomOut(view),
      reset: () => { view.show(view.root, { zoom: '' }); if (now.zoom) go({ zoom: '' }); else this.show(); },
      focus: () => box && box.node.parent && !box.rest && this.app.go(state.change(state.addFilter(now, 'f', state.quote(box.node.name)), { zoom: '' })),
      recursion: () => go({ fold: now.fold ? '' : '1' }),
      sandwich: () => box && box.node.parent && !box.rest && go({ pivot: state.quote(box.node.name), zoom: '', q: '' }),
      invert: () => !now.pivot && go({ inverted: now.inverted ? '' : '1', zoom: '' }),
      copy: () => box && copy(trees.stackText(box.node), 'the stack'),
      menu: () => box && this.menuAtBox(box),
    };
    if (action === 'escape') return this.escape();
    if (!known[action]) return false;
    known[action]();
    return true;
  }

  idOfBox(box) {
    return box.node.id + (box.rest ? '~' : '');
  }

  zoomOut(view) {
    if (view.zoomId.endsWith('~')) return this.zoom(view.zoomId.slice(0, -1), view);
    return view.zoomed && view.zoomed.parent && this.zoom(view.zoomed.parent.id, view);
  }

  escape() {
    const now = this.app.state;
    if (now.q) this.app.go(state.change(now, { q: '' }), { replace: true });
    else if (now.zoom) this.app.go(state.change(now, { zoom: '' }));
    else if (now.pivot) this.app.go(state.change(now, { pivot: '' }));
    else return false;
    return true;
  }

  /* A change of the state: a new tree only if it asks for one. */
  async update() {
    if (this.key(this.app.state) !== this.loaded) await this.load();
    else {
      if (this.toolbarState() !== this.toolbarShown) this.redrawToolbar();
      this.show();
      await this.askDetail();
    }
  }

  toolbarState() {
    return `${this.app.state.fold}`;
  }

  redrawToolbar() {
    this.toolbarShown = this.toolbarState();
    const old = this.host.querySelector('.toolbar');
    if (old) old.replaceWith(this.toolbar(this.views.length === 2));
  }

  async refresh() { // a new window of a live run
    await this.load();
  }

  repaint() {
    if (this.head && this.head.is_diff) this.redrawToolbar();
    this.views.forEach(view => view.draw());
  }

  savePicture() {
    this.active.picture().toBlob(blob => download(blob, 'flamegraph.png'), 'image/png');
  }
}

export async function open(host, app) {
  const page = new FlamePage(host, app);
  page.toolbarShown = page.toolbarState();
  await page.load();
  return page;
}
