/* Colours of boxes. Pure: a name or a change in, a colour out. Text is drawn on them in `ink`; every pair has a contrast of at least 4.5. */

function hash(textOf) {
  let value = 2166136261;
  for (let i = 0; i < textOf.length && i < 400; i++) value = Math.imul(value ^ textOf.charCodeAt(i), 16777619);
  return value >>> 0;
}

/* What a name belongs to: its namespace, package or class, so that relatives look alike. */
function family(name) {
  const bare = name.replace(/[(<].*$/s, '');
  const found = /^(.*?)(::|\.|\/|__?)[^:./]/.exec(bare.replace(/^_+/, ''));
  return found && found[1] ? found[1] : bare;
}

export function ink(dark) {
  return dark ? '#f2f0ea' : '#1c1a17';
}

/* Warm colours for functions, the same for the same name on every page and in every run. */
export function nameColour(name, dark) {
  const of = hash(family(name)), own = hash(name);
  const hue = 10 + of % 34, spread = own % 9;
  return dark ? `hsl(${hue} ${38 + spread}% ${25 + (own >> 4) % 6}%)` : `hsl(${hue} ${72 + spread}% ${71 + (own >> 4) % 8}%)`;
}

/* Twelve colours of groups, searched for by simulated annealing: any two are at least 11 apart in CIELAB (2.3 can just be told) for usual eyes and for
 * protan, deutan and tritan ones (Machado 2009), and each has a contrast of 5 to its text. */
const TWELVE = {
  light: [[30, 72, 70], [198, 72, 75], [242, 33, 67], [350, 72, 66], [62, 72, 72], [112, 66, 79], [292, 72, 64], [84, 18, 72], [108, 63, 90], [332, 18, 68], [112, 72, 58], [20, 60, 58]],
  dark: [[26, 56, 32], [166, 33, 32], [254, 60, 35], [312, 47, 35], [58, 18, 27], [238, 53, 46], [290, 50, 44], [158, 24, 21], [282, 53, 33], [274, 18, 20], [286, 60, 20], [24, 53, 21]],
};
const OF_GROUP = { own: 0, runtime: 1, libc: 2, kernel: 3 }; // libraries share the others, each by its name

export function twelve(index, dark) {
  const [hue, saturation, lightness] = TWELVE[dark ? 'dark' : 'light'][index];
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}

/* Of a group of charts/colours.js. */
export function groupColour(key, dark) {
  return twelve(key in OF_GROUP ? OF_GROUP[key] : 4 + hash(key) % 8, dark);
}

/* The scales of a difference: grew, shrank, neither. The second is for eyes that do not tell red from green or blue from violet. */
export const SCALES = {
  redblue: { name: 'red and blue', grew: 8, shrank: 214, words: ['red: grew', 'blue: shrank'] },
  orangepurple: { name: 'orange and teal', grew: 36, shrank: 182, words: ['orange: grew', 'teal: shrank'] },
};

/* `share` is the change as a part of the larger side: -1 gone, 0 the same, 1 new; NaN: noise, which is grey. */
export function changeColour(share, dark, scale = 'redblue') {
  const hues = SCALES[scale] || SCALES.redblue;
  if (Number.isNaN(share)) return dark ? 'hsl(220 4% 30%)' : 'hsl(220 6% 84%)';
  const size = Math.min(1, Math.abs(share));
  if (size < 0.005) return dark ? 'hsl(40 4% 27%)' : 'hsl(40 12% 92%)';
  const hue = share > 0 ? hues.grew : hues.shrank;
  return dark ? `hsl(${hue} ${25 + Math.round(55 * size)}% ${23 + Math.round(3 * size)}%)`
    : `hsl(${hue} ${45 + Math.round(40 * size)}% ${90 - Math.round(24 * size)}%)`;
}

export function matchColour(dark) {
  return dark ? 'hsl(292 48% 40%)' : 'hsl(292 76% 82%)';
}

export function restColour(dark) {
  return dark ? 'hsl(220 5% 22%)' : 'hsl(220 10% 90%)';
}

/* The size of a change for its colour; `noisy` says that the figures' noise is larger than it. */
export function share(before, after, noisy) {
  if (noisy) return NaN;
  const larger = Math.max(Math.abs(before), Math.abs(after));
  return larger ? (after - before) / larger : 0;
}
