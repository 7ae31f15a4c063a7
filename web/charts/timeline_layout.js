/* Where the events of a timeline stand, and which part of the run is shown. Pure: events and a width in, boxes out. Times are nanoseconds
 * since the start of the run, and whole ones. */

export const ROW = 26;
export const TOP = 22; // the scale

/* What a row has above each other: regions at the top, what the thread did or waited for in the middle, holds and moments below. */
const BANDS = { region: [1, 6], wait: [7, 11], io: [7, 11], sleep: [7, 11], hold: [19, 5], sample: [7, 11], release: [5, 15], mark: [5, 15] };

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

/* Boxes { event, x, y, width, height } of the events that are in sight, the longest first so that shorter ones stand above them. */
export function boxes(threads, events, { start, end, left, width, top, height }) {
  const rows = new Map(threads.map((thread, row) => [`${thread.process_id} ${thread.tid}`, row])), scale = width / (end - start), out = [];
  for (const event of [...events].sort((a, b) => b.duration_ns - a.duration_ns)) {
    const row = rows.get(`${event.process_id} ${event.tid}`), y = TOP + row * ROW;
    if (row === undefined || y + ROW < top || y > top + height || event.start_ns > end || event.start_ns + event.duration_ns < start) continue;
    const from = Math.max(0, (event.start_ns - start) * scale), to = Math.min(width, (event.start_ns + event.duration_ns - start) * scale), [at, high] = BANDS[event.class] || BANDS.region;
    out.push({ event, x: left + from, y: y + at, width: Math.max(1, to - from), height: high });
  }
  return out;
}

/* The box at a point: the one that was drawn last, within two pixels of narrow ones. */
export function hit(list, x, y) {
  const near = slack => list.findLast(box => x >= box.x - slack && x < box.x + box.width + slack && y >= box.y && y < box.y + box.height);
  return near(0) || near(2) || null;
}

/* Round times for the scale: at most eight. */
export function marks(start, end) {
  const rough = (end - start) / 7, power = 10 ** Math.floor(Math.log10(rough)), step = Math.max(1, [1, 2, 5, 10].find(one => one * power >= rough) * power), out = [];
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
