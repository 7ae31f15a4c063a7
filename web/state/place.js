/* Where the state stands in the address: a server's page has it behind the question mark, and the text of SQL in the fragment. A file
 * (clear export --html) has its own way, file_place.js. */

/* The list of runs. */
export const HOME = '/';

/* pprof's own pages, so that its users' links lead to the same: /peek?f=REGEX is the page of that function. */
const PPROF = { '/top': 'top', '/flamegraph': 'flame', '/flamegraph2': 'flame', '/flamegraphold': 'flame', '/graph': 'graph', '/peek': 'peek', '/source': 'source', '/weblist': 'source', '/disasm': 'disasm' };

function ofPprof(page, search) {
  const out = new URLSearchParams({ page });
  for (const [name, value] of new URLSearchParams(search)) out.append(name === 'f' && ['peek', 'source', 'disasm'].includes(page) ? 'function' : name, value);
  return '?' + out;
}

/* [search, fragment] of the page as it is. */
export function read() {
  const page = PPROF[location.pathname];
  return [page ? ofPprof(page, location.search) : location.search, location.hash];
}

export function here() {
  return location.pathname + location.search + location.hash;
}

/* The address of a search, which may be '', and a fragment. Pure. */
export function address(search, fragment) {
  return '/' + (search ? '?' + search : '') + (fragment ? '#' + fragment : '');
}

/* [search, fragment] of a link of the application; null of any other. */
export function ofLink(link) {
  const url = new URL(link.href);
  return url.origin === location.origin && url.pathname === '/' && !link.classList.contains('skip') ? [url.search, url.hash] : null;
}
