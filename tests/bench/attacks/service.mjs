// The program under attack: its folder and commands, its start and stop, its memory, and the rows of its record.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const STOP_MS = 15_000;
/** How often the memory is looked at under attack; the kernel keeps the peak between two looks. */
const LOOK_MS = 200;
const ROWS = `
import sqlite3, sys
record = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True, timeout=10)
print(record.execute('SELECT count(*) FROM audit WHERE chain <> ?', (sys.argv[2],)).fetchone()[0])`;

/** Whatever is set here is not set for the program: its limits are the ones that it comes with. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DRAGOMAN_') && name !== 'DATABASE_URL'));
const running = new Set();

export function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

const free = () => new Promise((found) => {
  const probe = createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => found(port)); });
});

/** Kilobytes of a line of a file of /proc, in megabytes. */
const megabytes = (file, key) => Number(readFileSync(file, 'utf8').match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1]) / 1024;

/** A process and all that it started. */
function family(pid) {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '));
    return [String(pid), ...children.filter(Boolean).flatMap(family)];
  } catch (problem) {
    if (!['ENOENT', 'ESRCH'].includes(problem.code)) throw problem; // it ended while we looked
    return [];
  }
}

/** What a process holds, what it shares divided among those that share it; nothing for one that has ended. */
function share(pid) {
  try {
    return megabytes(`/proc/${pid}/smaps_rollup`, 'Pss');
  } catch (problem) {
    if (!['ENOENT', 'ESRCH'].includes(problem.code)) throw problem;
    return 0;
  }
}

/** The end of a file that may be larger than a text can be. */
function lastOf(path) {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(Math.min(size, 4000));
    readSync(file, last, 0, last.length, size - last.length);
    return last.toString();
  } finally {
    closeSync(file);
  }
}

export class Installation {
  constructor(binary, work) {
    this.binary = binary;
    this.data = join(work, 'data');
    this.log = openSync(join(work, 'log'), 'a');
    this.logged = () => lastOf(join(work, 'log'));
    mkdirSync(this.data);
    this.env = { ...plain, DRAGOMAN_ADMIN_LISTEN: 'off' };
  }

  /** A command's answer. */
  command(args, input) {
    const options = { env: this.env, input, stdio: ['pipe', 'pipe', 'inherit'] };
    return JSON.parse(execFileSync(this.binary, [...args, '--json', '--data', this.data], options).toString() || 'null');
  }

  /** Rows of the record that are not of one workspace. */
  rows(except) {
    return Number(execFileSync('python3', ['-c', ROWS, join(this.data, 'metadata.sqlite'), except]).toString());
  }

  /** Starts the service; resolves when it says that it is up. */
  async start(settings) {
    const port = await free();
    const env = { ...this.env, ...settings, DRAGOMAN_LISTEN: `127.0.0.1:${port}` };
    const child = spawn(this.binary, ['serve', '--data', this.data], { env, stdio: ['ignore', 'pipe', this.log] });
    running.add(child);
    const ended = new Promise((resolve) => child.once('exit', () => { running.delete(child); resolve(); }));
    await new Promise((up, failed) => {
      createInterface({ input: child.stdout }).on('line', (line) => { if (line.includes('is up on')) up(); });
      child.once('error', failed);
      child.once('exit', (code) => failed(new Error(`the program ended with ${code} before it was up:\n${this.logged()}`)));
    });
    return new Service(child, port, ended);
  }
}

class Service {
  constructor(child, port, ended) {
    this.child = child;
    this.port = port;
    this.base = `http://127.0.0.1:${port}`;
    this.ended = ended;
  }

  /** Megabytes: the service's resident set, and what it and its workers hold together. */
  memory() {
    if (!running.has(this.child)) throw new Error('the program has ended');
    return { rss: megabytes(`/proc/${this.child.pid}/status`, 'VmRSS'), all: family(this.child.pid).reduce((sum, pid) => sum + share(pid), 0) };
  }

  /** Watches the resident set; what is returned ends that, and tells its peak since then, and since the start. */
  watch() {
    const proc = (name) => `/proc/${this.child.pid}/${name}`;
    let [peak, isReset] = [0, true];
    try {
      writeFileSync(proc('clear_refs'), '5'); // forget the peak (proc(5))
    } catch {
      isReset = false; // a kernel without it: what is looked at has to do
    }
    const look = () => { if (running.has(this.child)) peak = Math.max(peak, megabytes(proc('status'), 'VmRSS')); };
    const looking = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(looking);
      look();
      const kept = megabytes(proc('status'), 'VmHWM');
      return isReset ? Math.max(peak, kept) : peak;
    };
  }

  async stop() {
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    await this.ended;
    clearTimeout(late);
  }
}
