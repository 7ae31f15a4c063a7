/* Figures and names as text. Pure. Figures are written as the commands write them (base/units.c). */

const BYTES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export function count(value) {
  const digits = String(Math.abs(Math.round(value)));
  return (value < 0 ? '-' : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

export function bytes(value) {
  let size = Math.abs(value), unit = 0;
  const sign = value < 0 ? '-' : '';
  if (size < 1024) return `${sign}${Math.round(size)} B`;
  for (size /= 1024; size >= 1023.95 && unit + 1 < BYTES.length; unit++) size /= 1024;
  return `${sign}${size.toFixed(1)} ${BYTES[unit]}`;
}

function clock(seconds) {
  const two = number => String(number).padStart(2, '0'), hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
  return hours ? `${hours}h ${two(minutes)}m` : `${minutes}m ${two(Math.floor(seconds) % 60)}s`;
}

export function nanoseconds(value) {
  const left = Math.abs(value), sign = value < 0 ? '-' : '';
  if (left < 1000) return `${sign}${Math.round(left)} ns`;
  if (left < 999950) return `${sign}${(left / 1e3).toFixed(1)} us`;
  if (left < 999950000) return `${sign}${(left / 1e6).toFixed(1)} ms`;
  if (left < 5.995e10) return `${sign}${(left / 1e9).toFixed(1)} s`;
  return sign + clock(left / 1e9);
}

const TO_NS = { nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, milliseconds: 1e6, ms: 1e6, seconds: 1e9, s: 1e9 };
const TO_BYTES = { bytes: 1, byte: 1, b: 1, kilobytes: 1024, kb: 1024, megabytes: 1 << 20, mb: 1 << 20 };

/* The units that a user can choose, by pprof's names: its size, and its name here. */
const BY_SIZE = { B: [1, 'B'], kB: [2 ** 10, 'KiB'], MB: [2 ** 20, 'MiB'], GB: [2 ** 30, 'GiB'] };
const BY_TIME = { ns: [1, 'ns'], us: [1e3, 'us'], ms: [1e6, 'ms'], s: [1e9, 's'] };
export const UNITS = [...Object.entries(BY_SIZE), ...Object.entries(BY_TIME)].map(([name, [, shown]]) => [name, shown]);

/* The unit of a sample type as `value` takes it, with the unit that was chosen if that measures the same. */
export function inUnit(unit, chosen) {
  const key = String(unit || '').toLowerCase();
  return (key in TO_BYTES && chosen in BY_SIZE) || (key in TO_NS && chosen in BY_TIME) ? `${unit} as ${chosen}` : unit;
}

function chosenUnit(number, key, chosen) {
  const [size, name] = BY_SIZE[chosen] || BY_TIME[chosen], [whole, part] = (Math.abs(number) * (TO_BYTES[key] || TO_NS[key]) / size).toFixed(2).split('.');
  return `${number < 0 ? '-' : ''}${count(Number(whole))}${part === '00' ? '' : '.' + part.replace(/0$/, '')} ${name}`;
}

/* A value of a sample type with its unit. */
export function value(number, unit) {
  const [words, chosen] = String(unit || '').split(' as '), key = words.toLowerCase();
  if (number === null || number === undefined) return '';
  if (chosen) return chosenUnit(number, key, chosen);
  if (key in TO_NS) return nanoseconds(number * TO_NS[key]);
  if (key in TO_BYTES) return bytes(number * TO_BYTES[key]);
  if (!key || key === 'count') return Number.isInteger(number) ? count(number) : String(+number.toPrecision(6));
  return `${count(number)} ${unit}`;
}

/* A round number for an axis, with all its digits: 1.25 MiB. */
export function tick(number, unit) {
  if (unit !== 'bytes') return value(number, unit).replace(/\.0(?= )/, '');
  const power = Math.max(0, Math.min(BYTES.length, Math.floor(Math.log2(Math.abs(number) || 1) / 10)));
  return `${+(number / 1024 ** power).toFixed(3)} ${['B', ...BYTES][power]}`;
}

/* A signed value: a difference that grew has a plus. */
export function difference(number, unit) {
  return (number > 0 ? '+' : '') + value(number, unit);
}

export function percent(part, whole) {
  if (!whole) return '';
  const share = 100 * part / whole, size = Math.abs(share);
  return (size === 0 ? '0' : size >= 99.95 ? share.toFixed(0) : size >= 9.95 ? share.toFixed(1) : share.toFixed(2)) + '%';
}

/* How much a figure changed, from its change in percent: null where it was 0 before. From ten times on it is a factor, for a number of five digits
 * before a % says nothing; `digits` are those of a small change. */
export function relative(percents, digits = 0) {
  if (percents === null || percents === undefined) return 'from 0';
  const factor = 1 + percents / 100, places = percents && Math.abs(percents) < 10 ? digits : 0;
  if (factor >= 1e6) return '> × 10⁶';
  if (factor >= 10) return `× ${factor < 100 ? +factor.toFixed(1) : count(factor)}`;
  return `${percents > 0 ? '+' : ''}${percents.toFixed(places)}%`;
}

/* The unit that the name of a column of the warehouse tells: alloc_bytes, wait_ns, started_ns. */
export function unitOfColumn(name) {
  const word = String(name).toLowerCase();
  if (word === 'started_ns') return 'time';
  if (/(^|_)bytes(_|$)/.test(word)) return 'bytes';
  if (/(^|_)ns$/.test(word)) return 'nanoseconds';
  if (/percent/.test(word)) return 'percent';
  return /(^|_)(id|run|line|status|pid|port)$/.test(word) ? 'id' : 'count';
}

/* A column's name for a heading: the unit goes where the figures show it. */
export function heading(name) {
  return String(name).replace(/_percent$/, ' %').replace(/_blocked_ns$/, '_blocked_time').replace(/_ns$/, '').replace(/_/g, ' ').replace(/^alloc (bytes|count)$/, 'allocated $1').replace(/^free (bytes|count)$/, 'freed $1');
}

export function cell(name, content) {
  if (content === null || content === undefined) return '';
  if (typeof content !== 'number') return typeof content === 'object' ? JSON.stringify(content) : text(String(content));
  const unit = unitOfColumn(name);
  if (unit === 'time') return time(content);
  if (unit === 'id') return String(content);
  return unit === 'percent' ? `${+content.toPrecision(4)}%` : value(content, unit);
}

/* "2026-11-22 12:47:16" in UTC, as clear prints it. */
export function time(ns) {
  return new Date(ns / 1e6).toISOString().replace('T', ' ').slice(0, 19);
}

/* Control characters and marks that change the direction of writing, made visible: a name cannot dress up as another. */
export function text(name) {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    character => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'));
}

/* A command line without the directory of its program, which would push its name out of sight. */
export function command(line) {
  const [, program, rest] = /^(\S*)([^]*)$/.exec(line), name = program.replace(/^.*\/(?=[^/])/, '');
  return name === program || program.startsWith('./') && program.lastIndexOf('/') === 1 ? line : `…/${name}${rest}`;
}

/* "app.c:8" of a path and a line; '' without a file. */
export function fileLine(file, line) {
  return file ? file.replace(/^.*\//, '') + (line ? `:${line}` : '') : '';
}

/* A long name cut on the right: what it begins with is what is called. */
export function cut(name, limit) {
  return name.length <= limit ? name : name.slice(0, limit - 1) + '…';
}

/* A long text cut in its middle. */
export function shorten(name, limit) {
  if (name.length <= limit) return name;
  const front = Math.floor((limit - 1) / 2);
  return name.slice(0, front) + '…' + name.slice(name.length - (limit - 1 - front));
}
