// A host for MCP App views in a real browser: a sandboxed frame under the policy that hosts have when a view asks for
// nothing, the handshake, and what a host does for a view: sizes, full screen, files, calls of tools.
import assert from 'node:assert/strict';

// SEP-1865, "Restrictive Default".
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; object-src 'none'; connect-src 'none'";

/** What the page around the frame does. Runs in the browser. */
function hosting({ html, context, capabilities, most, next }) {
  const frame = document.querySelector('iframe');
  window.heard = [];
  window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const shown = (mode) => {
    document.body.className = mode;
    window.tell({ method: 'ui/notifications/host-context-changed', params: { displayMode: mode } });
  };
  const answers = {
    'ui/initialize': () => ({ protocolVersion: '2026-01-26', hostInfo: { name: 'mock', version: '1' },
      hostCapabilities: capabilities, hostContext: context }),
    'ui/request-display-mode': ({ mode }) => {
      const given = (context.availableDisplayModes || []).includes(mode) ? mode : 'inline';
      setTimeout(() => shown(given));
      return { mode: given };
    },
    'ui/download-file': () => ({}),
    'tools/call': () => next,
  };
  window.addEventListener('message', ({ data, source }) => {
    if (source !== frame.contentWindow) return;
    window.heard.push(data);
    if (data.method === 'ui/notifications/size-changed') frame.style.height = `${Math.min(data.params.height, most)}px`;
    if (data.id === undefined || data.method === undefined) return;
    const answer = answers[data.method];
    if (answer) window.tell({ id: data.id, result: answer(data.params) });
    else window.tell({ id: data.id, error: { code: -32601, message: 'Method not found' } });
  });
  frame.srcdoc = html;
}

/** Opens a view and shakes hands; what comes back shows results in it and says what it did. */
export async function open(browser, html, options = {}) {
  const { theme = 'light', width = 760, most = 900, modes = ['inline', 'fullscreen'], styles, touch = false,
    capabilities = { downloadFile: {}, serverTools: {} }, next = {} } = options;
  const around = await browser.newContext({ viewport: { width: Math.max(width, 320), height: 900 }, hasTouch: touch,
    colorScheme: 'light', reducedMotion: 'reduce' });
  around.setDefaultTimeout(15_000);
  const page = await around.newPage();
  const problems = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => { if (request.url() !== 'about:srcdoc') problems.push(`asked for ${request.url()}`); });
  const ground = styles?.variables?.['--color-background-primary'] ?? (theme === 'dark' ? '#15191f' : '#fff');
  await page.setContent(`<style>body { margin: 0; background: ${ground}; color-scheme: ${theme} }
    iframe { display: block; border: 0; width: ${width}px; height: 300px }
    .fullscreen iframe { width: 100vw; height: 100vh !important } #paste { opacity: 0 }</style>
    <iframe sandbox="allow-scripts"></iframe><textarea id="paste"></textarea>`);
  const context = { theme, styles, displayMode: 'inline', availableDisplayModes: modes, locale: 'en-US',
    containerDimensions: { width, maxHeight: most } };
  const policed = html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
  assert.notEqual(policed, html);
  await page.evaluate(hosting, { html: policed, context, capabilities, most, next });
  await page.waitForFunction(() => window.heard.some((message) => message.method === 'ui/notifications/initialized'));
  const frame = page.frames()[1];

  return {
    page,
    frame,
    tell: (message) => page.evaluate((message) => window.tell(message), message),
    heard: (method) => page.evaluate((method) => window.heard.filter((message) => message.method === method), method),
    all: () => page.evaluate(() => window.heard),
    async show(result, until, asked = {}) {
      await frame.evaluate(() => document.getElementById('view').replaceChildren());
      await page.evaluate(({ result, asked }) => {
        window.heard.length = 0;
        window.tell({ method: 'ui/notifications/tool-input', params: { arguments: asked } });
        window.tell({ method: 'ui/notifications/tool-result', params: result });
      }, { result, asked });
      await frame.waitForSelector(until);
      // The picture and the frame's size follow the result.
      await frame.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    },
    /** What the clipboard holds, pasted where the view cannot reach. */
    async pasted() {
      await page.fill('#paste', '');
      await page.focus('#paste');
      await page.keyboard.press('Control+V');
      return page.inputValue('#paste');
    },
    async close() {
      await this.tell({ id: 'bye', method: 'ui/resource-teardown', params: {} });
      await page.waitForFunction(() => window.heard.some((message) => message.id === 'bye' && message.result));
      assert.deepEqual(problems, []);
      await around.close();
    },
  };
}
