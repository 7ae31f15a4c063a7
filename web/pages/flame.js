/* The flame graph: of one selection, as a difference, or of one function with callers above and callees below (a sandwich). */
import { h, replace, copy, download, remembered, announce } from '../widgets/dom.js';
import * as state from '../state/state.js';
import * as trees from '../charts/tree.js';
import { Page, opener } from '../widgets/page.js';
import { FlameTrees } from '../charts/flame_trees.js';
import * as palette from '../charts/palette.js';
import * as colours from '../charts/colours.js';
import { FlameView } from '../charts/flame_view.js';
import { flameToolbar } from '../charts/flame_toolbar.js';
import { describe, foundText, totalOf } from '../charts/flame_words.js';
import { picture } from '../charts/picture.js';
import { runTitle } from '../widgets/frame.js';
import { openMenu } from '../widgets/menu.js';
import { isTotal } from './changes.js';
import { AboutFunction, isWanted, toggle } from './about_function.js';
import { commandItem, functionItems, titleOf, kindOf } from '../widgets/actions.js';
import { value, count, text, shorten } from '../names/format.js';

class FlamePage extends Page {
  part = 'flame';
  matchAt = -1;
  views = [];

  close() {
    super.close();
    this.closeViews();
    if (this.about) this.about.close();
  }

  closeViews() {
    this.views.forEach(view => view.close());
    this.views = [];
  }

  get head() {
    return this.trees.head;
  }

  /* With the same key a change of the state asks for no new tree. */
  key() {
    const now = this.app.state;
    return state.query(now, { pivot: now.pivot, inverted: now.inverted });
  }

  async load() {
    const made = new FlameTrees(this.app, this.signal);
    await made.load();
    this.trees = made;
    await this.askDetail();
    if (this.views.length === made.roots.length && this.pictures.isConnected && made.hasSamples()) {
      this.chooseColours();
      this.redrawToolbar(); // the same pictures of new trees: what has the focus keeps it
      this.show();
    } else {
      this.build();
    }
    this.askNoise();
  }

  /* The picture stands already; its colours come when the noise is known. Without an answer nothing is called noise. */
  async askNoise() {
    const { trees: asked } = this;
    const isKnown = await asked.askNoise(kindOf(this.app), isTotal).catch(() => false);
    if (!isKnown || asked !== this.trees) return;
    this.redrawToolbar();
    this.show();
  }

  /* True: there is more to draw. */
  async askDetail() {
    try {
      return await this.trees.askDetail();
    } catch (error) {
      if (error.status !== 404) throw error;
      announce('The zoomed box is not in this selection: all is shown');
      return false;
    }
  }

  // ---- the page

  build() {
    const { isSandwich } = this.trees;
    this.chooseColours();
    this.closeViews();
    this.views = this.trees.roots.map((root, i) => this.view(isSandwich && i === 0));
    this.detail = h('div', { class: 'detail', 'aria-live': 'off' });
    this.pictures = isSandwich
      ? h('div', { class: 'sandwich' }, h('h2', {}, 'Callers'), this.views[0].element, h('h2', {}, 'Callees'), this.views[1].element)
      : this.views[0].element;
    if (this.about) this.about.close();
    this.about = isWanted() && this.trees.hasSamples() ? new AboutFunction(this.app) : null;
    const shown = this.trees.hasSamples() ? this.pictures : this.nothing();
    replace(this.host, this.toolbar(), this.about ? h('div', { class: 'beside' }, shown, this.about.element) : shown, this.detail);
    this.show();
  }

  nothing() {
    return h('p', { class: 'empty' }, this.trees.note || 'No sample is left: remove a filter above, or choose another kind of profile.');
  }

  view(upwards) {
    const view = new FlameView({
      label: upwards ? 'Flame graph of callers' : 'Flame graph', upwards,
      describe: box => describe(this.head, box),
      describeRest: box => `${count(box.rest.count)} more, ${value(box.rest.value, this.head.unit)}`,
      colour: (node, dark) => this.head.is_diff ? this.changeColour(node, dark) : node.parent && colours.colourOf(node, dark, this.colouring),
      onfocus: box => this.tell(box),
      onzoom: id => this.zoom(id, view),
      onmenu: (box, x, y) => this.menu(box, x, y),
    });
    return view;
  }

  changeColour(node, dark) {
    return palette.changeColour(palette.share(node.base, node.value, this.trees.noise && !node.isChanged), dark, remembered('scale', 'redblue'));
  }

  toolbar() {
    this.foldShown = this.app.state.fold;
    this.litShown = this.app.state.lit;
    const options = { isSandwich: this.trees.isSandwich, hasNoise: Boolean(this.trees.noise), oncolours: () => this.build(), onpicture: kind => this.savePicture(kind), views: () => this.views,
      extra: toggle(() => this.build()), groups: this.groups, mode: this.colouring.mode };
    return flameToolbar(this.app, this.head, options);
  }

  /* What the colours of the boxes mean. Where no module is known they are by package. */
  chooseColours() {
    const mode = remembered('colours', 'module');
    this.groups = colours.groupsOf(this.trees.roots);
    this.colouring = { mode: mode === 'module' && !colours.tellsModules(this.groups) ? 'package' : mode, lit: colours.litOf(this.app.state), most: colours.mostSelf(this.trees.roots) };
  }

  /* Draws the trees in the state's order of things: folded, zoomed, searched. */
  show() {
    const now = this.app.state, { isSandwich } = this.trees;
    this.shown = this.trees.roots.map(root => now.fold ? trees.fold(root) : root);
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
    if (this.trees.isSandwich) {
      view.show(view.root, { zoom: isRoot ? '' : id });
      this.host.querySelector('.zoom-out').disabled = !this.views.some(one => one.zoomId);
    } else {
      this.app.go(state.change(this.app.state, { zoom: isRoot ? '' : id }));
    }
  }

  tell(box) {
    if (!this.detail) return;
    if (this.about) this.about.show(box && box.node.parent && !box.rest ? box.node.name : '', this.trees.tableOf(box && box.node.name));
    if (!box) replace(this.detail, h('span', { class: 'quiet-text' }, 'Click or press Enter to zoom, / to search, m for what can be done, ? for all keys'));
    else {
      replace(this.detail, h('strong', { title: box.rest ? null : text(box.node.name) }, titleOf(box.rest ? 'narrow functions' : box.node.name)),
        h('span', { 'data-value': box.rest ? box.rest.value : box.node.value, 'data-name': box.rest ? null : box.node.name }, ' ' + describe(this.head, box)));
    }
  }

  // ---- search

  find(words) {
    const pattern = trees.patternOf(words), scope = this.shown.map((root, i) => this.scopeOf(root, i));
    const results = pattern ? scope.map(root => trees.search(root, pattern)) : [], last = results[results.length - 1];
    this.found = { nodes: new Set(results.flatMap(result => result.matches)), list: results.flatMap(result => result.matches) };
    this.matchAt = -1;
    this.app.tellSearch(pattern ? foundText(this.head, this.found.list.length, last.sum, last.isPartial) : '');
    if (pattern && last.isPartial) this.askSum(pattern, scope[scope.length - 1]);
  }

  /* The sum with all that is too narrow to be drawn, from the server. A pattern that only this browser understands keeps its "at least". */
  async askSum(pattern, root) {
    const asked = this.found, { trees: from } = this;
    const sum = await from.sumOf(pattern, root.parent ? root.id : '').catch(() => null);
    if (sum && asked === this.found && from === this.trees) this.app.tellSearch(foundText(this.head, asked.list.length, sum.value, false, this.app.state.fold ? 0 : sum.count));
  }

  scopeOf(root, i) {
    const id = this.trees.isSandwich ? this.views[i].zoomId : this.app.state.zoom;
    return (id && trees.find(root, id.replace(/~$/, ''))) || root;
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
        commandItem(this.app.state)]);
      return;
    }
    openMenu(x, y, titleOf(box.node.name), functionItems(this.app, box.node.name, { stack: trees.stackText(box.node), module: box.node.word.module }));
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
      about: () => this.host.querySelector('.about-toggle').click(),
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
    if (this.key() !== this.loaded) await this.start();
    else {
      const { zoom, fold, lit } = this.app.state;
      this.colouring.lit = colours.litOf(this.app.state);
      if (fold !== this.foldShown || lit !== this.litShown) this.redrawToolbar();
      this.show();
      if (await this.askDetail() && this.app.state.zoom === zoom) this.show();
    }
  }

  redrawToolbar() {
    const old = this.host.querySelector('.toolbar');
    if (old) old.replaceWith(this.toolbar());
  }

  repaint() {
    if (this.trees) this.redrawToolbar();
    this.views.forEach(view => view.draw());
  }

  /* What a picture says of itself: whose stacks, how much, and how it is looked at. */
  captions() {
    const { app } = this, now = app.state, { zoomed } = this.active;
    return [[runTitle(app), now.base && `against ${now.base}`, totalOf(this.head)],
      [now.inverted && 'from the leaves', now.pivot && `callers and callees of ${now.pivot}`, zoomed.parent && `zoomed into ${titleOf(zoomed.name)}`, now.q && `search ${now.q}`, ...state.chips(now).map(chip => `${chip.title} ${chip.value}`)]].map(line => shorten(text(line.filter(Boolean).join(' · ')), 180)).filter(Boolean);
  }

  async savePicture(kind) {
    download(await picture(this.views, this.captions(), kind === 'svg'), `flamegraph.${kind}`);
  }
}

export const open = opener(FlamePage);
