/* The pieces of a function's name: brackets that belong together, operators, what compilers append, long names of the library. Pure, for names.js; as
 * query/profile/name_scan.h. */

const NESTED_MAX = 200;
const OPERATOR = /operator(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<(?![\w$\u0080-\uffff])|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%^&|]=|[<>=!+\-*/%^&|~,]| (?:new\[\]|new|delete\[\]|delete|co_await)(?![\w$\u0080-\uffff])|"" ?[\w$\u0080-\uffff]*)/y;
export const isWord = letter => letter !== undefined && /[\w$\u0080-\uffff]/.test(letter);

export function matchAt(expression, text, at) {
  expression.lastIndex = at;
  const found = expression.exec(text);
  return found ? found[0].length : 0;
}

export function operatorSize(text, at) {
  return text[at] === 'o' && !isWord(text[at - 1]) ? matchAt(OPERATOR, text, at) : 0;
}

/* The place behind the bracket that closes the one at `at`, 0 if none does. Signs of operators, arrows and comparisons close nothing. */
export function groupEnd(text, at, end) {
  const open = [], pair = { ')': '(', ']': '[', '}': '{' };
  for (let i = at; i < end; i++) {
    const size = operatorSize(text, i), sign = text[i];
    if (size) i += size - 1;
    else if ('(<[{'.includes(sign)) {
      if (open.length === NESTED_MAX) return 0;
      open.push(sign);
    } else if (sign === '>') {
      if (open.at(-1) === '<' && text[i - 1] !== '-') open.pop();
    } else if (sign in pair) {
      while (open.at(-1) === '<') open.pop();
      if (open.pop() !== pair[sign]) return 0;
    }
    if (!open.length) return i + 1;
  }
  return 0;
}

const SUFFIX = /^([^]+?)(?:\.(?:isra|constprop|part|lto_priv|llvm)\.\d[^]*|\.(?:cold|localalias|abi0)(?:[.@ ][^]*)?| \[clone [^]*|@+[A-Z][\w$.\u0080-\uffff]*)$/;

/* Without what compilers, linkers and other profilers append. */
export function withoutSuffix(name) {
  const bare = name.replace(/(?<=[^])(?:[ \t]\[[\w$\u0080-\uffff-]+\]|_\[[\w$\u0080-\uffff-]\])$/, ''), found = SUFFIX.exec(bare);
  return (found ? found[1] : bare).replace(/(?<=[^])::h[\da-f]{16}$/, '');
}

export const INLINE = /__cxx11::|__1::|__ndk1::|_V2::|\(anonymous namespace\)::/y;
const LIBRARY = /basic_(string|string_view|ostream|istream|iostream|stringstream|istringstream|ostringstream|stringbuf|ifstream|ofstream|fstream|filebuf|streambuf|ios|regex)<(char|wchar_t)(?=[,>])/y;

/* At the start of a word, [characters, what stands for them] of a name that has a shorter one, or null. */
export function replaced(text, at, end) {
  if (isWord(text[at - 1])) return null;
  const size = matchAt(INLINE, text, at);
  if (size && at + size <= end) return [size, ''];
  LIBRARY.lastIndex = at;
  const found = LIBRARY.exec(text), behind = found && groupEnd(text, at + 6 + found[1].length, end);
  return behind ? [behind - at, (found[2] === 'char' ? '' : 'w') + found[1]] : null;
}

/* Brackets with these names replaced, and arguments in them as <…>: what is kept to tell names apart has to be short. */
export function clean(text, from, to) {
  let out = '';
  for (let at = from; at < to;) {
    const found = replaced(text, at, to), behind = !found && at > from && text[at] === '<' ? groupEnd(text, at, to) : 0;
    out += found ? found[1] : behind ? '<…>' : text.startsWith(' >', at) && at + 2 <= to ? '' : text[at];
    at = behind || at + (found ? found[0] : 1);
  }
  return out;
}

const FILE = /\.(?:c|h|cc|cpp|cxx|hh|hpp|rs|go|py|js|ts|mjs|cjs|java|kt|S|so)(?::|$)/y;

/* Whether the dot at `dot` is that of a file's name: src/queue.c, src/queue.c:20. */
export function isFile(text, dot) {
  return matchAt(FILE, text, dot) > 0;
}

/* src/queue.c or queue.c:20 is a file; Vector.h may be a function. */
function isInPlace(text, dot) {
  return isFile(text, dot) && (/\d$/.test(text) || text.lastIndexOf('/', dot) >= 0);
}

/* Where the next part of a usual name begins, 0: the last one begins at `at`. */
export function nextPart(text, at) {
  for (let i = at; i < text.length;) {
    const skipped = operatorSize(text, i);
    if (!skipped && text.startsWith('operator ', i)) return 0; // operator std::string
    const behind = '(<[{'.includes(text[i]) ? groupEnd(text, i, text.length) : i + skipped;
    if (behind > i) {
      i = behind;
      continue;
    }
    if (text.startsWith('::', i) && i + 2 < text.length) return i + 2;
    if (i > at && './'.includes(text[i]) && !isInPlace(text, i) && /[A-Za-z\u0080-\uffff_$(<[{]/.test(text[i + 1] || '')) return i + 1;
    i++;
  }
  return 0;
}
