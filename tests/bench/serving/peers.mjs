// Other servers, as their manuals say for local use; none of them knows who asks, limits or records.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../attacks/wire.mjs';
import { GROUP } from './ours.mjs';

const START_MS = 60_000;
const CACHE = process.env.BENCH_CACHE;
const HEADERS = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };

const free = () => new Promise((found) => {
  const probe = createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => found(port)); });
});

/** Starts a server; up when it answers a list. */
async function start(name, port, program, args) {
  const child = spawn(program, args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}/mcp`;
  const ask = (method, params = {}, more = {}) => ({ url, headers: { ...HEADERS, ...more }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  const until = Date.now() + START_MS;
  let opened = { status: 0 };
  while (opened.status !== 200) {
    if (Date.now() > until || child.exitCode !== null) throw new Error(`${name} did not start: ${opened.status} ${opened.text ?? ''}`);
    await sleep(200); // a server of others says nothing that could be waited for
    const { headers, body } = ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
    opened = await send(url, { headers, body });
  }
  const session = opened.headers['mcp-session-id'];
  const more = session ? { 'Mcp-Session-Id': session } : {};
  await send(url, { headers: { ...HEADERS, ...more }, body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) });
  const stop = async () => { child.kill('SIGKILL'); };
  return { name, pid: child.pid, stop, ask: (method, params) => ask(method, params, more) };
}

const holding = (text) => async function check() {
  const answer = await send(this.url, { headers: this.headers, body: this.body });
  if (answer.status !== 200 || !answer.text.includes(text)) throw new Error(`${this.name}: ${answer.status} ${answer.text.slice(0, 600)}`);
};

async function toolbox(work) {
  const [port, file, config] = [await free(), join(work, 'toolbox.sqlite'), join(work, 'toolbox.yaml')];
  execFileSync('python3', ['-c', 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("CREATE TABLE t (a)")', file]);
  writeFileSync(config, `sources:\n  here:\n    kind: sqlite\n    database: ${file}\ntools:\n  one:\n    kind: sqlite-sql\n    source: here\n    description: One.\n    statement: SELECT 1 AS one\n`);
  const server = await start('Toolbox', port, join(CACHE, 'node_modules/@toolbox-sdk/server-linux-x64/bin/toolbox'),
    ['--config', config, '--port', String(port), '--log-level', 'ERROR', '--disable-version-check']);
  return { ...server, calls: [
    { name: 'tools/list', ...server.ask('tools/list'), check: holding('one') },
    { name: 'select 1', ...server.ask('tools/call', { name: 'one', arguments: {} }), check: holding('one') },
  ] };
}

async function motherduck(work) {
  const [port, file] = [await free(), join(work, 'motherduck.db')];
  const make = 'import duckdb, sys; duckdb.connect(sys.argv[1]).execute("CREATE TABLE flights AS FROM read_parquet(\'src/ops/demo/flights.parquet\')")';
  execFileSync(join(CACHE, 'venv/bin/python'), ['-c', make, file]);
  const server = await start('motherduck', port, join(CACHE, 'venv/bin/mcp-server-motherduck'),
    ['--transport', 'http', '--stateless-http', '--port', String(port), '--db-path', file]);
  const sql = (text) => server.ask('tools/call', { name: 'execute_query', arguments: { sql: text } });
  return { ...server, calls: [
    { name: 'tools/list', ...server.ask('tools/list'), check: holding('execute_query') },
    { name: 'select 1', ...sql('SELECT 1 AS one'), check: holding('one') },
    { name: 'group-by', ...sql(GROUP), check: holding('58665') },
  ] };
}

async function library() {
  const port = await free();
  const server = await start('rmcp alone', port, join(CACHE, 'echo'), [String(port)]);
  return { ...server, calls: [
    { name: 'tools/list', ...server.ask('tools/list'), check: holding('echo') },
    { name: 'select 1', ...server.ask('tools/call', { name: 'echo', arguments: { sql: 'SELECT 1 AS one' } }), check: holding('one') },
  ] };
}

export const peers = async (work) => [await library(), await toolbox(work), await motherduck(work)];
