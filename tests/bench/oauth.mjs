// Starts the program in a folder of its own, once for each database, measures, prints a table, and leaves nothing
// behind. node oauth.mjs <binary>, from the project's folder (tests/bench/oauth does that).
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [binary] = process.argv.slice(2);
const LONGEST_MS = 5 * 60_000; // for everything; then it ends with an error
const CALLERS = 8;
const CODES = 400; // what is exchanged; each needs a person's approval first, which is not measured
const SECONDS = 5; // for each of the other measurements
const TICKS = 100; // of /proc/…/stat a second
const REDIRECT = 'http://127.0.0.1:43210/callback';
const [EMAIL, PASSWORD] = ['ann@example.com', 'correct horse battery'];

const work = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
const running = new Set();
let stopDatabase = () => {};
const watchdog = setTimeout(() => { console.error(`not done after ${LONGEST_MS / 1000} s`); clean(); process.exit(1); }, LONGEST_MS);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { clean(); process.exit(1); });
function clean() {
  for (const child of running) child.kill('SIGKILL');
  stopDatabase();
  rmSync(work, { recursive: true, force: true });
}

const ms = (since) => Number(process.hrtime.bigint() - since) / 1e6;
const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });

/** One request; `form` is sent as a form. */
function send(url, { method = 'GET', headers = {}, form } = {}) {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  if (body !== undefined) headers = { ...headers, 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) };
  return new Promise((answered, failed) => {
    const sent = request(url, { method: body === undefined ? method : 'POST', headers, agent }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => answered({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
      response.on('error', failed);
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

function expect(what, { status, text }, wanted = 200) {
  if (status !== wanted) throw new Error(`${what}: ${status} ${text.slice(0, 400)}`);
}

const free = () => new Promise((found) => {
  const probe = createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => found(port)); });
});

/** Seconds of processor time that processes have used, those of their ended children included. */
function used(pids) {
  return pids.reduce((sum, pid) => {
    if (!existsSync(`/proc/${pid}/stat`)) return sum;
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
    return sum + fields.slice(11, 15).reduce((ticks, each) => ticks + Number(each), 0) / TICKS;
  }, 0);
}

const children = (pid) => readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ')).filter(Boolean);

/** Runs PostgreSQL as its own user (it refuses to be root), with the durability that it has by default. */
function startPostgres() {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = versions.sort((a, b) => b - a).find((version) => existsSync(`/usr/lib/postgresql/${version}/bin/initdb`));
  if (!newest) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-pg-'));
  const root = process.getuid() === 0;
  if (root) chownSync(folder, Number(execFileSync('id', ['-u', 'postgres'])), Number(execFileSync('id', ['-g', 'postgres'])));
  const run = (program, ...args) => {
    const whole = [`/usr/lib/postgresql/${newest}/bin/${program}`, ...args];
    const [first, ...rest] = root ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--', ...whole] : whole;
    return execFileSync(first, rest, { cwd: '/', stdio: 'ignore' });
  };
  const data = join(folder, 'data');
  stopDatabase = () => {
    stopDatabase = () => {};
    if (existsSync(join(data, 'postmaster.pid'))) run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
    rmSync(folder, { recursive: true, force: true });
  };
  run('initdb', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '-D', data);
  run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', '-t', '60', '-o', `-k ${folder} -c listen_addresses=`, 'start');
  return { url: `postgres://postgres@localhost/postgres?host=${folder}`, pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]) };
}

/** Calls until `call` says that there is no more, or the time is over; one line of the table. */
async function measure(rows, what, pids, call, seconds = SECONDS) {
  const took = [];
  const [began, before] = [process.hrtime.bigint(), used(pids())];
  const caller = async (which) => {
    while (ms(began) < seconds * 1000) {
      const since = process.hrtime.bigint();
      if (await call(which) === false) return;
      took.push(ms(since));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, which) => caller(which)));
  const [all, cpu] = [ms(began) / 1000, used(pids()) - before];
  took.sort((a, b) => a - b);
  const rank = (part) => took[Math.ceil(part * took.length) - 1].toFixed(1);
  rows.push([what, `${(took.length / all).toFixed(0)}/s`, `${(took.length / cpu).toFixed(0)}/s`, `${rank(0.5)} ms`, `${rank(0.99)} ms`, `${took.length}`]);
  console.error(rows.at(-1).join('  '));
}

async function database(rows, name, url, databasePid) {
  const port = await free();
  const base = `http://127.0.0.1:${port}`;
  const data = join(work, name);
  mkdirSync(data);
  const rates = ['RATE_TOKEN', 'RATE_AUTHORIZE', 'RATE_REGISTER', 'RATE_REFUSED', 'EXT_RATE_TOKEN', 'EXT_RATE_WORKSPACE',
    'EXT_RATE_REQUESTS', 'CLIENT_RATE_CALLS'];
  const env = { ...process.env, ...Object.fromEntries(rates.map((rate) => [`DRAGOMAN_${rate}`, '1000000'])), DRAGOMAN_EXT_IN_FLIGHT: '64',
    DRAGOMAN_IN_FLIGHT: '256', DRAGOMAN_ADMIN_LISTEN: 'off', DRAGOMAN_LISTEN: `127.0.0.1:${port}`, DRAGOMAN_PUBLIC_URL: '', DRAGOMAN_CODE_TTL: '3600', DATABASE_URL: url };
  const admin = (args, input) => execFileSync(binary, ['admin', ...args, '--data', data], { env, input, stdio: ['pipe', 'pipe', 'inherit'] }).toString();
  admin(['workspace', 'create', 'bench']);
  admin(['person', 'create', EMAIL, '--name', 'Ann', '--password-stdin'], PASSWORD);
  admin(['role', 'set', EMAIL, 'admin', '--workspace', 'bench']);
  admin(['workspace', 'connectivity', 'bench', 'on']);
  const gateway = JSON.parse(admin(['client', 'create', '--name', 'Gateway', '--redirect-uri', 'https://gateway.example/cb', '--introspect', '--json']));

  const child = spawn(binary, ['serve', '--data', data], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', () => { running.delete(child); resolve(); }));
  await new Promise((up, failed) => {
    createInterface({ input: child.stdout }).on('line', (line) => { if (line.includes('is up on')) up(); });
    child.once('exit', (code) => failed(new Error(`the program ended with ${code} before it was up`)));
  });
  const pids = () => [child.pid, ...(databasePid ? [databasePid(), ...children(databasePid())] : [])];

  const field = (page, of) => page.match(new RegExp(`name="${of}" value="([^"]*)"`))?.[1] ?? '';
  const cookie = (response) => (response.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
  const login = await send(`${base}/login`);
  const entered = await send(`${base}/login`, { form: { csrf: field(login.text, 'csrf'), email: EMAIL, password: PASSWORD }, headers: { cookie: cookie(login), origin: base } });
  expect('log-in', entered, 303);
  const signedIn = { cookie: cookie(entered), origin: base };
  const body = JSON.stringify({ client_name: 'Bench', redirect_uris: ['http://127.0.0.1/callback'] });
  const registered = await fetch(`${base}/api/oauth/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { client_id } = await registered.json();

  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const approve = async () => {
    const query = new URLSearchParams({ client_id, redirect_uri: REDIRECT, response_type: 'code', code_challenge: challenge, code_challenge_method: 'S256', scope: 'data_agent:read' });
    let answer = await send(`${base}/api/oauth/authorize?${query}`, { headers: signedIn });
    if (answer.headers.location?.startsWith('/consent')) {
      const page = await send(base + answer.headers.location, { headers: signedIn });
      const form = { csrf: field(page.text, 'csrf'), request: field(page.text, 'request'), workspace: 'bench', decision: 'approve', scope: 'data_agent:read' };
      answer = await send(`${base}/consent`, { form, headers: signedIn });
    }
    const to = answer.headers.location ?? answer.headers.refresh?.replace(/^0; url=/, '') ?? '';
    const code = to.startsWith(REDIRECT) && new URL(to).searchParams.get('code');
    if (!code) throw new Error(`no code: ${answer.status} ${answer.text.slice(0, 400)}`);
    return code;
  };
  const token = async (form) => {
    const answer = await send(`${base}/api/oauth/token`, { form });
    expect(form.grant_type, answer);
    return JSON.parse(answer.text);
  };
  const exchange = (code) => token({ grant_type: 'authorization_code', code, client_id, redirect_uri: REDIRECT, code_verifier: verifier });

  const codes = [];
  const last = process.hrtime.bigint();
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (codes.length < CODES && ms(last) < 30_000) codes.push(await approve());
  }));
  const pairs = [];
  await measure(rows, `${name}: code exchange`, pids, async () => {
    const code = codes.pop();
    if (code === undefined) return false;
    pairs.push(await exchange(code));
    return true;
  });
  const families = pairs.slice(-CALLERS).map((pair) => pair.refresh_token);
  await measure(rows, `${name}: refresh`, pids, async (which) => {
    families[which] = (await token({ grant_type: 'refresh_token', refresh_token: families[which], client_id })).refresh_token;
  });
  const headers = { authorization: `Bearer ${pairs.at(-1).access_token}` };
  await measure(rows, `${name}: guarded request`, pids, async () => expect('health', await send(`${base}/api/v1/ext/health`, { headers })));

  const basic = { authorization: `Basic ${Buffer.from(`${gateway.id}:${gateway.secret}`).toString('base64')}` };
  const form = { token: pairs.at(-1).access_token };
  await measure(rows, `${name}: introspection`, pids, async () => {
    const answer = await send(`${base}/api/oauth/introspect`, { form, headers: basic });
    expect('introspection', answer);
    if (!JSON.parse(answer.text).active) throw new Error(`introspection: ${answer.text}`);
  });

  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

try {
  const rows = [['', 'calls', 'per core used', 'p50', 'p99', 'number']];
  const load = () => loadavg().map((each) => each.toFixed(1)).join(' ');
  const machine = `${cpus().length} × ${cpus()[0].model}, load ${load()}`;
  await database(rows, 'SQLite', '');
  const postgres = startPostgres();
  if (postgres) await database(rows, 'PostgreSQL', postgres.url, postgres.pid);
  else rows.push(['PostgreSQL', 'is not installed', '', '', '', '']);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const table = rows.map((row) => row.map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join('  '));
  console.log(`\n${binary}\n${machine}; at the end ${load()}\n${CALLERS} callers; the processor time is the service's and the database's\n\n${table.join('\n')}`);
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
  agent.destroy();
  clean();
}
