/* A line chart of a figure over runs, as SVG: axes, points that can be clicked and reached by keys, a tooltip for each. Of more points than there is
 * room for, each pixel has the least, the middle and the most, and only those that are chosen or changed are points.
 *
 * points: [{ y, title, label, key, isChosen, isChange }] from left to right; options: { label, unit, onpoint(point, event), height, space }: `space` is the
 * width that there is. */
import { h, svg } from '../widgets/dom.js';
import { tick, shorten } from '../names/format.js';

const LEFT = 84, RIGHT = 18, TOP = 14, BOTTOM = 44, LEAST = 480;
const APART = 3; // pixels between points, at least
const REACH = 24; // pixels from a click to its point, at most

/* Round values between 0 and at least `most`, for the lines of the grid; of bytes they are powers of two apart. */
export function ticks(least, most, unit = '', wanted = 5) {
  const span = most - least || Math.abs(most) || 1, rough = span / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = unit === 'bytes' ? 2 ** Math.max(0, Math.ceil(Math.log2(rough))) : [1, 2, 5, 10].map(factor => factor * power).find(one => one >= rough) || power * 10, out = [];
  for (let at = Math.floor(least / step) * step; at < most + step && out.length < 20; at += step) out.push(+at.toPrecision(12));
  return out;
}

/* Where points are too close: for each pixel the least, the middle and the most of those there. */
export function columns(points, x) {
  const found = new Map();
  points.forEach((point, i) => {
    const at = Math.round(x(i));
    if (Number.isFinite(point.y)) found.set(at, [...found.get(at) || [], point.y]);
  });
  return [...found].map(([at, all]) => {
    const sorted = all.sort((a, b) => a - b), half = sorted.length >> 1;
    return { x: at, least: sorted[0], middle: sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2, most: sorted[sorted.length - 1] };
  });
}

export function chart(points, { label, unit, onpoint, height = 320, space = 900 }) {
  const width = Math.max(LEAST, Math.floor(space)); // drawn as large as it is, so that its letters are not scaled
  const numbers = points.map(point => point.y).filter(Number.isFinite);
  const lines = ticks(Math.min(0, ...numbers), Math.max(0, ...numbers) || 1, unit), low = lines[0], high = lines[lines.length - 1];
  const x = i => LEFT + (points.length > 1 ? i * (width - LEFT - RIGHT) / (points.length - 1) : (width - LEFT - RIGHT) / 2);
  const y = number => TOP + (1 - (number - low) / (high - low || 1)) * (height - TOP - BOTTOM);
  const isDense = points.length * APART > width - LEFT - RIGHT, dense = isDense ? columns(points, x) : [];
  const path = isDense ? dense.map((column, i) => `${i ? 'L' : 'M'}${column.x} ${y(column.middle).toFixed(1)}`).join('') : points.map((point, i) => Number.isFinite(point.y) ? `${i && Number.isFinite(points[i - 1].y) ? 'L' : 'M'}${x(i).toFixed(1)} ${y(point.y).toFixed(1)}` : '').join('');
  const every = Math.max(1, Math.ceil(points.length / Math.max(1, Math.floor((width - LEFT) / 110))));
  const drawn = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': label, width, height },
    lines.map(line => [svg('line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y(line), y2: y(line) }),
      svg('text', { x: LEFT - 8, y: y(line) + 4, 'text-anchor': 'end' }, tick(line, unit))]),
    isDense ? svg('path', { class: 'range', d: dense.map(column => `M${column.x} ${(y(column.least) + 0.5).toFixed(1)}V${(y(column.most) - 0.5).toFixed(1)}`).join('') }) : null,
    svg('path', { class: 'line', d: path }),
    points.map((point, i) => i % every || points.length - 1 - i < every / 2 && i !== points.length - 1 ? null
      : svg('text', { x: i ? Math.min(x(i), width - 8) : x(i), y: height - BOTTOM + 20, 'text-anchor': x(i) > width - 60 ? 'end' : 'middle' }, shorten(point.label || '', 15))),
    onpoint ? ground({ points, x, y, width, height, onpoint, reach: isDense ? Infinity : REACH }) : null,
    points.map((point, i) => Number.isFinite(point.y) && (!isDense || point.isChosen || point.isChange) ? mark(point, x(i), y(point.y), onpoint) : null));
  return h('div', { class: 'chart-frame', ...!onpoint && { tabindex: '0', role: 'group', 'aria-label': label } }, drawn); // without points to focus it scrolls by keys itself
}

/* Below the points, which are smaller than a finger: a click is for the nearest, of a chart that is not dense within so many pixels. */
function ground({ points, x, y, width, height, onpoint, reach }) {
  const said = svg('title', {}), found = event => {
    const box = event.currentTarget.getBoundingClientRect(), far = (point, i) => Number.isFinite(point.y) ? Math.hypot(x(i) - LEFT - event.clientX + box.left, y(point.y) - TOP - event.clientY + box.top) : Infinity;
    return points.map((point, i) => [far(point, i), point]).reduce((best, one) => one[0] < best[0] ? one : best, [reach, null])[1];
  };
  return svg('rect', { class: 'ground', x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM, onclick: event => { const point = found(event); if (point) onpoint(point, event); }, onpointermove: event => { said.textContent = (found(event) || { title: '' }).title; } }, said);
}

function mark(point, x, y, onpoint) {
  const circle = svg('circle', { class: `point${point.isChosen ? ' chosen' : ''}${point.isChange ? ' change' : ''}`, cx: x, cy: y, r: point.isChosen || point.isChange ? 7 : 5, tabindex: onpoint ? '0' : null, role: onpoint ? 'button' : 'img', 'aria-label': point.title,
    'aria-pressed': onpoint ? String(Boolean(point.isChosen)) : null, 'data-value': point.y, 'data-key': point.key }, svg('title', {}, point.title));
  if (onpoint) {
    circle.addEventListener('click', event => onpoint(point, event));
    circle.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      onpoint(point, event);
    });
  }
  return circle;
}

/* A small line without axes; `at` is the index of the point that is marked. */
export function sparkline(numbers, at, label) {
  const width = 600, height = 44, high = Math.max(...numbers, 0) || 1;
  const x = i => numbers.length > 1 ? 4 + i * (width - 8) / (numbers.length - 1) : width / 2, y = number => height - 5 - (number / high) * (height - 10);
  const path = numbers.map((number, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(number).toFixed(1)}`).join('');
  return svg('svg', { class: 'sparkline', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    svg('path', { class: 'area', d: numbers.length > 1 ? `${path}L${x(numbers.length - 1)} ${height}L${x(0)} ${height}Z` : '' }), svg('path', { class: 'line', d: path }),
    at >= 0 && at < numbers.length ? svg('line', { class: 'at', x1: x(at), x2: x(at), y1: 0, y2: height }) : null);
}
