'use strict';

// The host: JSON-RPC 2.0 by messages with the page around this one, and with nobody else.
const host = { next: 1, waiting: new Map() };

function send(message) {
  window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

function request(method, params) {
  const id = host.next++;
  send({ id, method, params });
  return new Promise((resolve, reject) => host.waiting.set(id, { resolve, reject }));
}

window.addEventListener('message', (event) => {
  const message = event.data;
  if (event.source !== window.parent || !message || message.jsonrpc !== '2.0') return;
  if (message.method === undefined) {
    const waiting = host.waiting.get(message.id);
    host.waiting.delete(message.id);
    if (waiting) message.error ? waiting.reject(message.error) : waiting.resolve(message.result);
    return;
  }
  const params = message.params || {};
  switch (message.method) {
    case 'ui/notifications/tool-result': show(params); break;
    case 'ui/notifications/tool-cancelled': say('The question was cancelled.'); break;
    case 'ui/notifications/host-context-changed': wear(params); break;
    case 'ui/resource-teardown':
    case 'ping': send({ id: message.id, result: {} }); break;
    default:
      if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  }
});

// The host's theme, or else the system's.
const system = window.matchMedia('(prefers-color-scheme: dark)');
let theme;

function wear(context) {
  if (context.theme === 'light' || context.theme === 'dark') theme = context.theme;
  document.documentElement.dataset.theme = theme || (system.matches ? 'dark' : 'light');
}

system.addEventListener('change', () => wear({}));
wear({});

new ResizeObserver(() => {
  const { width, height } = document.documentElement.getBoundingClientRect();
  send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } });
}).observe(document.documentElement);

// Elements with text only: nothing of a result is ever read as markup.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const view = document.getElementById('view');

function say(text) {
  view.replaceChildren(element('p', text, 'soft'));
}

function firstText(result) {
  const block = (result.content || []).find((block) => block.type === 'text');
  return block ? String(block.text) : '';
}

// A table that is sorted by the head of a column: numbers by value with every digit, texts as people sort, what is
// missing last.
const NUMBER = /^-?\d+(\.\d+)?$/;
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const STEP = 200;

function shown(value) {
  if (value === null || value === undefined) return 'no value';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function isNumber(value) {
  return typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value));
}

function compareNumbers(a, b) {
  const difference = Number(a) - Number(b);
  if (difference !== 0 || (typeof a === 'number' && typeof b === 'number')) return difference;
  const [x, y] = [a, b].map((value) => String(value).split('.'));
  const places = Math.max((x[1] || '').length, (y[1] || '').length);
  const [left, right] = [x, y].map((parts) => BigInt(parts[0] + (parts[1] || '').padEnd(places, '0')));
  return left < right ? -1 : left > right ? 1 : 0;
}

function isNumeric(type, values) {
  if (/CHAR|TEXT|STRING|ENUM|UUID|BIT|JSON/i.test(type)) return false;
  const there = values.filter((value) => value !== null);
  return there.length > 0 && there.every(isNumber);
}

function tableOf(data) {
  const columns = data.columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const numeric = columns.map((column, at) => isNumeric(String(column.type || ''), data.rows.map((row) => row[at])));
  const box = element('div', undefined, 'scroll');
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', 'Result');
  const table = element('table');
  const heads = element('tr');
  const body = element('tbody');
  const more = element('button', '', 'plain');
  more.type = 'button';
  let rows = data.rows.slice();
  let count = STEP;

  function fill() {
    body.replaceChildren(...rows.slice(0, count).map((row) => {
      const line = element('tr');
      line.append(...columns.map((_, at) => {
        const missing = row[at] === null || row[at] === undefined;
        return element('td', shown(row[at]), `${numeric[at] ? 'number' : ''}${missing ? ' none' : ''}`.trim());
      }));
      return line;
    }));
    more.hidden = rows.length <= count;
    more.textContent = `Show ${Math.min(STEP, rows.length - count)} more`;
  }

  columns.forEach((column, at) => {
    const head = element('th', undefined, numeric[at] ? 'number' : '');
    head.scope = 'col';
    const button = element('button', String(column.name), numeric[at] ? 'number' : '');
    button.type = 'button';
    button.addEventListener('click', () => {
      const descending = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads.children) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      const compare = numeric[at] ? compareNumbers : (a, b) => collator.compare(shown(a), shown(b));
      rows = data.rows.slice().sort((left, right) => {
        const [a, b] = [left[at], right[at]];
        const missing = (a === null || a === undefined) - (b === null || b === undefined);
        return missing || (a === null || a === undefined ? 0 : compare(a, b) * (descending ? -1 : 1));
      });
      fill();
    });
    head.append(button);
    heads.append(head);
  });
  more.addEventListener('click', () => { count += STEP; fill(); });
  const head = element('thead');
  head.append(heads);
  table.append(head, body);
  box.append(table);
  fill();
  const all = data.rowCount ?? data.row_count ?? data.rows.length;
  const told = all > data.rows.length ? `${data.rows.length} of ${all} rows` : `${all} ${all === 1 ? 'row' : 'rows'}`;
  const note = element('p', data.truncated && all <= data.rows.length ? `The first ${told}; there are more.` : `${told}.`, 'soft');
  note.style.marginTop = '6px';
  const whole = element('div');
  whole.append(box, more, note);
  return whole;
}

function dataOf(result) {
  const given = result.structuredContent || {};
  const data = given.table || given;
  return Array.isArray(data.columns) && Array.isArray(data.rows) ? data : undefined;
}

// Tells the host which view this is, and begins.
function start(name) {
  request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name, version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
  }).then((result) => {
    wear((result && result.hostContext) || {});
    send({ method: 'ui/notifications/initialized', params: {} });
  }, () => say('This host cannot show the answer here; it is in the text.'));
}
