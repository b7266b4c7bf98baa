// A person at a browser who brings files, says what they are, publishes them, looks through them and asks.
// node data.mjs <address> <email> <password> <folder for pictures> <light | dark>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { chromium } from 'playwright-core';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { FLAGS } from './browser.mjs';

const AXE = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const [base, email, password, pictures, colour] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const width = colour === 'dark' ? 420 : 1100;
  const context = await browser.newContext({ colorScheme: colour, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const problems = [];
  // The status of a refused form is what the page is about, and a connection that breaks is meant to.
  const meant = (text) => text.includes('status of 422') || text.includes('status of 503') || text.includes('ERR_FAILED');
  page.on('console', (message) => {
    if (message.type() === 'error' && !meant(message.text())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:')) problems.push(request.url());
  });
  const wide = [];
  const faults = [];
  let shots = 0;
  const picture = async (name) => {
    shots += 1;
    await page.screenshot({ path: `${pictures}/${String(shots).padStart(2, '0')}-${name}-${colour}.png`, fullPage: true });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(name);
    // What keeps people with other means than eyes and a mouse from using the page.
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    for (const { id, impact, nodes } of violations) {
      if (impact === 'serious' || impact === 'critical') faults.push(`${name}: ${id} ${nodes.map((node) => node.target).join(' ')}`);
    }
  };
  const press = (name) => page.getByRole('button', { name, exact: true }).click();
  const csv = (name, text) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  const rows = 'town,day,amount\nOslo,2024-01-01,12.50\nBergen,2024-01-02,7.00\nOslo,2024-01-03,\n';
  const table = `sales_${colour}`;

  await page.goto(`${base}/login?return_to=/w/acme`);
  await page.getByLabel(/e-?mail/i).fill(email);
  await page.getByLabel(/password/i).fill(password);
  await press('Sign in');
  await page.getByRole('heading', { name: 'Bring files' }).waitFor();
  await picture('overview-empty');

  // Several at once, one of them broken, in its line. What was found is said before anything is kept.
  const files = page.locator('input[type="file"]');
  const item = (name) => page.getByRole('listitem').filter({ hasText: name });
  await files.setInputFiles([csv(`${table}.csv`, rows), csv('broken.jsonl', '{"a":1}\n{"a":2}\n{"a":x}\n')]);
  await page.getByText(/line 3/).first().waitFor();
  await page.getByText(`${table}: 3 rows, 3 columns found. Nothing is imported yet.`).first().waitFor();
  await picture('found');
  await item(`${table}.csv`).first().getByRole('button', { name: 'Import it' }).click();
  await page.getByText(`${table}: 3 rows, 3 columns. `).first().waitFor();
  // The rest of the page knows it by then.
  await page.getByRole('region', { name: 'Datasets' }).getByRole('link', { name: table, exact: true }).waitFor();
  await picture('uploaded');

  // One that is there already is asked about.
  await files.setInputFiles([csv(`${table}.csv`, rows)]);
  await page.getByRole('button', { name: `Replace the rows of ${table}` }).waitFor();
  await picture('asked');
  const replaced = (await page.getByRole('button', { name: `Call it ${table}_2` }).count()) === 1 && 'asked first';
  await page.getByRole('button', { name: `Replace the rows of ${table}` }).click();
  await page.getByText(`${table}: 3 rows, 3 columns. `).nth(1).waitFor();

  // Dropped, over a connection that breaks: it goes on by itself.
  await page.route('**/uploads/*', (route) => route.abort('failed'), { times: 2 });
  await page.evaluate(([name, text]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name));
    document.querySelector('[data-drop]').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true }));
  }, [`notes_${colour}.md`, '# Notes\n\nOslo is in Norway.']);
  await page.getByText('The connection broke. It goes on by itself.').first().waitFor();
  const broken = true;
  await page.getByText(`notes_${colour}: 1 text found`).first().waitFor();
  await item(`notes_${colour}.md`).first().getByRole('button', { name: 'Import it' }).click();
  await page.getByText(`notes_${colour}: 1 passage`).first().waitFor();
  const dropped = true;

  // Documents are one dataset together, whatever their formats; a folder is refused in words.
  const paper = (name, text) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  const web = '<!doctype html><title>Oslo</title><p>Oslo is in Norway.</p>';
  await files.setInputFiles([paper(`oslo_${colour}.html`, web), paper(`bergen_${colour}.md`, '# Bergen\n\nIn the west.')]);
  await page.getByText(`oslo_${colour}: 2 texts found`).first().waitFor();
  await page.evaluate(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(['x'], 'handbook'));
    // No script can make a folder.
    const { webkitGetAsEntry } = DataTransferItem.prototype;
    DataTransferItem.prototype.webkitGetAsEntry = () => ({ isDirectory: true });
    document.querySelector('[data-drop]').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true }));
    DataTransferItem.prototype.webkitGetAsEntry = webkitGetAsEntry;
  });
  await page.getByText('A folder cannot be taken: drop its files, or a ZIP of it.').first().waitFor();

  // A type that was found wrongly is corrected by the keyboard, and what does not fit is named with its line.
  await files.setInputFiles([csv(`shops_${colour}.csv`, 'zip,price,secret\n01234,1.5,x\n00007,n/a,y\n00010,2.5,z\n')]);
  const few = 'price: 2 of 3 values are numbers; 1 is not: "n/a" (line 3).';
  await item(`shops_${colour}.csv`).first().getByText(few).waitFor();
  await item(`shops_${colour}.csv`).first().getByRole('link', { name: 'Look at it and correct it' }).click();
  await page.getByRole('heading', { name: 'What was found in' }).waitFor();
  await page.getByText(few).waitFor();
  await picture('check');
  await page.getByLabel('Type of price').selectOption('DOUBLE');
  await page.getByLabel('Type of secret').selectOption('DATE');
  await press('Look again with these corrections');
  await page.getByRole('alert').getByText('line 2').first().waitFor();
  await picture('unfit');
  await page.getByLabel('Type of secret').selectOption('VARCHAR');
  await page.getByLabel('Type of zip').focus();
  await page.keyboard.type('text');
  await page.getByLabel('Import secret').focus();
  await page.keyboard.press('Space');
  await press('Look again with these corrections');
  await page.getByRole('cell', { name: '00007' }).first().waitFor();
  await page.getByText('price: 1 of 3 values says nothing and is left empty: "n/a" (line 3).').waitFor();
  await picture('corrected');
  await press('Import it');
  await page.getByRole('heading', { name: `shops_${colour}` }).waitFor();
  const corrected = await page.getByText('3 rows, 2 columns').first().isVisible();
  await page.getByLabel('Hide price from AI clients').check();
  await press('Save');
  await page.getByText('hidden from AI clients', { exact: true }).first().waitFor();
  await picture('hidden');

  // A disk that is full is said in the words of the service at once, and the file is taken when there is room again.
  await page.goto(`${base}/w/acme`);
  const error = { code: 'service_unavailable', message: 'The disk of the service is full, and nothing of this was kept.', details: { limit: 'disk' } };
  await page.route('**/uploads/*', (route) => route.fulfill({ status: 503, json: { error } }), { times: 1 });
  await files.setInputFiles([csv(`full_${colour}.csv`, 'a\n1\n')]);
  await item(`full_${colour}.csv`).getByText(error.message).waitFor();
  await picture('full');
  await files.setInputFiles([csv(`full_${colour}.csv`, 'a\n1\n')]);
  await page.getByText(`full_${colour}: 1 row, 1 column found.`).first().waitFor();

  // A file that waits is found again.
  await page.goto(`${base}/w/acme`);
  await page.route('**/check', (route) => route.abort('failed'), { times: 1 });
  await files.setInputFiles([csv(`later_${colour}.csv`, 'a\n1\n')]);
  await page.getByText('The connection broke while the file was read.').first().waitFor();
  await page.goto(`${base}/w/acme`);
  await page.getByRole('heading', { name: 'Files that wait' }).waitFor();
  await picture('waiting');
  await page.getByRole('button', { name: `Throw it away: later_${colour}.csv` }).click();
  await page.getByRole('heading', { name: 'Bring files' }).waitFor();
  if (await page.getByText(`later_${colour}.csv`).count()) throw new Error('it is still there');

  // A tab that is closed in the middle of a file: another one goes on with it, for whoever chooses the same file.
  const large = `${pictures}/closed_${colour}.csv`;
  writeFileSync(large, `n,word\n${'1234567,abcdefgh\n'.repeat(1_200_000)}`);
  const tab = await context.newPage();
  const line = await context.newCDPSession(tab);
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 8 << 20 };
  await line.send('Network.emulateNetworkConditions', slow);
  // Its last piece never leaves, however long the closing takes.
  const isLast = (request) => request.method() === 'PATCH' && Number(request.headers()['upload-offset']) >= 16 << 20;
  await tab.route('**/uploads/**', (route) => (isLast(route.request()) ? route.abort() : route.continue()));
  await tab.goto(`${base}/w/acme`);
  const second = tab.waitForRequest((request) => request.method() === 'PATCH' && request.headers()['upload-offset'] !== '0');
  await tab.locator('input[type="file"]').setInputFiles(large);
  const upload = (await second).url();
  await tab.close();
  const resumed = [];
  page.on('request', (request) => {
    const { 'upload-offset': from } = request.headers();
    if (request.url().includes('/uploads')) resumed.push([request.method(), Number(from ?? -1), request.url() === upload]);
  });
  await page.goto(`${base}/w/acme`);
  await files.setInputFiles(large);
  await page.getByText(`closed_${colour}: 1200000 rows, 2 columns found.`).first().waitFor();
  rmSync(large);

  await page.getByRole('link', { name: `${table}`, exact: true }).click();
  await page.getByRole('heading', { name: table }).waitFor();
  await picture('dataset');
  await page.getByLabel('Title').fill(`Sales, ${colour}`);
  await page.getByLabel('Description of amount').fill('Euros, without tax');
  await press('Save');
  await page.getByText('Saved.').waitFor();
  await press('Publish it to AI clients');
  await page.getByRole('button', { name: 'Withdraw it from AI clients' }).waitFor();
  await picture('published');
  await page.getByText('Make its texts searchable').click();
  await page.getByRole('button', { name: 'Begin', exact: true }).waitFor();
  await picture('kept');

  await page.getByRole('link', { name: 'Rows', exact: true }).click();
  await page.getByRole('link', { name: 'amount' }).click();
  await page.getByText('Rows 1 to 3').waitFor();
  await picture('rows');
  await page.getByRole('link', { name: 'Figures', exact: true }).click();
  await page.getByRole('heading', { name: 'Columns in figures' }).waitFor();
  await picture('figures');

  // By the keyboard alone: a name is offered, chosen and taken; Ctrl and Enter runs it.
  await page.goto(`${base}/w/acme/ask?mode=sql`);
  await page.locator('#sql').focus();
  await page.keyboard.type('SELECT to');
  await page.getByRole('option', { name: 'town' }).waitFor();
  await picture('offered');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' FROM');
  const completed = await page.locator('#sql').inputValue();
  await page.locator('#sql').fill(
    `SELECT town, sum(amount) AS amount FROM ${table} GROUP BY town ORDER BY town`);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: '2 rows' }).waitFor();
  const drawn = await page.locator('.chart img').evaluate((image) => image.complete && image.naturalWidth > 0);
  await picture('ran');
  const [download] = await Promise.all([page.waitForEvent('download'), press('Download as CSV')]);
  const file = readFileSync(await download.path(), 'utf8');
  await page.goto(`${base}/w/acme/ask/history`);
  await picture('history');
  await page.goto(`${base}/w/acme/ask?mode=question`);
  await picture('question');
  await page.goto(`${base}/w/acme`);
  await picture('overview');

  if (problems.length) throw new Error(problems.join('\n'));
  console.log(JSON.stringify({ replaced, dropped, broken, resumed, corrected, completed, drawn, file, wide, faults }));
} catch (problem) {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) await page.screenshot({ path: `${pictures}/failed-${colour}.png`, fullPage: true });
  }
  throw problem;
} finally {
  await browser.close();
}
