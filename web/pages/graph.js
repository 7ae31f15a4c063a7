/* The call graph: drawn by graphviz on the server, or by a plain layout here where the server has no graphviz.
 *
 * The server's picture is not put into the page: its elements are made anew from a short list of shapes and attributes. */
import { h, svg, replace, button } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { Page, opener } from '../widgets/page.js';
import { openMenu } from '../widgets/menu.js';
import { functionItems, downloadButton, titleOf } from '../widgets/actions.js';
import { layered, BOX } from '../charts/graph_layout.js';
import { patternOf } from '../charts/tree.js';
import { value, inUnit, percent, text, cut, count } from '../names/format.js';
import { lookOf } from '../names/names.js';

const POINT = 4 / 3; // pixels; graphviz measures in points
const READABLE = 1.125; // graphviz's smallest letters, of 8 points, are 12 pixels high then
const SHAPES = ['g', 'path', 'polygon', 'polyline', 'ellipse', 'text', 'title'];
const ATTRIBUTES = ['d', 'points', 'cx', 'cy', 'rx', 'ry', 'x', 'y', 'transform', 'text-anchor', 'font-size', 'stroke-width', 'stroke-dasharray', 'class', 'fill', 'stroke'];

function copyOf(element) {
  const name = element.localName;
  if (name === 'a') return [...element.children].map(copyOf).flat();
  if (!SHAPES.includes(name)) return [];
  const attributes = Object.fromEntries(ATTRIBUTES.filter(key => element.hasAttribute(key)).map(key => [key, element.getAttribute(key)]));
  if (name === 'text' || name === 'title') return [svg(name, attributes, text(element.textContent))];
  return [svg(name, attributes, [...element.children].map(copyOf).flat())];
}

class GraphPage extends Page {
  async load() {
    const [picture, table] = await Promise.all([this.picture(), api.get('table', state.query(this.app.state, { report: 'top' }), this.signal)]);
    const scroll = this.frame ? [this.frame.scrollLeft, this.frame.scrollTop] : [0, 0];
    this.answer = { ...table.body, unit: inUnit(table.body.unit, this.app.state.unit) };
    this.drawn = picture ? this.copied(picture) : this.plain();
    this.frame = h('div', { class: 'graph', tabindex: '0', role: 'group', 'aria-label': 'Call graph', 'data-first': true }, this.drawn);
    const zoom = factor => this.zoomBy(factor);
    this.frame.addEventListener('wheel', event => this.wheel(event), { passive: false });
    this.frame.addEventListener('pointerdown', event => this.drag(event));
    replace(this.host, h('div', { class: 'toolbar' }, button('−', () => zoom(1 / 1.25), { 'aria-label': 'Smaller' }), button('+', () => zoom(1.25), { 'aria-label': 'Larger' }), button('Natural size', () => zoom(0)), button('Fit', () => this.fit()),
      h('span', { class: 'quiet-text' }, picture ? '' : `${this.missing}: this is a plain layout.`), h('span', { class: 'end' }, h('span', { class: 'total', 'data-value': this.answer.total }, `${this.answer.type}: ${value(this.answer.total, this.answer.unit)}`),
        downloadButton(this.app, [{ label: 'this graph (.svg)', href: '/api/graph?' + state.query(this.app.state), download: 'graph.svg' }]))), this.frame);
    this.crop();
    const first = !this.scale && this.drawn.querySelector('.node');
    zoom(this.scale ? 1 : 0);
    if (first) first.scrollIntoView({ block: 'nearest', inline: 'center' });
    else this.frame.scrollTo(...scroll);
    this.show();
  }

  /* The picture without the room of what was left out. */
  crop() {
    const box = this.drawn.getBBox();
    if (!box.width) return;
    this.natural = [box.width + 16, box.height + 16];
    this.drawn.setAttribute('viewBox', [box.x - 8, box.y - 8, ...this.natural].join(' '));
  }

  async picture() {
    try {
      const { body } = await api.get('graph', state.query(this.app.state, { format: 'svg' }), this.signal);
      return body;
    } catch (error) {
      if (![500, 501].includes(error.status)) throw error;
      this.missing = error.status === 501 ? 'Graphviz is not installed where clear runs' : text(error.message);
      return null;
    }
  }

  copied(markup) {
    const source = new DOMParser().parseFromString(markup, 'image/svg+xml').documentElement;
    const outer = source.querySelector('g');
    const legend = [...source.querySelectorAll('g.node')].find(node => /^File: |^Type: /.test(node.querySelector('title')?.textContent || ''));
    if (legend) legend.remove(); // what the header of the page says
    source.querySelectorAll('g.cluster, g.graph > polygon').forEach(frame => frame.remove());
    const box = (source.getAttribute('viewBox') || '0 0 800 600').split(/[ ,]+/).map(Number);
    this.natural = [box[2], box[3]];
    const drawn = svg('svg', { class: 'graph-drawn', viewBox: box.join(' '), role: 'img', 'aria-label': 'Call graph, the same functions as in Top' }, outer ? copyOf(outer) : []);
    drawn.querySelectorAll('g.node').forEach(node => {
      const lines = [...node.querySelectorAll('text')].map(line => line.textContent), name = this.nameOf(lines);
      if (name) this.make(node, name);
    });
    return drawn;
  }

  /* The function whose name the lines of a box spell: graphviz breaks names at their separators. */
  nameOf(lines) {
    const joined = lines.join('');
    const found = this.answer.nodes.filter(node => joined.startsWith(node.name) || joined.replace(/\s/g, '').startsWith(node.name.replace(/::|[\s.]/g, ''))).sort((a, b) => b.name.length - a.name.length)[0];
    return found ? found.function || found.name : lines[0];
  }

  make(node, name) {
    node.dataset.name = name;
    const menu = event => {
      event.preventDefault();
      if (this.isDragged && event.type === 'click') return; // the end of a drag
      openMenu(event.clientX || 200, event.clientY || 200, titleOf(name), functionItems(this.app, name));
    };
    node.addEventListener('contextmenu', menu);
    node.addEventListener('click', menu);
  }

  plain() {
    const { nodes, edges, unit, total } = this.answer, most = nodes.slice(0, 80), kept = edges.filter(edge => edge.from < most.length && edge.to < most.length);
    const look = this.app.state.g === 'files' ? row => row.name : lookOf(nodes), laid = layered(most, kept), middle = i => laid.boxes[i].x + BOX.width / 2, heaviest = Math.max(1, ...kept.map(edge => Math.abs(edge.weight)));
    this.natural = [laid.width, laid.height];
    const line = edge => svg('path', { class: 'edge-line', 'stroke-width': 1 + 4 * Math.abs(edge.weight) / heaviest,
      d: `M${middle(edge.from)} ${laid.boxes[edge.from].y + BOX.height}C${middle(edge.from)} ${laid.boxes[edge.from].y + BOX.height + 40} ${middle(edge.to)} ${laid.boxes[edge.to].y - 40} ${middle(edge.to)} ${laid.boxes[edge.to].y}` }, svg('title', {}, `${text(most[edge.from].name)} calls ${text(most[edge.to].name)}: ${value(edge.weight, unit)}`));
    const drawn = svg('svg', { class: 'graph-drawn plain', viewBox: `0 0 ${laid.width} ${laid.height}`, role: 'img', 'aria-label': 'Call graph, the same functions as in Top' }, kept.map(line), laid.boxes.map(box => {
      const group = svg('g', { class: 'node' }, svg('rect', { x: box.x, y: box.y, width: BOX.width, height: BOX.height, rx: 5 }), svg('text', { x: box.x + 8, y: box.y + 19 }, cut(text(look(box.node)), 27)),
        svg('text', { class: 'small', x: box.x + 8, y: box.y + 37 }, `${value(box.node.flat, unit)} of ${value(box.node.cum, unit)} (${percent(box.node.cum, total)})`), svg('title', {}, text(box.node.name)));
      this.make(group, box.node.function || box.node.name);
      return group;
    }));
    return drawn;
  }

  // ---- where one looks

  /* 0: the natural size. What stands at the point of the window, else in the middle, stays there. */
  zoomBy(factor, x, y) {
    const { frame } = this, box = frame.getBoundingClientRect(), [left, top] = x === undefined ? [box.width / 2, box.height / 2] : [x - box.left, y - box.top];
    const old = this.drawn.getBoundingClientRect(), part = [(box.left + left - old.left) / (old.width || 1), (box.top + top - old.top) / (old.height || 1)];
    this.scale = factor ? Math.min(4, Math.max(0.1, this.scale * factor)) : READABLE;
    this.size();
    const now = this.drawn.getBoundingClientRect();
    frame.scrollBy(now.left + part[0] * now.width - box.left - left, now.top + part[1] * now.height - box.top - top);
  }

  wheel(event) {
    if (event.shiftKey || !event.deltaY) return; // sideways
    event.preventDefault();
    this.zoomBy(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 400), event.clientX, event.clientY);
  }

  drag(down) {
    this.isDragged = false;
    if (down.button || down.pointerType === 'touch') return; // a finger scrolls by itself
    const { frame } = this, from = [frame.scrollLeft, frame.scrollTop], over = new AbortController(), { signal } = over;
    addEventListener('pointermove', event => {
      const by = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (!this.isDragged && Math.hypot(...by) < 5) return;
      this.isDragged = true;
      frame.classList.add('dragged');
      frame.scrollTo(from[0] - by[0], from[1] - by[1]);
    }, { signal });
    addEventListener('pointerup', () => {
      frame.classList.remove('dragged');
      over.abort();
      setTimeout(() => { this.isDragged = false; }); // after its click
    }, { signal });
  }

  size() {
    this.drawn.style.width = this.natural[0] * this.scale * POINT + 'px';
    this.drawn.style.height = this.natural[1] * this.scale * POINT + 'px';
  }

  fit() {
    const scale = Math.min(this.frame.clientWidth / this.natural[0], this.frame.clientHeight / this.natural[1]) / POINT;
    this.scale = Math.max(0.1, Math.min(1, scale));
    this.size();
  }

  show() {
    const pattern = patternOf(this.app.state.q), nodes = [...this.drawn.querySelectorAll('[data-name]')];
    nodes.forEach(node => node.classList.toggle('match', Boolean(pattern && pattern.test(node.dataset.name))));
    const found = nodes.filter(node => node.classList.contains('match'));
    this.app.tellSearch(pattern ? `${count(found.length)} of ${count(nodes.length)} boxes` : '');
    if (found.length) found[0].scrollIntoView({ block: 'center', inline: 'center' });
  }

}

export const open = opener(GraphPage);
