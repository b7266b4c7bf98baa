// A part of the peak for a long time, at a rate that does not wait for the answers; in the middle a token is revoked. Says
// by the minute what callers waited and what the program held, and in the end whether the record has a row for each
// answer. tests/bench/serving/run --steady MINUTES starts it.
import { execFile, execFileSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAll } from '../attacks/service.mjs';
import { modern, ours } from './ours.mjs';
import { cost, memory } from './processes.mjs';

const { values: options, positionals: [binary] } = parseArgs({ allowPositionals: true, options: {
  steady: { type: 'string', default: '15' }, part: { type: 'string', default: '0.7' }, callers: { type: 'string', default: '16' },
} });
/** How long the peak is looked for, and how many of the calls are the one and the other. */
const PEAK_MS = 20_000;
const MIX = [['tools/list, token', 6], ['select 1, token', 4], ['group-by that differs, token', 1], ['search, token', 1]];
/** The first minute fills what is kept. What is after it may grow by so much until the end, and the waiting be so many times as long. */
const GROWTH = 1.1;
const SLOWER = 2;
/** How a token that is no longer one is answered; the second where it comes too often. */
const REFUSED = [401, 429];
const RECORD = `
import json, sqlite3, sys
db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
count = {}
for action, outcome, entry in db.execute("SELECT action, outcome, entry FROM audit"):
    key = f'{action} {outcome}'
    count[key] = count.get(key, 0) + json.loads(entry).get('count', 1)
print(json.dumps(count))`;

const work = mkdtempSync(join(tmpdir(), 'dragoman-steady-'));
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const problems = [];
const counts = {};
let number = 0;

/** One call; its status, and milliseconds since it was due. */
const call = ({ url, headers, body }, due) => new Promise((answered) => {
  number += 1;
  const text = body.replace('%d', String(number));
  const sent = request(url, { method: 'POST', agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(text) } }, (response) => {
    response.resume();
    response.on('end', () => {
      counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1;
      answered({ status: response.statusCode, waited: performance.now() - due });
    });
  });
  sent.on('error', (problem) => { problems.push(`a call had no answer: ${problem.message}`); answered({ status: 0, waited: performance.now() - due }); });
  sent.end(text);
});

const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;

/** Calls a second when so many callers wait for nothing but their answers. */
async function peak(calls) {
  const until = performance.now() + PEAK_MS;
  let answered = 0;
  await Promise.all(Array.from({ length: Number(options.callers) }, async (_, caller) => {
    for (let turn = caller; performance.now() < until; turn += 1) {
      await call(calls[turn % calls.length], performance.now());
      answered += 1;
    }
  }));
  return answered / (PEAK_MS / 1000);
}

try {
  console.log(`${cpus().length} × ${cpus()[0].model}, load ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
  const server = await ours(binary, join(work, 'program'), { database: 'sqlite', tenants: '0', datasets: '0', tokens: '0', audit: '0', streams: '0' }, 'dragoman');
  const kinds = MIX.flatMap(([name, count]) => Array(count).fill(server.calls.find((one) => one.name === name)));
  // In turn, rather than all of a kind one after the other: 5 and the number of kinds have no common divisor.
  const calls = kinds.map((_, at) => kinds[(at * 5) % kinds.length]);
  const run = (text) => promisify(execFile)(binary, [...text.split(' '), '--json', '--data', server.data], { env: server.env });
  const { id, token } = JSON.parse((await run('admin token create --workspace bench --label soon-gone --scopes ext:sql')).stdout);
  const gone = modern(calls[0].url, token, 'tools/call', { name: 'dragoman_sql', arguments: { sql: 'SELECT 1 AS one' } });
  const most = await peak(calls);
  const rate = most * Number(options.part);
  console.log(`peak ${most.toFixed(0)} calls/s by ${options.callers} callers; ${rate.toFixed(0)} for ${options.steady} minutes`);

  const minutes = Number(options.steady);
  const began = performance.now();
  const end = began + minutes * 60_000;
  let [withdrawn, late, next, waits, before, minute] = [Infinity, 0, 0, [], cost(server.pid), 1];
  const rows = [];
  const open = new Set();
  const tell = () => {
    const sorted = waits.sort((a, b) => a - b);
    const { rss, all } = memory(server.pid);
    const used = cost(server.pid);
    rows.push({ p50: at(sorted, 0.5), p99: at(sorted, 0.99), rss, all });
    console.log(`minute ${String(minute).padStart(3)}: ${String(sorted.length).padStart(6)} answers, p50 ${at(sorted, 0.5).toFixed(1)} ms, `
      + `p99 ${at(sorted, 0.99).toFixed(1)} ms, p99.9 ${at(sorted, 0.999).toFixed(1)} ms, CPU ${((used - before) / sorted.length * 1e6).toFixed(0)} µs, `
      + `${rss.toFixed(0)} MB, ${all.toFixed(0)} MB with workers, load ${loadavg()[0].toFixed(1)}`);
    [waits, before, minute] = [[], used, minute + 1];
  };
  let revoking;
  for (let due = began; due < end; due += 1000 / rate) {
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    if (due >= began + minute * 60_000) tell();
    if (!revoking && due > began + (end - began) / 2) {
      revoking = run(`admin token revoke ${id} --workspace bench`).then(() => { withdrawn = performance.now(); });
    }
    // Each fiftieth is by the token that is revoked half way.
    const isGone = next % 50 === 49;
    const sent = performance.now();
    const one = call(isGone ? gone : calls[next % calls.length], due).then(({ status, waited }) => {
      if (isGone) late += sent > withdrawn && !REFUSED.includes(status) ? 1 : 0;
      else if (status !== 200) problems.push(`a call was answered with ${status}`);
      waits.push(waited);
      open.delete(one);
    });
    open.add(one);
    next += 1;
  }
  await Promise.all(open);
  await revoking;
  tell();
  await server.stop();
  const record = JSON.parse(execFileSync('python3', ['-c', RECORD, join(server.data, 'metadata.sqlite')]));
  const recorded = ['mcp.tools.list ok', 'mcp.tool.call ok'].reduce((sum, kind) => sum + (record[kind] ?? 0), 0);
  const refused = ['auth_revoked', 'rate_limited'].reduce((sum, outcome) => sum + (record[`auth.refused ${outcome}`] ?? 0), 0);
  const refusals = REFUSED.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  console.log(`answers ${counts[200]}, rows of answers ${recorded}; refusals ${refusals}, counted in the record ${refused}; `
    + `calls that were let in after the withdrawal was answered ${late}`);
  if (counts[200] !== recorded) problems.push('the record does not have a row for each answer');
  if (refusals !== refused || refused === 0) problems.push('the record does not count each refusal');
  if (late > 0) problems.push('a call was let in after its token was withdrawn');
  const third = Math.max(1, Math.floor((rows.length - 1) / 3));
  const mean = (some, of) => some.reduce((sum, row) => sum + of(row), 0) / some.length;
  const [early, final] = [rows.slice(1, 1 + third), rows.slice(-third)];
  if (rows.length > 3) {
    const [grown, slower] = [mean(final, ({ all }) => all) / mean(early, ({ all }) => all), mean(final, ({ p50 }) => p50) / mean(early, ({ p50 }) => p50)];
    console.log(`the last third against the first after a minute: memory × ${grown.toFixed(2)}, the middle wait × ${slower.toFixed(2)}`);
    if (grown > GROWTH) problems.push('memory grew');
    if (slower > SLOWER) problems.push('calls waited longer and longer');
  }
  for (const problem of new Set(problems)) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  killAll();
  agent.destroy();
  rmSync(work, { recursive: true, force: true });
}
