// A host for the MCP App views: puts each page in a sandboxed frame with the policy that hosts have, shakes hands as the
// protocol says, sends results, hostile ones among them, and looks at what is shown.
// node views.mjs <folder of the pages> <folder for pictures>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { chromium } from 'playwright-core';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { FLAGS } from './browser.mjs';

const [pages, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 100" width="760" height="100" role="img" aria-label="Two bars">
<title>Two bars</title><rect x="0" y="0" width="760" height="100" class="dg-f-ground" fill="#ffffff"/>
<rect x="20" y="20" width="300" height="20" class="dg-f-s0" fill="#1769aa"/><rect x="20" y="60" width="500" height="20" class="dg-f-s1" fill="#d4600a"/>
<text x="20" y="15" font-size="12" class="dg-f-ink" fill="#1b232d">A title</text></svg>`;
const EVIL = SVG.replace('<title>', `<script>parent.hacked = 1; document.title = 'hacked'</script>
<image href="https://evil.example/x.png" width="10" height="10"/><a href="javascript:alert(1)"><text x="1" y="1">link</text></a>
<foreignObject><div xmlns="http://www.w3.org/1999/xhtml" onclick="x()">html</div></foreignObject>
<style>@import url(https://evil.example/x.css);</style><use href="https://evil.example/x.svg#a"/>
<rect onload="document.title='hacked'" onclick="x()" style="fill:url(https://evil.example/y)" fill="url(https://evil.example/z)" width="1" height="1"/><title>`);
const TABLE = {
  columns: [{ name: 'Carrier', type: 'VARCHAR' }, { name: 'Flights', type: 'HUGEINT' }, { name: 'Delay', type: 'DOUBLE' }],
  rows: [['<img src=x onerror="document.title=1">', '9007199254740993', 2.5], ['AA', '9007199254740992', -10],
    ['UA', '12', null], ['B6', '9', 10]],
  rowCount: 4, truncated: false,
};

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
const done = [];
try {
  for (const theme of ['light', 'dark']) {
    for (const name of ['chart', 'table']) await look(name, theme);
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify({ views: done }));

async function look(name, theme) {
  const page = await browser.newPage({ viewport: { width: 820, height: 700 } });
  const problems = [];
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => problems.push(`asked for ${request.url()}`));
  const html = readFileSync(`${pages}/${name}.html`, 'utf8')
    .replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
  await page.setContent('<body style="margin:0"><iframe sandbox="allow-scripts" style="border:0;width:800px;height:680px"></iframe></body>');
  await page.evaluate(({ html, theme }) => {
    const frame = document.querySelector('iframe');
    window.heard = [];
    window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
    window.addEventListener('message', ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      window.heard.push(data);
      if (data.method !== 'ui/initialize') return;
      window.tell({ id: data.id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'test', version: '1' },
        hostCapabilities: {}, hostContext: { theme, displayMode: 'inline' } } });
    });
    frame.srcdoc = html;
  }, { html, theme });
  await page.waitForFunction(() => window.heard.some((message) => message.method === 'ui/notifications/initialized'));
  const first = await page.evaluate(() => window.heard.find((message) => message.method === 'ui/initialize'));
  assert.equal(first.params.protocolVersion, '2026-01-26');
  assert.equal(first.params.appInfo.name, `dragoman-${name}`);
  const frame = page.frames()[1];
  assert.equal(await frame.evaluate(() => document.documentElement.dataset.theme), theme);
  const result = async (params, until) => {
    await page.evaluate((params) => window.tell({ method: 'ui/notifications/tool-result', params }), params);
    await frame.waitForSelector(until);
  };
  const column = (at) => frame.$$eval(`tbody tr td:nth-child(${at})`, (cells) => cells.map((cell) => cell.textContent));

  if (name === 'chart') {
    const content = [{ type: 'text', text: 'UA leads.' }];
    for (const given of [
      { content, _meta: { 'dragoman/svg': [EVIL] }, structuredContent: { table: TABLE } },
      { content, structuredContent: { table: TABLE, chartSpecs: { charts: [{ svg: EVIL }] } } },
      { content, structuredContent: { charts: [{ svg: EVIL }] } },
    ]) {
      await frame.evaluate(() => document.getElementById('view').replaceChildren());
      await result(given, '.picture svg');
      const kept = await frame.$eval('.picture', (box) => box.innerHTML);
      assert.match(kept, /A title/);
      assert.doesNotMatch(kept, /evil|script|foreign|onload|onclick|href|style|<a|<image|<use|html/i);
    }
    const fill = await frame.$eval('.dg-f-s0', (bar) => getComputedStyle(bar).fill);
    assert.equal(fill, theme === 'dark' ? 'rgb(98, 176, 242)' : 'rgb(23, 105, 170)');
    for (const broken of ['<svg', '<html xmlns="http://www.w3.org/1999/xhtml"/>', 5]) {
      await result({ content, _meta: { 'dragoman/svg': [broken] }, structuredContent: {} }, 'p');
      assert.equal(await frame.textContent('#view'), 'UA leads.');
    }
    await result({ content, structuredContent: { clarificationRequest: { questions: [
      { question: 'Which <b>date</b>?', suggestions: ['Order', 'Shipment'], assumption: 'Order' }] } } }, 'ul');
    assert.match(await frame.textContent('#view'), /Which <b>date<\/b>\?/);
    await result({ content, _meta: { 'dragoman/svg': [SVG] }, structuredContent: { table: TABLE } }, '.picture svg');
    await page.screenshot({ path: `${pictures}/chart-${theme}.png` });
    await frame.click('button.plain');
  } else {
    await result({ content: [], structuredContent: { columns: TABLE.columns, rows: TABLE.rows, row_count: 4 } }, 'table');
  }
  assert.deepEqual(await column(1), ['<img src=x onerror="document.title=1">', 'AA', 'UA', 'B6']);
  await frame.click('th:nth-child(2) button');
  assert.deepEqual(await column(2), ['9', '12', '9007199254740992', '9007199254740993'], 'every digit counts');
  await frame.click('th:nth-child(3) button');
  await frame.click('th:nth-child(3) button');
  assert.deepEqual(await column(3), ['10', '2.5', '-10', 'no value'], 'what is missing is last either way');
  assert.equal(await frame.getAttribute('th:nth-child(3)', 'aria-sort'), 'descending');
  await page.screenshot({ path: `${pictures}/table-of-${name}-${theme}.png` });

  const many = Array.from({ length: 1000 }, (_, at) => [`row ${at}`, at]);
  await result({ content: [], structuredContent: { columns: [{ name: 'a' }, { name: 'b' }], rows: many, truncated: true } }, 'table');
  assert.equal((await column(1)).length, 200);
  await frame.click('button.plain >> visible=true');
  assert.equal((await column(1)).length, 400);
  assert.match(await frame.textContent('#view'), /The first 1000 rows; there are more\./);
  await result({ isError: true, content: [{ type: 'text', text: 'It failed.' }] }, 'p');
  assert.equal(await frame.textContent('#view'), 'It failed.');

  await page.evaluate((theme) => window.tell({ method: 'ui/notifications/host-context-changed', params: { theme } }),
    theme === 'dark' ? 'light' : 'dark');
  await frame.waitForFunction((theme) => document.documentElement.dataset.theme !== theme, theme);
  await page.evaluate(() => window.tell({ id: 'bye', method: 'ui/resource-teardown', params: {} }));
  await page.waitForFunction(() => window.heard.some((message) => message.id === 'bye' && message.result));
  const size = await page.evaluate(() => window.heard.findLast((message) => message.method === 'ui/notifications/size-changed'));
  assert.ok(size.params.height > 0 && size.params.height < 700, JSON.stringify(size));
  assert.notEqual(await frame.title(), 'hacked');
  const outside = problems.filter((problem) => !/about:srcdoc/.test(problem));
  assert.deepEqual(outside, []);
  done.push(`${name} ${theme}`);
  await page.close();
}
