/* The server's resources (docs/api.md), at this page's own origin: an address with a name and a password is no base for requests.
 *
 * An answer is the product's own JSON; a failure is an Error with the words of the command. */

/* What a page can ask for. A file (clear export --html) has answers instead of a server, so that some of it is not there: file_api.js. */
export const HAS = { filters: true, downloads: true, live: true, detail: true };
export const LACKS = []; // pages

/* Why a state cannot be shown; '' where it can. */
export function refusal() {
  return '';
}

/* The filter that finds a function in its profile. */
export function only(pattern) {
  return { f: pattern };
}

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/* The server does not answer: it stopped, or there is no network. */
export class Unreached extends Error {
  constructor() {
    super('Reload the page when it runs again.');
  }
}

/* fetch() and import() say that nobody answered by a TypeError. */
export async function reach(request) {
  try {
    return await request;
  } catch (error) {
    throw error instanceof TypeError ? new Unreached() : error;
  }
}

async function failure(response) {
  const text = await response.text();
  try {
    return new Refused(JSON.parse(text).error || text, response.status);
  } catch {
    return new Refused(text || response.statusText, response.status);
  }
}

function noteOf(response) {
  try {
    return decodeURIComponent(response.headers.get('Clear-Note') || '');
  } catch {
    return '';
  }
}

function addressOf(resource, query) {
  return `${location.origin}/api/${resource}${query ? '?' + query : ''}`;
}

let early = null; // { url, response, abort }

/* Makes a request before the page is there that will want its answer: get() of the same takes it. There is one at most, asked for
 * once; without a resource there is none any more. */
export function ahead(resource, query) {
  const url = resource && addressOf(resource, query);
  if (early && early.url === url) return;
  if (early) early.abort.abort();
  early = null;
  if (!url) return;
  const abort = new AbortController(), response = fetch(url, { signal: abort.signal });
  response.catch(() => {}); // who takes it is told
  early = { url, response, abort };
}

/* The answer that was asked for early, if it is this one. */
function takeEarly(url, signal) {
  if (!early || early.url !== url || (signal && signal.aborted)) return null;
  const { response, abort } = early;
  early = null;
  if (signal) signal.addEventListener('abort', () => abort.abort());
  return response;
}

/* GET /api/RESOURCE?QUERY. `signal` ends the request, and with it the work of the server. */
export async function get(resource, query, signal) {
  const url = addressOf(resource, query), response = await reach(takeEarly(url, signal) || fetch(url, { signal }));
  if (!response.ok) throw await failure(response);
  const type = response.headers.get('Content-Type') || '';
  const body = type.startsWith('application/json') ? await response.json() : await response.text();
  return { body, note: noteOf(response) };
}

/* POST /api/rows: calls columns(names), rows([[...], ...]) as they come, and returns the last line. */
export async function rows(sql, query, signal, { columns, rows: take }) {
  const response = await reach(fetch(`${location.origin}/api/rows?${query}`, { method: 'POST', body: sql, signal, headers: { 'Content-Type': 'text/plain' } }));
  if (!response.ok) throw await failure(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = '', end = null, isFirst = true;
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (left + (value || '')).split('\n'), batch = [];
    left = done ? '' : lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const parsed = JSON.parse(line);
      if (Array.isArray(parsed)) batch.push(parsed);
      else if (isFirst && parsed.columns) columns(parsed.columns);
      else end = parsed;
      isFirst = false;
    }
    if (batch.length) take(batch);
    if (done) break;
  }
  if (end && end.error) throw new Refused(end.error, 400);
  if (!end) throw new Refused('the answer ended before its last row', 500);
  return end;
}

/* The rows of a statement, all at once: { columns, rows }. */
async function table(sql, limit, signal) {
  const found = { columns: [], rows: [] };
  await rows(sql, `limit=${limit}`, signal, { columns: names => { found.columns = names; }, rows: batch => found.rows.push(...batch) });
  return found;
}

/* Who uses an object: the kind of its page, its name, the statement that asks for it, and the figures among its columns. */
export function callers({ sql }, signal) {
  return table(sql, 1000, signal);
}

/* The frames of stacks: [[trace_id, function, file, line], ...], leaf first. */
export async function stacks(ids, signal) {
  return (await table(`SELECT trace_id, function, file, line FROM frames WHERE trace_id IN (${ids.map(Number).join(', ')}) ORDER BY trace_id, depth`, 2000, signal)).rows;
}
