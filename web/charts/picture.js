/* Flame graphs as a file: below lines that say what they are of, all that is drawn, also what is out of sight. */
import { h, svg } from '../widgets/dom.js';

const LINE = 18, GAP = 8, HIGHEST = 16000, FONT = '13px sans-serif';

/* An SVG that takes what a canvas is told to draw. */
class Paper {
  constructor(width, height) {
    this.root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
    this.canvas = h('canvas').getContext('2d');
    this.down = 0;
  }

  translate(x, y) {
    this.down += y;
  }

  fillRect(x, y, width, height) {
    this.root.append(svg('rect', { x, y: y + this.down, width, height, fill: this.fillStyle }));
  }

  strokeRect(x, y, width, height) {
    this.root.append(svg('rect', { x, y: y + this.down, width, height, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth }));
  }

  fillText(text, x, y) {
    this.root.append(svg('text', { x, y: y + this.down, fill: this.fillStyle, 'dominant-baseline': 'central', style: { font: this.font } }, text));
  }

  measureText(text) {
    this.canvas.font = this.font;
    return this.canvas.measureText(text);
  }
}

/* A promise of a Blob: of an SVG, or of a PNG twice as large as the page has it. `views` stand below each other. */
export function picture(views, lines, isSvg) {
  const heights = views.map(view => Math.min(view.height, HIGHEST)), head = LINE * lines.length + GAP;
  const width = Math.max(...views.map(view => view.width)), height = head + heights.reduce((sum, one) => sum + one + GAP, 0);
  const canvas = h('canvas', { width: 2 * width, height: 2 * height }), context = isSvg ? new Paper(width, height) : canvas.getContext('2d');
  if (!isSvg) context.scale(2, 2);
  Object.assign(context, { fillStyle: '#ffffff', font: FONT, textBaseline: 'middle' });
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#1f1d1a';
  lines.forEach((line, i) => context.fillText(line, GAP / 2, LINE * (i + 0.7)));
  context.translate(0, head);
  views.forEach((view, i) => {
    view.paintAll(context, heights[i]);
    context.translate(0, heights[i] + GAP);
  });
  if (isSvg) return Promise.resolve(new Blob([new XMLSerializer().serializeToString(context.root)], { type: 'image/svg+xml' }));
  return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}
