/* Asks for the tree of a flame graph while the rest of the application is on its way. */
import * as api from './api.js';
import * as state from './state.js';

/* How wide a page can be, in pixels. */
export function pageWidth() {
  const main = document.getElementById('page'), style = getComputedStyle(main);
  return Math.max(200, Math.round(main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)));
}

export function treeAhead(next) {
  if (state.page(next) === 'flame' && !next.pivot) api.ahead('tree', state.treeQuery(next, pageWidth(), { inverted: next.inverted }));
  else api.ahead();
}

treeAhead(state.parse(location.search, location.hash));
