/* The application: one place owns the URL, the header and the keys; a page shows what the state says.
 *
 * A page is a module with open(host, app), which returns { part, update?, act?, search?, close?, refresh?, repaint? }:
 *   part     which keys it takes ('flame', 'table', 'none')
 *   update() the state has changed, but not the page; without it the page is opened anew
 *   act(action) an action of keys.js; true if it was the page's
 *   refresh() a recording has a new window; repaint() the colours changed */
import { h, replace, button, announce, isDark, remember, remembered, select } from './dom.js';
import * as states from './state.js';
import * as keys from './keys.js';
import * as api from './api.js';
import { openDialog, closeMenu } from './menu.js';
import { openRefine } from './refine.js';
import { time, count, text, shorten } from './format.js';

const TITLES = {
  runs: 'Runs', flame: 'Flame graph', top: 'Top', graph: 'Graph', peek: 'Peek', source: 'Source', disasm: 'Disassembly', tags: 'Tags',
  doctor: 'Doctor', compare: 'Compare', trend: 'Trend', locks: 'Locks', channels: 'Channels', cells: 'Cells', fibers: 'Fibers', sql: 'SQL',
  live: 'Windows',
};
const GROUPS = [['', ['runs']], ['Profile', ['flame', 'top', 'graph', 'peek', 'source', 'disasm', 'tags']],
  ['Judgement', ['doctor', 'compare', 'trend']], ['Objects', ['locks', 'channels', 'cells', 'fibers']], ['Ask', ['sql', 'live']]];
/* Pages that are there only if the runs have that kind of profile. */
const NEEDS = { locks: 'lock', channels: 'channels', cells: 'mvcc', fibers: 'fibers' };
/* Pages whose figures are those of one kind of profile. */
const OF_KIND = ['flame', 'top', 'graph', 'peek', 'source', 'disasm', 'tags', 'trend', 'live'];
const WITHOUT_RUN = ['runs', 'sql'];
const THEMES = { '': 'as the system', light: 'light', dark: 'dark' };

const code = () => import('./page_source.js'), objects = () => import('./page_objects.js');
const MODULES = {
  runs: () => import('./page_runs.js'), flame: () => import('./page_flame.js'), top: () => import('./page_top.js'), graph: () => import('./page_graph.js'),
  peek: () => import('./page_peek.js'), source: code, disasm: code, tags: () => import('./page_tags.js'), doctor: () => import('./page_doctor.js'),
  compare: () => import('./page_compare.js'), trend: () => import('./page_trend.js'), locks: objects, channels: objects, cells: objects, fibers: objects,
  sql: () => import('./page_sql.js'), live: () => import('./page_live.js'),
};

class App {
  constructor() {
    this.state = states.parse(location.search, location.hash);
    this.page = null;
    this.pageName = '';
    this.turn = 0;
    this.run = null;
    this.runKey = null;
    this.waiting = '';
    this.ended = new Set(); // runs that are over, as the server said
    this.main = document.getElementById('page');
    this.theme(remembered('theme', ''));
    this.header();
    addEventListener('popstate', () => this.enter(states.parse(location.search, location.hash)));
    addEventListener('hashchange', () => this.enter(states.parse(location.search, location.hash)));
    document.addEventListener('keydown', event => this.key(event));
    document.addEventListener('click', event => this.follow(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme(remembered('theme', '')));
    this.enter(this.state);
  }

  has(page) {
    return page in MODULES;
  }

  // ---- going somewhere

  go(next, { replace: inPlace = false } = {}) {
    const url = states.format(next);
    if (url !== location.pathname + location.search + location.hash) history[inPlace ? 'replaceState' : 'pushState'](null, '', url);
    return this.enter(next);
  }

  /* A link of the application is followed without a new document; with Control or another button it is the browser's. */
  follow(event) {
    const link = event.target.closest && event.target.closest('a[href]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || url.pathname !== '/' || link.classList.contains('skip')) return;
    event.preventDefault();
    this.go(states.parse(url.search, url.hash));
  }

  async enter(next) {
    const mine = ++this.turn, name = states.page(next), isSame = name === this.pageName && this.page && this.page.update;
    this.state = next;
    this.main.setAttribute('aria-busy', 'true');
    try {
      await this.know(next, name);
      if (mine !== this.turn) return;
      this.header();
      this.frame(name, isSame);
      if (isSame) await this.page.update();
      else await this.open(name, mine);
    } catch (error) {
      if (mine === this.turn && error.name !== 'AbortError') this.fail(error);
    } finally {
      if (mine === this.turn) this.main.removeAttribute('aria-busy');
    }
  }

  /* What the chosen runs are, what kinds they have, what they lost. */
  async know(next, name) {
    if (WITHOUT_RUN.includes(name) && !next.runs) {
      this.run = null;
      this.runKey = null;
      return;
    }
    const key = new URLSearchParams(next.runs ? { runs: next.runs } : {}).toString();
    if (key === this.runKey) return;
    this.run = (await api.get('run', key)).body;
    this.runKey = key;
    this.listen();
  }

  /* While the run is recorded, the server tells of each new window; the page asks again for what it shows, and keeps zoom and selection.
   * A run without an end is asked about: it is being recorded, or was interrupted. */
  listen() {
    const open = this.run.runs.length === 1 && this.run.runs[0].source === 'profile' && !this.run.runs[0].exit, uuid = open ? this.run.runs[0].uuid : '';
    if (this.events && this.events.uuid === uuid) return;
    if (this.events) this.events.close();
    this.events = null;
    this.isRecording = undefined;
    if (!uuid || this.ended.has(uuid)) return;
    this.events = new EventSource('/api/live?' + new URLSearchParams({ runs: uuid }));
    this.events.uuid = uuid;
    this.events.addEventListener('window', event => {
      this.isRecording = JSON.parse(event.data).recording;
      this.renew();
    });
    this.events.addEventListener('end', () => this.runEnded(uuid));
  }

  runEnded(uuid) {
    const wasRecorded = this.isRecording !== undefined;
    this.events.close();
    this.events = null;
    this.ended.add(uuid);
    this.isRecording = undefined;
    if (!wasRecorded) return;
    this.runKey = null;
    announce('The recording has ended');
    this.enter(this.state);
  }

  /* One request at a time: windows that come in between are one more. */
  async renew() {
    if (this.renewing) {
      this.again = true;
      return;
    }
    this.renewing = true;
    try {
      const page = this.page;
      if (page && page.refresh) await page.refresh();
    } catch (error) {
      if (error.name !== 'AbortError') announce(text(error.message));
    }
    this.renewing = false;
    if (this.again) {
      this.again = false;
      this.renew();
    }
  }

  async open(name, mine) {
    if (this.page && this.page.close) this.page.close();
    this.page = null;
    this.pageName = name;
    const host = h('div', { class: `host host-${name}` });
    this.main.append(host);
    const page = await (await MODULES[name]()).open(host, this);
    if (mine !== this.turn) {
      if (page.close) page.close();
      host.remove();
      return;
    }
    this.page = page;
    const active = document.activeElement;
    if (!active || active === document.body || active === this.main || !active.isConnected) this.focusPage();
  }

  focusPage() {
    const first = this.main.querySelector('.flame, .table, [data-first]');
    (first || this.main).focus({ preventScroll: true });
  }

  fail(error) {
    if (this.page && this.page.close) this.page.close();
    this.page = null;
    this.pageName = '';
    this.main.querySelectorAll('.host').forEach(element => element.remove());
    this.main.append(h('div', { class: 'host' }, h('div', { class: 'failure', role: 'alert' }, h('h2', {}, 'This could not be shown'),
      h('p', {}, text(error.message)), h('p', {}, h('a', { href: '/' }, 'All runs')))));
  }

  /* The page's frame: title, losses, chips. */
  frame(name, isSame) {
    const run = this.run, runName = run ? this.runTitle() : '';
    document.title = `${TITLES[name]}${runName ? ' · ' + shorten(runName, 60) : ''} · clear`;
    const top = h('div', { class: 'page-head' }, h('h1', {}, TITLES[name]), OF_KIND.includes(name) ? button('Refine', () => openRefine(this), { 'aria-haspopup': 'dialog', title: 'filters (e)' }) : null, this.chips(), this.losses(name));
    const old = this.main.querySelector('.page-head');
    if (old) old.replaceWith(top);
    else replace(this.main, top);
    if (!isSame) this.main.querySelectorAll('.host').forEach(element => element.remove());
  }

  losses(name) {
    const lost = name !== 'runs' && this.run ? this.run.losses : [];
    return lost.length ? h('div', { class: 'losses', role: 'note', 'aria-label': 'What the recording lost' }, h('strong', {}, 'Not everything was recorded'),
      h('ul', {}, lost.map(line => h('li', {}, text(line))))) : null;
  }

  chips() {
    const list = states.chips(this.state);
    if (!list.length) return null;
    return h('ul', { class: 'chips', 'aria-label': 'Filters' }, list.map(chip => h('li', { class: 'chip', title: `${chip.means}: ${chip.value}` },
      h('span', { class: 'chip-name' }, chip.title), ' ', h('code', {}, shorten(text(chip.value), 60)),
      button('×', () => this.go(states.change(this.state, { [chip.name]: '', zoom: '' })), { 'aria-label': `Remove ${chip.title} ${shorten(chip.value, 60)}` }))),
    h('li', {}, button('Remove all', () => this.go(states.change(this.state, Object.fromEntries(list.map(chip => [chip.name, ''])))), { class: 'quiet' })));
  }

  // ---- the header

  runTitle() {
    const runs = this.run.runs;
    if (!runs.length) return 'no run';
    const one = runs[0], label = one.label || shorten(text(one.command || one.source || one.uuid), 40);
    return runs.length === 1 ? text(label) : `${count(runs.length)} runs: ${text(label)}`;
  }

  header() {
    const name = states.page(this.state), typing = document.activeElement && document.activeElement.id === 'search';
    this.navigation(name);
    if (typing && this.headerKey() === this.headerShown) return; // no new field below the fingers
    const header = document.getElementById('header');
    if (this.headerKey() === this.headerShown) {
      header.querySelector('#search').value = this.state.q;
      return;
    }
    this.headerShown = this.headerKey();
    this.searchSays = h('output', { class: 'found', for: 'search' });
    this.search = h('input', { id: 'search', type: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search in this page', autocomplete: 'off', spellcheck: 'false',
      maxlength: '1000', oninput: () => this.typed(), onkeydown: event => this.searchKey(event) });
    this.search.value = this.state.q;
    replace(header, h('a', { class: 'brand', href: '/' }, h('img', { src: '/web/icon.svg', alt: '', width: '22', height: '22' }), 'clear'),
      this.subject(name), h('span', { class: 'space' }), h('div', { class: 'search' }, this.search, this.searchSays),
      button('◐', () => this.nextTheme(), { class: 'icon', 'aria-label': 'Colours', title: 'light, dark, as the system (t)' }),
      button('?', () => this.help(), { class: 'icon', 'aria-label': 'Keys', title: 'keys (?)' }));
  }

  headerKey() {
    const { runs, base, kind, si } = this.state;
    return JSON.stringify([states.page(this.state), runs, base, kind, si, this.runKey]);
  }

  subject(name) {
    const run = this.run;
    if (!run || (name === 'runs')) return h('div', { class: 'subject' });
    const first = run.runs[0], now = this.state;
    const about = first ? `${first.command || first.source || ''} · ${time(first.started_ns)} UTC` : '';
    return h('div', { class: 'subject' },
      h('a', { class: 'run', href: '/?page=runs', title: `${text(about)} — choose another run` }, h('strong', {}, this.runTitle()), h('span', {}, shorten(text(about), 70))),
      now.base ? h('span', { class: 'chip base' }, h('span', { class: 'chip-name' }, 'against'), ' ', h('code', {}, now.base.includes(',') ? `${now.base.split(',').length} runs` : shorten(text(now.base), 24)),
        button('×', () => this.go(states.change(this.state, { base: '', zoom: '' })), { 'aria-label': 'Compare with nothing' })) : null,
      OF_KIND.includes(name) ? this.kindChoice() : null);
  }

  kindChoice() {
    const now = this.state, kinds = this.run.kinds;
    if (!kinds.length) return null;
    const kind = kinds.find(one => one.kind === now.kind) || kinds[0], type = kind.types.find(one => one.type === now.si) ? now.si : kind.default_type;
    return h('span', { class: 'kinds' },
      select('kind of profile', kinds.map(one => [one.kind, one.kind]), kind.kind, chosen => this.go(states.change(this.state, { kind: chosen, si: '', zoom: '' }))),
      kind.types.length > 1 ? select('sample type', kind.types.map(one => [one.type, one.type]), type, chosen => this.go(states.change(this.state, { si: chosen }))) : null);
  }

  navigation(name) {
    const has = this.run && this.run.runs.length ? new Set(this.run.runs.flatMap(run => run.kinds)) : null;
    const shown = page => !NEEDS[page] || (has && has.has(NEEDS[page])) || page === name;
    const item = page => h('li', {}, h('a', { href: page === 'runs' ? '/' : states.format(states.turn(this.state, page)), 'aria-current': page === name ? 'page' : null }, TITLES[page]));
    replace(document.getElementById('nav'), GROUPS.map(([title, pages]) => [pages.filter(shown).filter(page => MODULES[page]), title])
      .filter(([pages]) => pages.length).map(([pages, title]) => h('div', { class: 'nav-group' }, title ? h('h2', {}, title) : null, h('ul', {}, pages.map(item)))));
    const current = document.querySelector('#nav [aria-current]');
    if (current && innerWidth < 760) current.scrollIntoView({ block: 'nearest', inline: 'center' });
  }

  // ---- search

  typed() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.takeSearch(), 120);
  }

  takeSearch() {
    clearTimeout(this.typing);
    if (this.search.value === this.state.q) return;
    this.go(states.change(this.state, { q: this.search.value }), { replace: true });
  }

  searchKey(event) {
    if (event.key === 'Enter') {
      event.preventDefault();
      this.takeSearch();
      if (this.page && this.page.act) this.page.act(event.shiftKey ? 'previous' : 'next');
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      this.takeSearch();
      this.focusPage();
    }
  }

  tellSearch(words) {
    this.searchSays.textContent = words;
    this.searchSays.hidden = !words;
  }

  // ---- keys

  key(event) {
    if (document.querySelector('dialog[open]') || event.defaultPrevented) return;
    const target = event.target, inText = target.matches('input, textarea, select, [contenteditable]');
    if (target.closest('.menu') || (['Enter', ' '].includes(event.key) && target.closest('a, button, summary'))) return;
    if (this.waiting === 'go' && !inText) {
      this.waiting = '';
      const page = keys.PLACES[event.key];
      if (page && MODULES[page]) {
        event.preventDefault();
        document.activeElement.blur();
        this.go(page === 'runs' ? states.parse('') : states.turn(this.state, page));
        return;
      }
    }
    const action = keys.action(event, this.page ? this.page.part : 'none', inText);
    if (!action) return;
    if (this.act(action, inText)) event.preventDefault();
  }

  act(action, inText = false) {
    if (action === 'search') {
      this.search.focus();
      this.search.select();
    } else if (action === 'help') this.help();
    else if (action === 'theme') this.nextTheme();
    else if (action === 'refine') return OF_KIND.includes(this.pageName) && (openRefine(this), true);
    else if (action === 'go') {
      this.waiting = 'go';
      announce('Go to: ' + Object.entries(keys.PLACES).filter(([, page]) => MODULES[page]).map(([letter, page]) => `${letter} ${TITLES[page]}`).join(', '));
    } else if (action === 'escape') return this.escape(inText);
    else return Boolean(this.page && this.page.act && this.page.act(action));
    return true;
  }

  escape(inText) {
    if (closeMenu()) return true;
    if (inText) {
      if (document.activeElement === this.search && this.search.value) {
        this.search.value = '';
        this.takeSearch();
      }
      document.activeElement.blur();
      this.focusPage();
      return true;
    }
    return Boolean(this.page && this.page.act && this.page.act('escape'));
  }

  help() {
    const part = this.page ? this.page.part : 'none';
    openDialog('Keys', h('dl', { class: 'keys' }, keys.help(part).map(([key, words]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, words)])),
      h('p', {}, 'The address of this page holds all that is chosen: send it to a colleague, or keep it as a bookmark.'));
  }

  // ---- colours

  theme(name) {
    const root = document.documentElement;
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    root.dataset.shade = isDark() ? 'dark' : 'light';
    if (this.page && this.page.repaint) this.page.repaint();
  }

  nextTheme() {
    const names = Object.keys(THEMES), next = names[(names.indexOf(remembered('theme', '')) + 1) % names.length];
    remember('theme', next);
    this.theme(next);
    announce(`Colours: ${THEMES[next]}`);
  }
}

new App();
