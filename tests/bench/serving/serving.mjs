// Starts the program, and others beside it, asks them in turns, and prints a table. tests/bench/serving/run starts it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll } from '../attacks/service.mjs';
import { ours } from './ours.mjs';
import { peers } from './peers.mjs';
import { cost, fsyncs, memory } from './processes.mjs';

const [binary, ...rest] = process.argv.slice(2);
const number = (text) => ({ type: 'string', default: text });
const { values: options } = parseArgs({ args: rest, options: {
  seconds: number('4'), rounds: number('3'), connections: number('16'), only: { type: 'string' }, database: number('sqlite'),
  tenants: number('0'), datasets: number('0'), tokens: number('0'), audit: number('0'),
  peers: { type: 'boolean' }, known: { type: 'boolean' }, fsyncs: { type: 'boolean' }, json: { type: 'string' },
} });
const seconds = Number(options.seconds);
const words = options.only?.split(',');
const work = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
const script = join(import.meta.dirname, 'ask.lua');
const closing = [];

/** One measurement: what wrk saw, what it cost the processes. */
function measure({ url, body, headers }, pid, connections) {
  const before = cost(pid);
  const asked = Object.entries(headers).flat();
  const threads = Math.min(connections, cpus().length);
  const args = ['-t', threads, '-c', connections, '-d', `${seconds}s`, '--timeout', '10s', '-s', script, url, '--', body, ...asked];
  const text = execFileSync('wrk', args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] }).toString();
  const seen = JSON.parse(text.match(/^JSON (.*)$/m)[1]);
  if (seen.failed > 0) console.error(`${url}: ${seen.failed} of ${seen.requests} failed`);
  return { ...seen, rate: seen.requests / seen.seconds, cpu: ((cost(pid) - before) / seen.requests) * 1e6 };
}

const middle = (all) => all.sort((a, b) => a.rate - b.rate)[Math.floor(all.length / 2)];

function table(head, rows) {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => String(row[at]).length)));
  for (const row of all) console.log(row.map((cell, at) => (at < 2 ? String(cell).padEnd(widths[at]) : String(cell).padStart(widths[at]))).join('  '));
}

try {
  console.error(`${cpus().length} × ${cpus()[0].model}, load ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
  const servers = [await ours(binary, work, options)];
  if (options.peers) servers.push(...await peers(work));
  closing.push(...servers.map(({ stop }) => stop));
  const wanted = (server, { name }) => !words || words.some((word) => `${server.name} ${name}`.includes(word));
  const cases = servers.flatMap((server) => server.calls.filter((call) => wanted(server, call)).map((call) => ({ server, call })));
  for (const { server, call } of cases) await call.check?.(server);
  const atRest = Object.fromEntries(servers.map((server) => [server.name, memory(server.pid)]));
  const figures = [];
  for (const connections of options.connections.split(',').map(Number)) {
    const seen = cases.map(() => []);
    for (let round = 0; round < Number(options.rounds); round += 1) {
      cases.forEach(({ server, call }, at) => {
        const one = measure(call, server.pid, connections);
        seen[at].push({ ...one, memory: memory(server.pid) });
        console.error(`round ${round + 1}: ${server.name}, ${call.name}, ${connections} connections: ${one.rate.toFixed(0)}/s`);
      });
    }
    cases.forEach(({ server, call }, at) => {
      const all = seen[at];
      const spread = all.map(({ rate }) => Math.round(rate));
      figures.push({ server: server.name, call: call.name, connections, goal: call.goal, ...middle(all), rates: spread });
    });
  }
  if (options.fsyncs) {
    for (const figure of figures) {
      const { server, call } = cases.find(({ server, call }) => server.name === figure.server && call.name === figure.call);
      const count = await fsyncs(server.pid, join(work, 'fsyncs'), () => measure(call, server.pid, figure.connections));
      figure.fsyncs = count.calls / count.asked.requests;
    }
  }
  const head = ['server', 'call', 'callers', 'calls/s', 'goal', 'of goal', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU µs', 'MB', 'MB all', 'bytes', 'fsyncs', 'failed'];
  table(head, figures.map((it) => [
    it.server, it.call, it.connections, it.rate.toFixed(0), it.goal ?? '', it.goal ? (it.rate / it.goal).toFixed(2) : '', it.p50.toFixed(2),
    it.p99.toFixed(2), it.p999.toFixed(2), it.cpu.toFixed(0), it.memory.rss.toFixed(0), it.memory.all.toFixed(0),
    (it.bytes / it.requests).toFixed(0), it.fsyncs?.toFixed(3) ?? '', it.failed,
  ]));
  for (const [name, { rss, all }] of Object.entries(atRest)) console.log(`${name} before the first round: ${rss.toFixed(0)} MB, ${all.toFixed(0)} MB with its processes`);
  if (options.json) writeFileSync(options.json, JSON.stringify(figures, null, 1));
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  for (const stop of closing) await stop();
  killAll();
  rmSync(work, { recursive: true, force: true });
}
