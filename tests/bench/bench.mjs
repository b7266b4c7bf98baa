// Starts the program in a folder of its own, measures, prints a table, and leaves nothing behind.
// node bench.mjs <binary>, from the project's folder (tests/bench/run does that).
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [binary] = process.argv.slice(2);
const LONGEST_MS = 10 * 60_000; // for everything; then it ends with an error
const CALLS = 200;
const WARM_UP = 20;
const CALLERS = 8;
const SESSIONS = 100;
const FLIGHTS = 'src/ops/demo/flights.parquet';
const SQL = 'SELECT a.name, round(avg(f.dep_delay), 2) AS delay FROM flights f JOIN airlines a USING (carrier) GROUP BY ALL ORDER BY delay DESC LIMIT 1';
const QUERIES = ['how can I tell that a flight was cancelled', 'what does a negative delay mean', 'where is the weather measured',
  'tail number of an aircraft', 'which airports are in New York'];

const work = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
const running = new Set();
const limits = Object.fromEntries(['TOKEN', 'SQL', 'RESOURCES', 'WORKSPACE', 'REQUESTS', 'SESSIONS'].map((name) => [`DRAGOMAN_EXT_RATE_${name}`, '1000000']));
const port = await new Promise((found) => {
  const probe = createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => found(port)); });
});
const base = `http://127.0.0.1:${port}`;
const env = { ...process.env, ...limits, DRAGOMAN_EXT_IN_FLIGHT: '64', DRAGOMAN_IN_FLIGHT: '256', DRAGOMAN_MCP_SESSIONS: '200', DRAGOMAN_EXT_STREAMS: '200', DRAGOMAN_ADMIN_LISTEN: 'off',
  DRAGOMAN_LISTEN: `127.0.0.1:${port}`, DRAGOMAN_PUBLIC_URL: '', DATABASE_URL: '' };

const watchdog = setTimeout(() => { console.error(`not done after ${LONGEST_MS / 1000} s`); clean(); process.exit(1); }, LONGEST_MS);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { clean(); process.exit(1); });
function clean() {
  for (const child of running) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
}

const folder = (name) => join(work, name);
const command = (data, ...args) => execFileSync(binary, [...args, '--json', '--data', folder(data)], { env, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
const ms = (since) => Number(process.hrtime.bigint() - since) / 1e6;
const rows = [];
const report = (what, value) => { rows.push([what, value]); console.error(`${what}: ${value}`); };

/** Starts the service; resolves when it says that it is up, with the milliseconds that took. */
async function start(data, ...args) {
  const began = process.hrtime.bigint();
  const child = spawn(binary, ['serve', '--data', folder(data), ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', () => { running.delete(child); resolve(); }));
  const lines = createInterface({ input: child.stdout });
  const took = await new Promise((up, failed) => {
    lines.on('line', (line) => { if (line.includes('is up on')) up(ms(began)); });
    child.once('exit', (code) => failed(new Error(`the program ended with ${code} before it was up`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  };
  return { pid: child.pid, took, stop };
}

async function startOnce(what, data, ...args) {
  const server = await start(data, ...args);
  report(what, `${server.took.toFixed(0)} ms`);
  await server.stop();
}

async function post(token, headers, message) {
  const response = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${message.method}: ${response.status} ${text}`);
  return { text, session: response.headers.get('mcp-session-id') };
}

async function tool(token, name, args) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  const { text } = await post(token, headers, { id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } });
  const { result } = JSON.parse(text);
  if (!result || result.isError) throw new Error(`${name}: ${text}`);
  return result.structuredContent;
}

/** Milliseconds of each call; `callers` take turns at one list of calls. */
async function times(calls, callers, call) {
  const took = [];
  let next = 0;
  const caller = async () => {
    while (next < calls) {
      const at = next++;
      const began = process.hrtime.bigint();
      await call(at);
      took.push(ms(began));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return took.sort((a, b) => a - b);
}

async function latency(what, call, callers = 1) {
  await times(WARM_UP, callers, call);
  const began = process.hrtime.bigint();
  const took = await times(CALLS, callers, call);
  const all = ms(began);
  const rank = (part) => took[Math.ceil(part * took.length) - 1].toFixed(1);
  report(what, `p50 ${rank(0.5)} ms, p99 ${rank(0.99)} ms (${CALLS} calls, ${((CALLS * 1000) / all).toFixed(0)}/s)`);
}

/** Megabytes: the service's resident set, and what it and its workers together hold (proportional set). */
function memory(what, pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '));
  const pids = [...new Set([String(pid), ...children])].filter(Boolean);
  const kilobytes = (file, key) => Number(readFileSync(file, 'utf8').match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1]);
  let [pss, workers] = [0, -1];
  for (const each of pids) {
    try {
      pss += kilobytes(`/proc/${each}/smaps_rollup`, 'Pss');
      workers += 1;
    } catch (problem) {
      if (!['ENOENT', 'ESRCH'].includes(problem.code)) throw problem; // a worker that ended while we looked
    }
  }
  const rss = kilobytes(`/proc/${pid}/status`, 'VmRSS');
  report(what, `${(rss / 1024).toFixed(0)} MB resident; ${(pss / 1024).toFixed(0)} MB with its ${workers} SQL workers`);
}

/** Bytes that the disk gives; some files are larger on paper. */
function size(path) {
  const stat = statSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0) : stat.blocks * 512;
}

try {
  report('machine', `${cpus().length} × ${cpus()[0].model}, load ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);

  await startOnce('cold start, empty folder', 'empty');
  await startOnce('warm start, no data', 'empty');
  await startOnce('cold start with the demo (five tables, four documents)', 'demo', '--demo');
  await startOnce('warm start with the demo', 'demo', '--demo');
  report('data folder of the demo', `${(size(folder('demo')) / 1e6).toFixed(1)} MB`);

  command('import', 'admin', 'workspace', 'create', 'bench');
  const began = process.hrtime.bigint();
  const imported = JSON.parse(command('import', 'import', FLIGHTS, '--workspace', 'bench'));
  if (imported.row_count !== 336_776) throw new Error(`${imported.row_count} flights`);
  report('import of 336,776 flights (the whole command)', `${ms(began).toFixed(0)} ms`);
  report('flights: Parquet, and as kept', `${(statSync(FLIGHTS).size / 1e6).toFixed(1)} MB, ${(imported.bytes / 1e6).toFixed(1)} MB`);

  const scopes = 'ext:datasets,ext:schema,ext:search,ext:sql';
  const { token } = JSON.parse(command('demo', 'admin', 'token', 'create', '--workspace', 'demo', '--label', 'bench', '--scopes', scopes));
  const server = await start('demo');
  memory('memory at rest', server.pid);
  const { datasets } = await tool(token, 'dragoman_list_datasets', {});
  const dataset_id = datasets.find(({ name }) => name === 'flights').id;
  const first = process.hrtime.bigint();
  await tool(token, 'dragoman_search', { query: QUERIES[0] });
  report('first search (loads the encoder)', `${ms(first).toFixed(0)} ms`);
  memory('memory after the first search', server.pid);

  const sql = async () => {
    const { rows: [row] } = await tool(token, 'dragoman_sql', { sql: SQL });
    if (row[0] !== 'Frontier Airlines Inc.' || row[1] !== 20.22) throw new Error(`a wrong answer: ${row}`);
  };
  await latency('dragoman_list_datasets', () => tool(token, 'dragoman_list_datasets', {}));
  await latency('dragoman_get_schema', () => tool(token, 'dragoman_get_schema', { dataset_id }));
  await latency('dragoman_preview_rows', () => tool(token, 'dragoman_preview_rows', { dataset_id, limit: 10 }));
  await latency('dragoman_search', (at) => tool(token, 'dragoman_search', { query: QUERIES[at % QUERIES.length] }));
  await latency('dragoman_sql (join, 336,776 rows)', sql);
  await latency(`dragoman_sql, ${CALLERS} callers`, sql, CALLERS);
  memory('memory after these calls', server.pid);

  const streams = new AbortController();
  const open = await Promise.all(Array.from({ length: SESSIONS }, async (_, id) => {
    const clientInfo = { name: 'bench', version: '1' };
    const { session } = await post(token, {}, { id, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    await post(token, headers, { method: 'notifications/initialized' });
    const stream = await fetch(`${base}/mcp`, { headers: { ...headers, authorization: `Bearer ${token}`, accept: 'text/event-stream' }, signal: streams.signal });
    if (stream.status !== 200) throw new Error(`stream: ${stream.status}`);
    return headers;
  }));
  // All are alive, the first included.
  await Promise.all(open.map((headers, id) => post(token, headers, { id, method: 'tools/list' })));
  memory(`memory with ${SESSIONS} sessions, each with an open stream`, server.pid);
  streams.abort();
  await server.stop();
  report('load at the end', loadavg().map((load) => load.toFixed(1)).join(' '));

  const width = Math.max(...rows.map(([what]) => what.length));
  console.log(`\n${binary}\n${rows.map(([what, value]) => `${what.padEnd(width)}  ${value}`).join('\n')}`);
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
  clean();
}
