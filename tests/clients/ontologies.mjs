// A person at a browser who makes an ontology of two tables and asks it: drafts, breaks it, mends it, checks it, asks,
// and looks at how the answer came about.
// node ontologies.mjs <address> <email> <password> <folder for pictures> <light | dark>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { chromium } from 'playwright-core';
import { mkdirSync } from 'node:fs';
import { FLAGS } from './browser.mjs';

const [base, email, password, pictures, colour] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const width = colour === 'dark' ? 420 : 1100;
  const context = await browser.newContext({ colorScheme: colour, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const problems = [];
  // The status of a refused form is what the page is about, and no complaint.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 422')) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:')) problems.push(request.url());
  });
  const wide = [];
  let shots = 0;
  const picture = async (name) => {
    await page.screenshot({ path: `${pictures}/${++shots}-${name}-${colour}.png`, fullPage: true });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(name);
  };
  const press = (name) => page.getByRole('button', { name, exact: true }).click();

  await page.goto(`${base}/login?return_to=/w/acme/ontologies/new`);
  await page.getByLabel(/e-?mail/i).fill(email);
  await page.getByLabel(/password/i).fill(password);
  await press('Sign in');
  await page.getByRole('heading', { name: 'New ontology' }).waitFor();
  await picture('new');
  await page.locator('#name').fill(`retail ${colour}`);
  // One box ticks all tables, or none. The language model, whom nobody has set up here, is not offered.
  const all = page.getByLabel('All tables');
  const ticked = () => page.locator('input[name="dataset_id"]').evaluateAll((them) => them.map((it) => it.checked));
  await all.setChecked(true);
  await all.setChecked(false);
  if ((await ticked()).some(Boolean)) problems.push('a table is ticked after all were left out');
  await all.setChecked(true);
  if (!(await ticked()).every(Boolean)) problems.push('a table is not ticked with all');
  if (await page.getByLabel(/Let the language model/).count()) problems.push('a language model is offered');
  await press('Draft');
  await page.locator('.gutter').waitFor();
  await picture('draft');

  const text = page.locator('#text');
  const draft = await text.inputValue();
  const at = draft.indexOf('datatype:', draft.indexOf('name: amount'));
  const broken = `${draft.slice(0, at)}datatype: Nonsense${draft.slice(draft.indexOf('\n', at))}`;
  await text.fill(broken);
  await press('Save');
  await page.locator('.problems').waitFor();
  await picture('error');
  const kept = await text.inputValue() === broken;
  await page.locator('a[data-line]').first().click();
  const selected = await text.evaluate((area) => {
    const start = area.value.lastIndexOf('\n', area.selectionStart - 1) + 1;
    return area.value.slice(start, area.selectionEnd);
  });
  const line = broken.slice(0, broken.indexOf('Nonsense')).split('\n').length;
  const marked = await page.locator('.gutter .bad').first().textContent() === String(line);

  await text.fill(draft);
  await press('Save');
  // With doubts it comes back to the editor, and without to the ontology.
  await page.getByRole('link', { name: 'About', exact: true }).click();
  await page.getByRole('heading', { name: 'Do the data keep it?' }).waitFor();
  await picture('about');
  await press('Check against the data');
  await page.getByText(/^checked /).waitFor();
  const status = await page.locator('h1 .tag').innerText();
  await picture('checked');

  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await picture('ask');
  await page.getByLabel('Your question').fill('total amount by city');
  await page.keyboard.press('Enter');
  await page.locator('.told').waitFor();
  const answer = await page.locator('.told').innerText();
  const chart = page.locator('.chart img').first();
  const drawn = await chart.evaluate((image) => image.complete && image.naturalWidth > 0);
  await picture('answer');
  await page.getByRole('link', { name: 'How this was answered' }).click();
  const steps = await page.getByRole('heading', { name: 'Steps' }).isVisible();
  await picture('trace');
  if (problems.length) throw new Error(`the browser complained: ${problems}`);
  console.log(JSON.stringify({ kept, selected, marked, status, answer, drawn, steps, wide }));
} catch (problem) {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      console.error(page.url(), await page.innerText('body').catch(() => ''));
      await page.screenshot({ path: `${pictures}/failed-${colour}.png`, fullPage: true });
    }
  }
  throw problem;
} finally {
  await browser.close();
}
