// Starts the program in a folder of its own, anew for each attack; measures another workspace before and during it, the
// memory and the record before and after; prints a table, says which bounds were not kept, and leaves nothing behind.
// node attacks.mjs <binary> [--only 1,8c] [--short] [--json FILE] (tests/bench/attacks/run does that).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { attacks } from './floods.mjs';
import { Installation, killAll } from './service.mjs';
import { ROWS, TABLE, Victim } from './victim.mjs';
import { Tally, ms } from './wire.mjs';

const LONGEST_MS = 40 * 60_000; // for everything; then it ends with an error

// What must be true of each attack.
const SLOWER = 2; // the other workspace's p99, at most so many times what it is idle,
const FLOOR_MS = 5; // where an idle one below this counts as this: noise shall not decide
const LARGER = 1.2; // the resident set a minute after the attack, at most so many times what it was before
const ROWS_OF_STRANGERS = 100; // that 2a adds to the record

const [ATTACKER, OTHER] = ['attacker', 'other'];
const PERSON = { email: 'ann@example.com', password: 'correct horse battery' };
const TOKENS = 10; // of the other workspace, as many as it may have
const WARM_UP = 3 * TOKENS;

const { values: options, positionals: [binary] } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, short: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const only = options.only?.split(',');
const unknown = only?.find((id) => !attacks.some((attack) => attack.id === id));
if (unknown !== undefined) throw new Error(`there is no attack ${unknown}: choose of ${attacks.map(({ id }) => id)}`);
const [window, settle] = options.short ? [20_000, 10_000] : [60_000, 60_000];
const SHORT_IDLE = 60;
const number = (count) => (options.short ? count / 10 : count);

const work = mkdtempSync(join(tmpdir(), 'dragoman-attacks-'));
const watchdog = setTimeout(() => { console.error(`not done after ${LONGEST_MS / 1000} s`); clean(); process.exit(1); }, LONGEST_MS);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { clean(); process.exit(1); });
function clean() {
  killAll();
  rmSync(work, { recursive: true, force: true });
}

/** Two workspaces with a small published table each; the first is the attacker's. */
function furnish(installation) {
  const { command } = installation;
  const run = (...args) => command.call(installation, args);
  const file = join(work, `${TABLE}.csv`);
  writeFileSync(file, `id,value\n${Array.from({ length: ROWS }, (_, id) => `${id},${id * 7}\n`).join('')}`);
  const ids = [ATTACKER, OTHER].map((workspace) => {
    const { id } = run('admin', 'workspace', 'create', workspace);
    run('admin', 'workspace', 'connectivity', workspace, 'on');
    run('import', file, '--workspace', workspace, '--publish');
    return id;
  });
  command.call(installation, ['admin', 'person', 'create', PERSON.email, '--name', 'Ann', '--password-stdin'], PERSON.password);
  run('admin', 'role', 'set', PERSON.email, 'contributor', '--workspace', ATTACKER);
  const scopes = ['--scopes', 'ext:datasets,ext:schema,ext:search,ext:sql'];
  const token = (workspace, label) => run('admin', 'token', 'create', '--workspace', workspace, '--label', label, ...scopes).token;
  return { otherId: ids[1], token: token(ATTACKER, 'attacker'), tokens: Array.from({ length: TOKENS }, (_, at) => token(OTHER, `other ${at}`)) };
}

/** One attack on a service that has just started. */
async function measure(installation, { otherId, token, tokens }, attack) {
  const service = await installation.start(attack.settings);
  const { base, port } = service;
  const other = new Victim(base, tokens, attack.pause);
  try {
    const on = { base, port, token, workspace: ATTACKER, person: PERSON, window, number, answers: new Tally(), details: new Tally() };
    await attack.prepare(on);
    await other.measure(WARM_UP);
    const idle = await other.measure(options.short ? SHORT_IDLE : attack.idle);
    if (Object.keys(idle.refused).length) throw new Error(`the other workspace is refused before the attack: ${JSON.stringify(idle.refused)}`);
    await sleep(attack.rest);
    const before = service.memory();
    const rowsBefore = installation.rows(otherId);

    const peak = service.watch();
    const began = process.hrtime.bigint();
    const attacking = attack.run(on).then((got) => ({ ...got, seconds: ms(began) / 1000 })).finally(() => other.enough());
    const [got, during] = await Promise.all([attacking, other.measure(Infinity)]);
    const end = { ...service.memory(), peak: peak() };
    const rowsAtEnd = installation.rows(otherId) - rowsBefore;

    await sleep(settle);
    const memory = { before, peak: end.peak, end: { rss: end.rss, all: end.all }, after: service.memory() };
    const rows = { atEnd: rowsAtEnd, after: installation.rows(otherId) - rowsBefore, perSecond: rowsAtEnd / got.seconds };
    return { id: attack.id, what: attack.what, ...got, answers: on.answers.counts, details: on.details.counts, idle, during, rows, memory };
  } finally {
    await other.close();
    await service.stop();
  }
}

/** The bounds that were not kept. */
function unmet({ id, idle, during, rows, memory, held }) {
  const broken = [];
  const most = SLOWER * Math.max(idle.p99, FLOOR_MS);
  if (during.p99 === null) broken.push('the other workspace got no answer');
  else if (during.p99 > most) broken.push(`the other workspace's p99 was ${during.p99.toFixed(1)} ms, more than ${most.toFixed(1)} ms`);
  if (Object.keys(during.refused).length) broken.push(`the other workspace was refused: ${told(during.refused)}`);
  if (id === '2a' && rows.after > ROWS_OF_STRANGERS) broken.push(`${rows.after} rows were written, more than ${ROWS_OF_STRANGERS}`);
  if (memory.after.rss > LARGER * memory.before.rss) {
    broken.push(`${memory.after.rss.toFixed(0)} MB were resident ${settle / 1000} s later, more than ${(LARGER * memory.before.rss).toFixed(0)} MB`);
  }
  if (id === '9' && held) broken.push(`${held} bodies were waited for as long as they came`);
  return broken.map((text) => `${id}: ${text}`);
}

const told = (counts) => Object.entries(counts).map(([what, count]) => `${count} × ${what}`).join(', ') || 'none';
const fixed = (value, digits = 1) => (value === null ? '–' : value.toFixed(digits));

const COLUMNS = {
  'attack': ({ id, what }) => `${id}  ${what}`,
  'seconds': ({ seconds }) => fixed(seconds, 0),
  'p50 ms': ({ idle, during }) => `${fixed(idle.p50)} → ${fixed(during.p50)}`,
  'p99 ms': ({ idle, during }) => `${fixed(idle.p99)} → ${fixed(during.p99)}`,
  'ratio': ({ idle, during }) => fixed(during.p99 && during.p99 / idle.p99),
  'answered': ({ during }) => `${during.calls}`,
  'refused': ({ during }) => told(during.refused),
  'rows': ({ rows }) => `${rows.after} (${fixed(rows.perSecond, 0)}/s)`,
  'resident MB': ({ memory: { before, peak, after } }) => [before.rss, peak, after.rss].map((each) => fixed(each, 0)).join(' → '),
  'with workers MB': ({ memory: { before, end, after } }) => [before, end, after].map(({ all }) => fixed(all, 0)).join(' → '),
};

function table(results) {
  const rows = [Object.keys(COLUMNS), ...results.map((result) => Object.values(COLUMNS).map((cell) => cell(result)))];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => row.map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join('  ')).join('\n');
}

/** What the attacker got. */
function answers({ id, offered, answers, details, open, lived, held }) {
  const lines = [`${id}: ${offered} offered; ${told(answers)}`];
  lines.push(...Object.entries(details).sort().map(([what, count]) => `${count} × ${what}`));
  if (open !== undefined) lines.push(`${open} open at the end`);
  if (lived) {
    const rank = (part) => fixed(lived[Math.ceil(part * lived.length) - 1] ?? null);
    lines.push(`the service ended ${lived.length} connections, half of them within ${rank(0.5)} s, the last after ${rank(1)} s`);
    lines.push(`${held} lived from the beginning to the end`);
  }
  return lines.join('\n     ');
}

try {
  const load = () => loadavg().map((each) => each.toFixed(1)).join(' ');
  const machine = `${cpus().length} × ${cpus()[0].model}, load ${load()}`;
  const version = execFileSync(binary, ['--version']).toString().trim();
  const installation = new Installation(binary, work);
  const furniture = furnish(installation);
  const results = [];
  for (const attack of attacks.filter(({ id }) => only?.includes(id) ?? true)) {
    console.error(`${attack.id}: ${attack.what}`);
    results.push(await measure(installation, furniture, attack));
    console.error(`   ${answers(results.at(-1))}`);
  }
  const broken = results.flatMap(unmet);
  if (options.json) {
    const times = { short: options.short, window_s: window / 1000, settle_s: settle / 1000 };
    writeFileSync(options.json, `${JSON.stringify({ binary, version, machine, ...times, attacks: results, unmet: broken }, null, 2)}\n`);
  }
  console.log(`\n${version}: ${binary}\n${machine}; at the end ${load()}${options.short ? '\nshort: no evidence' : ''}`);
  console.log('p50, p99, ratio, answered, refused: of the other workspace, idle → under attack. rows: added to the record, those of the\n'
    + `other workspace apart. resident: of the service before → peak → ${settle / 1000} s after; with workers (what they share\ndivided): before → at the end → after.\n`);
  console.log(`${table(results)}\n\nwhat the attacker got\n${results.map(answers).join('\n')}\n`);
  console.log(broken.length ? `bounds not kept\n${broken.join('\n')}` : 'all bounds were kept');
  process.exitCode = broken.length ? 1 : 0;
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
  clean();
}
