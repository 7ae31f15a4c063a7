/* The colours of the application: light, dark, or as the system has them. */
import { announce, isDark, remember, remembered } from './dom.js';

const THEMES = { '': 'as the system', light: 'light', dark: 'dark' };

export class Theme {
  /* `onchange`: what was drawn in colours of its own is drawn again. */
  constructor(onchange) {
    this.onchange = onchange;
    this.show();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.show());
  }

  show(name = remembered('theme', '')) {
    const root = document.documentElement;
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    root.dataset.shade = isDark() ? 'dark' : 'light';
    this.onchange();
  }

  next() {
    const names = Object.keys(THEMES), next = names[(names.indexOf(remembered('theme', '')) + 1) % names.length];
    remember('theme', next);
    this.show(next);
    announce(`Colours: ${THEMES[next]}`);
  }
}
