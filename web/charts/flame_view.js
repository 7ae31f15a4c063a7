/* A flame graph on a canvas, with its accessible shadow: a tree of what is on the path of the focused box and right below it.
 *
 * Emits through the options: onzoom(id), onfocus(box), onmenu(box, x, y). The canvas is as large as what is in sight, so that a stack of a
 * thousand frames costs no more than one of ten. */
import { h, replace, isDark } from '../widgets/dom.js';
import * as layout from './layout.js';
import * as palette from './palette.js';
import { text, shorten } from '../names/format.js';
import { fit } from '../names/names.js';

const FONT = '12px "Inter", system-ui, "Segoe UI", "Noto Sans", sans-serif', INLINED = 'italic ' + FONT;
let serial = 0;

/* A box's name in the URL: the node's id, with a ~ for what is too narrow below it. */
function idOf(box) {
  return box.node.id + (box.rest ? '~' : '');
}

export class FlameView {
  /* options: label, upwards, describe(box) -> text, colour(box, isDark) or null, onzoom, onfocus, onmenu. */
  constructor(options) {
    this.options = options;
    this.id = 'flame' + ++serial;
    this.root = null;
    this.zoomId = '';
    this.focusId = '';
    this.matches = new Set();
    this.list = [];
    this.byRow = [];
    this.hover = null;
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.spacer = h('div', { class: 'flame-spacer', 'aria-hidden': 'true' });
    this.shadow = h('div', { class: 'hidden-visually', role: 'group', 'aria-label': 'The focused box, its callers and its callees' });
    this.tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
    this.element = h('div', { class: options.upwards ? 'flame upwards' : 'flame', role: 'tree', tabindex: '0', 'aria-label': options.label, onscroll: () => this.draw() },
      this.canvas, this.spacer, this.shadow);
    this.listen();
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.element);
    document.body.append(this.tip);
  }

  listen() {
    const element = this.element;
    element.addEventListener('mousemove', event => this.point(event));
    element.addEventListener('mouseleave', () => this.point(null));
    element.addEventListener('click', event => {
      const box = this.boxAt(event);
      if (!box) return;
      this.focus(box);
      this.options.onzoom(idOf(box));
    });
    element.addEventListener('contextmenu', event => {
      const box = this.boxAt(event);
      if (!box) return;
      event.preventDefault();
      this.focus(box);
      this.tip.hidden = true;
      this.options.onmenu(box, event.clientX, event.clientY);
    });
  }

  close() {
    this.watch.disconnect();
    this.tip.remove();
  }

  /* Shows a tree; what was zoomed and focused stays so if it is still there. */
  show(root, { zoom = this.zoomId, matches = this.matches } = {}) {
    this.root = root;
    this.zoomId = zoom;
    this.matches = matches;
    this.arrange();
  }

  arrange() {
    if (!this.root) return;
    this.width = Math.max(50, this.element.clientWidth);
    const isRest = this.zoomId.endsWith('~'), wanted = isRest ? this.zoomId.slice(0, -1) : this.zoomId;
    this.zoomed = (wanted && this.nodeOf(wanted)) || this.root;
    this.list = layout.boxes(this.zoomed, this.width, isRest && this.zoomed !== this.root || isRest && wanted === this.root.id);
    this.byRow = layout.index(this.list);
    this.rows = layout.rows(this.list);
    this.spacer.style.height = this.rows * layout.ROW + 'px';
    if (this.options.upwards) {
      this.element.style.height = this.rows * layout.ROW + 2 + 'px';
      this.element.scrollTop = this.rows * layout.ROW;
    }
    this.draw();
    this.tell();
  }

  nodeOf(id) {
    const open = [this.root];
    while (open.length) {
      const node = open.pop();
      if (node.id === id) return node;
      for (const child of node.children) open.push(child);
    }
    return null;
  }

  resize() {
    if (this.element.clientWidth !== this.width) this.arrange();
    else this.draw();
  }

  /* The row of the picture (0 on top) in which a row of the layout is drawn. */
  drawn(row) {
    return this.options.upwards ? this.rows - 1 - row : row;
  }

  draw() {
    const { element, canvas } = this;
    if (!this.root || !element.clientWidth) return;
    const ratio = devicePixelRatio || 1, width = this.width, height = Math.min(element.clientHeight, Math.max(layout.ROW, this.rows * layout.ROW));
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
    }
    const top = element.scrollTop, context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(0, -top);
    this.paint(context, box => {
      const y = this.drawn(box.row) * layout.ROW;
      return y + layout.ROW > top && y < top + height;
    }, isDark());
  }

  paint(context, isSeen, dark) {
    const style = { dark, ink: palette.ink(dark), page: dark ? '#17181b' : '#ffffff', mark: dark ? '#ffffff' : '#000000' };
    const widths = { [FONT]: new Map(), [INLINED]: new Map() };
    let font = '';
    const measure = textOf => {
      const known = widths[font];
      if (!known.has(textOf)) known.set(textOf, context.measureText(textOf).width);
      return known.get(textOf);
    };
    measure.use = wanted => {
      if (font !== wanted) context.font = font = wanted;
    };
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    for (const box of this.list) if (isSeen(box)) this.paintBox(context, box, style, measure);
  }

  paintBox(context, box, style, measure) {
    const x = box.x, y = this.drawn(box.row) * layout.ROW, wide = Math.max(0.5, box.width - 1), high = layout.ROW - 1;
    context.fillStyle = this.colour(box, style.dark);
    context.fillRect(x, y, wide, high);
    if (box.isCaller) {
      context.fillStyle = style.dark ? 'rgb(23 24 27 / 45%)' : 'rgb(255 255 255 / 55%)';
      context.fillRect(x, y, wide, high);
    }
    const isFocused = idOf(box) === this.focusId, isHovered = box === this.hover;
    if (isFocused || isHovered) {
      context.strokeStyle = style.mark;
      context.lineWidth = isFocused ? 2 : 1;
      context.strokeRect(x + context.lineWidth / 2, y + context.lineWidth / 2, Math.max(1, wide - context.lineWidth), high - context.lineWidth);
    }
    if (wide < 22) return;
    measure.use(box.node.isInlined && !box.rest ? INLINED : FONT);
    const mark = box.node.folded && !box.rest ? ' ↻' : '', label = fit(box.rest ? this.label(box) : box.node.name, wide - 8 - (mark && measure(mark)), measure);
    if (!label) return;
    context.fillStyle = style.ink;
    context.fillText(label + mark, x + 4, y + high / 2 + 0.5);
  }

  label(box) {
    if (box.rest) return this.options.describeRest(box);
    return box.node.folded ? `${box.node.name} ↻` : box.node.name;
  }

  colour(box, dark) {
    if (box.rest) return palette.restColour(dark);
    if (this.matches.size && this.matches.has(box.node)) return palette.matchColour(dark);
    const own = this.options.colour && this.options.colour(box.node, dark);
    if (own) return own;
    if (!box.node.parent && !box.node.children.length) return palette.restColour(dark);
    return box.node.parent ? palette.nameColour(box.node.name, dark) : palette.restColour(dark);
  }

  // ---- pointing and focus

  boxAt(event) {
    const frame = this.element.getBoundingClientRect();
    const x = event.clientX - frame.left - this.element.clientLeft, y = event.clientY - frame.top - this.element.clientTop + this.element.scrollTop;
    return layout.hit(this.byRow, this.drawn(Math.floor(y / layout.ROW)), x);
  }

  point(event) {
    const box = event && this.boxAt(event), tip = this.tip;
    tip.hidden = !box;
    if (box) {
      if (box !== this.hover) replace(tip, h('strong', {}, shorten(text(this.label(box)), 400)), h('span', {}, this.options.describe(box)));
      const frame = tip.getBoundingClientRect();
      tip.style.left = Math.min(event.clientX + 14, innerWidth - frame.width - 6) + 'px';
      tip.style.top = (event.clientY + 20 + frame.height > innerHeight ? event.clientY - frame.height - 10 : event.clientY + 20) + 'px';
    }
    if (box === this.hover) return;
    this.hover = box;
    this.draw();
  }

  get focused() {
    return this.list.find(box => idOf(box) === this.focusId) || null;
  }

  focus(box) {
    if (!box) return;
    this.focusId = idOf(box);
    const y = this.drawn(box.row) * layout.ROW, element = this.element;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + layout.ROW > element.scrollTop + element.clientHeight) element.scrollTop = y + layout.ROW - element.clientHeight;
    this.draw();
    this.tell();
    this.options.onfocus(box);
  }

  move(direction) {
    const turned = this.options.upwards ? { up: 'down', down: 'up' }[direction] || direction : direction;
    this.focus(layout.step(this.byRow, this.list, this.focused || (turned === 'first' ? null : this.list[0]), turned));
  }

  focusNode(node) {
    const box = this.list.find(one => one.node === node && !one.rest) || this.list.find(one => one.rest && one.node === node.parent);
    if (box) this.focus(box);
    return Boolean(box);
  }

  /* The shadow: callers from the root to the focused box, and its callees, the widest first. */
  tell() {
    const box = this.focused || this.list.find(one => !one.isCaller) || null;
    if (!box) return;
    const node = box.node, callers = [];
    for (let at = box.rest ? node : node.parent; at; at = at.parent) callers.unshift(at);
    const item = (label, level, more = {}) => h('div', { role: 'treeitem', 'aria-level': level, ...more }, label);
    const said = one => `${shorten(text(one.node.name), 200)}, ${this.options.describe(one)}`;
    const below = box.rest ? [] : (this.byRow[box.row + 1] || []).filter(one => one.x >= box.x - 0.01 && one.x + one.width <= box.x + box.width + 0.01).slice(0, 40);
    replace(this.shadow, callers.map((one, i) => item(said({ node: one, rest: null }), i + 1, { 'aria-expanded': 'true' })),
      item(box.rest ? this.options.describeRest(box) : said(box), callers.length + 1, { id: this.id + '-focus', 'aria-selected': 'true', 'aria-expanded': String(below.length > 0) }),
      below.map((one, i) => item(one.rest ? this.options.describeRest(one) : said(one), callers.length + 2, { 'aria-posinset': i + 1, 'aria-setsize': below.length })));
    this.element.setAttribute('aria-activedescendant', this.id + '-focus');
  }

  get height() {
    return this.rows * layout.ROW;
  }

  /* Also what is out of sight, in the light colours, for a picture. */
  paintAll(context, height) {
    this.paint(context, box => this.drawn(box.row) * layout.ROW < height, false);
  }
}
