/* What happened over a run, on one axis of time: a lane for CPU time, live bytes, waits, calls. A lane of times is drawn as how many threads did that
 * at once: its value in a window, through the length of the window. */
import { h, svg, replace } from '../widgets/dom.js';
import { value, nanoseconds, text } from '../names/format.js';

const WIDTH = 1000, HEIGHT = 56;
const TITLES = { cpu: 'CPU', live: 'Live heap', waits: 'Waits', io: 'I/O' };

/* The height of a stretch of time. */
function level(series, [from, to, amount]) {
  return series.name === 'live' ? Math.max(0, amount) : amount / Math.max(1, to - from);
}

/* Stretches end to end or with gaps: each a box on what is below it at that time. `below` has the sum of the groups before by the stretch's end. */
function path(series, points, below, most, end) {
  const x = ns => (ns / end * WIDTH).toFixed(1), y = of => (HEIGHT - of / most * (HEIGHT - 4)).toFixed(1);
  return points.map(point => {
    const low = below.get(point[1]) || 0, high = low + level(series, point);
    below.set(point[1], high);
    return `M${x(point[0])} ${y(low)}V${y(high)}H${x(point[1])}V${y(low)}Z`;
  }).join('');
}

/* What is live stays so until the next window. */
function held(series, points, end) {
  return series.name === 'live' ? points.map(([, to, amount], i) => [points[i][0], Math.max(to, i + 1 < points.length ? points[i + 1][0] : end), amount]) : points;
}

function highest(series) {
  const sums = new Map();
  for (const group of series.groups) for (const point of group.points) sums.set(point[1], (sums.get(point[1]) || 0) + level(series, point));
  return Math.max(series.peak ? series.peak.bytes : 0, ...sums.values());
}

/* "1.8 processors", "5.2 threads", "4.0 MiB" */
function words(series, of) {
  if (series.name === 'live') return value(Math.round(of), 'bytes');
  const number = of >= 9.95 ? Math.round(of) : of >= 0.095 ? of.toFixed(1) : of >= 0.001 || !of ? of.toPrecision(1) : '<0.001';
  return `${number} ${series.name === 'cpu' ? 'processors' : 'threads'}`;
}

function lane(series, { end, peakOf }) {
  const most = highest(series) || 1, below = new Map(), title = TITLES[series.name], { peak } = series, said = words(series, most), upTo = said.startsWith('<') ? said : `up to ${said}`;
  const names = series.groups.filter(group => group.name);
  return h('div', { class: 'lane', 'data-series': series.name }, h('div', { class: 'lane-name' }, h('strong', {}, title), h('span', {}, upTo),
    names.length > 1 || series.name === 'cpu' ? h('ul', {}, names.map((group, i) => h('li', {}, h('span', { class: `swatch group-${i}` }), text(group.name)))) : null),
  h('div', { class: 'lane-drawn' }, svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title} over time, ${upTo}` },
    series.groups.map((group, i) => svg('path', { class: `group-${i}`, d: path(series, held(series, group.points, end).filter(point => point[1] > point[0]), below, most, end) }))),
  peak ? h('a', { class: `peak${peak.at_ns < end / 4 ? ' early' : ''}`, href: peakOf(peak.at_ns), style: { left: `${100 * Math.min(1, peak.at_ns / end)}%` }, 'data-row': true, 'data-value': peak.bytes, title: `the most at once, at ${nanoseconds(peak.at_ns)}: who held it` },
    h('span', {}, `peak ${value(peak.bytes, 'bytes')}`)) : null));
}

/* What each lane has at that moment. */
function at(list, ns) {
  return list.map(series => series.groups.map(group => [group.name, held(series, group.points, Infinity).find(([from, to]) => from <= ns && ns < to)]).filter(([, point]) => point)
    .map(([name, point]) => `${TITLES[series.name]}${name ? ` ${text(name)}` : ''} ${words(series, level(series, point))}`)).flat();
}

/* list: the series of /api/overview; options: { end: of the axis in ns, chosen: [from, to] or null, onchoose(from, to) in whole windows, peakOf(ns): the
 * address of who held the memory then }. */
export function lanes(list, options) {
  const { end, chosen, onchoose } = options, said = h('p', { class: 'lane-at', 'aria-hidden': 'true' }), brush = h('div', { class: 'lane-brush', hidden: !chosen });
  const place = (from, to) => {
    brush.hidden = false;
    brush.style.setProperty('left', `${100 * from / end}%`);
    brush.style.setProperty('width', `${100 * (to - from) / end}%`);
  };
  if (chosen) place(Math.max(0, chosen[0]), Math.min(end, chosen[1]));
  const marks = [0, 0.25, 0.5, 0.75, 1].map(part => h('span', {}, nanoseconds(Math.round(part * end))));
  const over = h('div', { class: 'lane-over' }, brush), box = h('div', { class: `lanes${onchoose ? ' can-choose' : ''}` }, list.map(series => lane(series, options)), over);
  const time = event => {
    const frame = over.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width)) * end;
  };
  box.addEventListener('pointermove', event => replace(said, `${nanoseconds(time(event))}: ${at(list, time(event)).join(' · ') || 'nothing'}`));
  if (onchoose) box.addEventListener('pointerdown', event => drag(event, { box, time, place, list, onchoose }));
  return [box, h('div', { class: 'timeline-marks lane-marks', 'aria-hidden': 'true' }, marks), said];
}

/* From where the pointer went down to where it goes up, in whole windows. A click is no drag. */
function drag(down, { box, time, place, list, onchoose }) {
  if (down.button || down.target.closest('a')) return;
  const start = time(down), windows = list.flatMap(series => series.groups.flatMap(group => group.points));
  const move = event => place(Math.min(start, time(event)), Math.max(start, time(event)));
  const up = event => {
    box.removeEventListener('pointermove', move);
    const low = Math.min(start, time(event)), high = Math.max(start, time(event)), inside = windows.filter(([from, to]) => from < high && to > low);
    if (Math.abs(event.clientX - down.clientX) < 3 || !inside.length) return;
    onchoose(inside.reduce((least, [from]) => Math.min(least, from), Infinity), inside.reduce((most, [, to]) => Math.max(most, to), 0));
  };
  box.setPointerCapture(down.pointerId);
  box.addEventListener('pointermove', move);
  box.addEventListener('pointerup', up, { once: true });
}
