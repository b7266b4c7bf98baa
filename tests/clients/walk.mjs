// Somebody new, from a program that runs over an empty folder to the first right number, and to the end of the connection.
// node walk.mjs <program> <folder for data and pictures> <client | prompt> [timed]
//   client: an AI client connects over MCP, under the name of Claude Code, and signs in through the browser
//   prompt: a model that has nothing but text is told by the workspace's prompt, and writes commands for the person
// Every step is done for real, in a browser, a shell and the maker's own MCP library, and held to what it has to lead to.
// What the machine takes is measured, and what the person takes is counted as the keystroke-level model counts it for
// somebody who is not fast (Card, Moran, Newell 1980): a key 0.28 s, pointing and clicking 1.3 s, making up one's mind
// 1.35 s. Of new pages 28 % of the words are read, as people do at most (Weinreich and others 2008, by Nielsen's
// reckoning), at 230 words a minute; beside it stands what it takes to read every word.
// Prints the steps; ends with an error where something is not as it should be, or where the person takes longer than they
// may. `timed` counts the seconds of the machine too, for one that does nothing else.
import { chromium } from 'playwright-core';
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { FLAGS, callback } from './browser.mjs';

const [program, folder, way, timed] = process.argv.slice(2);
const KEY = 0.28;
const POINT = 1.3;
const MIND = 1.35;
const WORDS_A_SECOND = 230 / 60;
const READ = 0.28;
/** What a model takes to choose a tool and to write the query, twice, and to say the answer. */
const MODEL = 15;
/** The most that it may take, in seconds: from the program to the number, and of that with the guide. */
const WHOLE = 300;
const GUIDED = 180;
/** The milliseconds after which a step is given up. The browser and the library wait without end for some things. */
const LIMIT = 150_000;

const must = (holds, what) => { if (!holds) throw new Error(what); };
const same = (is, wanted, what) => must(JSON.stringify(is) === JSON.stringify(wanted), `${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(wanted)}`);

const port = await new Promise((found) => {
  const server = createServer().listen(0, '127.0.0.1', () => { const { port: free } = server.address(); server.close(() => found(free)); });
});
const base = `http://127.0.0.1:${port}`;
const environment = {
  ...process.env, DRAGOMAN_LOG: 'warn', DRAGOMAN_LISTEN: `127.0.0.1:${port}`, DRAGOMAN_ADMIN_LISTEN: 'off', DRAGOMAN_PUBLIC_URL: base,
  DRAGOMAN_DATA_DIR: `${folder}/data`,
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
  let limit;
  const late = new Promise((_, stop) => { limit = setTimeout(() => stop(new Error(`not done in ${LIMIT / 1000} s: ${name}`)), LIMIT); });
  await Promise.race([work(), late]).finally(() => clearTimeout(limit));
  const machine = Number(process.hrtime.bigint() - began) / 1e9;
  steps.push({ step: name, person, machine, all: words / WORDS_A_SECOND });
};

const TOWNS = ['Oslo', 'Bergen', 'Bodø'];
const orders = Array.from({ length: 500 }, (_, n) => ({ shop: 1 + (n % 4), town: TOWNS[n % 3], amount: n % 50, day: `2024-0${1 + (n % 9)}-11` }));
const QUESTION = 'What is the total amount by town?';
const totals = [...TOWNS].sort().map((town) => [town, orders.filter((it) => it.town === town).reduce((sum, it) => sum + it.amount, 0)]);
const SQL = 'SELECT town, sum(amount) AS total FROM orders GROUP BY town ORDER BY town';

const service = spawn(program, ['serve'], { env: environment, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const context = await browser.newContext();
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  for (const end = Date.now() + 60_000; ;) {
    if (await fetch(`${base}/api/v1/ext/health`).then((answer) => answer.ok, () => false)) break;
    must(Date.now() < end && service.exitCode === null, 'the program does not start');
    await new Promise((passed) => { setTimeout(passed, 50); });
  }
  // What is to be copied is for machines: nobody reads it.
  const read = async (of = page) => {
    const counts = [await of.innerText('main'), ...await of.locator('main pre').allInnerTexts()].map((text) => text.split(/\s+/).length);
    words += counts.reduce((all, copied) => all - copied);
  };
  const press = async (name, on = page) => { pointed(); await on.getByRole('button', { name, exact: true }).first().click(); };
  const follow = async (name) => { pointed(); await page.getByRole('link', { name, exact: true }).first().click(); };
  const fill = async (label, text) => { pointed(); typed(text); await page.getByLabel(label).fill(text); };
  const picture = (name, of = page) => of.screenshot({ path: `${folder}/${way}-${name}.png`, fullPage: true });

  let password;
  await step('in a shell: a workspace and who manages it', async () => {
    const line = 'admin workspace create acme --name "Acme Ltd" --admin ada@example.com --open';
    typed(`dragoman ${line}`);
    password = /^Password.*: (\S+)$/m.exec(await command(line))?.[1];
    must(password, 'no password was printed');
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
    const rows = orders.map(({ shop, town, amount, day }) => `${shop},${town},${amount},${day}`);
    writeFileSync(`${folder}/orders.csv`, `shop,town,amount,day\n${rows.join('\n')}\n`);
    pointed(3); // the button, the file, "Open"
    await page.locator('input[type="file"]').setInputFiles(`${folder}/orders.csv`);
    await page.getByText('orders: 500 rows, 4 columns found.').first().waitFor();
  });
  await step('correct a type that was found wrongly', async () => {
    await follow('Look at it and correct it');
    await page.getByRole('heading', { name: 'What was found in' }).waitFor();
    await read();
    same(await page.getByLabel('Type of shop').inputValue(), 'BIGINT', 'a number was found');
    pointed(2); // the list, and the type
    await page.getByLabel('Type of shop').selectOption('VARCHAR');
    await picture('found');
    await press('Import it');
    await page.getByRole('heading', { name: 'orders' }).waitFor();
    await page.getByText('500 rows, 4 columns').first().waitFor();
  });
  await step('say what it is, and publish it', async () => {
    await read();
    // What is typed and not saved is kept when it is published.
    await fill('Description of amount', 'Euros, without tax');
    await press('Publish it to AI clients');
    await page.getByRole('button', { name: 'Withdraw it from AI clients' }).waitFor();
  });
  await picture('published');

  const guide = way === 'client' ? 'Claude Code' : 'Any model, by a prompt';
  await step('find the guide', async () => {
    await follow('Connect');
    await page.getByRole('heading', { name: 'Connect a client' }).waitFor();
    await read();
    await follow(guide);
    await page.getByRole('heading', { name: `Connect ${guide}` }).waitFor();
    await read();
  });
  // The page of the guide stays as it is from here on: what comes is seen without loading it again.
  const stays = () => page.evaluate(() => { document.documentElement.dataset.stays = 'yes'; });
  const green = async (count) => {
    await page.locator('[data-seen] li.seen').nth(count - 1).waitFor();
    same(await page.evaluate(() => document.documentElement.dataset.stays), 'yes', 'the page was not loaded again');
  };
  const complete = async () => {
    await page.locator('[data-seen] [data-complete]').waitFor();
    await page.getByText('It works: the client asked, and was answered.').waitFor();
    same(await page.locator('[data-seen] li.waiting').count(), 0, 'checkpoints that wait');
    await picture('seen');
  };

  if (way === 'client') {
    const address = /https?:\S+\/mcp/.exec(await page.locator('.guide').innerText())[0];
    const back = await callback();
    const kept = {};
    const authProvider = {
      redirectUrl: back.url,
      clientMetadata: {
        client_name: guide, redirect_uris: [back.url], token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
      },
      state: () => 'walk',
      clientInformation: () => kept.client,
      saveClientInformation: (client) => { kept.client = client; },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => { kept.tokens = tokens; },
      invalidateCredentials: () => { kept.tokens = undefined; },
      saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
      codeVerifier: () => kept.verifier,
      redirectToAuthorization: (to) => { kept.authorization = to; },
    };
    const open = () => new StreamableHTTPClientTransport(new URL(address), { authProvider });
    const client = () => new Client({ name: 'claude-code', version: '1.0.0' });
    await stays();
    let connected;
    await step('connect it', async () => {
      pointed(3); // copy, the other window, put it in
      typed('/mcp');
      const first = open();
      await client().connect(first).then(() => { throw new Error('it was let in'); }, () => {});
      const tab = await context.newPage();
      await tab.goto(String(kept.authorization));
      await tab.waitForURL(/consent/);
      await read(tab);
      await picture('consent', tab);
      await press('Approve', tab);
      const answer = await back.response;
      same(answer.get('state'), 'walk', 'the state');
      // The browser closes no tab that is on its way to another page.
      await tab.waitForURL(/\/callback/);
      await first.finishAuth(answer.get('code'));
      await tab.close();
      back.close();
      connected = client();
      await connected.connect(open());
      await connected.listTools();
      await green(4);
    });
    await step('ask', async () => {
      typed(QUESTION);
      person += MODEL;
      const call = async (name, given) => {
        const answer = await connected.callTool({ name, arguments: given });
        must(!answer.isError, JSON.stringify(answer.content));
        return answer.structuredContent;
      };
      const { datasets } = await call('dragoman_list_datasets', {});
      same(datasets.map(({ name }) => name), ['orders'], 'what is published');
      const { columns } = await call('dragoman_get_schema', { dataset_id: 'orders' });
      const told = columns.map(({ name, type, description }) => [name, type, description]);
      same(told, [['shop', 'VARCHAR', ''], ['town', 'VARCHAR', ''], ['amount', 'BIGINT', 'Euros, without tax'], ['day', 'DATE', '']], 'the schema');
      const { rows } = await call('dragoman_sql', { sql: SQL });
      same(rows.map(([town, total]) => [town, Number(total)]), totals, 'the numbers');
    });
    await step('see in the console that it came', complete);
    await step('end the connection', async () => {
      await follow('Clients and tokens');
      await press('Disconnect Claude Code of ada@example.com');
      await page.getByText('Nobody has connected a client.').waitFor();
    });
    const next = await fetch(address, {
      method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
      headers: { authorization: `Bearer ${kept.tokens.access_token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
    same(next.status, 401, 'the next call');
    kept.authorization = undefined;
    const refused = await connected.callTool({ name: 'dragoman_list_datasets', arguments: {} }).then(() => null, (problem) => problem);
    must(refused && kept.authorization, `the client has to ask again to be let in: ${refused}`);
    await connected.close().catch(() => {});
  } else {
    let token;
    await step('make a token', async () => {
      await press(`Make a token for ${guide}`);
      token = await page.locator('[data-copy="the token"] code').innerText();
      await stays();
    });
    let line;
    await step('give the model its prompt', async () => {
      pointed(3); // copy, the other window, put it in
      const prompt = await page.locator('[data-copy="the prompt"] code').innerText();
      must(!prompt.includes(token) && !prompt.includes('dgmcp_'), 'no token is in the prompt');
      must(prompt.includes('- orders (id ') && prompt.includes('shop VARCHAR'), 'the prompt tells of the dataset');
      // The model has the form of a command, and of a request.
      const example = /^printf .*\/datasets$/m.exec(prompt)[0];
      must(/^- POST \/sql \{"sql": "SELECT …"\}/m.test(prompt), 'the prompt says how to run SQL');
      line = example.replace(/ (\S+)\/datasets$/, ` -H 'Content-Type: application/json' -d '${JSON.stringify({ sql: SQL })}' $1/sql`);
    });
    await step('ask', async () => {
      typed(QUESTION);
      person += MODEL;
      pointed(3); // the command that waits for the token: copied, the other window, put in
      const waits = await page.locator('.guide pre').filter({ hasText: 'read -rs' }).innerText();
      pointed(2); // the token, copied and put in
      pointed(2); // the command of the model, copied and put in
      const running = promisify(execFile)('bash', ['-euc', `${waits}\n${line}`]);
      running.child.stdin.end(`${token}\n`);
      const ran = await running;
      same(JSON.parse(ran.stdout).rows.map(([town, total]) => [town, Number(total)]), totals, 'the numbers');
      pointed(2); // what it printed, copied and put in
    });
    await step('see in the console that it came', complete);
    await step('end the connection', async () => {
      await follow('Clients and tokens');
      pointed();
      await page.locator('summary', { hasText: 'Revoke' }).first().click();
      await press(`Revoke ${guide}`);
      await page.getByText('revoked').first().waitFor();
    });
    const next = await fetch(`${base}/api/v1/ext/datasets`, { headers: { authorization: `Bearer ${token}` } });
    same([next.status, (await next.json()).error.code], [401, 'auth_revoked'], 'the next call');
  }
} catch (problem) {
  const [page] = browser.contexts().flatMap((context) => context.pages());
  await page?.screenshot({ path: `${folder}/failed.png`, fullPage: true });
  throw problem;
} finally {
  await browser.close();
  service.kill();
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;
const at = (name) => steps.findIndex((it) => it.step === name);
const taken = steps.map(({ person: acts, machine, all }) => acts + all * READ + machine);
const sum = (from, to) => taken.slice(from, to + 1).reduce((total, one) => total + one, 0);
let whole = 0;
console.log('person   reads all   machine   since the start   reading all   step');
for (const [index, { step: name, person: acts, machine, all }] of steps.entries()) {
  whole += acts + all + machine;
  const seconds = (count, width) => `${count.toFixed(0).padStart(width)} s`;
  console.log(`${seconds(taken[index] - machine, 4)}   ${seconds(acts + all, 7)}   ${machine.toFixed(1).padStart(5)} s   ${clock(sum(0, index)).padStart(15)}   ${clock(whole).padStart(11)}   ${name}`);
}
const machine = (from, to) => steps.slice(from, to + 1).reduce((total, one) => total + one.machine, 0);
const spans = { 'to the first right number': [0, at('ask'), WHOLE], 'of that from the guide on': [at('find the guide'), at('ask'), GUIDED] };
for (const [name, [from, to, most]] of Object.entries(spans)) {
  const [all, own] = [sum(from, to), machine(from, to)];
  console.log(`${name}: ${clock(all)} (at most ${clock(most)}), ${own.toFixed(0)} s of it the machine`);
  must(all - (timed ? 0 : own) <= most, 'it takes longer than it may');
}
