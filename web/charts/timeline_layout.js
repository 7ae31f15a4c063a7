/* Where the threads and the events of a timeline stand, and which part of the run is shown. Pure: threads, events and a width in, rows and
 * boxes out. Times are nanoseconds since the start of the run, and whole ones. */

export const ROW = 26; // a thread
export const DEEP = 17; // a function of its stacks
export const TOP = 22; // the scale
const STRIPS = [2, 3, 78]; // pixels of a thread in a group that is closed, at least and at most, and of the group
const MANY = 24; // threads that stand each by itself if nothing else is chosen

/* What a row has above each other: regions at the top, what the thread did or waited for in the middle, holds and moments below. */
const BANDS = { region: [1, 6], wait: [7, 11], io: [7, 11], sleep: [7, 11], ready: [7, 11], hold: [19, 5], sample: [7, 11], release: [5, 15], mark: [5, 15] };

/* The part "FROM-TO" of the URL; null: none. */
export function parse(words) {
  const found = /^(\d+)-(\d+)$/.exec(words || ''), part = found && [Number(found[1]), Number(found[2])];
  return part && part[1] > part[0] ? part : null;
}

/* The part as the URL has it: whole nanoseconds within the run, at least one. */
export function format(from, to, whole) {
  const start = Math.max(whole[0], Math.min(Math.floor(from), whole[1] - 1)), end = Math.max(start + 1, Math.min(Math.ceil(to), whole[1]));
  return start <= whole[0] && end >= whole[1] ? '' : `${start}-${end}`;
}

/* "TID@NS": a thread at a moment. */
export function chosen(words) {
  const found = /^(\d+)@(\d+)$/.exec(words || '');
  return found ? { tid: Number(found[1]), ns: Number(found[2]) } : null;
}

// ---- rows

export function keyOf({ process_id: process, tid }) {
  return `${process} ${tid}`;
}

export function groupKey(thread) {
  return encodeURIComponent(thread.of_group) + '*';
}

const ORDERS = { cpu: one => -(one.cpu_ns ?? 0), wait: one => -one.wait_ns, name: one => one.thread || '' };

function sorted(list, by) {
  const of = ORDERS[by];
  return of ? list.map((one, i) => [of(one), i, one]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1])).map(entry => entry[2]) : list;
}

/* Whether threads of one group stand together: as the state says, else where there are many and a group has several. */
export function isGrouped(threads, fold) {
  return fold ? fold === '1' : threads.length > MANY && new Set(threads.map(one => one.of_group)).size < threads.length;
}

/* The rows from the top: { key, thread or group, threads, level, isOpen, y, lane: its height without stacks, strip: that of a thread in a closed group,
 * depth: functions of its stacks }. `open`: keys of groups and threads; `pattern`: of the names of threads, or null; `depthOf(thread)`: of open ones. */
export function rowsOf(threads, { by = '', fold = '', pattern = null, open = new Set(), depthOf = () => 0 }) {
  const shown = pattern ? threads.filter(one => pattern.test(`${one.thread} ${one.tid}`)) : threads, rows = [];
  let y = TOP;
  const add = row => {
    rows.push({ ...row, y });
    y += row.lane + row.depth * DEEP;
  };
  const single = (thread, level) => {
    const isOpen = open.has(String(thread.tid));
    add({ key: String(thread.tid), thread, threads: [thread], level, isOpen, lane: ROW, strip: 0, depth: isOpen ? depthOf(thread) : 0 });
  };
  if (!isGrouped(threads, fold)) sorted(shown, by).forEach(thread => single(thread, 0));
  else {
    const groups = new Map();
    for (const thread of shown) groups.set(thread.of_group, [...groups.get(thread.of_group) || [], thread]);
    const sum = list => ({ thread: list[0].of_group, cpu_ns: list.reduce((all, one) => all + (one.cpu_ns ?? 0), 0), wait_ns: list.reduce((all, one) => all + one.wait_ns, 0), list });
    for (const group of sorted([...groups.values()].map(sum), by)) {
      const { list } = group, isOpen = open.has(groupKey(list[0])), strip = Math.max(STRIPS[0], Math.min(STRIPS[1], STRIPS[2] / list.length));
      if (list.length === 1) single(list[0], 0);
      else add({ key: groupKey(list[0]), group, threads: sorted(list, by), level: 0, isOpen, lane: isOpen ? ROW : Math.max(ROW, Math.min(STRIPS[2], list.length * strip) + 4), strip, depth: 0 });
      if (list.length > 1 && isOpen) sorted(list, by).forEach(thread => single(thread, 1));
    }
  }
  return { rows, height: y };
}

/* Where each thread is drawn, by keyOf: { y, height: of a strip, 0 of a whole lane }. */
export function placesOf(rows) {
  const out = new Map();
  for (const row of rows) {
    if (row.thread) out.set(keyOf(row.thread), { y: row.y, height: 0 });
    else if (!row.isOpen) row.threads.forEach((thread, i) => out.set(keyOf(thread), { y: row.y + 2 + Math.min(i * row.strip, (row.lane - 4) * i / row.threads.length), height: Math.max(1, row.strip - 1) }));
  }
  return out;
}

/* Boxes { event, x, y, width, height } of the events that are in sight; they come the longest first, so that shorter ones stand above them. */
export function boxes(places, events, { start, end, left, width, top, height }) {
  const scale = width / (end - start), out = [];
  for (const event of events) {
    const place = places.get(keyOf(event));
    if (!place || place.y + ROW < top || place.y > top + height || event.start_ns > end || event.start_ns + event.duration_ns < start) continue;
    if (place.height && (event.class === 'hold' || event.class === 'region')) continue; // a strip says what the thread itself does
    const from = Math.max(0, (event.start_ns - start) * scale), to = Math.min(width, (event.start_ns + event.duration_ns - start) * scale), [at, high] = place.height ? [0, place.height] : BANDS[event.class] || BANDS.region;
    out.push({ event, x: left + from, y: place.y + at, width: Math.max(1, to - from), height: high });
  }
  return out;
}

/* The box at a point: the one that was drawn last, within two pixels of narrow ones. */
export function hit(list, x, y) {
  const near = slack => list.findLast(box => x >= box.x - slack && x < box.x + box.width + slack && y >= box.y && y < box.y + box.height);
  return near(0) || near(2) || null;
}

// ---- stacks over time

/* The stacks of one thread as boxes over time, the outermost function on top: { name, depth, start_ns, end_ns, wait: '', or the class of what it waits for, which is the name then }. A function that goes on from one
 * row to the next, with all that called it, is one box, also over a short time of which nothing is known. The rows come by their start. */
export function stackBoxes(rows) {
  const known = new Map(), out = [], open = [];
  let depth = 0;
  for (const row of rows) if (row.stack) known.set(row.trace_id, JSON.parse(row.stack).reverse());
  for (const row of rows) {
    const wait = row.class === 'sample' ? '' : row.class, names = [...known.get(row.trace_id) || [], ...wait ? [`${row.kind} ${row.object}`.trim()] : []], end = row.start_ns + row.duration_ns;
    let same = 0;
    const isNear = open.length && row.start_ns - open[0].end_ns <= Math.max(row.duration_ns, open[0].last) / 2;
    while (isNear && same < open.length && same < names.length && open[same].name === names[same] && open[same].wait === (wait && same === names.length - 1 ? wait : '')) same++;
    open.length = same;
    open.forEach(box => { box.end_ns = Math.max(box.end_ns, end); box.last = row.duration_ns; });
    for (let i = same; i < names.length; i++) {
      open.push({ name: names[i], depth: i, start_ns: row.start_ns, end_ns: end, last: row.duration_ns, wait: wait && i === names.length - 1 ? wait : '' });
      out.push(open[i]);
    }
    depth = Math.max(depth, names.length);
  }
  return { boxes: out, depth };
}

/* Round times for the scale: at most `most`. */
export function marks(start, end, most = 8) {
  const rough = (end - start) / (most - 1), power = 10 ** Math.floor(Math.log10(rough)), step = Math.max(1, [1, 2, 5, 10].find(one => one * power >= rough) * power), out = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) out.push(at);
  return out;
}

/* The off-CPU time of a part by stack, cut at its ends, as SQL of a run. */
export function flameSql(uuid, start, end) {
  return `SELECT events.trace_id,
       sum(min(events.start_ns + events.duration_ns, ${end}) - max(events.start_ns, ${start})) AS wait_ns
FROM runs
JOIN processes ON processes.run_id = runs.id
JOIN events ON events.process_id = processes.id
JOIN event_kinds ON event_kinds.kind = events.kind
WHERE runs.uuid = '${String(uuid).replace(/'/g, "''")}' AND class IN ('wait', 'io', 'sleep')
  AND events.start_ns < ${end} AND events.start_ns + events.duration_ns > ${start}
GROUP BY events.trace_id
ORDER BY wait_ns DESC`;
}
