// Every page that people see, in one browser: by day and by night, wide and narrow, and by the keyboard alone.
// node pages.mjs <address> <email> <password> <pages as JSON>
//   pages: [{ path, by: "stranger" | "person", status, lands }]; `lands` is the path that a page leads on to, where it does
// PICTURES names a folder for pictures of all of them. Prints what is wrong, a line each, and ends with an error then.
import { chromium } from 'playwright-core';
import { mkdirSync, readFileSync } from 'node:fs';
import { FLAGS } from './browser.mjs';

const AXE = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const AT_ONCE = 3;
/** Each colour and each width is held against every rule; the other two are measured alone, which is quick. */
const LOOKS = [
  { colour: 'light', width: 1100, rules: true }, { colour: 'light', width: 420 },
  { colour: 'dark', width: 1100 }, { colour: 'dark', width: 420, rules: true },
];

const [base, email, password, list] = process.argv.slice(2);
const pictures = process.env.PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });
const wrong = [];

/** A page of a browser whose complaints are collected under the name of what it shows. */
const watched = async (context, name) => {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.on('console', (message) => {
    // The status of a page is what it is looked at for.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) wrong.push(`${name()}: the browser says: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`${name()}: a script failed: ${error}`));
  page.on('requestfailed', (request) => {
    // What a page asks again and again is given up when it is left.
    if (request.resourceType() === 'fetch' && request.failure()?.errorText === 'net::ERR_ABORTED') return;
    wrong.push(`${name()}: ${request.url()} did not arrive`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`) && !/^(data|blob):/.test(request.url())) wrong.push(`${name()}: asks elsewhere: ${request.url()}`);
  });
  return page;
};

/** What the keyboard does not reach, or reaches without showing where it is. */
const unreached = async (page) => {
  const count = await page.evaluate(() => {
    const usable = (it) => !it.disabled && it.type !== 'hidden' && it.tabIndex >= 0 && it.checkVisibility({ visibilityProperty: true }) && !it.closest('[inert]');
    window.toReach = new Set([...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(usable));
    window.unmarked = [];
    document.addEventListener('focusin', ({ target }) => {
      // Of a group of radio buttons the keyboard reaches one, and the arrows the others.
      const same = (it) => it === target || (target.type === 'radio' && it.type === 'radio' && it.name === target.name && it.form === target.form);
      const before = window.toReach.size;
      for (const it of window.toReach) if (same(it)) window.toReach.delete(it);
      const marked = [target, ...['.sheet', '.clients li'].map((box) => target.closest(box))].filter(Boolean);
      if (before > window.toReach.size && !marked.some((it) => getComputedStyle(it).outlineStyle !== 'none' || it.classList.contains('skip'))) window.unmarked.push(target);
    });
    document.activeElement?.blur();
    return window.toReach.size;
  });
  // What can be moved sideways is a stop of its own, and is none of these.
  for (let pressed = 0; pressed < 2 * count + 20; pressed += 1) {
    await page.keyboard.press('Tab');
    if (pressed >= count && await page.evaluate(() => window.toReach.size === 0)) break;
  }
  return page.evaluate(() => {
    const told = (it) => `<${it.localName}> ${(it.getAttribute('aria-label') ?? it.textContent ?? it.name ?? '').trim().slice(0, 40) || it.name}`;
    return [...[...window.toReach].map((it) => `Tab does not reach ${told(it)}`), ...window.unmarked.map((it) => `${told(it)} does not show that it is chosen`)];
  });
};

/** What a table shows badly: short words that are broken, and buttons that are out of sight on a wide screen. */
const ofTables = (page, isWide) => page.evaluate((isWide) => {
  const wrong = [];
  for (const cell of document.querySelectorAll('.scroll :is(th, td)')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement.closest('.hidden')) continue;
      for (const { 0: word, index } of text.data.matchAll(/(?<!\S)[\p{L}\p{N}]{2,10}(?!\S)/gu)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) wrong.push(`${word} is broken`);
      }
    }
    const right = cell.closest('.scroll').getBoundingClientRect().right;
    const hidden = [...cell.querySelectorAll('button')].filter((it) => it.getBoundingClientRect().right > right + 1);
    if (isWide) wrong.push(...hidden.map((it) => `${it.textContent} is out of sight`));
  }
  return wrong;
}, isWide);

const look = async (page, { path, status = 200, lands }, name) => {
  const answer = await page.goto(`${base}${path}`);
  if (answer.status() !== status) return wrong.push(`${path}: ${answer.status()} instead of ${status}`);
  const at = new URL(page.url()).pathname;
  const wanted = lands ?? new URL(path, base).pathname;
  if (at !== wanted) return wrong.push(`${path}: leads to ${at}`);
  await page.evaluate(AXE);
  for (const { colour, width, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme: colour });
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) wrong.push(`${path}: ${over} pixels wider than the screen of ${width}`);
    wrong.push(...(await ofTables(page, width > 1000)).map((what) => `${path} (${width}): ${what}`));
    const { violations } = rules ? await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] })) : { violations: [] };
    for (const { id, impact, nodes } of violations) {
      if (impact === 'serious' || impact === 'critical' || id === 'landmark-unique') wrong.push(`${path} (${colour}, ${width}): ${id}: ${nodes.map((node) => node.target).join(' ')}`);
    }
    if (pictures) await page.screenshot({ path: `${pictures}/${name}-${colour}-${width}.png`, fullPage: true });
  }
  wrong.push(...(await unreached(page)).map((what) => `${path}: ${what}`));
};

/** Looks at all of them, several at a time. */
const sweep = async (context, pages) => {
  let next = 0;
  const one = async () => {
    let current = '';
    const page = await watched(context, () => current);
    while (next < pages.length) {
      const entry = pages[next];
      next += 1;
      current = entry.path;
      const name = `${entry.by}${entry.path.replace(/[?].{20,}/, '').replace(/[0-9a-f-]{36}/g, 'id').replace(/[/?=]/g, '-')}`;
      await look(page, entry, name).catch((problem) => wrong.push(`${current}: ${problem}`));
    }
    await page.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
};

/** From a file to an answer, without a mouse; a file is left waiting, whose page is returned. */
const byKeyboard = async (context) => {
  const page = await watched(context, () => 'by the keyboard');
  // Choosers are caught only while somebody listens, and it takes a while until they are.
  page.on('filechooser', () => {});
  const reach = async (locator) => {
    await locator.first().waitFor();
    // A script that comes last may put another control where one was.
    await page.waitForLoadState();
    for (let pressed = 0; pressed < 150; pressed += 1) {
      if (await locator.first().evaluate((it) => it === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach ${locator}`);
  };
  const enter = async (role, name, key = 'Enter') => {
    await reach(page.getByRole(role, { name, exact: true }));
    await page.keyboard.press(key);
  };
  const bring = async (name, text) => {
    await reach(page.locator('input[type="file"]'));
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    await chooser.setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  };
  await page.goto(`${base}/login?return_to=/w/acme`);
  await reach(page.getByLabel(/e-?mail/i));
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Bring files' }).waitFor();
  // A menu opens, and closes again with the person where they were.
  const [menu, inside] = [page.getByRole('button', { name: email, exact: true }), page.getByRole('link', { name: 'Connected apps' })];
  await reach(menu);
  await page.keyboard.press('Enter');
  await reach(inside);
  await page.keyboard.press('Escape');
  await inside.waitFor({ state: 'hidden' });
  if (!await menu.evaluate((it) => it === document.activeElement)) wrong.push('by the keyboard: Escape leaves a menu for elsewhere');
  await bring('visits.csv', 'town,visits\nOslo,3\nBergen,4\nOslo,5\n');
  await enter('button', 'Import it');
  await enter('link', 'See it, and publish it');
  await enter('button', 'Publish it to AI clients');
  await page.getByRole('button', { name: 'Withdraw it from AI clients' }).waitFor();
  await enter('link', 'Connect');
  await enter('link', 'Cursor');
  await page.getByRole('heading', { name: 'Connect Cursor' }).waitFor();
  const copy = page.locator('[data-copy] button').first();
  await reach(copy);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Copy / }).filter({ hasText: /Copied|Selected/ }).first().waitFor();
  await enter('button', 'Run the test');
  await page.getByText(/Everything that could be tried works|steps failed/).waitFor();
  await enter('link', 'Ask your data');
  await enter('link', 'SQL');
  await reach(page.locator('#sql'));
  await page.keyboard.type('SELECT town, sum(visits)::BIGINT AS visits FROM visits GROUP BY town ORDER BY town');
  await page.keyboard.press('Escape');
  await enter('button', 'Run');
  await page.getByRole('heading', { name: '2 rows' }).waitFor();
  const cells = await page.locator('table.result td').allInnerTexts();
  if (cells.join() !== 'Bergen,4,Oslo,8') wrong.push(`by the keyboard: the answer is ${cells}`);
  await page.goto(`${base}/w/acme`);
  await bring('waiting.csv', 'zip,n\n01234,1\n');
  const path = await page.getByRole('link', { name: 'Look at it and correct it' }).getAttribute('href');
  await page.close();
  return { path, by: 'person' };
};

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const pages = JSON.parse(list);
  const began = Date.now();
  await sweep(await browser.newContext(), pages.filter(({ by }) => by === 'stranger'));
  const context = await browser.newContext();
  const waiting = await byKeyboard(context).catch(async (problem) => {
    const [page] = context.pages();
    if (pictures) await page?.screenshot({ path: `${pictures}/failed.png`, fullPage: true });
    throw problem;
  });
  await sweep(context, [...pages.filter(({ by }) => by === 'person'), waiting]);
  console.error(`${pages.length + 1} pages in ${Math.round((Date.now() - began) / 1000)} s`);
} finally {
  await browser.close();
}
for (const line of new Set(wrong)) console.log(line);
process.exitCode = wrong.length ? 1 : 0;
