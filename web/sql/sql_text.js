/* The text of a query: its parts for highlighting, and what could come next. Pure. */

const WORDS = `select from where group by order having limit offset join left inner outer cross on using as and or not in is null like glob between exists case
when then else end distinct union all except intersect with recursive values asc desc over partition rows filter cast collate escape indexed materialized`.split(/\s+/);
const FUNCTIONS = `abs avg ceil coalesce count date datetime dense_rank exp first_value floor format glob group_concat hex iif ifnull instr json_array json_each
json_extract json_group_array json_object julianday lag last_value lead length lower ltrim max min nullif ntile printf quote rank replace round row_number rtrim
sqrt strftime substr substring sum time total trim typeof unixepoch upper`.split(/\s+/);
const KEYWORDS = new Set(WORDS), KNOWN = new Set(FUNCTIONS);

/* [kind, text] for every piece: 'comment', 'string', 'name' (quoted), 'number', 'parameter', 'keyword', 'function', '' (the rest). Joined they are the text. */
export function tokens(sql) {
  const pattern = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?|\x60[^\x60]*\x60?|\[[^\]]*\]?)|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\b0x[0-9a-f]+\b)|([:@$]\w+)|([A-Za-z_]\w*)|([\s\S])/gi;
  const kinds = ['comment', 'string', 'name', 'number', 'parameter'], out = [];
  for (const found of sql.matchAll(pattern)) {
    const at = found.slice(1, 6).findIndex(Boolean), word = found[6] && found[6].toLowerCase();
    const kind = at >= 0 ? kinds[at] : !word ? '' : KEYWORDS.has(word) ? 'keyword' : KNOWN.has(word) && /^\s*\(/.test(sql.slice(found.index + found[0].length, found.index + found[0].length + 20)) ? 'function' : '';
    if (out.length && out[out.length - 1][0] === kind && kind === '') out[out.length - 1][1] += found[0];
    else out.push([kind, found[0]]);
  }
  return out;
}

/* What the word before `at` could become: { from, items: [{ text, kind, help }] }. `schema` is the answer of /api/schema, `saved` that of /api/queries. */
export function complete(sql, at, schema, saved = []) {
  const before = sql.slice(0, at), found = /(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)?$/.exec(before), owner = found[1], start = (found[2] || '').toLowerCase();
  const from = at - (found[2] || '').length;
  if (tokens(before).length && ['comment', 'string'].includes(tokens(before).pop()[0])) return { from, items: [] };
  const used = tablesOf(sql, schema), table = owner && (used.get(owner.toLowerCase()) || schema.find(one => one.name === owner));
  const columns = (table ? [table] : owner ? [] : [...new Set(used.values())]).flatMap(one => one.columns.map(column => ({ text: column.name, kind: 'column', help: `${one.name}: ${column.unit ? `[${column.unit}] ` : ''}${column.comment || ''}` })));
  const rest = owner ? [] : [...schema.map(one => ({ text: one.name, kind: one.type, help: one.comment || '' })), ...FUNCTIONS.map(text => ({ text: text + '(', kind: 'function', help: '' })), ...WORDS.map(text => ({ text: text.toUpperCase(), kind: 'keyword', help: '' })),
    ...saved.map(query => ({ text: '@' + query.name, kind: 'saved query', help: query.description || '' }))];
  const afterTable = /\b(from|join)\s+\w*$/i.test(before);
  const all = afterTable ? rest.filter(item => ['table', 'view'].includes(item.kind)) : [...columns, ...rest], seen = new Set();
  const items = start || owner || afterTable ? all.filter(item => item.text.toLowerCase().replace(/^@/, '').startsWith(start) && item.text.toLowerCase() !== start && !seen.has(item.text) && seen.add(item.text)) : [];
  return { from, items: items.slice(0, 40) };
}

/* The tables that a query names, under their names and their aliases. */
function tablesOf(sql, schema) {
  const out = new Map(), text = tokens(sql).filter(([kind]) => kind !== 'comment' && kind !== 'string').map(([, part]) => part).join('');
  const words = text.toLowerCase().match(/[a-z_]\w*|[.,()]/g) || [];
  words.forEach((word, i) => {
    const table = schema.find(one => one.name === word);
    if (!table) return;
    out.set(word, table);
    const alias = words[i + 1] === 'as' ? words[i + 2] : words[i + 1];
    if (alias && /^[a-z_]/.test(alias) && !KEYWORDS.has(alias)) out.set(alias, table);
  });
  return out;
}

/* The parameters of a saved query: [{ name, type, default }], type run, integer, real or text. */
export function paramsOf(query) {
  try {
    const found = JSON.parse(query.params || '[]');
    return Array.isArray(found) ? found.filter(one => one && typeof one.name === 'string') : [];
  } catch {
    return [];
  }
}

function quoted(words) {
  return `'${String(words).replace(/'/g, `''`)}'`;
}

/* SQL for the id of a run by name: latest, latest~2, a number, a uuid or a label. Where `uuid` is given, "latest" means that run. */
function runOf(words, uuid) {
  const before = /^latest(?:~(\d+))?$/.exec(words), back = before ? Number(before[1] || 0) : 0;
  if (/^\d+$/.test(words)) return words;
  if (!before) return `(SELECT max(id) FROM runs WHERE uuid = ${quoted(words)} OR label = ${quoted(words)})`;
  if (!uuid) return `(SELECT run_id FROM run_order WHERE place = ${back + 1})`;
  const run = `(SELECT id FROM runs WHERE uuid = ${quoted(uuid)})`;
  return back ? `(SELECT run_id FROM run_order WHERE place = ${back} + (SELECT place FROM run_order WHERE run_id = ${run}))` : run;
}

/* A saved query with values in the place of its parameters: those of `values` ({ name: text }), else their defaults. */
export function withValues(query, uuid, values = {}) {
  const literal = ({ name, type, default: preset }) => {
    const words = String(values[name] || (preset ?? ''));
    if (type === 'run') return runOf(words || 'latest', uuid);
    if (words === '') return 'NULL';
    return type !== 'text' && /^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(words) ? words : quoted(words);
  };
  const known = new Map(paramsOf(query).map(one => [':' + one.name, literal(one)]));
  return tokens(query.sql).map(([kind, text]) => kind === 'parameter' && known.has(text) ? known.get(text) : text).join('');
}

/* What a result can be drawn as: its column with stacks or texts of frames and one with numbers, and whether it has numbers over runs. */
export function shapeOf(columns, rows) {
  const isNumber = i => rows.length > 0 && rows.every(row => row[i] === null || typeof row[i] === 'number') && rows.some(row => typeof row[i] === 'number');
  const lower = columns.map(name => name.toLowerCase()), numbers = columns.map((unused, i) => i).filter(i => isNumber(i) && !/(^|_)(id|line|run|pid|depth)$/.test(lower[i]) && !['started_ns'].includes(lower[i]));
  const stack = columns.findIndex((unused, i) => rows.length > 0 && rows.every(row => typeof row[i] === 'string') && rows.some(row => row[i].includes(';'))), trace = lower.indexOf('trace_id');
  const value = numbers.filter(i => i !== trace), x = lower.findIndex((name, i) => ['run_id', 'run', 'started_ns', 'started', 'uuid', 'label', 'window', 'number', 'time_ns'].includes(name) && !value.includes(i));
  return { stack, trace, values: value, x: x < 0 ? columns.findIndex((unused, i) => !isNumber(i)) : x };
}
