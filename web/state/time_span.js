/* Parts of a run as the address has them. Pure. */

/* Nanoseconds as --from and --to take them, up to the next microsecond: the server keeps the windows that end after `from` and not after
 * `to`, so that a window that ends where the first one begins stays out. */
export function timeText(ns) {
  return `${Math.ceil(ns / 1e3) / 1e3}ms`;
}

/* And back; null where it is a date, or not given. */
export function timeOf(words) {
  const found = /^([\d.]+)(ns|us|ms|s|m|h)?$/.exec(words || '');
  return found ? Number(found[1]) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 }[found[2] || 's'] : null;
}
