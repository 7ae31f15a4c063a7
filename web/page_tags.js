/* The labels of the samples and their values, as pprof's tags shows them; a click keeps the samples of one value. */
import { h, replace } from './dom.js';
import * as api from './api.js';
import * as state from './state.js';
import { text, shorten } from './format.js';
import { patternOf } from './tree.js';

/* The text of `clear report tags` as groups: "KEY: Total 4.0kB", then lines "4.0kB (  100%): VALUE". */
export function parse(report) {
  const groups = [];
  for (const line of report.split('\n')) {
    const head = /^ *(.+?): Total (.+)$/.exec(line), row = /^ *(\S+) \( *(\S+?)\): (.*)$/.exec(line);
    if (row && groups.length) groups[groups.length - 1].rows.push({ value: row[1], share: row[2], label: row[3] });
    else if (head) groups.push({ key: head[1], total: head[2], rows: [] });
  }
  return groups;
}

class TagsPage {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.part = 'none';
    this.abort = new AbortController();
  }

  close() {
    this.abort.abort();
  }

  async load() {
    this.loaded = state.query(this.app.state);
    this.groups = parse((await api.get('table', state.query(this.app.state, { report: 'tags' }), this.abort.signal)).body);
    this.show();
  }

  show() {
    const pattern = patternOf(this.app.state.q);
    const keep = (group, row) => state.format(state.change(this.app.state, { tf: `${group.key}=${state.quote(row.label)}` }));
    const drop = (group, row) => state.format(state.change(this.app.state, { ti: `${group.key}=${state.quote(row.label)}` }));
    const row = (group, of) => h('tr', {}, h('td', {}, of.value), h('td', {}, of.share), h('td', {}, h('span', { class: 'meter', 'aria-hidden': 'true', style: { width: (parseFloat(of.share) || 0) + '%' } }), h('code', {}, shorten(text(of.label), 200))),
      h('td', {}, h('a', { href: keep(group, of), 'aria-label': `keep only ${shorten(of.label, 60)}` }, 'keep'), ' ', h('a', { href: drop(group, of), 'aria-label': `drop ${shorten(of.label, 60)}` }, 'drop')));
    replace(this.host, this.groups.length ? this.groups.map(group => h('table', { class: 'peek tags', 'aria-label': `Label ${group.key}` }, h('caption', {}, h('strong', {}, text(group.key)), `  ${group.total}`),
      h('thead', {}, h('tr', {}, ['value', 'share', 'label', ''].map(name => name ? h('th', { scope: 'col' }, name) : h('td', {})))),
      h('tbody', {}, group.rows.filter(of => !pattern || pattern.test(of.label)).slice(0, 500).map(of => row(group, of))))) : h('p', { class: 'empty' }, 'The samples have no labels.'));
    const all = this.groups.reduce((sum, group) => sum + group.rows.filter(of => !pattern || pattern.test(of.label)).length, 0);
    this.app.tellSearch(pattern ? `${all} labels` : '');
  }

  async update() {
    if (state.query(this.app.state) !== this.loaded) await this.load();
    else this.show();
  }

  act(action) {
    if (action !== 'escape' || !this.app.state.q) return false;
    this.app.go(state.change(this.app.state, { q: '' }), { replace: true });
    return true;
  }
}

export async function open(host, app) {
  const page = new TagsPage(host, app);
  await page.load();
  return page;
}
