// What processes use: memory, processor time, and what they make durable.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';

const TICKS = 100; // of /proc/…/stat a second

const gone = ({ code }) => ['ENOENT', 'ESRCH'].includes(code);
const kilobytes = (file, key) => Number(readFileSync(file, 'utf8').match(new RegExp(`^${key}:\\s+(\\d+)`, 'm'))[1]);

/** A process and all that it started. */
export function family(pid) {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '));
    return [String(pid), ...children.filter(Boolean).flatMap(family)];
  } catch (problem) {
    if (!gone(problem)) throw problem;
    return [];
  }
}

const over = (pids, of) => pids.reduce((sum, pid) => {
  try {
    return sum + of(pid);
  } catch (problem) {
    if (!gone(problem)) throw problem; // it ended while we looked
    return sum;
  }
}, 0);

/** Seconds of processor time of a process and of what it started, those that ended included. */
export const cost = (pid) => over(family(pid), (each) => {
  const fields = readFileSync(`/proc/${each}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
  return fields.slice(11, 15).reduce((ticks, part) => ticks + Number(part), 0) / TICKS;
});

/** Megabytes: what a process has in memory, and what it and those that it started hold, shared pages divided. */
export const memory = (pid) => ({
  rss: kilobytes(`/proc/${pid}/status`, 'VmRSS') / 1024,
  all: over(family(pid), (each) => kilobytes(`/proc/${each}/smaps_rollup`, 'Pss')) / 1024,
});

/** How often files are made durable while `work` runs; `file` is for the tracer's table. */
export async function fsyncs(pid, file, work) {
  const tracer = spawn('strace', ['-c', '-f', '-e', 'trace=fsync,fdatasync', '-o', file, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(tracer, 'exit');
  await once(tracer.stderr, 'data'); // it says that it is attached
  const asked = work();
  tracer.kill('SIGINT');
  await ended;
  const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.trim().split(/\s+/)).filter((line) => ['fsync', 'fdatasync'].includes(line.at(-1)));
  return { asked, calls: lines.reduce((sum, line) => sum + Number(line[3]), 0) };
}
