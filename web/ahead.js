/* Asks for the tree of a flame graph while the rest of the application is on its way. */
import * as api from './state/api.js';
import * as state from './state/state.js';
import * as place from './state/place.js';

/* How wide a page can be, in pixels. */
export function pageWidth() {
  const main = document.getElementById('page'), style = getComputedStyle(main);
  return Math.max(200, Math.round(main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)));
}

/* What a page shows first, before its module is there. */
export function treeAhead(next) {
  if (state.page(next) === 'flame' && !next.pivot) api.ahead('tree', state.treeQuery(next, pageWidth(), { inverted: next.inverted }));
  else if (state.page(next) === 'overview') api.ahead('overview', new URLSearchParams(next.runs ? { runs: next.runs } : {}).toString());
  else api.ahead();
}

treeAhead(state.parse(...place.read()));
