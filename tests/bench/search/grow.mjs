// How search grows: with the chunks of one dataset, and with workspaces. See README.md.
//   node tests/bench/search/grow.mjs PROGRAM [--sizes 1000,10000,100000] [--served 1000000] [--workspaces 1,100,1000]
// Sizes are chunks; those of --served have vectors of a stand-in for an encoder's server, so that the encoder is not what
// is measured. Each size has an installation of its own below the folder for temporary files, which is removed. A size ends
// where the disk would have less than --spare gigabytes left. Needs Python 3 to write a file's memory off.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { Installation, killAll } from '../attacks/service.mjs';
import { send } from '../attacks/wire.mjs';
import { cost } from '../serving/processes.mjs';

const { values: options, positionals: [binary] } = parseArgs({ allowPositionals: true, options: {
  sizes: { type: 'string', default: '1000,10000,100000' }, served: { type: 'string', default: '' },
  workspaces: { type: 'string', default: '1,100,1000' }, questions: { type: 'string', default: '100' },
  dimension: { type: 'string', default: '384' }, spare: { type: 'string', default: '10' },
} });
if (!binary) throw new Error('which program?');
const numbers = (text) => text.split(',').filter(Boolean).map(Number);
const QUESTIONS = Number(options.questions);
const MODES = [['text', 'search_fts', 'query'], ['vector', 'search_vector', 'query_text'], ['hybrid', 'search_hybrid', 'query']];
/** Files of one import that the running service takes, and bytes of their texts. */
const FILES = 200;
const TEXT_BYTES = 64 << 20;
/** Chunks of one import whose texts are short; more are appended by further imports. */
const SHORT_CHUNKS = 250_000;
const WORDS = 30_000;
/** Nobody meets a limit of calls. */
const RATES = { DRAGOMAN_EXT_RATE_TOKEN: '1000000', DRAGOMAN_EXT_RATE_WORKSPACE: '1000000', DRAGOMAN_EXT_RATE_REQUESTS: '1000000' };
/** A first search that opens an index may be late so often. */
const TRIES = 20;
/** Longer than the minute after which indexes are looked at again. */
const IDLE_MS = 65_000;
/** At the same time, of commands that make workspaces. */
const AT_ONCE = 4;
const DROP = `
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        try:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
        except OSError:
            continue
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)`;

// ---- texts

/** The same numbers for the same seed (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6D2B79F5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Words by how often they are used: those of the documentation first, then names that are made up. */
function vocabulary() {
  const docs = join(dirname(fileURLToPath(import.meta.url)), '../../../docs');
  const counts = new Map();
  for (const name of readdirSync(docs).filter((name) => name.endsWith('.md')).sort()) {
    for (const word of readFileSync(join(docs, name), 'utf8').toLowerCase().match(/[a-z]+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([word]) => word);
  const known = new Set(words);
  const next = random(1);
  const sound = (of) => of[Math.floor(next() * of.length)];
  while (words.length < WORDS) {
    let word = '';
    for (let left = 2 + Math.floor(next() * 2); left > 0; left -= 1) word += sound('bcdfghklmnprstvz') + sound('aeiou');
    word += sound(['', 'n', 'r', 's', 'x', 'th']);
    if (!known.has(word)) { known.add(word); words.push(word); }
  }
  return words;
}

const words = vocabulary();
/** A word is drawn as often as its place says (Zipf). */
const sums = [];
words.reduce((sum, _, at) => (sums[at] = sum + 1 / (at + 1)), 0);
function draw(next) {
  const wanted = next() * sums.at(-1);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] < wanted) low = middle + 1; else high = middle;
  }
  return words[low];
}
const some = (next, count) => Array.from({ length: count }, () => draw(next)).join(' ');
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** A section with its heading, which is a chunk: of some sentences, or of a few words. */
function section(next, isShort) {
  const heading = `## ${capital(some(next, 2))}\n\n`;
  if (isShort) return `${heading}${capital(some(next, 6))}.\n\n`;
  const sentences = Array.from({ length: 3 + Math.floor(next() * 3) }, () => `${capital(some(next, 8 + Math.floor(next() * 7)))}.`);
  return `${heading}${sentences.join(' ')}\n\n`;
}

/** Writes documents with so many sections together. */
function write(folder, chunks, isShort, seed) {
  mkdirSync(folder);
  const next = random(seed);
  const count = Math.min(FILES, Math.max(1, Math.round(chunks / 50)));
  const files = [];
  let bytes = 0;
  for (let file = 0; file < count; file += 1) {
    const parts = [];
    const most = Math.round((chunks * (file + 1)) / count) - Math.round((chunks * file) / count);
    for (let at = 0; at < most; at += 1) parts.push(section(next, isShort));
    const text = parts.join('');
    bytes += Buffer.byteLength(text);
    files.push(join(folder, `text-${seed}-${file}.md`));
    writeFileSync(files.at(-1), text);
  }
  if (bytes > TEXT_BYTES) throw new Error(`${bytes} bytes of texts are more than one import takes`);
  return { files, bytes };
}

/** Questions that nobody asked before. */
const asking = random(99);
const question = () => some(asking, 5 + Math.floor(asking() * 5));

// ---- an encoder's server that costs next to nothing

/** A vector of the words in a text: each word changes two coordinates. */
function vector(text, dimension) {
  const made = new Int8Array(dimension);
  made[0] = 1;
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    let hash = 2_166_136_261;
    for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 16_777_619);
    hash ^= hash >>> 15;
    made[(hash >>> 1) % dimension] += hash & 1 ? 1 : -1;
    hash = Math.imul(hash, 2_654_435_761);
    made[(hash >>> 1) % dimension] += hash & 1 ? 1 : -1;
  }
  return made.join(',');
}

async function standIn(dimension) {
  const server = createServer((asked, answer) => {
    const parts = [];
    asked.on('data', (part) => parts.push(part));
    asked.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(parts));
      const items = input.map((text, index) => `{"index":${index},"embedding":[${vector(text, dimension)}]}`);
      answer.writeHead(200, { 'content-type': 'application/json' }).end(`{"data":[${items.join(',')}]}`);
    });
  });
  await new Promise((up) => server.listen(0, '127.0.0.1', up));
  const env = { DRAGOMAN_EMBEDDING_URL: `http://127.0.0.1:${server.address().port}/v1`, DRAGOMAN_EMBEDDING_MODEL: 'stand-in' };
  return { env, close: () => { server.close(); server.closeAllConnections(); } };
}

// ---- what is looked at

const status = (pid, key) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1]) / 1024;
/** Megabytes: its own, and with what it has mapped of files. */
const held = (pid) => `${status(pid, 'RssAnon').toFixed(0)} / ${status(pid, 'VmRSS').toFixed(0)}`;
const files = (pid) => readdirSync(`/proc/${pid}/fd`).length;
const maps = (pid) => readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').length - 1;
const disk = async (folder) => Number((await promisify(execFile)('du', ['-s', '--block-size=1', folder]).catch(({ stdout }) => ({ stdout }))).stdout.split('\t')[0]);
const spare = (folder) => { const { bavail, bsize } = statfsSync(folder); return (bavail * bsize) / 1e9; };
const part = (sorted, of) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? NaN;
const load = () => loadavg()[0].toFixed(1);
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
function head(title, ...cells) {
  console.log(`\n${title}\n`);
  row(...cells);
  row(...cells.map(() => '---'));
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
async function ask({ base }, token, operation, body, late = () => {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const began = performance.now();
  const { status: answered, text } = await send(`${base}/api/v1/ext/rag/${operation}`, { headers, agent, body: JSON.stringify({ ...body, k: 10 }) });
  const took = performance.now() - began;
  if (answered === 408 && late()) return undefined;
  if (answered !== 200) throw new Error(`${operation}: ${answered} ${text.slice(0, 400)}`);
  const { degraded, results } = JSON.parse(text);
  if (degraded) throw new Error(`${operation}: ${degraded}`);
  return { took, found: results.length };
}

/** Asks until there is an answer: milliseconds, of the processors too, and how often the time was over before. */
async function first(service, token, operation, body) {
  const [used, began] = [cost(service.child.pid), performance.now()];
  let late = 0;
  while (!(await ask(service, token, operation, body, () => (late += 1) < TRIES)));
  const busy = (cost(service.child.pid) - used) * 1_000;
  return `${(performance.now() - began).toFixed(0)} (${busy.toFixed(0)})${late > 0 ? ` after ${late} × 408` : ''}`;
}

/** Asks by so many callers at once; milliseconds sorted, and of the processors for each. */
async function times(service, count, callers, one) {
  const before = cost(service.child.pid);
  const waits = [];
  let [at, found] = [0, 0];
  await Promise.all(Array.from({ length: callers }, async () => {
    while (at < count) {
      at += 1;
      const answer = await one(at - 1);
      waits.push(answer.took);
      found += answer.found;
    }
  }));
  return { waits: waits.sort((a, b) => a - b), busy: ((cost(service.child.pid) - before) / count) * 1_000, found: found / count };
}

/**
 * Watches disk and memory while work runs, and ends the service where the disk becomes too full. Resolves to what came of
 * the work, and to the most that the folder had on disk and the service in memory.
 */
async function watched(folder, pid, work) {
  let [most, isOver, isFull] = [0, false, false];
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // forget the peak (proc(5))
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await disk(folder));
      if (spare(folder) < Number(options.spare)) { isFull = true; killAll(); return; }
      await Promise.race([sleep(1_000), done]);
    }
  })();
  const worked = work();
  const done = worked.catch(() => {}).then(() => { isOver = true; });
  await Promise.all([done, watching]);
  if (isFull) throw new Error(`less than ${options.spare} GB of the disk are left: ended`);
  return { answer: await worked, most, peak: status(pid, 'VmHWM') };
}

async function started(installation) {
  const began = performance.now();
  const service = await installation.start({});
  return { service, took: performance.now() - began, busy: cost(service.child.pid) };
}

// ---- chunks

async function chunks(work, size, encoder) {
  mkdirSync(work);
  const installation = new Installation(binary, work);
  Object.assign(installation.env, RATES, { DRAGOMAN_EXT_IN_FLIGHT: '64', DRAGOMAN_IN_FLIGHT: '256' }, encoder?.env);
  // A command that is waited for without holding up the stand-in.
  const run = async (...args) => JSON.parse((await promisify(execFile)(binary, [...args, '--json', '--data', installation.data],
    { env: installation.env, maxBuffer: 64 << 20 })).stdout || 'null');
  await run('admin', 'workspace', 'create', 'bench', '--open');
  await run('admin', 'workspace', 'create', 'other', '--open');
  const { token: another } = await run('admin', 'token', 'create', '--workspace', 'other', '--label', 'bench', '--scopes', 'ext:search');
  const { token } = await run('admin', 'token', 'create', '--workspace', 'bench', '--label', 'bench', '--scopes', 'ext:search');
  const [isShort, parts] = [size * 400 > TEXT_BYTES, Math.ceil(size / SHORT_CHUNKS)];
  const imports = Array.from({ length: parts }, (_, at) => write(join(work, `texts-${at}`), size / parts, isShort, 7 + at));
  const bytes = imports.reduce((sum, one) => sum + one.bytes, 0);
  let { service } = await started(installation);
  const { pid } = service.child;
  const facts = { 'empty service, MB': held(pid) };
  const [before, began] = [cost(pid), performance.now()];
  let took;
  const { answer: { row_count: rows }, most, peak } = await watched(installation.data, pid, async () => {
    let answer;
    for (const [at, { files: texts }] of imports.entries()) {
      const [used, since] = [cost(pid), performance.now()];
      answer = await run('import', ...texts, '--workspace', 'bench', '--name', 'texts', at === 0 ? '--publish' : '--append');
      facts[`import ${at + 1}, s (CPU s)`] = `${((performance.now() - since) / 1_000).toFixed(0)} (${(cost(pid) - used).toFixed(0)})`;
    }
    took = (performance.now() - began) / 1_000;
    return answer;
  });
  Object.assign(facts, {
    chunks: rows, 'bytes of text a chunk': (bytes / rows).toFixed(0), 'import, s': took.toFixed(1), 'chunks/s': (rows / took).toFixed(0),
    'CPU a chunk, ms': (((cost(pid) - before) / rows) * 1_000).toFixed(2), 'peak of import, MB': peak.toFixed(0),
    'disk a chunk, bytes': ((await disk(installation.data)) / rows).toFixed(0), 'disk at most in import, a chunk': (most / rows).toFixed(0),
  });
  await sleep(3_000);
  facts['after import, MB'] = held(pid);
  const table = [];
  const asked = async (label) => {
    for (const [mode, operation, member] of MODES) {
      for (const callers of [1, 4]) {
        const { waits, busy, found } = await times(service, QUESTIONS, callers, () => ask(service, token, operation, { [member]: question() }));
        table.push([label, rows, mode, callers, part(waits, 0.5).toFixed(1), part(waits, 0.99).toFixed(1), busy.toFixed(1), found.toFixed(1), load()]);
      }
    }
  };
  facts['first search after import, ms (CPU)'] = await first(service, token, 'search_fts', { query: question() });
  await asked('after import');
  facts['after 600 questions, MB'] = held(pid);
  facts['files open, maps'] = `${files(pid)}, ${maps(pid)}`;
  await service.stop();

  for (const [name, isCold] of [['cold', true], ['warm', false]]) {
    if (isCold) execFileSync('python3', ['-c', DROP, installation.data]);
    const again = await started(installation);
    service = again.service;
    facts[`start ${name}, ms (CPU)`] = `${again.took.toFixed(0)} (${(again.busy * 1_000).toFixed(0)})`;
    facts[`first search ${name}, ms (CPU)`] = await first(service, token, 'search_fts', { query: question() });
    facts[`first by meaning then, ms (CPU)${isCold ? ', cold' : ''}`] = await first(service, token, 'search_vector', { query_text: question() });
    if (isCold) await service.stop();
  }
  const { pid: last } = service.child;
  facts['after a start and 2 questions, MB'] = held(last);
  const note = join(work, 'note.md');
  writeFileSync(note, `# One more\n\n${section(random(3), false)}`);
  // Whether a small dataset of others drives this one out of memory.
  await run('import', note, '--workspace', 'other', '--name', 'notes', '--publish');
  await first(service, another, 'search_fts', { query: question() });
  facts["the next one after another workspace's, ms (CPU)"] = await first(service, token, 'search_fts', { query: question() });
  // What one more document costs, where the disk has room for a copy of all.
  if (spare(work) - (most + rows * 4_000) / 1e9 > Number(options.spare)) {
    const [used, since] = [cost(last), performance.now()];
    const added = await watched(installation.data, last, async () => {
      await run('import', note, '--workspace', 'bench', '--name', 'texts', '--append');
      facts['one more document, s (CPU s)'] = `${((performance.now() - since) / 1_000).toFixed(2)} (${(cost(last) - used).toFixed(2)})`;
    });
    facts['its peak, MB'] = added.peak.toFixed(0);
    facts['disk at most then, a chunk'] = (added.most / rows).toFixed(0);
    await sleep(2_000);
    facts['disk afterwards, a chunk'] = ((await disk(installation.data)) / rows).toFixed(0);
    facts['first search after that, ms (CPU)'] = await first(service, token, 'search_fts', { query: question() });
    facts['memory after that, MB'] = held(last);
  }
  await service.stop();
  rmSync(work, { recursive: true, force: true });
  return { facts, table };
}

// ---- workspaces

async function workspaces(work, counts) {
  mkdirSync(work);
  const installation = new Installation(binary, work);
  Object.assign(installation.env, RATES);
  const run = async (...args) => JSON.parse((await promisify(execFile)(binary, [...args, '--json', '--data', installation.data], { env: installation.env })).stdout || 'null');
  const next = random(5);
  const tokens = [];
  const columns = ['workspaces', 'made, ms each', 'start, ms (CPU)', 'MB at start', 'idle CPU, ms a second', 'first search of each, p50', 'p99', 'CPU ms',
    'later ones, p50', 'p99', 'CPU ms', 'MB then', 'files, maps', 'disk KB each', 'load'];
  const rows = [];
  let { service } = await started(installation);
  for (const count of counts) {
    const [had, began] = [tokens.length, performance.now()];
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let at = had + lane; at < count; at += AT_ONCE) {
        const name = `w${at}`;
        const note = join(work, `note-${at}.md`);
        writeFileSync(note, Array.from({ length: 5 }, () => section(next, false)).join(''));
        await run('admin', 'workspace', 'create', name, '--open');
        await run('import', note, '--workspace', name, '--name', 'notes', '--publish');
        tokens[at] = (await run('admin', 'token', 'create', '--workspace', name, '--label', 'bench', '--scopes', 'ext:search')).token;
      }
    }));
    const made = (performance.now() - began) / Math.max(1, count - had);
    await service.stop();
    const again = await started(installation);
    service = again.service;
    const { pid } = service.child;
    const atStart = held(pid);
    await sleep(3_000);
    const idle = cost(pid);
    await sleep(IDLE_MS);
    const idling = ((cost(pid) - idle) / IDLE_MS) * 1e6;
    let order = tokens.map((token) => [next(), token]).sort(([a], [b]) => a - b).map(([, token]) => token);
    const hybrid = (token) => ask(service, token, 'search_hybrid', { query: question() });
    let [asked, mapped, once] = [0, 0, undefined];
    try {
      once = await times(service, order.length, 1, async (at) => {
        const answer = await hybrid(order[at]);
        asked += 1;
        mapped = maps(pid);
        return answer;
      });
    } catch (problem) {
      // Where the program does not bear so many, that is said, and half as many are asked.
      console.log(`${count} workspaces: after first searches of ${asked}, with ${mapped} maps: ${problem.message}\n${installation.logged().slice(-1500)}`);
      process.exitCode = 1;
      await service.stop();
      ({ service } = await started(installation));
      order = order.slice(0, asked >> 1);
      once = await times(service, order.length, 1, (at) => hybrid(order[at]));
    }
    const later = await times(service, 3 * QUESTIONS, 1, () => hybrid(order[Math.floor(next() * order.length)]));
    const figures = ({ waits, busy }) => [part(waits, 0.5).toFixed(1), part(waits, 0.99).toFixed(1), busy.toFixed(1)];
    rows.push([count, made.toFixed(0), `${again.took.toFixed(0)} (${(again.busy * 1_000).toFixed(0)})`, atStart, idling.toFixed(1), ...figures(once),
      ...figures(later), held(service.child.pid), `${files(service.child.pid)}, ${maps(service.child.pid)}`, ((await disk(installation.data)) / count / 1024).toFixed(0), load()]);
    console.log(`${count} workspaces: ${rows.at(-1).join(' | ')}`);
  }
  await service.stop();
  head('Workspaces of one dataset of five chunks (hybrid)', ...columns);
  for (const cells of rows) row(...cells);
}

const work = mkdtempSync(join(tmpdir(), 'dragoman-grow-'));
const stop = () => { killAll(); rmSync(work, { recursive: true, force: true }); process.exit(130); };
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
try {
  console.log(`${cpus().length} × ${cpus()[0].model}, load ${load()}`);
  const done = [];
  const sizes = [...numbers(options.sizes).map((size) => [size, false]), ...numbers(options.served).map((size) => [size, true])];
  for (const [size, isServed] of sizes) {
    const encoder = isServed ? await standIn(Number(options.dimension)) : undefined;
    const folder = join(work, `chunks-${size}-${isServed}`);
    let one;
    try {
      one = await chunks(folder, size, encoder);
    } catch (problem) {
      // What the program does not take, such as an import that its time does not suffice for, is a figure too.
      console.log(`${size} chunks, load ${load()}: ${problem.stderr ?? problem.stack}`);
      process.exitCode = 1;
      killAll();
      rmSync(folder, { recursive: true, force: true });
      continue;
    } finally {
      encoder?.close();
    }
    console.log(`${size} chunks${isServed ? ', vectors of a server' : ''}, load ${load()}: ${JSON.stringify(one.facts)}`);
    for (const cells of one.table) console.log(cells.join(' | '));
    done.push({ name: `${size}${isServed ? ', served' : ''}`, ...one });
  }
  if (done.length > 0) {
    head('Chunks of one dataset', '', ...done.map(({ name }) => name));
    for (const key of Object.keys(done[0].facts)) row(key, ...done.map(({ facts }) => facts[key] ?? ''));
    head('Questions', 'when', 'chunks', 'mode', 'callers', 'p50 ms', 'p99 ms', 'CPU ms', 'found', 'load');
    for (const { table } of done) for (const cells of table) row(...cells);
  }
  const counts = numbers(options.workspaces);
  if (counts.length > 0) await workspaces(join(work, 'workspaces'), counts);
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  killAll();
  agent.destroy();
  rmSync(work, { recursive: true, force: true });
}
