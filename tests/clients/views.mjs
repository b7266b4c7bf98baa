// The MCP App views in a mock host in a real browser, under the policy that hosts have: how they look in light and dark,
// narrow and wide, what they do by mouse, touch and keyboard, and that nothing of a result is more than text.
// node views.mjs <folder of chart.html and table.html, and of answer.json and rows.json: results of the service> <folder for pictures>
// Prints one JSON object; ends with an error when anything is not as it should be.
import * as apps from '@modelcontextprotocol/ext-apps/app-bridge';
import { chromium } from 'playwright-core';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { FLAGS } from './browser.mjs';
import { open } from './host.mjs';
import * as results from './results.mjs';

const [given, pictures] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });
const read = (name) => readFileSync(`${given}/${name}`, 'utf8');
const pages = { chart: read('chart.html'), table: read('table.html') };
const AXE = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const done = [];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });

/** One check in a view of its own. */
async function check(name, view, options, act) {
  const shown = await open(browser, pages[view], options);
  try {
    await act(shown, shown.frame);
    await shown.close();
  } catch (problem) {
    await shown.page.screenshot({ path: `${pictures}/failed.png` });
    throw new Error(`${name}: ${problem.message}`, { cause: problem });
  }
  done.push(name);
}

const column = (frame, at) => frame.$$eval(`tbody tr td:nth-child(${at})`, (cells) => cells.map((cell) => cell.textContent));
const texts = (frame, selector) => frame.$$eval(selector, (all) => all.map((one) => one.textContent));
const focused = (frame) => frame.evaluate(() => document.activeElement.getAttribute('aria-label') || document.activeElement.textContent);
const spoken = (frame) => frame.textContent('#spoken');
const press = (frame, word) => frame.locator('button:visible', { hasText: word }).first().click();

try {
  await looks();
  await service();
  await rows();
  await many();
  await charts();
  await series();
  await pointing();
  await screens();
  await others();
} finally {
  await browser.close();
}
console.log(JSON.stringify({ views: done }));

/** Every result in both themes and all widths: pictures to look at, and what can be measured of them. */
async function looks() {
  const shown = { chart: ['ranking', 'seasons', 'three', 'shapes', 'questions', 'failure'], table: ['query', 'wide', 'ranking'] };
  for (const theme of ['light', 'dark']) {
    for (const width of [320, 760, 1360]) {
      for (const view of ['chart', 'table']) {
        await check(`looks of the ${view} view, ${theme}, ${width} pixels`, view, { theme, width, most: 3000 }, async (host, frame) => {
          await host.page.setViewportSize({ width, height: 2400 });
          assert.equal(await frame.evaluate(() => document.documentElement.dataset.theme), theme);
          await frame.evaluate(AXE);
          for (const name of shown[view]) {
            await host.show(results[name], '#view > :not(p.soft)', { sql: results.SQL });
            const wider = await frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            assert.ok(wider <= 0, `${name} is ${wider} pixels wider than its frame`);
            assert.deepEqual(await frame.evaluate(dullTexts), [], `texts of ${name} that do not stand out from their ground`);
            assert.deepEqual(await frame.evaluate(faults), [], `what axe finds wrong with ${name}`);
            await host.page.locator('iframe').screenshot({ path: `${pictures}/${name}-${view}-${theme}-${width}.png` });
          }
        });
      }
    }
  }
}

/** What keeps people with other means than eyes and a mouse from using a view, by the rules of axe-core. Runs in the view. */
async function faults() {
  const { violations } = await window.axe.run(document, { resultTypes: ['violations'], iframes: false });
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

/** Texts whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3). Runs in the view. */
function dullTexts() {
  const light = (parts) => {
    const [r, g, b] = parts.map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const ground = (at) => {
    for (let one = at; one; one = one.parentElement) {
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(one).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const dull = [];
  const walk = document.createTreeWalker(document.getElementById('view'), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const { parentElement } = node;
    if (!node.data.trim() || !parentElement.checkVisibility()) continue;
    const style = getComputedStyle(parentElement);
    const ink = light(numbers(parentElement.namespaceURI.endsWith('svg') ? style.fill : style.color).slice(0, 3));
    const under = light(ground(parentElement));
    const contrast = (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05);
    if (contrast < 4.5) dull.push(`${node.data}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(dull)];
}

/** What the service itself replied. */
async function service() {
  await check('an answer of the service', 'chart', {}, async (host, frame) => {
    await host.show(JSON.parse(read('answer.json')), '.plot svg');
    const drawn = await texts(frame, '.plot text');
    assert.ok(drawn.includes('Corner') && drawn.includes('Old Mill'), drawn.join());
    assert.match(await frame.textContent('.answer'), /^Corner.* 18/);
    assert.match(await frame.textContent('.notes'), /Read as: /);
    assert.match(await frame.textContent('details'), /SELECT/);
    await host.page.locator('iframe').screenshot({ path: `${pictures}/service-answer.png` });
    await press(frame, 'Table');
    assert.equal((await column(frame, 1))[0], 'Corner');
  });
  await check('rows of the service', 'table', {}, async (host, frame) => {
    await host.show(JSON.parse(read('rows.json')), 'table');
    assert.deepEqual(await column(frame, 1), ['2013-02-01 10:30', 'NULL']);
    assert.deepEqual(await column(frame, 2), ['12345678901234567890.50', '-1.00']);
    assert.equal(await frame.textContent('.count'), '2 rows · 2 columns');
  });
}

/** Values as they are written, sorted and copied. */
async function rows() {
  await check('values and orders', 'table', {}, async (host, frame) => {
    await host.show(results.query, 'table', { sql: results.SQL });
    assert.deepEqual(await column(frame, 1), [results.EVIL, '=HYPERLINK("https://evil.example";"here")', 'United, "the" airline', '']);
    assert.deepEqual(await column(frame, 2), ['9,007,199,254,740,993', '9,007,199,254,740,992', '12', '9'], 'with every digit');
    assert.deepEqual(await column(frame, 3), ['2.500', '-10.000', 'NULL', '10.123'], 'under each other');
    assert.equal(await frame.getAttribute('tbody tr:nth-child(4) td:nth-child(3)', 'title'), '10.12345', 'nothing is lost');
    assert.deepEqual(await column(frame, 4), ['1,234,567.50', '9.00', '-0.25', 'NULL']);
    assert.deepEqual(await column(frame, 6), ['2013-12-31 10:11', '2013-12-30 00:00', '2013-12-31 23:59', 'NULL']);
    assert.deepEqual(await column(frame, 7), ['12345', '23456', '34567', '45678'], 'keys have no thousands');
    assert.deepEqual(await frame.$$eval('th', (all) => all.map((one) => getComputedStyle(one).textAlign)),
      ['left', 'right', 'right', 'right', 'left', 'left', 'right', 'left']);
    assert.equal(await frame.textContent('.count'), '4 rows · 8 columns');
    assert.equal(await frame.textContent('pre'), results.SQL);
    assert.equal(await frame.locator('img').count(), 0);
    assert.notEqual(await frame.title(), 'hacked');

    const order = (at) => frame.getAttribute(`th:nth-child(${at})`, 'aria-sort');
    await frame.click('th:nth-child(2) button');
    assert.deepEqual([await column(frame, 2), await order(2)], [['9', '12', '9,007,199,254,740,992', '9,007,199,254,740,993'], 'ascending']);
    await frame.focus('th:nth-child(3) button');
    await host.page.keyboard.press('Enter');
    assert.deepEqual([await column(frame, 3), await order(3), await order(2)], [['-10.000', '2.500', '10.123', 'NULL'], 'ascending', null]);
    assert.equal(await spoken(frame), 'Sorted by Delay, ascending.');
    await host.page.keyboard.press('Enter');
    assert.deepEqual([await column(frame, 3), await order(3)], [['10.123', '2.500', '-10.000', 'NULL'], 'descending'], 'none is last either way');
    await host.page.keyboard.press('Enter');
    assert.deepEqual([await column(frame, 3), await order(3)], [['2.500', '-10.000', 'NULL', '10.123'], null], 'as it came');

    await press(frame, 'Copy CSV');
    await frame.waitForFunction(() => document.body.textContent.includes('Copied'));
    // A text field has its own line ends.
    assert.equal(await host.pasted(), results.QUERY_CSV.replaceAll('\r\n', '\n'));
    await press(frame, 'Save CSV');
    const [saved] = await host.heard('ui/download-file');
    assert.equal(saved.params.contents[0].resource.text, results.QUERY_CSV);
  });
  await check('fields that a spreadsheet would run, and numbers as charts have them', 'table', {}, async (host, frame) => {
    // OWASP, CSV injection.
    const fields = [['=1+1', "'=1+1"], ['+1-2', "'+1-2"], ['-2+3', "'-2+3"], ['@SUM(A1)', "'@SUM(A1)"], [' =1', "' =1"], ['\t=1', '"\'\t=1"'],
      ['\r=1', '"\'\r=1"'], ['＝1', "'＝1"], ['a;=1', '"a;=1"'], ['a,"b"', '"a,""b"""'], ['two\nlines', '"two\nlines"'],
      ['-5', '-5'], ['-0.50', '-0.50'], [-1e21, '-1e+21'], [true, 'true'], ['a=1', 'a=1'], ['', '""'], [null, '']];
    assert.deepEqual(await frame.evaluate((all) => all.map(([value]) => field(value)), fields), fields.map(([, written]) => written));
    // As the service tells and draws them.
    const numbers = [[0, '0', '0'], [1234567, '1,234,567', '1.23M'], [-1234.567, '−1,234.57', '−1,234.57'], [0.123456, '0.1235', '0.1235'],
      [123456, '123,456', '123k'], [999999, '999,999', '1M'], [1e21, '1e21', '1e21'], [2.5e-9, '2.5e−9', '2.5e−9']];
    assert.deepEqual(await frame.evaluate((all) => all.map(([value]) => [value, full(value), short(value)]), numbers), numbers);
    const axes = [[[3, 97], true, '0 20 40 60 80 100'], [[-5, 5], true, '−6 −4 −2 0 2 4 6'], [[27004, 29425], false, '27.0k 27.5k 28.0k 28.5k 29.0k 29.5k'],
      [[0], true, '0 1'], [[0.5], true, '0 0.1 0.2 0.3 0.4 0.5'], [[7, 7], false, '0 2 4 6 8'], [[5e6], true, '0 1M 2M 3M 4M 5M']];
    assert.deepEqual(await frame.evaluate((all) => all.map(([values, zero]) => ticksOf(scaleOf(values, zero, 5)).join(' ')), axes), axes.map(([, , ticks]) => ticks));
    const extreme = [[-Number.MAX_VALUE, Number.MAX_VALUE], [Number.MAX_VALUE], [5e-324], [1e-30, 2e-30], [1e300, -1e-300]];
    const places = await frame.evaluate((all) => all.flatMap((values) => values.map((value) => scaleOf(values, true, 5).place(value))), extreme);
    assert.ok(places.every((place) => place >= 0 && place <= 1), String(places));
  });
  await check('copying where nothing may', 'table', { capabilities: {} }, async (host, frame) => {
    await host.show(results.query, 'table');
    await frame.evaluate(() => { document.execCommand = () => false; });
    await press(frame, 'Copy CSV');
    assert.equal(await frame.inputValue('.offered'), results.QUERY_CSV.replaceAll('\r\n', '\n'));
    assert.equal(await frame.locator('button', { hasText: 'Save CSV' }).count(), 0, 'the host takes no files');
    await host.page.keyboard.press('Escape');
    assert.equal(await frame.locator('.offered').count(), 0);
  });
}

/** Many rows of many columns: drawn as somebody scrolls, within their own box. */
async function many() {
  await check('500 rows of 40 columns', 'table', { width: 500 }, async (host, frame) => {
    await host.show(results.wide, 'table');
    const drawn = () => frame.locator('tbody tr').count();
    assert.ok(await drawn() <= 200, `${await drawn()} rows are drawn before anybody scrolls`);
    assert.equal(await frame.textContent('.count'), 'First 500 rows · 40 columns · there are more');
    assert.equal(await frame.getAttribute('table', 'aria-rowcount'), '501');
    const width = (await frame.locator('th').first().boundingBox()).width;
    for (let at = 0; at < 20 && await drawn() < 500; at++) {
      const before = await drawn();
      await frame.$eval('.scroll', (box) => { box.scrollTop = box.scrollHeight; });
      await frame.waitForFunction((before) => document.querySelectorAll('tbody tr').length > before, before);
    }
    assert.equal(await drawn(), 500);
    assert.equal((await frame.locator('th').first().boundingBox()).width, width, 'columns stay where they are');
    const head = await frame.locator('th').first().boundingBox();
    const box = await frame.locator('.scroll').boundingBox();
    assert.ok(Math.abs(head.y - box.y) < 3, 'the head stays');
    await frame.click('th:nth-child(2) button');
    await frame.click('th:nth-child(2) button');
    const largest = Math.max(...results.wide.structuredContent.rows.map((row) => row[1]));
    assert.equal((await column(frame, 2))[0], spacedOf(largest));
    const scrolls = await frame.$eval('.scroll', (box) => box.scrollWidth > box.clientWidth);
    assert.ok(scrolls, 'what is wider than the frame scrolls in its box');
  });
  const next = { content: [], structuredContent: { ...results.query.structuredContent, rows: [['last', '1', 1, '1.00', null, null, 7, null]], next_cursor: undefined } };
  await check('the next rows', 'table', { next }, async (host, frame) => {
    const { structuredContent } = results.query;
    await host.show({ content: [], structuredContent: { ...structuredContent, total_rows: 5, next_cursor: 'c-1' } }, 'table', { sql: results.SQL });
    assert.equal(await frame.textContent('.count'), '4 of 5 rows · 8 columns');
    await press(frame, 'Load more rows');
    await frame.waitForFunction(() => document.querySelectorAll('tbody tr').length === 5);
    const [call] = await host.heard('tools/call');
    assert.deepEqual(call.params, { name: 'dragoman_sql', arguments: { sql: results.SQL, cursor: 'c-1' } });
    assert.equal(await frame.locator('button', { hasText: 'Load more rows' }).count(), 0);
  });
}

function spacedOf(number) {
  return number.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, number >= 10000 ? ',' : '');
}

/** What is drawn, said, ordered and copied of charts. */
async function charts() {
  await check('a ranking', 'chart', {}, async (host, frame) => {
    await host.show(results.ranking, '.plot svg');
    assert.equal(await frame.locator('.plot path.mark').count(), 5, 'one bar for each value');
    assert.equal(await frame.textContent('.answer'), 'United Air Lines Inc. has the highest number of flights: 58,665 (of 6 rows).');
    assert.deepEqual(await texts(frame, '.caveats p'), ['8,255 of 336,776 flights have no departure time, and count.']);
    assert.deepEqual(await texts(frame, '.notes > p'), ['Read as: number of flights by carrier in 2013, highest first.', 'Assumed: flights that were cancelled count']);
    assert.equal(await frame.locator('img').count(), 0);
    assert.match(await frame.getAttribute('.plot', 'aria-label'), /lowest 32,729 .*, highest 58,665 \(United Air Lines Inc\.\)/);
    const first = async () => (await texts(frame, '.plot text.ink'))[0];
    await frame.selectOption('select', { label: 'Smallest first' });
    assert.match(await first(), /^<img src=x/);
    await frame.selectOption('select', { label: 'A to Z' });
    assert.match(await first(), /^<img src=x/);
    await frame.selectOption('select', { label: 'Largest first' });
    assert.equal(await first(), 'United Air Lines Inc.');
    await press(frame, 'Save CSV');
    const [saved] = await host.heard('ui/download-file');
    assert.equal(saved.params.contents[0].resource.text.split('\r\n')[0], 'Carrier,Number of flights');
    assert.equal(saved.params.contents[0].resource.text.split('\r\n')[6], 'Mesa Airlines Inc.,');
    await press(frame, 'Table');
    assert.deepEqual([await frame.isVisible('table'), await frame.isVisible('.plot')], [true, false]);
    assert.equal(await frame.locator('.type').count(), 0, 'an answer has no types of an engine');
  });
  await check('caveats in a block of their own', 'chart', {}, async (host, frame) => {
    const { content, structuredContent } = results.ranking;
    await host.show({ content, structuredContent: { ...structuredContent, caveats: [results.EVIL, { text: 'Two' }] } }, '.caveats');
    assert.deepEqual(await texts(frame, '.caveats p'), [results.EVIL, 'Two']);
  });
  await check('an answer in the table view', 'table', {}, async (host, frame) => {
    await host.show(results.ranking, 'table');
    assert.deepEqual([await frame.isVisible('table'), await frame.isVisible('.plot')], [true, false]);
    assert.deepEqual((await column(frame, 2)).at(-1), 'NULL');
    await press(frame, 'Chart');
    await frame.waitForSelector('.plot svg');
    assert.equal(await frame.locator('.plot path.mark').count(), 5);
  });
  await check('three charts at most', 'chart', {}, async (host, frame) => {
    await host.show(results.three, '.plot svg');
    assert.deepEqual(await texts(frame, '.chart h2'), ['Share of revenue by cabin', 'Revenue by quarter, this year and last', 'Distance and delay']);
    assert.equal(await frame.locator('.plot svg').count(), 3);
    await frame.click('.pie .key:nth-child(2)');
    assert.deepEqual([await frame.locator('.slice').count(), await frame.locator('.ghost').count()], [3, 1]);
  });
  await check('what cannot be drawn is a table', 'chart', {}, async (host, frame) => {
    const { content, structuredContent } = results.ranking;
    const broken = [null, 5, {}, { type: 'bar', categories: ['a'], series: [] }, { type: 'line', categories: ['a'], series: [{ label: 'x', data: ['1'] }] },
      { type: 'pie', slices: [{ label: 'a', value: 0 }] }, { type: 'scatter', points: [{ x: 1 }] }, { type: 'map', title: 'A map' }];
    await host.show({ content, structuredContent: { ...structuredContent, chartSpecs: { charts: broken } } }, 'table');
    assert.equal(await frame.locator('.chart').count(), 0);
    assert.ok(await frame.isVisible('table'));
  });
}

/** Names of series: pressed, one goes and comes back. */
async function series() {
  await check('hidden series', 'chart', {}, async (host, frame) => {
    await host.show(results.seasons, '.plot svg');
    const ways = () => frame.locator('path.way').count();
    assert.equal(await ways(), 4, 'three lines, one of them with a gap');
    await frame.focus('.key:nth-child(3)');
    await host.page.keyboard.press('Space');
    assert.deepEqual([await ways(), await frame.getAttribute('.key:nth-child(3)', 'aria-pressed')], [2, 'false']);
    assert.equal(await spoken(frame), 'La Guardia is hidden.');
    assert.equal(await focused(frame), 'La Guardia', 'the focus stays');
    await press(frame, 'Save CSV');
    assert.match((await host.heard('ui/download-file'))[0].params.contents[0].resource.text, /^Month,Newark,Kennedy\r\nJan 2013,/);
    await frame.click('.key:nth-child(2)');
    await frame.click('.key:nth-child(1)');
    assert.equal(await ways(), 4, 'when the last would go, all come back');
    assert.deepEqual(await frame.$$eval('.key', (all) => all.map((one) => one.getAttribute('aria-pressed'))), ['true', 'true', 'true']);
  });
}

/** Tips by mouse, touch and keyboard. */
async function pointing() {
  const tip = (frame) => frame.evaluate(() => [...document.querySelectorAll('.tip:not([hidden]) > *')].map((one) => one.textContent));
  const expected = ['May 2013', 'Newark10,150', 'Kennedy9,100', 'La Guardiano value'];
  await check('tips by mouse and keyboard', 'chart', {}, async (host, frame) => {
    await host.show(results.seasons, '.plot svg');
    const { width } = await frame.locator('.plot').boundingBox();
    await frame.hover('.plot', { position: { x: 50 + ((width - 60) * 4) / 11, y: 100 } });
    assert.deepEqual(await tip(frame), expected);
    const [box, plot] = [await frame.locator('.tip').boundingBox(), await frame.locator('.plot').boundingBox()];
    assert.ok(box.x >= plot.x && box.x + box.width <= plot.x + plot.width && box.y >= plot.y, 'it is inside the chart');
    await host.page.screenshot({ path: `${pictures}/tip.png` });
    await host.page.mouse.move(1, 1);
    assert.deepEqual(await tip(frame), []);

    await frame.focus('.plot');
    for (let at = 0; at < 5; at++) await host.page.keyboard.press('ArrowRight');
    assert.deepEqual(await tip(frame), expected);
    assert.equal(await spoken(frame), 'May 2013: Newark 10,150, Kennedy 9,100, La Guardia no value');
    await host.page.keyboard.press('End');
    await host.page.keyboard.press('ArrowRight');
    assert.equal((await tip(frame))[0], 'Dec 2013');
    await host.page.keyboard.press('Escape');
    assert.deepEqual(await tip(frame), []);
  });
  await check('tips by touch', 'chart', { width: 320, touch: true }, async (host, frame) => {
    await host.show(results.ranking, '.plot svg');
    await frame.tap('.plot', { position: { x: 160, y: 60 } });
    assert.deepEqual(await tip(frame), ['JetBlue Airways', 'Number of flights54,635']);
    await host.page.screenshot({ path: `${pictures}/touch.png` });
    await frame.tap('.answer');
    assert.deepEqual(await tip(frame), []);
  });
  await check('each kind has tips', 'chart', {}, async (host, frame) => {
    await host.show(results.three, '.plot svg');
    for (const [kind, first] of [['pie', ['Economy', 'Share48.2%']], ['bar', ['Q1', '2023410,000', '2022380,000']],
      ['scatter', ['Carrier A', 'Distance (mi)180', 'Average delay (min)−4.5']]]) {
      await frame.focus(`.${kind} .plot`);
      await host.page.keyboard.press('ArrowRight');
      assert.deepEqual(await tip(frame), first);
    }
  });
}

/** Full screen, colours, motion, and the way of the tab key. */
async function screens() {
  await check('full screen', 'chart', { most: 500 }, async (host, frame) => {
    await host.show(results.ranking, '.plot svg');
    const mode = (name) => frame.waitForFunction((name) => document.documentElement.dataset.mode === name, name);
    await press(frame, 'Full screen');
    await mode('fullscreen');
    await host.page.setViewportSize({ width: 1360, height: 900 });
    await frame.waitForFunction(() => document.querySelector('.plot svg').clientWidth > 1000);
    await host.page.screenshot({ path: `${pictures}/fullscreen-chart.png` });
    await press(frame, 'Table');
    await host.page.screenshot({ path: `${pictures}/fullscreen-table.png` });
    await host.page.keyboard.press('Escape');
    await mode('inline');
    assert.deepEqual((await host.heard('ui/request-display-mode')).map(({ params }) => params.mode), ['fullscreen', 'inline']);
    const messages = await host.all();
    assert.ok(messages.length > 3);
    for (const message of messages.filter(({ method }) => method)) assert.ok(isOfTheProtocol(message), JSON.stringify(message));
  });
  await check('rows in full screen', 'table', {}, async (host, frame) => {
    await host.show(results.wide, 'table');
    await press(frame, 'Full screen');
    await host.page.setViewportSize({ width: 1360, height: 900 });
    await frame.waitForFunction(() => document.querySelector('.scroll').clientHeight > 700);
    assert.ok(await frame.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight), 'only the rows scroll');
    await host.page.screenshot({ path: `${pictures}/fullscreen-rows.png` });
  });
  await check('a host without full screen', 'table', { modes: ['inline'] }, async (host, frame) => {
    await host.show(results.query, 'table');
    assert.equal(await frame.locator('button:visible', { hasText: 'Full screen' }).count(), 0);
    await host.page.keyboard.press('Escape');
    assert.deepEqual(await host.heard('ui/request-display-mode'), []);
  });
  const variables = { '--color-background-primary': 'light-dark(#faf9f5, #30302e)', '--color-background-secondary': 'light-dark(#f0eee6, #262624)',
    '--color-text-primary': 'light-dark(#141413, #faf9f5)', '--color-text-secondary': 'light-dark(#3d3d3a, #c2c0b6)',
    '--color-border-primary': 'light-dark(#1f1e1d26, #dedcd126)', '--font-sans': 'Georgia, serif', '--font-mono': 'url(https://evil.example/font)' };
  const ground = (frame) => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await check('colours of the host', 'chart', { theme: 'dark', styles: { variables } }, async (host, frame) => {
    await host.show(results.seasons, '.plot svg');
    assert.equal(await ground(frame), 'rgb(48, 48, 46)');
    assert.match(await frame.evaluate(() => getComputedStyle(document.body).fontFamily), /Georgia/);
    assert.deepEqual(await frame.evaluate(dullTexts), []);
    await host.page.screenshot({ path: `${pictures}/host-dark.png` });
    await host.tell({ method: 'ui/notifications/host-context-changed', params: { theme: 'light' } });
    await frame.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(250, 249, 245)');
    await host.page.screenshot({ path: `${pictures}/host-light.png` });
  });
  await check('colours that cannot be read', 'chart', { styles: { variables: { ...variables, '--color-text-primary': '#eeeeee' } } }, async (host, frame) => {
    assert.equal(await ground(frame), 'rgb(255, 255, 255)');
  });
  await check('the way of the tab key', 'chart', {}, async (host, frame) => {
    await host.show(results.ranking, '.plot svg');
    await frame.evaluate(() => { document.body.tabIndex = -1; document.body.focus(); });
    const way = [];
    for (let at = 0; at < 8; at++) {
      await host.page.keyboard.press('Tab');
      way.push((await focused(frame)).replace(/\..*/s, ''));
    }
    assert.deepEqual(way, ['Chart', 'Table', 'Full screen', 'Order', 'Copy CSV', 'Save CSV', 'Number of flights by carrier', 'SQL']);
    const outline = await frame.$eval('summary', (one) => getComputedStyle(one).outlineStyle);
    assert.equal(outline, 'solid', 'one sees where the focus is');
    const moves = () => frame.$eval('button', (one) => getComputedStyle(one).transitionDuration);
    assert.equal(await moves(), '0s', 'nothing moves for whom it disturbs');
    await host.page.emulateMedia({ reducedMotion: 'no-preference' });
    assert.notEqual(await moves(), '0s');
  });
}

/** What a view says to its host, by the schemas of the standard's own library. */
function isOfTheProtocol(message) {
  const schemas = { 'ui/initialize': 'McpUiInitializeRequestSchema', 'ui/notifications/initialized': 'McpUiInitializedNotificationSchema',
    'ui/notifications/size-changed': 'McpUiSizeChangedNotificationSchema', 'ui/request-display-mode': 'McpUiRequestDisplayModeRequestSchema',
    'ui/download-file': 'McpUiDownloadFileRequestSchema' };
  return message.jsonrpc === '2.0' && apps[schemas[message.method]].safeParse({ method: message.method, params: message.params }).success;
}

/** Results that are neither rows nor charts, and what a host says besides. */
async function others() {
  for (const view of ['chart', 'table']) {
    await check(`other results in the ${view} view`, view, {}, async (host, frame) => {
      const [hello] = await host.heard('ui/initialize');
      assert.ok(isOfTheProtocol(hello));
      assert.deepEqual(hello.params.appCapabilities.availableDisplayModes, ['inline', 'fullscreen']);
      assert.equal(hello.params.appInfo.name, `dragoman-${view}`);
      await host.show(results.questions, '.asked');
      assert.deepEqual(await texts(frame, 'h2'), ['Which <b>date</b> counts?', 'Revenue with or without tax?']);
      await host.show(results.failure, '.failed');
      assert.match(await frame.textContent('.failed'), /There is no table fligths\. Did you mean flights\?$/);
      await host.show({ content: [{ type: 'text', text: 'Only <i>words</i>.' }] }, '.answer');
      assert.equal(await frame.textContent('.answer'), 'Only <i>words</i>.');
      const { content, structuredContent } = results.query;
      await host.show({ content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }, 'table');
      assert.equal(await frame.locator('tbody tr').count(), 4, 'a host that keeps the structure back');
      await host.show({ content, structuredContent: { ...structuredContent, rows: [], row_count: 0, total_rows: 0 } }, '.nothing');
      assert.equal(await frame.textContent('.count'), '0 rows · 8 columns');
      await host.tell({ method: 'ui/notifications/tool-cancelled', params: { reason: 'stop' } });
      await frame.waitForFunction(() => document.getElementById('view').textContent === 'The call was cancelled.');
      await host.tell({ id: 'odd', method: 'odd/method', params: {} });
      await host.page.waitForFunction(() => window.heard.some((message) => message.id === 'odd' && message.error.code === -32601));
    });
  }
}
