// Axes of numbers, numbers in charts, and texts that are cut to their room.
const pen = document.createElement('canvas').getContext('2d');
const SMALL = 12;

function wide(text, size = SMALL) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

function fitted(text, room, size = SMALL) {
  if (wide(text, size) <= room) return text;
  const letters = [...text];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (wide(`${letters.slice(0, middle).join('').trimEnd()}…`, size) <= room) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('').trimEnd()}…`;
}

// In at most two lines, or not at all.
function wrapped(text, room) {
  if (wide(text) <= room) return [text];
  const words = text.split(' ');
  for (let first = words.length - 1; first > 0; first--) {
    const lines = [words.slice(0, first).join(' '), words.slice(first).join(' ')];
    if (wide(lines[0]) <= room) return wide(lines[1]) <= room ? lines : undefined;
  }
  return undefined;
}

// Numbers so large or so small that their distances leave the range of floats are drawn at its ends.
function drawable(value) {
  return Math.abs(value) < 1e-290 ? 0 : Math.min(Math.max(value, -1e290), 1e290);
}

// Ticks at 1, 2 or 5 times a power of ten, whole ones for whole numbers, around all the values; with zero if it is wanted,
// or if the values are not far enough apart from each other or too near to it.
function scaleOf(values, withZero, count) {
  let [low, high] = values.length > 0 ? [Infinity, -Infinity] : [0, 1];
  for (const value of values.map(drawable)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const near = high - low >= 0.3 * Math.max(Math.abs(low), Math.abs(high));
  if (withZero || near || low === high) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (low === high) high = 1;
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5].find((factor) => rough / power <= factor * (1 + 1e-9)) || 10;
  const step = values.every(Number.isInteger) ? Math.max(1, nice * power) : nice * power;
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: Math.min(Math.max(last - first, 1), 50) + 1 }, (_, at) => (first + at) * step || 0);
  const [from, to] = [ticks[0], ticks[ticks.length - 1]];
  const place = (value) => Math.min(Math.max((drawable(value) - from) / (to - from), 0), 1);
  return { ticks, step, from, to, largest: Math.max(Math.abs(from), Math.abs(to)), place };
}

const UNITS = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'k']];
const minus = (text) => text.replaceAll('-', '−');

function exponent(number) {
  return minus(number.toExponential(2).replace(/\.?0*e\+?/, 'e'));
}

// The ticks' names, all in the same unit: "0", "5k", "10k".
function ticksOf(scale) {
  const { largest, step } = scale;
  if (largest >= 1e15 || step < 1e-6) return scale.ticks.map((tick) => (tick ? exponent(tick) : '0'));
  const [unit, suffix] = UNITS.find(([size]) => largest >= (size === 1e3 ? 1e4 : size)) || [1, ''];
  const places = Math.min(Math.max(Math.ceil(-Math.log10(step / unit) - 1e-9), 0), 12);
  return scale.ticks.map((tick) => (tick ? minus(spaced((tick / unit).toFixed(places))) + suffix : '0'));
}

// A value in full: "1,234,567", "0.1235".
function full(number) {
  const size = Math.abs(number);
  if (number !== 0 && (size >= 1e15 || size < 1e-6)) return exponent(number);
  const text = size < 1 ? String(Number(number.toPrecision(4))) : String(Number(number.toFixed(2)));
  return minus(/e/.test(text) ? number.toFixed(9).replace(/0+$/, '') : spaced(text));
}

// Short, for beside a bar among others: "1.23M", "123k", "999".
function short(number) {
  const size = Math.abs(number);
  const [unit, suffix] = size < 1e5 || size >= 1e15 ? [1, ''] : UNITS.find(([unit]) => size >= unit * 0.9995) || [1, ''];
  return unit === 1 ? full(number) : minus(spaced(String(Number((number / unit).toPrecision(3))))) + suffix;
}
