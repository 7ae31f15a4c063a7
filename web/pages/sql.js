/* SQL over all runs, read-only: what runs and when it ends. The editor, its side and the result are modules of their own. The text of the query is
 * in the fragment of the URL. */
import { h, replace, button, copy, download, announce } from '../widgets/dom.js';
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import { SqlEditor } from '../sql/sql_editor.js';
import { SqlResult } from '../sql/sql_result.js';
import { SqlSide } from '../sql/sql_side.js';
import { Page, opener } from '../widgets/page.js';
import { count, text } from '../names/format.js';

const LIMIT = 10000;
const EXAMPLE = `SELECT label, started, duration_ns, alloc_bytes, cpu_ns\nFROM run_summary\nORDER BY started_ns DESC\nLIMIT 20`;

class SqlPage extends Page {
  close() {
    super.close();
    this.cancel();
    this.shown.close();
  }

  async load() {
    this.build();
    if (this.app.state.sql) this.run();
    this.fillSide();
  }

  /* The page does not wait for what stands beside the editor. */
  async fillSide() {
    try {
      const [schema, saved] = await Promise.all([api.get('schema', '', this.signal), api.get('queries', '', this.signal)]);
      this.editor.know(schema.body, saved.body);
      this.side.fill(schema.body, saved.body, this.app.run && this.app.run.runs.length ? this.app.run.runs[0].uuid : '');
    } catch (error) {
      if (error.name !== 'AbortError') this.side.fail(error.message);
    }
  }

  build() {
    this.runButton = button('Run', () => this.take(), { class: 'main', title: 'Control+Enter' });
    this.stopButton = button('Cancel', () => this.cancel(true), { disabled: true });
    this.progress = h('span', { class: 'total', role: 'status' });
    this.result = h('div', { class: 'result' });
    this.shown = new SqlResult(this.app, this.result);
    this.editor = new SqlEditor({ text: this.app.state.sql || EXAMPLE, onedit: () => this.side.forget(), onrun: () => this.take(), onquery: query => this.side.choose(query) });
    this.side = new SqlSide({ onquery: sql => this.editor.setText(sql), onrun: () => this.take(), onword: word => this.editor.insert(word) });
    replace(this.host, h('div', { class: 'sql' }, h('div', { class: 'sql-main' }, this.editor.element, this.side.values,
      h('div', { class: 'toolbar' }, this.runButton, this.stopButton, this.progress, h('span', { class: 'end' }, button('Save as .sql', () => this.save(), { class: 'quiet' }), button('Copy clear query', () => copy(state.command({ ...this.app.state, page: 'sql', sql: this.editor.text }), 'the command line'), { class: 'quiet' }))),
      this.result), this.side.element));
  }

  // ---- running

  take() {
    const sql = this.editor.text;
    if (sql === this.app.state.sql) this.run();
    else this.app.go(state.change(this.app.state, { page: 'sql', sql, query: '', sort: '', order: '' }));
  }

  cancel(isAsked = false) {
    if (!this.asked) return;
    this.asked.abort();
    this.asked = null;
    if (isAsked) this.finish(`Cancelled after ${count(this.shown.rows.length)} rows`);
  }

  finish(words) {
    clearInterval(this.clock);
    this.runButton.disabled = false;
    this.stopButton.disabled = true;
    this.progress.textContent = words;
  }

  async run() {
    const sql = this.app.state.sql, asked = new AbortController(), start = performance.now();
    this.cancel();
    this.editor.hideOffers();
    clearInterval(this.clock);
    this.asked = asked;
    this.ran = sql;
    this.shown.clear();
    this.runButton.disabled = true;
    this.stopButton.disabled = false;
    const seconds = () => ((performance.now() - start) / 1000).toFixed(1);
    const say = () => { this.progress.textContent = `${count(this.shown.rows.length)} rows, ${seconds()} s`; };
    say();
    this.clock = setInterval(say, 100);
    try {
      const end = await api.rows(sql, `limit=${LIMIT}`, asked.signal, {
        columns: names => this.shown.begin(names),
        rows: batch => this.shown.add(batch),
      });
      this.finish(`${count(this.shown.rows.length)} rows${end.truncated ? ` (the first ${count(LIMIT)} are kept)` : ''} in ${seconds()} s`);
      this.shown.show();
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.finish('');
      replace(this.result, h('div', { class: 'failure', role: 'alert' }, h('h2', {}, 'The query failed'), h('pre', {}, text(error.message).replace(/\\u000a/g, '\n'))));
    } finally {
      if (this.asked === asked) this.asked = null;
    }
  }

  save() {
    download(new Blob([this.editor.text + '\n'], { type: 'text/plain' }), 'query.sql');
    announce('Saved query.sql: clear query -f query.sql runs it, clear query --save NAME keeps it in the warehouse');
  }

  async update() {
    const now = this.app.state;
    if (now.sql !== this.ran) {
      if (this.editor.text !== now.sql) {
        this.side.forget();
        this.editor.setText(now.sql || EXAMPLE);
      }
      if (now.sql) await this.run();
      else { this.cancel(); this.ran = ''; this.shown.clear(); this.finish(''); }
    } else if (this.shown.table) this.shown.show();
    this.app.tellSearch(now.q && this.shown.table ? `${count(this.shown.table.rows.length)} rows` : '');
  }

  refresh() {} // a query runs when it is asked for

  act(action) {
    if (action === 'escape' && this.asked) {
      this.cancel(true);
      return true;
    }
    const { table } = this.shown;
    return table && table.element.contains(document.activeElement) ? table.key(action) : false;
  }
}

export const open = opener(SqlPage);
