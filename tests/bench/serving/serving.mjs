// Starts the program, and others beside it, asks them in turns, and prints a table. tests/bench/serving/run starts it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll } from '../attacks/service.mjs';
import { ours } from './ours.mjs';
import { peers } from './peers.mjs';
import { cost, fsyncs, memory } from './processes.mjs';

const [binary, ...rest] = process.argv.slice(2);
const number = (text) => ({ type: 'string', default: text });
const { values: options } = parseArgs({ args: rest, options: {
  seconds: number('4'), rounds: number('3'), connections: number('16'), only: { type: 'string' }, database: number('sqlite'),
  tenants: number('0'), datasets: number('0'), tokens: number('0'), audit: number('0'), streams: number('0'),
  beside: { type: 'string', multiple: true, default: [] }, peers: { type: 'boolean' }, known: { type: 'boolean' },
  fsyncs: { type: 'boolean' }, json: { type: 'string' },
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

const middle = (all) => [...all].sort((a, b) => a.rate - b.rate)[Math.floor(all.length / 2)];

/** What a server had of a figure for one of the first server in the same round: the middle one of the rounds, the least and the most. */
function ratio(all, first, of) {
  const each = all.map((one, round) => of(one) / of(first[round])).sort((a, b) => a - b);
  const [least, mid, most] = [each[0], each[Math.floor(each.length / 2)], each.at(-1)].map((one) => one.toFixed(2));
  return `${mid} (${least}–${most})`;
}

function table(head, rows) {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => String(row[at]).length)));
  for (const row of all) console.log(row.map((cell, at) => (at < 2 ? String(cell).padEnd(widths[at]) : String(cell).padStart(widths[at]))).join('  '));
}

try {
  console.error(`${cpus().length} × ${cpus()[0].model}, load ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
  const servers = [];
  for (const program of [binary, ...options.beside]) {
    const name = program === binary ? 'dragoman' : basename(program);
    servers.push(await ours(program, join(work, `program-${servers.length}`), options, name));
  }
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
      const isSame = (other) => other.call.name === call.name || other.call.name.startsWith(`${call.name}, `);
      const same = cases.findIndex((other) => other.server === servers[0] && isSame(other));
      const beside = (of) => (same < 0 || server === servers[0] ? '' : ratio(all, seen[same], of));
      const [ofRate, ofCpu, rates] = [beside(({ rate }) => rate), beside(({ cpu }) => cpu), all.map(({ rate }) => Math.round(rate))];
      figures.push({ server: server.name, call: call.name, connections, goal: call.goal, ...middle(all), rates, ofRate, ofCpu });
    });
  }
  if (options.fsyncs) {
    for (const figure of figures) {
      const { server, call } = cases.find(({ server, call }) => server.name === figure.server && call.name === figure.call);
      const count = await fsyncs(server.pid, join(work, 'fsyncs'), () => measure(call, server.pid, figure.connections));
      figure.fsyncs = count.calls / count.asked.requests;
    }
  }
  const head = ['server', 'call', 'callers', 'calls/s', 'least–most', 'of the first', 'goal', 'of goal', 'p50 ms', 'p99 ms', 'p99.9 ms',
    'CPU µs', 'of the first', 'MB', 'MB all', 'bytes', 'fsyncs', 'failed'];
  table(head, figures.map((it) => [
    it.server, it.call, it.connections, it.rate.toFixed(0), `${Math.min(...it.rates)}–${Math.max(...it.rates)}`, it.ofRate,
    it.goal ?? '', it.goal ? (it.rate / it.goal).toFixed(2) : '', it.p50.toFixed(2), it.p99.toFixed(2), it.p999.toFixed(2), it.cpu.toFixed(0), it.ofCpu,
    it.memory.rss.toFixed(0), it.memory.all.toFixed(0), (it.bytes / it.requests).toFixed(0), it.fsyncs?.toFixed(3) ?? '', it.failed,
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
