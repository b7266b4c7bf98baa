'use strict';

// The host: JSON-RPC 2.0 by messages with the page around this one, and with nobody else (MCP Apps, SEP-1865).
const host = { next: 1, waiting: new Map(), capabilities: {}, context: {}, asked: {} };
const root = document.documentElement;

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
    case 'ui/notifications/tool-input': host.asked = params.arguments || {}; break;
    case 'ui/notifications/tool-result': show(params); break;
    case 'ui/notifications/tool-cancelled': say('The call was cancelled.'); break;
    case 'ui/notifications/host-context-changed': wear(params); break;
    case 'ui/resource-teardown':
    case 'ping': send({ id: message.id, result: {} }); break;
    default:
      if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  }
});

// What the host looks like: its theme, or else the system's; its colours and fonts where they are whole and readable.
const system = window.matchMedia('(prefers-color-scheme: dark)');
const COLOURS = ['--color-background-primary', '--color-background-secondary', '--color-text-primary',
  '--color-text-secondary', '--color-border-primary'];
const OTHERS = ['--font-sans', '--font-mono', '--border-radius-sm', '--border-radius-md'];

function wear(context) {
  Object.assign(host.context, context);
  const { theme, styles, displayMode, containerDimensions, safeAreaInsets } = host.context;
  root.dataset.theme = theme === 'light' || theme === 'dark' ? theme : system.matches ? 'dark' : 'light';
  root.dataset.mode = displayMode === 'fullscreen' ? 'fullscreen' : 'inline';
  const given = (styles && styles.variables) || {};
  const usable = (name) => typeof given[name] === 'string' && !/url|image|[;{}@\\]/i.test(given[name]);
  for (const name of [...COLOURS, ...OTHERS]) root.style.removeProperty(name);
  for (const name of OTHERS.filter(usable)) root.style.setProperty(name, given[name]);
  // Some colours of the host's beside some of ours would not fit each other.
  if (COLOURS.every(usable)) {
    for (const name of COLOURS) root.style.setProperty(name, given[name]);
    if (!isReadable()) for (const name of COLOURS) root.style.removeProperty(name);
  }
  const most = containerDimensions && (containerDimensions.height || containerDimensions.maxHeight);
  root.style.setProperty('--most', most > 0 ? `${most}px` : '1000px');
  for (const side of ['top', 'right', 'bottom', 'left']) {
    const inset = Number(safeAreaInsets && safeAreaInsets[side]) || 0;
    root.style.setProperty(`--safe-${side}`, `${Math.min(Math.max(inset, 0), 100)}px`);
  }
  for (const heed of heeding) heed();
}

// Whether texts stand out from the ground by 4.5 to 1 (WCAG 2.2, 1.4.3).
function isReadable() {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = '#808080';
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const worn = (name) => {
    const probe = document.createElement('i');
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return light(color);
  };
  const grounds = ['--ground', '--band'].map(worn);
  return ['--ink', '--soft'].map(worn).every((text) => grounds.every((ground) =>
    (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05) >= 4.5));
}

// What has to look again when the host looks different.
const heeding = [];

system.addEventListener('change', () => wear({}));

let told = '';
new ResizeObserver(() => {
  const { width, height } = root.getBoundingClientRect();
  const params = { width: Math.ceil(width), height: Math.ceil(height) };
  if (told === JSON.stringify(params)) return;
  told = JSON.stringify(params);
  send({ method: 'ui/notifications/size-changed', params });
}).observe(root);

// Full screen is the host's to give.
function canFill() {
  return (host.context.availableDisplayModes || []).includes('fullscreen');
}

function fill(whole) {
  request('ui/request-display-mode', { mode: whole ? 'fullscreen' : 'inline' }).then(
    (result) => wear({ displayMode: (result && result.mode) || host.context.displayMode }),
    () => announce('The host did not change the display.'),
  );
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !event.defaultPrevented && root.dataset.mode === 'fullscreen' && canFill()) fill(false);
});

// Tells the host which view this is, and begins.
function start(name) {
  wear({});
  request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name, version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  }).then((result) => {
    host.capabilities = (result && result.hostCapabilities) || {};
    wear((result && result.hostContext) || {});
    send({ method: 'ui/notifications/initialized', params: {} });
  }, () => say('This host cannot show the answer here; it is in the text.'));
}
