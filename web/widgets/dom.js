/* Elements of the page. Texts become text nodes and attributes become attributes: no markup is ever read from a text. */

/* h('button', { class: 'big', onclick: open, 'aria-label': 'Open' }, 'Open', child): a property whose name begins with "on" is a
 * listener; `style` is an object of CSS properties; false, null and undefined leave an attribute out, true sets it empty. */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  put(element, children);
  return element;
}

function put(element, children) {
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/* Puts children in the place of what the element holds. */
export function replace(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

let said = 0;
/* Tells the user, and screen readers, a short text at the edge of the page. */
export function announce(text) {
  const status = document.getElementById('status');
  status.textContent = text;
  status.classList.add('shown');
  const mine = ++said;
  setTimeout(() => mine === said && status.classList.remove('shown'), 4000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // the page is not trusted with the clipboard: select the text instead
    const area = h('textarea', { class: 'hidden-visually', 'aria-label': 'text to copy' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  announce(`Copied ${what}`);
}

export function download(blob, name) {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* The preferred colours: the switch's, else the system's. */
export function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/* What the browser remembers: only how it is looked at, never what is shown. */
export function remembered(name, fallback) {
  try {
    return localStorage.getItem('clear.' + name) || fallback;
  } catch {
    return fallback;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem('clear.' + name, value);
  } catch { /* a browser that keeps nothing */ }
}

export function select(label, options, value, onchange, more = {}) {
  const element = h('select', { 'aria-label': label, title: label, onchange: () => onchange(element.value), ...more },
    options.map(([key, text, title]) => h('option', { value: key, selected: key === value, title }, text)));
  return element;
}

export function button(text, onclick, properties = {}) {
  return h('button', { type: 'button', onclick, ...properties }, text);
}

/* What follows is a task of its own, so that a key is answered before it. */
export const rest = () => new Promise(done => setTimeout(done));
