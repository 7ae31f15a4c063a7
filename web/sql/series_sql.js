/* Figures of an object over runs, from the view series: a lock, an allocation site, a finding. Pure: texts in, SQL out. */

/* The scopes of the view series, and the kind of profile without which a run says nothing of them ('': it always does). */
const KINDS = { site: 'heap', lock: 'lock', wait: 'wait', cell: 'mvcc', channel: 'channels', syscall: 'syscalls', finding: '', counter: 'counters', sample: '' };
export const RUNS_AT_ONCE = 100; // SQLite takes 500 parts of a compound

/* { scope, kind, subject } of "lock pool:g_lock", as the view has its subjects; null: the text is no such subject. */
export function subjectOf(words) {
  const found = /^(\w+) (.+)$/.exec(words);
  return found && found[1] in KINDS ? { scope: found[1], kind: KINDS[found[1]], subject: words } : null;
}

/* A name as a GLOB that matches nothing else. */
export function globOf(name) {
  return name.replace(/[[*?]/g, '[$&]');
}

/* run_id, figure and value of what matches, in those runs. Each run is asked for by its number alone, which reads that run only. */
export function seriesSql(runs, { scope, subject }) {
  const literal = text => `'${text.replace(/'/g, `''`)}'`;
  return runs.map(run => `SELECT run_id, figure, sum(value) AS value\nFROM series\nWHERE run_id = ${Number(run)} AND scope = ${literal(scope)} AND subject GLOB ${literal(subject)}\nGROUP BY 1, 2`).join('\nUNION ALL\n');
}
