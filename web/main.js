/* The application: one place owns the URL, the header and the keys; a page shows what the state says.
 *
 * A page is a module with open(host, app), which returns a Page (page.js):
 *   part        which keys it takes ('flame', 'table', 'none')
 *   update()    the state has changed, but not the page
 *   act(action) an action of keys.js; true if it was the page's
 *   refresh()   a recording has a new window
 *   repaint?()  the colours changed
 *   close() */
import { h, replace, button, announce } from './widgets/dom.js';
import * as states from './state/state.js';
import * as keys from './state/keys.js';
import * as api from './state/api.js';
import * as place from './state/place.js';
import { pageWidth, treeAhead } from './ahead.js';
import { openDialog, closeMenu } from './widgets/menu.js';
import { openRefine } from './widgets/refine.js';
import { LiveRun } from './state/live_run.js';
import { Search } from './widgets/search.js';
import { Theme } from './widgets/theme.js';
import { TITLES, OF_KIND, navigation, turned, pageHead, runTitle, subject } from './widgets/frame.js';
import { text, shorten } from './names/format.js';

const WITHOUT_RUN = ['runs', 'sql'];

const code = () => import('./pages/source.js'), objects = () => import('./pages/objects.js');
const MODULES = {
  runs: () => import('./pages/runs.js'), overview: () => import('./pages/overview.js'), flame: () => import('./pages/flame.js'), calltree: () => import('./pages/calltree.js'), top: () => import('./pages/top.js'), graph: () => import('./pages/graph.js'),
  peek: () => import('./pages/peek.js'), source: code, disasm: code, tags: () => import('./pages/tags.js'), doctor: () => import('./pages/doctor.js'),
  compare: () => import('./pages/compare.js'), trend: () => import('./pages/trend.js'), locks: objects, channels: objects, cells: objects, fibers: objects, waits: objects,
  sql: () => import('./pages/sql.js'), live: () => import('./pages/live.js'), timeline: () => import('./pages/timeline.js'),
};

class App {
  constructor() {
    this.state = states.parse(...place.read());
    this.page = null;
    this.pageName = '';
    this.turn = 0;
    this.run = null;
    this.runKey = null;
    this.waiting = '';
    this.baseRun = null;
    this.live = new LiveRun({ onwindow: () => this.page && this.page.refresh(), onstart: () => this.frame(states.page(this.state), true), onend: () => this.runEnded(), onerror: error => announce(text(error.message)) });
    this.main = document.getElementById('page');
    this.search = new Search(this);
    this.theme = new Theme(() => this.page && this.page.repaint && this.page.repaint());
    this.header();
    addEventListener('popstate', () => this.enter(states.parse(...place.read())));
    addEventListener('hashchange', () => this.enter(states.parse(...place.read())));
    document.addEventListener('keydown', event => this.key(event));
    document.addEventListener('click', event => this.follow(event));
    this.enter(this.state);
  }

  has(page) {
    return page in MODULES && !api.LACKS.includes(page);
  }

  // ---- going somewhere

  go(next, { replace: inPlace = false } = {}) {
    const url = states.format(next), why = api.refusal(next);
    if (why) {
      announce(why);
      return undefined;
    }
    if (url !== place.here()) history[inPlace ? 'replaceState' : 'pushState'](null, '', url);
    return this.enter(next);
  }

  /* A link of the application is followed without a new document; with Control or another button it is the browser's. */
  follow(event) {
    const link = event.target.closest && event.target.closest('a[href]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute('download')) return;
    const found = place.ofLink(link);
    if (!found && link.classList.contains('skip')) {
      event.preventDefault();
      this.main.focus();
    }
    if (!found) return;
    event.preventDefault();
    this.go(states.parse(...found));
  }

  async enter(next) {
    const mine = ++this.turn, name = states.page(next), isSame = name === this.pageName && Boolean(this.page);
    this.state = next;
    this.main.setAttribute('aria-busy', 'true');
    this.askAhead(next, name, isSame);
    try {
      const why = api.refusal(next);
      if (why) throw new Error(why);
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

  /* A page's module and the tree of a flame graph come while the server says what the runs are. */
  askAhead(next, name, isSame) {
    if (isSame) {
      api.ahead();
      return;
    }
    MODULES[name]().catch(() => {}); // open() is told
    treeAhead(next);
  }

  get width() {
    return pageWidth();
  }

  /* What the chosen runs are, what kinds they have, what they lost. */
  async know(next, name) {
    if (WITHOUT_RUN.includes(name) && !next.runs) {
      this.run = this.baseRun = this.runKey = null;
      this.live.follow(null);
      return;
    }
    const key = JSON.stringify([next.runs, next.base]), about = runs => api.get('run', new URLSearchParams(runs ? { runs } : {}).toString());
    if (key === this.runKey) return;
    const [run, base] = await Promise.all([about(next.runs), next.base ? about(next.base) : null]);
    this.run = run.body;
    this.baseRun = base && base.body;
    this.runKey = key;
    this.kind = '';
    this.live.follow(this.run.runs.length === 1 ? this.run.runs[0] : null);
  }

  /* The kind of profile that has most to say of the runs: the pages of a profile open on it. */
  tellKind(kind) {
    this.kind = kind && this.run.kinds.some(one => one.kind === kind) ? kind : '';
    navigation(this, states.page(this.state));
  }

  runEnded() {
    this.runKey = null;
    announce('The recording has ended');
    this.enter(this.state);
  }

  /* The page's frame: title, losses, chips. */
  frame(name, isSame) {
    const runName = runTitle(this), head = pageHead(this, name), old = this.main.querySelector('.page-head');
    document.title = `${TITLES[name]}${runName ? ' · ' + shorten(runName, 60) : ''} · clear`;
    if (old) old.replaceWith(head);
    else replace(this.main, head);
    if (!isSame) this.main.querySelectorAll('.host').forEach(element => element.remove());
  }

  async open(name, mine) {
    closeMenu();
    if (this.page) this.page.close();
    this.page = null;
    this.pageName = name;
    const host = h('div', { class: `host host-${name}` });
    this.main.append(host);
    const page = await (await api.reach(MODULES[name]())).open(host, this);
    if (mine !== this.turn) {
      page.close();
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
    if (this.page) this.page.close();
    this.page = null;
    this.pageName = '';
    this.header();
    this.frame(states.page(this.state), false);
    this.main.append(h('div', { class: 'host' }, h('div', { class: 'failure', role: 'alert' }, h('h2', {}, error instanceof api.Unreached ? 'The server has stopped' : 'This could not be shown'),
      h('p', {}, text(error.message)), h('p', {}, error instanceof api.Unreached ? button('Reload', () => location.reload()) : h('a', { href: place.HOME }, 'All runs')))));
  }

  // ---- the header

  header() {
    const name = states.page(this.state), header = document.getElementById('header'), isSame = this.headerKey() === this.headerShown;
    navigation(this, name);
    if (isSame && this.search.isTyping) return; // no new text below the fingers
    this.search.show(this.state.q);
    if (isSame) return;
    this.headerShown = this.headerKey();
    this.search.tell('');
    replace(header, h('a', { class: 'brand', href: place.HOME }, h('img', { src: document.querySelector('link[rel=icon]').href, alt: '', width: '22', height: '22' }), 'clear'),
      subject(this, name), h('span', { class: 'space' }), this.search.element,
      button('◐', () => this.theme.next(), { class: 'icon', 'aria-label': 'Colours', title: 'light, dark, as the system (t)' }),
      button('?', () => this.help(), { class: 'icon', 'aria-label': 'Keys', title: 'keys (?)' }));
  }

  headerKey() {
    const { runs, base, kind, si } = this.state;
    return JSON.stringify([states.page(this.state), runs, base, kind, si, this.runKey]);
  }

  /* What the page found of it. */
  tellSearch(words) {
    this.search.tell(words);
  }

  // ---- keys

  key(event) {
    if (document.querySelector('dialog[open]') || event.defaultPrevented) return;
    const target = event.target, inText = target.matches('input, textarea, select, [contenteditable]');
    if (target.closest('.menu') || (['Enter', ' '].includes(event.key) && target.closest('a, button, summary'))) return;
    if (this.waiting === 'go' && !inText) {
      this.waiting = '';
      const page = keys.PLACES[event.key];
      if (page && this.has(page)) {
        event.preventDefault();
        document.activeElement.blur();
        this.go(page === 'runs' ? states.parse('') : turned(this, page));
        return;
      }
    }
    const action = keys.action(event, this.page ? this.page.part : 'none', inText);
    if (!action) return;
    if (this.act(action, inText)) event.preventDefault();
  }

  act(action, inText = false) {
    if (action === 'search') this.search.take();
    else if (action === 'help') this.help();
    else if (action === 'theme') this.theme.next();
    else if (action === 'refine') return api.HAS.filters && OF_KIND.includes(this.pageName) && (openRefine(this), true);
    else if (action === 'go') {
      this.waiting = 'go';
      announce('Go to: ' + Object.entries(keys.PLACES).filter(([, page]) => this.has(page)).map(([letter, page]) => `${letter} ${TITLES[page]}`).join(', '));
    } else if (action === 'escape') return this.escape(inText);
    else return Boolean(this.page && this.page.act(action));
    return true;
  }

  escape(inText) {
    if (closeMenu()) return true;
    if (inText) {
      if (this.search.isTyping) this.search.clear();
      document.activeElement.blur();
      this.focusPage();
      return true;
    }
    return Boolean(this.page && this.page.act('escape'));
  }

  help() {
    const part = this.page ? this.page.part : 'none';
    openDialog('Keys', h('dl', { class: 'keys' }, keys.help(part).map(([key, words]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, words)])),
      h('p', {}, 'The address of this page holds all that is chosen: send it to a colleague, or keep it as a bookmark.'));
  }
}

new App();
