// How long somebody new takes from a program that runs to the first right number in an AI client, step by step.
// node walk.mjs <program> <folder for data and pictures>
// Every step is done for real, in a browser, a shell and the maker's own MCP library; what the machine takes is measured, and
// what the person takes is counted as the keystroke-level model counts it for somebody who is not fast (Card, Moran, Newell
// 1980): a key 0.28 s, pointing and clicking 1.3 s, making up one's mind 1.35 s. Of new pages 28 % of the words are read, as
// people do at most (Weinreich and others 2008, by Nielsen's reckoning), at 230 words a minute; beside it stands what it takes
// to read every word.
import { chromium } from 'playwright-core';
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { FLAGS, callback } from './browser.mjs';

const [program, folder] = process.argv.slice(2);
const KEY = 0.28;
const POINT = 1.3;
const MIND = 1.35;
const WORDS_A_SECOND = 230 / 60;
const READ = 0.28;
/** What a model takes to choose a tool and to write the query, twice, and to say the answer. */
const MODEL = 15;

const port = await new Promise((found) => {
  const server = createServer().listen(0, '127.0.0.1', () => { const { port: free } = server.address(); server.close(() => found(free)); });
});
const base = `http://127.0.0.1:${port}`;
const environment = {
  ...process.env, DRAGOMAN_LOG: 'warn', DRAGOMAN_LISTEN: `127.0.0.1:${port}`, DRAGOMAN_PUBLIC_URL: base, DRAGOMAN_DATA_DIR: `${folder}/data`,
};
const command = async (line) => {
  const words = line.match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ''));
  return (await promisify(execFile)(program, words, { env: environment, cwd: folder })).stdout;
};

const steps = [];
let person = 0;
let words = 0;
const typed = (text) => { person += MIND + KEY * text.length; };
const pointed = (times = 1) => { person += (MIND + POINT) * times; };
const step = async (name, work) => {
  person = 0;
  words = 0;
  const began = process.hrtime.bigint();
  await work();
  const machine = Number(process.hrtime.bigint() - began) / 1e9;
  steps.push({ step: name, person, machine, all: words / WORDS_A_SECOND });
};

const service = spawn(program, ['serve'], { env: environment, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const page = await (await browser.newContext()).newPage();
  for (const end = Date.now() + 60_000; ;) {
    if (await fetch(`${base}/api/v1/ext/health`).then((answer) => answer.ok, () => false)) break;
    if (Date.now() > end || service.exitCode !== null) throw new Error('the program does not start');
    await new Promise((passed) => { setTimeout(passed, 50); });
  }
  const read = async () => { words += (await page.innerText('main')).split(/\s+/).length; };
  const press = async (name) => { pointed(); await page.getByRole('button', { name, exact: true }).first().click(); };
  const follow = async (name) => { pointed(); await page.getByRole('link', { name, exact: true }).first().click(); };
  const fill = async (label, text) => { pointed(); typed(text); await page.getByLabel(label).fill(text); };

  let password;
  await step('in a shell: a workspace and who manages it', async () => {
    const line = 'admin workspace create acme --name "Acme Ltd" --admin ada@example.com --open';
    typed(`dragoman ${line}`);
    password = /^Password.*: (\S+)$/m.exec(await command(line))?.[1];
    if (!password) throw new Error('no password was printed');
  });
  await step('log in', async () => {
    typed(base);
    await page.goto(base);
    await read();
    if (!(await page.getByLabel(/password/i).count())) await follow('Sign in');
    await fill(/e-?mail/i, 'ada@example.com');
    pointed(2); // to copy the password, and to put it in
    await page.getByLabel(/password/i).fill(password);
    await press('Sign in');
    await page.waitForLoadState();
  });
  await step('bring a file', async () => {
    if (!page.url().includes('/w/acme')) {
      pointed();
      await page.getByRole('link', { name: /acme/i }).first().click();
    }
    await page.getByRole('heading', { name: 'Bring files' }).waitFor();
    await read();
    const rows = Array.from({ length: 500 }, (_, n) => `${n},${['Oslo', 'Bergen', 'Bodø'][n % 3]},${n % 50},2024-0${1 + (n % 9)}-11`);
    writeFileSync(`${folder}/orders.csv`, `id,town,amount,day\n${rows.join('\n')}\n`);
    pointed(3); // the button, the file, "Open"
    await page.locator('input[type="file"]').setInputFiles(`${folder}/orders.csv`);
    await page.getByText('orders: 500 rows, 4 columns found.').first().waitFor();
    await press('Import it');
    await page.getByText('orders: 500 rows, 4 columns. ').first().waitFor();
  });
  await step('say what it is, and publish it', async () => {
    await follow('See it, and publish it');
    await page.getByRole('heading', { name: 'What it is' }).waitFor();
    await read();
    await fill('Description of amount', 'Euros, without tax');
    await press('Save');
    await page.getByText('Saved.').waitFor();
    await press('Publish it to AI clients');
    await page.getByRole('button', { name: 'Withdraw it from AI clients' }).waitFor();
  });
  await page.screenshot({ path: `${folder}/published.png`, fullPage: true });

  let address;
  await step('find the guide of the client', async () => {
    await follow('Connect');
    await page.getByRole('heading', { name: 'Connect a client' }).waitFor();
    await read();
    pointed();
    await page.getByRole('link', { name: 'Claude Code' }).first().click();
    await page.getByRole('heading', { name: 'Connect Claude Code' }).waitFor();
    await read();
    address = /https?:\S+\/mcp/.exec(await page.locator('.guide').innerText())[0];
  });
  const back = await callback();
  const kept = {};
  const authProvider = {
    redirectUrl: back.url,
    clientMetadata: {
      client_name: 'A client', redirect_uris: [back.url], token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    },
    state: () => 'walk',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
    redirectToAuthorization: (to) => { kept.authorization = to; },
  };
  const open = () => new StreamableHTTPClientTransport(new URL(address), { authProvider });
  const client = () => new Client({ name: 'walk', version: '1.0.0' });
  let connected;
  await step('connect it', async () => {
    pointed(3); // copy, the other window, put it in
    typed('/mcp');
    const first = open();
    await client().connect(first).then(() => { throw new Error('it was let in'); }, () => {});
    await page.goto(String(kept.authorization));
    await page.waitForURL(/consent/);
    await read();
    await page.screenshot({ path: `${folder}/consent.png`, fullPage: true });
    pointed();
    await page.getByRole('button', { name: /approve|allow/i }).click();
    await first.finishAuth((await back.response).get('code'));
    back.close();
    connected = client();
    await connected.connect(open());
  });
  await step('ask', async () => {
    const question = 'What is the total amount by town?';
    typed(question);
    person += MODEL;
    await connected.listTools();
    const call = async (name, given) => {
      const answer = await connected.callTool({ name, arguments: given });
      if (answer.isError) throw new Error(JSON.stringify(answer.content));
      return answer.structuredContent;
    };
    const { datasets } = await call('dragoman_list_datasets', {});
    await call('dragoman_get_schema', { dataset_id: datasets[0].name });
    const { rows } = await call('dragoman_sql', { sql: `SELECT town, sum(amount) AS total FROM ${datasets[0].name} GROUP BY town ORDER BY town` });
    const sums = {};
    for (let n = 0; n < 500; n += 1) sums[['Oslo', 'Bergen', 'Bodø'][n % 3]] = (sums[['Oslo', 'Bergen', 'Bodø'][n % 3]] ?? 0) + (n % 50);
    const wanted = ['Bergen', 'Bodø', 'Oslo'].map((town) => [town, sums[town]]);
    const told = rows.map((row) => [row[0] ?? row.town, Number(row[1] ?? row.total)]);
    if (JSON.stringify(told) !== JSON.stringify(wanted)) throw new Error(`a wrong number: ${JSON.stringify(rows)}`);
  });
  await connected.close();
  await step('see in the console that it came', async () => {
    await page.goto(`${base}/w/acme/connect/claude-code`);
    await read();
    await page.screenshot({ path: `${folder}/seen.png`, fullPage: true });
  });
} catch (problem) {
  const [page] = browser.contexts().flatMap((context) => context.pages());
  await page?.screenshot({ path: `${folder}/failed.png`, fullPage: true });
  throw problem;
} finally {
  await browser.close();
  service.kill();
}

const last = steps.findIndex(({ step: name }) => name === 'ask');
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;
let [total, whole] = [0, 0];
console.log('person   reads all   machine   since the start   reading all   step');
for (const [index, { step: name, person: acts, machine, all }] of steps.entries()) {
  const by = acts + all * READ;
  total += by + machine;
  whole += acts + all + machine;
  const seconds = (count, width) => `${count.toFixed(0).padStart(width)} s`;
  console.log(`${seconds(by, 4)}   ${seconds(acts + all, 7)}   ${machine.toFixed(1).padStart(5)} s   ${clock(total).padStart(15)}   ${clock(whole).padStart(11)}   ${name}`);
  if (index === last && total > 300) process.exitCode = 1;
}
console.log(process.exitCode ? 'longer than five minutes to the first right number' : 'the first right number within five minutes');
