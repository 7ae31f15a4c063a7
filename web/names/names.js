/* Names of functions as they are shown. Pure. The same rules as query/profile/usual_name.h, function by function; tests/names.txt has names
 * with their forms, and both are held against it. Parameters of a class's template are <…>, all other arguments go. */
import { isWord, matchAt, operatorSize, groupEnd, withoutSuffix, replaced, clean, nextPart, isFile, INLINE } from './name_scan.js';
import { text } from './format.js';

const INSIDE_MAX = 16;
export const USUAL = 0;
const WITH_PARAMETERS = 1, WITH_ARGUMENTS = 2, FULL = 3;

/* A type of Rust as its last part: alloc::vec::Vec<T> is Vec<…>. */
function shortType(text, from, to) {
  let out = '', start = 0, behind;
  for (let at = from; at < to; at++) {
    const sign = text[at], isPart = text.startsWith('::', at) && at + 2 <= to;
    if (isPart && text[at + 2] === '{' && at + 2 < to && (behind = groupEnd(text, at + 2, to))) {
      out += text.slice(at, behind);
      at = behind - 1;
    } else if (isPart) {
      out = out.slice(0, start);
      at++;
    } else if (sign === '<' && (behind = groupEnd(text, at, to))) {
      out += '<…>';
      at = behind - 1;
    } else {
      out += sign;
      if (!isWord(sign)) start = out.length;
    }
  }
  return out;
}

function findWord(text, from, to, word) {
  for (let at = from; at < to;) {
    if (text.startsWith(word, at) && at + word.length <= to) return at;
    at = ('(<[{'.includes(text[at]) && groupEnd(text, at, to)) || at + 1;
  }
  return 0;
}

function isPath(text, from, to) {
  if (from === to || !isWord(text[from])) return false;
  for (let at = from; at < to;) {
    const behind = text[at] === '<' ? groupEnd(text, at, to) : 0;
    if (!behind && text[at] !== ':' && !isWord(text[at])) return false;
    at = behind || at + 1;
  }
  return true;
}

class Failure extends Error {}

class Writer {
  constructor(text, end, detail, inside = 0, isType = false) {
    Object.assign(this, { text, end, detail, inside, isType, out: '', declared: 0, afterOperator: false });
  }

  is(at, words) {
    return this.text.startsWith(words, at) && at + words.length <= this.end;
  }

  group(at) {
    const behind = groupEnd(this.text, at, this.end);
    if (!behind) throw new Failure();
    return behind;
  }

  /* A name inside of this one. */
  inner(from, to, isType) {
    if (this.inside + 1 >= INSIDE_MAX) throw new Failure();
    return new Writer(this.text, to, this.detail, this.inside + 1, isType).write(from);
  }

  followsName(at) {
    return this.afterOperator || isWord(this.text[at - 1]) || (at > 0 && ">]}'".includes(this.text[at - 1]));
  }

  /* <T as Trait>, <impl Trait for T> and <T> of Rust. */
  qualified(at, behind) {
    const { text } = this, to = behind - 1;
    let from = at + 1, word = ' as ';
    if (behind === this.end || text[behind] !== ':' || this.detail >= WITH_ARGUMENTS) this.out += clean(text, at, behind);
    else if (isPath(text, from, to)) this.out += this.inner(from, to, true);
    else {
      const impl = text.startsWith('impl ', from) ? 'impl ' : '';
      from += impl.length;
      const middle = findWord(text, from, to, word) || findWord(text, from, to, word = ' for ');
      this.out += `<${impl}${shortType(text, from, middle || to)}${middle ? word + shortType(text, middle + word.length, to) : ''}>`;
    }
    return behind;
  }

  angle(at) {
    const behind = this.group(at), isTurbofish = this.out.endsWith('::') && !this.is(at, '<impl ') && this.text[at - 1] === ':';
    if (!isTurbofish && !this.followsName(at)) return this.qualified(at, behind);
    if (isTurbofish) this.out = this.out.slice(0, -2);
    const isOwn = !this.isType && !this.is(behind, '::');
    if (this.detail >= (isOwn ? WITH_PARAMETERS : WITH_ARGUMENTS)) this.out += (this.out.endsWith('<') ? ' ' : '') + clean(this.text, at, behind);
    else if (!isOwn) this.out += '<…>';
    return behind;
  }

  parameters(at, behind) {
    let end = behind;
    for (let size; (size = matchAt(/ (?:const|volatile|restrict|noexcept)(?![\w$\u0080-\uffff])| ?&&?(?![\w$\u0080-\uffff])/y, this.text.slice(0, this.end), end)); ) end += size;
    const isLast = end === this.end || [' [', ' (.', ' -> '].some(words => this.is(end, words));
    if (!isLast && !this.is(end, '::')) throw new Failure();
    this.out = this.out.slice(this.declared);
    this.declared = 0;
    if (this.detail >= WITH_PARAMETERS) this.out += clean(this.text, at, end);
    return isLast ? this.end : end;
  }

  round(at) {
    const { text } = this;
    if (text[at - 1] === '.') { // a receiver of Go
      this.out += '(';
      return at + 1;
    }
    const behind = this.group(at);
    if (!this.out.endsWith('decltype') && this.followsName(at)) return this.parameters(at, behind);
    if (text[behind] === '(' && behind < this.end && this.out) { // void (*f<int>(int))(char)
      const from = at + 1 + matchAt(/[*& ]+/y, text, at + 1);
      if (from === at + 1) throw new Failure();
      this.out = this.inner(from, behind - 1, this.isType);
      return this.end;
    }
    this.out += text.slice(at, behind);
    return behind;
  }

  square(at) {
    const behind = this.group(at), isLast = behind === this.end, isTag = this.is(at, '[abi:'), isNumber = /^\[\d*\]$/.test(this.text.slice(at, behind));
    if (isNumber || (!isTag && !this.followsName(at)) || this.detail >= (isLast || isTag ? WITH_PARAMETERS : WITH_ARGUMENTS)) this.out += this.text.slice(at, behind);
    else if (!isLast && !isTag) this.out += '[…]';
    return behind;
  }

  curly(at) {
    const behind = this.group(at), whole = this.text.slice(at, behind);
    if (this.detail >= WITH_PARAMETERS || !whole.startsWith('{lambda')) this.out += clean(this.text, at, behind);
    else this.out += '{lambda' + whole.slice(Math.max(7, whole.lastIndexOf('#')));
    return behind;
  }

  conversion(at) {
    const { text } = this, from = at + 9;
    let to = from;
    while (to < this.end && (text[to] !== '(' || text[to - 1] === ' ') && !(text[to] === '<' && '*&'.includes(text[to - 1])))
      to = '(<[{'.includes(text[to]) ? this.group(to) : to + 1;
    this.out += 'operator ' + this.inner(from, to, true);
    this.afterOperator = true;
    return to;
  }

  word(at) {
    const { text } = this, size = operatorSize(text, at);
    if (size) {
      this.out += text.slice(at, at + size);
      this.afterOperator = true;
      return at + size + (this.is(at + size, ' <') ? 1 : 0);
    }
    if (!isWord(text[at - 1]) && this.is(at, 'operator ')) return this.conversion(at);
    const found = replaced(text, at, this.end);
    if (found) {
      this.out += found[1];
      return at + found[0];
    }
    this.afterOperator = false;
    const isDot = this.is(at, '%2e');
    this.out += isDot ? '.' : text[at];
    if (text[at] === ' ') this.declared = this.out.length;
    return at + (isDot ? 3 : 1);
  }

  write(from) {
    const steps = { '<': 'angle', '(': 'round', '[': 'square', '{': 'curly' };
    for (let at = from; at < this.end;) {
      const sign = this.text[at];
      if ('>]}'.includes(sign)) throw new Failure();
      const step = sign === '(' && matchAt(INLINE, this.text, at) ? 'word' : steps[sign] || 'word';
      at = this[step](at);
    }
    return this.out;
  }
}

const GO_KIND = /^type[.:]\.(?:eq|hash)\.(?:\[\d+\])*/; // and the lengths of an array

/* An address in a module, a path, a section, a kind of V8's code: it has one form. */
function isOpaque(name) {
  return /^(?:[/[+-]|0x)|\+0x[\da-f]+$/.test(name) || (/^[A-Za-z]{2,}:(?!:)/.test(name) && !GO_KIND.test(name));
}

/* JS:*handle /srv/app.js:12:3 of V8 is handle, py::Cart.add:/srv/shop.py of CPython Cart.add; null: another name. */
function nameOfMap(name) {
  const python = /^py::([^]+?):\/|^py::([^]+?):</.exec(name);
  if (python) return python[1] ?? python[2];
  const found = /^(?:JS|LazyCompile|Function|Script|Eval):[~*^+']*([^]*)$/.exec(name), rest = found ? found[1] : '';
  const at = rest.search(/ (?:\/|file:|node:|https:|http:|webpack:)/), file = at >= 0 ? at : rest.lastIndexOf(' ');
  const line = file >= 0 && /^ (?:node:)?([^]+?):(\d+)(?::\d+)?$/.exec(rest.slice(file));
  if (!line) return null;
  return file ? rest.slice(0, file) : `${line[1].replace(/^[^]*\/(?=[^])/, '')}:${line[2]}`;
}

/* The package of a Go name without its path and version, and where the name goes on; null: it has no path. */
function goPackage(name) {
  const kind = (GO_KIND.exec(name) || [''])[0], path = /^[A-Za-z\d_\-.~%/]*\//.exec(name.slice(kind.length));
  if (!path) return null;
  const last = kind.length + path[0].length, found = /^([^.]+)\.(?=[\w$\u0080-\uffff(.])/.exec(name.slice(last));
  if (!found || isFile(name, last + found[1].length)) return null;
  const isVersion = /^v(?:[2-9]|\d{2,})$/.test(found[1]), before = isVersion ? /([^/]*)\/$/.exec(path[0])[1] : found[1];
  return { out: kind + before.replaceAll('%2e', '.'), at: last + found[1].length };
}

const FRONT = /^(?:(?:construction )?vtable|VTT|typeinfo|typeinfo name|guard variable|TLS wrapper function|TLS init function|(?:non-)?transaction clone|hidden alias) for |^(?:(?:non-)?virtual thunk|covariant return thunk|global constructors keyed|global destructors keyed) to /;
const PACKAGES = /^(?:[a-z_][\w$\u0080-\uffff]*\.){2,}(?=[A-Z][\w$\u0080-\uffff]*(?:\/[\w$\u0080-\uffff]*)*\.[a-z_<])/;

/* The name in one of the details. */
export function nameInDetail(name, detail) {
  if (detail === FULL || !name || (detail > USUAL && isOpaque(name))) return name;
  const ofMap = nameOfMap(name);
  if (ofMap !== null) return ofMap;
  if (isOpaque(name)) return name;
  const java = /^L([\w$\u0080-\uffff/]+);::([^]+)$/.exec(name), text = java ? `${java[1].replaceAll('/', '.')}.${java[2]}` : name;
  const bare = withoutSuffix(text), front = (FRONT.exec(bare) || [''])[0], rest = detail >= WITH_PARAMETERS ? text.slice(bare.length) : '';
  const go = !front && detail < WITH_ARGUMENTS ? goPackage(bare) : null, writer = new Writer(bare, bare.length, detail, 0, front.endsWith('for '));
  if (go) writer.out = go.out;
  try {
    const out = writer.write(go ? go.at : front.length);
    return (front + (go || detail >= WITH_ARGUMENTS ? out : out.replace(PACKAGES, '')) || bare) + rest;
  } catch (error) {
    if (error instanceof Failure) return bare + rest;
    throw error;
  }
}

const known = new Map();

export function usual(name) {
  if (!known.has(name)) {
    if (known.size > 50000) known.clear();
    known.set(name, nameInDetail(name, USUAL));
  }
  return known.get(name);
}

/* The usual name, and what is left of it when parts at its front go, one after the other; the last is the short name. */
export function forms(name) {
  const text = usual(name), out = [text], front = (FRONT.exec(text) || [''])[0].length;
  if (isOpaque(name) && (text === name || /:\d+$/.test(text))) return out;
  for (let at = front; ; ) {
    const part = text.slice(at);
    if (part !== text && !/^(?:[{<]|\(anonymous\)|operator\(\)|'lambda|lambda\$|\$_|(?:func|gowrap|deferwrap)\d)/.test(part)) out.push(part);
    if (!(at = nextPart(text, at))) return out;
  }
}

export function short(name) {
  return forms(name).at(-1);
}

/* What each of these names is shown as, so that no two different ones look alike: a Map from the names. */
export function apart(names) {
  const all = [...new Set(names)], detail = new Map(all.map(name => [name, USUAL])), shown = new Map(all.map(name => [name, usual(name)]));
  for (let again = true; again;) {
    again = false;
    const looks = new Map();
    for (const look of shown.values()) looks.set(look, (looks.get(look) || 0) + 1);
    for (const name of all) {
      if (looks.get(shown.get(name)) === 1 || detail.get(name) === FULL) continue;
      detail.set(name, detail.get(name) + 1);
      shown.set(name, nameInDetail(name, detail.get(name)));
      again = true;
    }
  }
  return shown;
}

/* How rows with a name, which may have more than their function in it, are shown in one list: a function of a row. */
export function lookOf(rows) {
  const looks = apart(rows.map(row => row.function || row.name));
  return row => row.function ? row.name.replace(row.function, () => looks.get(row.function)) : looks.get(row.name) ?? row.name;
}

/* The longest form of a name that `measure` finds at most `width` wide, else the front of its last part before an ellipsis, else ''. `look` is
 * what a list shows for it. */
export function fit(name, width, measure, look = usual(name)) {
  const shown = [look, ...forms(name)].map(form => text(form.slice(0, 300)));
  for (const form of shown) if (measure(form) <= width) return form;
  const last = shown.at(-1);
  let low = 0, high = last.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(last.slice(0, middle) + '…') <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? last.slice(0, low) + '…' : '';
}
