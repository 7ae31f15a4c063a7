/* The trees of a flame graph as the server sends them: those of the selection, finer ones of what is zoomed, which functions changed by more
 * than the noise, and the sums of a search with what is too narrow to be sent. */
import * as api from '../state/api.js';
import * as state from '../state/state.js';
import * as trees from './tree.js';
import { inUnit } from '../names/format.js';
import { rest } from '../widgets/dom.js';

const WIDEST = 1e9; // pixels that the server takes
const DETAILS = 60; // answers for zoomed nodes that are kept

export class FlameTrees {
  constructor(app, signal) {
    this.app = app;
    this.width = app.width;
    this.signal = signal;
    this.details = new Map();
    this.sums = new Map();
    this.roots = [];
    this.noise = null;
  }

  /* One function's callers and callees: two trees. */
  get isSandwich() {
    return this.roots.length === 2;
  }

  request(more) {
    return api.get('tree', state.treeQuery(this.app.state, this.width, more), this.signal);
  }

  async load() {
    const { pivot, inverted } = this.app.state;
    const answers = await Promise.all(pivot ? [this.request({ pivot, inverted: 1 }), this.request({ pivot })] : [this.request({ inverted })]);
    const { body } = answers[answers.length - 1];
    this.head = { ...body, unit: inUnit(body.unit, this.app.state.unit) };
    this.note = answers.map(answer => answer.note).find(Boolean) || '';
    this.roots = answers.map(answer => trees.decode(answer.body));
    this.roots.forEach(root => { root.name = 'all'; });
    await rest(); // what is drawn of it is a task of its own
  }

  hasSamples() {
    return Boolean(this.head.total || this.head.base_total);
  }

  /* A function that says what the tree knows of a function, as /api/table does; nothing of a difference and of one function's callers and callees. */
  tableOf(name) {
    const { unit, total, is_diff } = this.head, { inverted } = this.app.state;
    return is_diff || this.isSandwich ? undefined : () => ({ unit, total, ...trees.around(this.roots[0], name, inverted) });
  }

  /* Which functions changed by more than the noise, where a side has several runs and the doctor judges that kind; the others are noise, but
   * for callers of one that changed, and the whole if isTotal(kind, head, figure) says that a figure which changed is it. True: the colours are others now. */
  async askNoise(kind, isTotal) {
    if (!this.head.is_diff || state.hasPart(this.app.state)) return false; // the doctor judges whole runs
    const { body } = await api.get('compare', state.query(this.app.state), this.signal);
    const judged = body.rows.filter(row => row.by === 'function' && row.section === kind);
    if ((body.old.n < 2 && body.new.n < 2) || !judged.length) return false;
    this.noise = new Set(judged.filter(row => row.is_change).map(row => row.subject));
    const totals = body.rows.filter(row => row.by === 'run').flatMap(row => Object.entries(row.figures));
    this.isWhole = totals.some(([figure, of]) => of.is_change && isTotal(kind, this.head, figure));
    trees.markChanged(this.roots, this.noise, this.isWhole);
    return true;
  }

  /* Asks for what is below the zoomed node in more detail. True: the tree has grown. */
  async askDetail() {
    const now = this.app.state, id = now.zoom.replace(/~$/, ''), isRest = now.zoom.endsWith('~');
    if (!id || now.pivot || this.details.has(now.zoom) || !api.HAS.detail) return false;
    const { body } = await this.request({ root: id, inverted: now.inverted, ...isRest && { width: this.widthFor(trees.find(this.roots[0], id)) } });
    if (this.details.size >= DETAILS) this.details.clear();
    this.details.set(now.zoom, true);
    this.roots[0] = this.place(body);
    if (this.noise) trees.markChanged(this.roots, this.noise, this.isWhole);
    return true;
  }

  /* How wide a node would be if what is hidden below it were as wide as the picture four times. */
  widthFor(node) {
    const share = node && node.hiddenValue > 0 ? node.width / node.hiddenValue : 1;
    return Math.min(WIDEST, Math.ceil(4 * this.width * share));
  }

  /* The whole tree with this answer in it. A node that was too narrow to be sent gets the callers that the answer names. */
  place(body) {
    const finer = trees.decode(body);
    if (trees.find(this.roots[0], finer.id)) return trees.graft(this.roots[0], finer);
    let at = this.roots[0];
    for (const step of body.path.slice(1)) at = trees.child(at, step);
    return trees.attach(this.roots[0], at, finer);
  }

  /* { count, value, base } of all that matches below a node ('': the root), also where it is too narrow to be sent. */
  async sumOf(pattern, id) {
    const { pivot, inverted } = this.app.state, key = `${id} ${pattern.source}`;
    if (!this.sums.has(key)) this.sums.set(key, (await this.request({ pivot, inverted: pivot ? '' : inverted, root: id, search: `(?i)${pattern.source}` })).body);
    return this.sums.get(key);
  }
}
