/* A menu at a point of the page, and a dialog. Both give the focus back to where it was. */
import { h, button } from './dom.js';

let close = null;

export function closeMenu() {
  if (!close) return false;
  close();
  return true;
}

/* Items are { label, run } or { label, href, download }; null is a line between groups. */
export function openMenu(x, y, title, items) {
  closeMenu();
  const before = document.activeElement;
  const entries = items.map(item => item === null ? h('div', { role: 'separator' })
    : item.href ? h('a', { role: 'menuitem', tabindex: '-1', href: item.href, download: item.download, onclick: () => close && close() }, item.label)
      : h('button', { type: 'button', role: 'menuitem', tabindex: '-1', onclick: () => { close(); item.run(); } }, item.label));
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': title },
    h('div', { class: 'menu-title', role: 'none' }, title), entries);
  const choices = entries.filter(entry => entry.getAttribute('role') === 'menuitem');
  const move = by => {
    const at = choices.indexOf(document.activeElement);
    choices[(at + by + choices.length) % choices.length].focus();
  };
  menu.addEventListener('keydown', event => {
    const known = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Home: () => choices[0].focus(), Escape: () => close(), Tab: () => close(),
      End: () => choices[choices.length - 1].focus() }[event.key];
    if (!known) return;
    event.preventDefault();
    event.stopPropagation();
    known();
  });
  const outside = event => menu.contains(event.target) || close();
  document.addEventListener('pointerdown', outside, true);
  close = () => {
    close = null;
    document.removeEventListener('pointerdown', outside, true);
    menu.remove();
    if (before && before.isConnected) before.focus({ preventScroll: true });
  };
  document.getElementById('page').append(menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = Math.max(4, Math.min(x, innerWidth - box.width - 4)) + 'px';
  menu.style.top = Math.max(4, Math.min(y, innerHeight - box.height - 4)) + 'px';
  choices[0].focus();
}

export function openDialog(title, ...content) {
  const dialog = h('dialog', { 'aria-label': title, onclose: () => dialog.remove(),
    onclick: event => event.target === dialog && dialog.close() },
  h('div', { class: 'dialog-head' }, h('h2', {}, title), button('Close', () => dialog.close())), content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
