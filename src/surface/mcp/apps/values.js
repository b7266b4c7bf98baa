// Values as people read them, in order, and as CSV.
const NUMBER = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(\.\d+)?(Z?)$/;
const BOUNDLESS = new Set(['NaN', 'Infinity', '-Infinity']);
const NAMES_A_THING = /(^|[\s_.])(id|key|code|year|zip|number|no|nr)$/i;

const isNone = (value) => value === null || value === undefined;

function plain(value) {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// Numbers come as numbers, or as texts with every digit.
function isNumber(value) {
  return typeof value === 'number' || (typeof value === 'string' && (NUMBER.test(value) || BOUNDLESS.has(value)));
}

function kindOf(type, values) {
  const there = values.filter((value) => !isNone(value));
  const all = (is) => there.length > 0 && there.every(is);
  if (all((value) => typeof value === 'object')) return 'json';
  if (/CHAR|TEXT|STRING|ENUM|UUID|BIT|JSON|BLOB/i.test(type)) return 'text';
  if (all(isNumber)) return 'number';
  if (all((value) => DATE.test(value))) return 'date';
  if (all((value) => MOMENT.test(value))) return 'moment';
  return 'text';
}

function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

// Digits with their thousands apart: "1,234,567.50".
function spaced(text) {
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text) || [];
  return whole === undefined ? text : sign + grouped(whole) + rest;
}

// How the numbers of a column are written: floats with as many places as their column needs and its size bears, so that
// they stand under each other; numbers that came as texts with every digit; years and keys without commas.
function numbersOf(name, values) {
  const numbers = values.filter((value) => !isNone(value));
  const floats = numbers.filter((value) => typeof value === 'number');
  const top = (list) => list.reduce((most, value) => Math.max(most, value), 0);
  const sizes = numbers.map((value) => Math.abs(Number(value)) || 0);
  const largest = top(sizes.filter(Number.isFinite));
  const most = largest >= 100 ? 2 : largest >= 1 ? 3 : 6;
  const placesOf = (value) => (/e/.test(String(value)) ? 0 : (String(value).split('.')[1] || '').length);
  const places = Math.min(most, top(floats.map(placesOf)));
  const apart = largest >= 10000 && !NAMES_A_THING.test(name);
  return (value) => {
    const small = typeof value === 'number' && value !== 0 && Math.abs(value) < 10 ** -most;
    const text = typeof value !== 'number' || /e|[a-z]/i.test(String(value)) ? String(value)
      : small ? value.toPrecision(3) : value.toFixed(places);
    return apart ? spaced(text) : text;
  };
}

// Times of a column without what none of them has: seconds, or a time of day at all.
function momentsOf(values) {
  const parts = values.filter((value) => !isNone(value)).map((value) => MOMENT.exec(value));
  const fine = parts.some(([, , , second, fraction]) => second !== ':00' || fraction);
  const days = parts.every(([, , time, second, fraction]) => time + second === '00:00:00' && !fraction);
  return (value) => {
    const [, day, time, second, fraction, zone] = MOMENT.exec(value);
    if (days) return day;
    return `${day} ${time}${fine ? second + (fraction || '') : ''}${zone ? ' UTC' : ''}`;
  };
}

// The columns of a result with how their values are written and compared.
function columnsOf(data) {
  return data.columns.map((column, at) => {
    const { name, type = '' } = typeof column === 'string' ? { name: column } : column;
    const values = data.rows.map((row) => row[at]);
    const kind = kindOf(String(type), values);
    const write = kind === 'number' ? numbersOf(String(name), values) : kind === 'moment' ? momentsOf(values) : plain;
    return { name: String(name), type: String(type), kind, write, compare: kind === 'number' ? compareNumbers : compareTexts };
  });
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compareTexts(a, b) {
  return collator.compare(plain(a), plain(b));
}

// By value with every digit; what is no number last.
function compareNumbers(a, b) {
  const [left, right] = [Number(a), Number(b)];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
  if (left !== right) return left < right ? -1 : 1;
  if (![a, b].every((value) => NUMBER.test(value))) return 0;
  const [x, y] = [a, b].map((value) => String(value).split('.'));
  const places = Math.max((x[1] || '').length, (y[1] || '').length);
  const [more, less] = [x, y].map((parts) => BigInt(parts[0] + (parts[1] || '').padEnd(places, '0')));
  return more < less ? -1 : more > less ? 1 : 0;
}

// Rows sorted by a column; those without a value are last either way.
function sorted(rows, at, compare, descending) {
  return rows.slice().sort((left, right) => {
    const [a, b] = [left[at], right[at]];
    return isNone(a) - isNone(b) || (isNone(a) ? 0 : compare(a, b) * (descending ? -1 : 1));
  });
}

// A field of CSV (RFC 4180). Texts that a spreadsheet would run as a formula begin with an apostrophe; numbers stay
// numbers. Semicolons are quoted too: in some countries spreadsheets part fields there.
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

function field(value) {
  if (isNone(value)) return '';
  const text = plain(value);
  const calm = typeof value === 'number' || NUMBER.test(text) || !FORMULA.test(text) ? text : `'${text}`;
  return text === '' || /[",;\t\r\n]|^\s|\s$/.test(calm) ? `"${calm.replaceAll('"', '""')}"` : calm;
}

function csvOf(names, rows) {
  return [names, ...rows].map((row) => names.map((_, at) => field(row[at])).join(',')).join('\r\n') + '\r\n';
}

function counted(count, one, many) {
  return `${grouped(String(count))} ${count === 1 ? one : many}`;
}
