/* place.js of a file: the whole state is in the fragment, "#?page=top", for a file has no other address of its own. */

export const HOME = '#?page=runs';

/* Without a fragment it opens on the overview, against the base if the file has one. */
export function read() {
  const base = document.getElementById('answers').dataset.base;
  return [location.hash.startsWith('#?') ? location.hash.slice(1) : '?page=overview' + (base ? '&base=base' : ''), ''];
}

export function here() {
  return location.hash;
}

export function address(search) {
  return search ? '#?' + search : HOME;
}

export function ofLink(link) {
  const href = link.getAttribute('href');
  return href.startsWith('#?') ? [href.slice(1), ''] : null;
}
