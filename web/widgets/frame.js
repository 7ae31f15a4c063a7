/* What stands around a page: the list of pages, whose runs these are, the title with what was lost, and the filters as chips. Each function
 * makes elements of what the application says; nothing is kept here. */
import { h, replace, button, select } from './dom.js';
import * as api from '../state/api.js';
import * as states from '../state/state.js';
import * as place from '../state/place.js';
import { openRefine } from './refine.js';
import { command, time, count, text, shorten } from '../names/format.js';

export const TITLES = {
  runs: 'Runs', overview: 'Overview', flame: 'Flame graph', calltree: 'Call tree', top: 'Top', graph: 'Graph', peek: 'Peek', source: 'Source', disasm: 'Disassembly', tags: 'Tags',
  doctor: 'Doctor', compare: 'Compare', trend: 'Trend', locks: 'Locks', channels: 'Channels', cells: 'Cells', fibers: 'Fibers', waits: 'Waits', sql: 'SQL',
  live: 'Windows', timeline: 'Timeline',
};
/* Pages whose figures are those of one kind of profile. */
const PROFILE = ['flame', 'calltree', 'top', 'graph', 'peek', 'source', 'disasm', 'tags'];
export const OF_KIND = [...PROFILE, 'trend', 'live'];
const GROUPS = [['', ['runs', 'overview']], ['Profile', PROFILE],
  ['Judgement', ['doctor', 'compare', 'trend']], ['Objects', ['locks', 'waits', 'channels', 'cells', 'fibers']], ['Ask', ['sql', 'live', 'timeline']]];
/* Pages that are there only if the runs have that kind of profile, or events. */
const NEEDS = { locks: 'lock', channels: 'channels', cells: 'mvcc', fibers: 'fibers', waits: 'wait', timeline: 'events' };

export function runTitle(app) {
  const runs = app.run ? app.run.runs : [];
  if (!runs.length) return app.run ? 'no run' : '';
  const one = runs[0], label = one.label || shorten(text(one.command || one.source || one.uuid), 40);
  return runs.length === 1 ? text(label) : `${count(runs.length)} runs: ${text(label)}`;
}

export function pageHead(app, name) {
  return h('div', { class: 'page-head' }, h('h1', {}, TITLES[name]),
    OF_KIND.includes(name) ? button('Refine', () => openRefine(app), { 'aria-haspopup': 'dialog', title: api.HAS.filters ? 'filters (e)' : 'filters need clear web', disabled: !api.HAS.filters }) : null, chips(app), OF_KIND.includes(name) ? uneven(app) : null, ['runs', 'overview'].includes(name) ? null : losses(app));
}

/* A difference of sets is that of their sums, as pprof's. */
function uneven({ run, baseRun }) {
  const sides = run && baseRun ? [baseRun.runs.length, run.runs.length] : [1, 1];
  return sides[0] === sides[1] ? null : h('div', { class: 'losses', role: 'note' }, `Sums of ${sides[1]} against ${sides[0]} runs: Compare and the table of functions have means.`);
}

/* What the server says of a run without an end. */
const NOT_OVER = /^The run is not over, or was interrupted/;

/* That a run is being recorded, what the runs lost, and what those of the base lost: both touch a difference. */
export function losses(app) {
  const isLive = app.live.isRecording !== undefined, all = app.run ? app.run.losses : [], own = isLive ? all.filter(line => !NOT_OVER.test(line)) : all;
  const lost = [...own, ...app.baseRun ? app.baseRun.losses.map(line => `base: ${line}`) : []];
  const live = isLive ? h('div', { class: 'losses live', role: 'note' }, h('strong', {}, 'Being recorded'), ' Figures are those of the last window.') : null;
  return [live, lost.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'What the recording lost' }, h('strong', {}, 'Not everything was recorded'),
    h('ul', {}, lost.map(line => h('li', {}, text(line))))) : null];
}

function chips(app) {
  const list = states.chips(app.state);
  if (!list.length) return null;
  const without = names => app.go(states.change(app.state, { ...Object.fromEntries(names.map(name => [name, ''])), zoom: '' }));
  return h('ul', { class: 'chips', 'aria-label': 'Filters' }, list.map(chip => h('li', { class: 'chip', title: `${chip.means}: ${chip.value}` },
    h('span', { class: 'chip-name' }, chip.title), ' ', h('code', {}, shorten(text(chip.value), 60)),
    button('×', () => without([chip.name]), { 'aria-label': `Remove ${chip.title} ${shorten(chip.value, 60)}` }))),
  h('li', {}, button('Remove all', () => without(list.map(chip => chip.name)), { class: 'quiet' })));
}

/* Whose figures these are: the runs, the base, the kind of profile. */
export function subject(app, name) {
  if (!app.run || name === 'runs') return h('div', { class: 'subject' });
  const first = app.run.runs[0], { base } = app.state;
  const when = first ? ` · ${time(first.started_ns)} UTC` : '', what = first ? first.command || first.source || '' : '';
  return h('div', { class: 'subject' },
    h('a', { class: 'run', href: place.address('page=runs'), title: `${text(what + when)} — choose another run` }, h('strong', {}, runTitle(app)), h('span', {}, text(shorten(command(what), 48) + when))),
    base ? h('span', { class: 'chip base' }, h('span', { class: 'chip-name' }, 'against'), ' ', h('code', {}, base.includes(',') ? `${base.split(',').length} runs` : shorten(text(base), 24)),
      button('×', () => app.go(states.change(app.state, { base: '', base_from: '', base_to: '', base_window: '', zoom: '' })), { 'aria-label': 'Compare with nothing' })) : null,
    OF_KIND.includes(name) ? kindChoice(app) : null);
}

function kindChoice(app) {
  const { kind: wanted, si } = app.state, { kinds } = app.run;
  if (!kinds.length) return null;
  const kind = kinds.find(one => one.kind === wanted) || kinds[0], types = kind.types || [], type = types.find(one => one.type === si) ? si : kind.default_type;
  const go = changes => app.go(states.change(app.state, changes));
  return h('span', { class: 'kinds' },
    select('kind of profile', kinds.map(one => [one.kind, one.kind]), kind.kind, chosen => go({ kind: chosen, si: '', zoom: '' })),
    types.length > 1 ? select('sample type', types.map(one => [one.type, one.type]), type, chosen => go({ si: chosen })) : null);
}

/* Another page of the same runs: of a profile, of the kind that has most to say. */
export function turned(app, page) {
  return states.turn(app.state, page, !app.state.kind && app.kind && PROFILE.includes(page) ? { kind: app.kind } : {});
}

export function navigation(app, name) {
  const nav = document.getElementById('nav'), has = app.run && app.run.runs.length ? new Set(app.run.runs.flatMap(run => run.kinds)) : null;
  if (has && app.run.has_events) has.add('events');
  const shown = page => app.has(page) && (page !== 'overview' || has) && (!NEEDS[page] || (has && has.has(NEEDS[page])) || page === name);
  const item = page => h('li', {}, h('a', { href: page === 'runs' ? place.HOME : states.format(turned(app, page)), 'aria-current': page === name ? 'page' : null }, TITLES[page]));
  replace(nav, GROUPS.map(([title, pages]) => [title, pages.filter(shown)]).filter(([, pages]) => pages.length)
    .map(([title, pages]) => h('div', { class: 'nav-group' }, title ? h('h2', {}, title) : null, h('ul', {}, pages.map(item)))));
  const current = nav.querySelector('[aria-current]');
  if (current && innerWidth < 760) current.scrollIntoView({ block: 'nearest', inline: 'center' });
}
