/* What a flame graph does in a browser: zoom, search, sample types, callers, keys. The picture is complete without it.
 * Pure parts first (trees, layout, texts); what touches the page stands below them. The data is that of export/flamegraph.c. */
'use strict';
(function () {
  const SVG = 'http://www.w3.org/2000/svg';
  const TOP = 92, ROW = 18, BOTTOM = 14;
  const NARROWEST = 1e-4, EPSILON = 1e-6;
  const KEYS = 'type: search    1-9: sample type    arrows: walk    Enter: zoom    Backspace: zoom out    Escape: all    Tab: buttons';

  /* ---- trees ---- */

  /* `parts` stand on the box, as many of the last ones as fit: the name as a person would write it. */
  function node(name, place, parts, parent) {
    return { name: name, place: place, parts: parts, plain: parts.join(''), parent: parent, children: [], before: 0, after: 0, width: 0, own: { before: 0, after: 0, width: 0 } };
  }

  /* The tree of a type as it was written; siblings too narrow to be drawn are nodes without a name. */
  function treeOf(type, frames) {
    const step = type.differs ? 5 : 3, path = [];
    for (let i = 0; i < type.nodes.length; i += step) {
      const depth = type.nodes[i], index = type.nodes[i + 1];
      const text = index < 0 ? [depth ? '' : 'all', ''] : frames[index].split('\n');
      const made = node(text[0], text[1], text[2] ? text[2].split('\t') : [text[0]], depth ? path[depth - 1] : null);
      made.after = type.nodes[i + 2];
      made.before = type.differs ? type.nodes[i + 3] : 0;
      made.width = type.differs ? type.nodes[i + 4] : made.after;
      made.own = { before: made.before, after: made.after, width: made.width };
      if (made.parent) {
        made.parent.children.push(made);
        ['before', 'after', 'width'].forEach(function (key) { made.parent.own[key] -= made[key]; });
      }
      path[depth] = made;
    }
    return path[0];
  }

  function child(parent, from) {
    parent.byName = parent.byName || new Map();
    if (!parent.byName.has(from.name)) {
      const made = node(from.name, from.place, from.parts, parent);
      parent.byName.set(from.name, made);
      parent.children.push(made);
    }
    return parent.byName.get(from.name);
  }

  function add(target, own) {
    target.before += own.before;
    target.after += own.after;
    target.width += own.width;
  }

  /* From the leaves: what each function costs itself, and below it who calls it. */
  function invert(tree) {
    const root = node('all', '', ['all'], null), open = [tree];
    while (open.length) {
      const from = open.pop();
      open.push.apply(open, from.children);
      if (from === tree || !from.name || (!from.own.before && !from.own.after)) continue;
      let at = root;
      add(root, from.own);
      for (let frame = from; frame !== tree; frame = frame.parent) {
        at = child(at, frame);
        add(at, from.own);
      }
      ['before', 'after', 'width'].forEach(function (key) { at.own[key] += from.own[key]; });
    }
    const all = [root];
    for (let i = 0; i < all.length; i++) {
      all[i].children.sort(function (a, b) { return a.name < b.name ? -1 : 1; });
      all.push.apply(all, all[i].children);
    }
    return root;
  }

  /* Boxes with x and width in percent; what is too narrow, and all below it, has none. */
  function layout(root) {
    const boxes = [], open = [{ node: root, x: 0, depth: 0 }];
    while (open.length) {
      const at = open.pop(), part = root.width ? at.node.width / root.width : 0;
      const box = { node: at.node, name: at.node.name, x: 100 * at.x, width: 100 * part, depth: at.depth };
      boxes.push(box);
      at.node.box = box;
      let x = at.x;
      at.node.children.forEach(function (below) {
        if (below.name && below.width / root.width >= NARROWEST) open.push({ node: below, x: x, depth: at.depth + 1 });
        x += root.width ? below.width / root.width : 0;
      });
    }
    return boxes;
  }

  /* ---- texts ---- */

  function scaled(value, step, units) {
    let size = Math.abs(value), unit = 0;
    while (size >= step && unit + 1 < units.length) {
      size /= step;
      unit++;
    }
    return (value < 0 ? '-' : '') + (unit ? size.toFixed(1) : size) + ' ' + units[unit];
  }

  function valueText(value, unit) {
    if (unit === 'bytes') return scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
    if (unit === 'nanoseconds') return scaled(value, 1000, ['ns', 'us', 'ms', 's']);
    return value.toLocaleString('en-US');
  }

  function detailsText(box, type, whole) {
    const at = box.node;
    let text = at.name + '\n';
    if (type.differs) {
      const change = at.after - at.before;
      text += valueText(at.before, type.unit) + ' \u2192 ' + valueText(at.after, type.unit) + ' (' + (change >= 0 ? '+' : '') + valueText(change, type.unit) +
        (at.before ? ', ' + (change >= 0 ? '+' : '') + (100 * change / at.before).toFixed(0) + ' %' : at.after ? ', new' : '') + ')';
    } else {
      text += valueText(at.after, type.unit) + ', ' + (whole ? 100 * at.after / whole : 0).toFixed(2) + ' %';
      if (at.own.after !== at.after) text += '; itself ' + valueText(at.own.after, type.unit);
    }
    return at.place ? text + '\n' + at.place : text;
  }

  /* At most so many letters of a name in parts, as shorten_to of export/shorten.h. */
  function shortened(parts, letters) {
    let rest = parts.join('');
    if (letters < 3) return '';
    if (rest.length <= letters) return rest;
    for (let i = 1; i < parts.length; i++) {
      rest = rest.slice(parts[i - 1].length);
      if (rest.length < letters) return '\u2026' + rest;
    }
    return rest.slice(0, letters - 1) + '\u2026';
  }

  function hash(name) {
    let sum = 2166136261;
    new TextEncoder().encode(name).forEach(function (byte) { sum = Math.imul(sum ^ byte, 16777619) >>> 0; });
    return (sum ^ sum >>> 15) >>> 0;
  }

  function colour(at, type) {
    if (!type.differs) {
      const number = hash(at.name), hue = type.unit === 'bytes' ? 95 : type.unit === 'nanoseconds' ? 12 : 190;
      return 'hsl(' + (hue + number % 45) + ',' + (52 + Math.floor(number / 45) % 25) + '%,' + (60 + Math.floor(number / 2000) % 12) + '%)';
    }
    const change = at.after - at.before, most = Math.max(at.after, at.before);
    if (!change) return 'hsl(0,0%,86%)';
    const part = most > 0 ? Math.sqrt(Math.abs(change) / most) : 0;
    return 'hsl(' + (change > 0 ? 4 : 215) + ',' + Math.floor(30 + part * 50) + '%,' + Math.floor(88 - part * 24) + '%)';
  }

  /* ---- the page ---- */

  const svg = document.documentElement;
  const element = function (id) { return document.getElementById(id); };
  const data = JSON.parse(element('data').textContent);
  const details = element('details'), matched = element('matched'), search = element('search'), reset = element('reset');
  const select = element('type'), callers = element('callers'), flip = element('flip'), group = element('boxes');
  const state = { type: data.shown, inverted: false, flipped: false, zoomed: null, at: null, boxes: [], depth: 0 };

  function made(name, attributes) {
    const it = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { it.setAttribute(key, attributes[key]); });
    return it;
  }

  function draw(box, type, whole) {
    box.details = detailsText(box, type, whole);
    box.element = made('svg', { 'class': 'f', height: ROW - 1, y: TOP + (state.flipped ? state.depth - box.depth : box.depth) * ROW, 'data-n': box.name });
    const title = made('title', {});
    title.textContent = box.details;
    box.text = made('text', { x: 3, y: 12.5 });
    box.element.append(title, made('rect', { fill: colour(box.node, type) }), box.text);
    box.element.addEventListener('click', function () { zoom(box); });
    box.element.addEventListener('mouseover', function () { show(box); });
    box.element.addEventListener('mouseout', function () { show(state.at); });
    group.appendChild(box.element);
  }

  function subtitle(type, root) {
    const before = ', before ' + valueText(root.before, type.unit) + (data.before ? ' (' + data.before + ')' : '') + '; red grew, blue shrank';
    return type.name + ': ' + valueText(root.after, type.unit) + (type.differs ? before : '') + (state.inverted ? '; from the leaves: below each function its callers' : '');
  }

  /* Draws everything anew: another type, another direction. */
  function render() {
    const type = data.types[state.type], tree = treeOf(type, data.frames), root = state.inverted ? invert(tree) : tree;
    state.boxes = layout(root);
    state.depth = state.boxes.reduce(function (most, box) { return Math.max(most, box.depth); }, 0);
    state.at = null;
    group.replaceChildren();
    svg.setAttribute('height', TOP + (state.depth + 1) * ROW + BOTTOM);
    state.boxes.forEach(function (box) { draw(box, type, root.after); });
    element('subtitle').textContent = subtitle(type, root);
    select.value = String(state.type);
    callers.classList.toggle('on', state.inverted);
    flip.classList.toggle('on', state.flipped);
    zoom(root.box);
    find(search.value);
  }

  function show(box) {
    details.textContent = box ? box.details.replace(/\n/g, '   ') : '';
  }

  function label(box, percent) {
    box.text.textContent = shortened(box.node.parts, Math.floor((svg.clientWidth * percent / 100 - 6) / 6.6));
  }

  function place(box, x, width) {
    box.element.setAttribute('x', x + '%');
    box.element.setAttribute('width', width + '%');
    box.element.style.display = '';
    label(box, width);
  }

  /* What is said of a frame ends before the buttons. */
  function fitLine() {
    const first = data.types.length > 1 ? select : callers;
    element('line').setAttribute('width', Math.max(0, first.getBoundingClientRect().left - 28));
  }

  function zoom(target) {
    state.zoomed = target;
    fitLine();
    state.boxes.forEach(function (box) {
      const above = box.depth < target.depth && box.x <= target.x + EPSILON && box.x + box.width >= target.x + target.width - EPSILON;
      const below = box.depth >= target.depth && box.x >= target.x - EPSILON && box.x + box.width <= target.x + target.width + EPSILON;
      box.element.classList.toggle('above', above);
      if (above) place(box, 0, 100);
      else if (below && target.width) place(box, (box.x - target.x) / target.width * 100, box.width / target.width * 100);
      else if (box === target) place(box, 0, 100);
      else box.element.style.display = 'none';
    });
    reset.style.display = target.depth ? '' : 'none';
  }

  /* The widths of the outermost matches: a match inside another counts once. */
  function find(pattern) {
    let expression = null;
    try {
      expression = pattern ? new RegExp(pattern, 'i') : null;
      search.classList.remove('wrong');
    } catch (error) {
      search.classList.add('wrong');
    }
    let sum = 0, end = -1;
    const hits = state.boxes.filter(function (box) {
      const hit = expression !== null && box.depth > 0 && (expression.test(box.name) || expression.test(box.node.plain));
      box.element.classList.toggle('hit', hit);
      return hit;
    });
    hits.sort(function (a, b) { return a.x - b.x || a.depth - b.depth; });
    hits.forEach(function (box) {
      if (box.x < end - EPSILON) return;
      sum += box.width;
      end = box.x + box.width;
    });
    svg.classList.toggle('searching', expression !== null);
    matched.textContent = expression === null ? '' : 'matched: ' + sum.toFixed(1) + ' %';
  }

  /* ---- keys ---- */

  function walk(box) {
    if (!box || box.element.style.display === 'none') return;
    if (state.at) state.at.element.classList.remove('at');
    state.at = box;
    box.element.classList.add('at');
    show(box);
  }

  function beside(box, step) {
    const row = state.boxes.filter(function (other) { return other.depth === box.depth && other.element.style.display !== 'none'; });
    row.sort(function (a, b) { return a.x - b.x; });
    return row[row.indexOf(box) + step];
  }

  function widest(box) {
    return box.node.children.reduce(function (best, below) { return below.box && (!best || below.width > best.width) ? below.box : best; }, null);
  }

  function step(key) {
    const at = state.at || state.zoomed, up = state.flipped ? 'ArrowDown' : 'ArrowUp';
    if (!state.at) return walk(at);
    if (key === 'ArrowLeft' || key === 'ArrowRight') return walk(beside(at, key === 'ArrowLeft' ? -1 : 1));
    return walk(key === up ? at.node.parent && at.node.parent.box : widest(at));
  }

  function escape() {
    search.value = '';
    search.blur();
    find('');
    zoom(state.boxes[0]);
  }

  function choose(type) {
    if (!data.types[type] || type === state.type) return;
    state.type = type;
    render();
  }

  function pressed(event) {
    /* In a picture that has no focus anywhere there is no active element. */
    const active = document.activeElement, isTyping = active === search, isWidget = active === select;
    const isButton = active !== null && active.tagName === 'button';
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return escape();
    if (isTyping || isWidget) return;
    if (event.key.startsWith('Arrow')) step(event.key);
    else if (event.key === 'Enter' && !isButton) zoom(state.at || state.zoomed);
    else if (event.key === 'Backspace') zoom(state.zoomed.node.parent ? state.zoomed.node.parent.box : state.zoomed);
    else if (event.key === '?') details.textContent = KEYS;
    else if (/^[1-9]$/.test(event.key)) choose(Number(event.key) - 1);
    else if (event.key === '/') search.focus();
    else if (event.key.length === 1 && event.key !== ' ') return search.focus(); /* and the letter goes there */
    else return;
    event.preventDefault();
  }

  data.types.forEach(function (type, index) {
    const option = document.createElementNS('http://www.w3.org/1999/xhtml', 'option');
    option.value = String(index);
    option.textContent = type.name;
    select.appendChild(option);
  });
  select.style.display = data.types.length > 1 ? '' : 'none';
  select.addEventListener('change', function () { choose(Number(select.value)); });
  callers.addEventListener('click', function () { state.inverted = !state.inverted; render(); });
  flip.addEventListener('click', function () { state.flipped = !state.flipped; render(); });
  search.addEventListener('input', function () { find(search.value); });
  reset.addEventListener('click', function () { zoom(state.boxes[0]); });
  document.addEventListener('keydown', pressed);
  window.addEventListener('resize', function () { zoom(state.zoomed); });
  element('tools').style.display = '';
  /* graph.svg?search=RE&type=NAME&callers=1 opens so. */
  const wanted = new URLSearchParams(window.location.search);
  data.types.forEach(function (type, index) { if (type.name === wanted.get('type')) state.type = index; });
  state.inverted = wanted.get('callers') === '1';
  state.flipped = wanted.get('flip') === '1';
  search.value = wanted.get('search') || '';
  render();
  details.textContent = KEYS;
})();
