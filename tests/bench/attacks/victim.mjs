// The other workspace: it asks its small table, one question after the other, in a thread of its own, so that the work
// of attacking is not taken for the service's.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { ms, send } from './wire.mjs';

export const TABLE = 'measures';
export const ROWS = 100;
const SQL = `SELECT count(*) AS n FROM ${TABLE}`;

/** Asks with the tokens in turn, with a pause of so many milliseconds after each question. */
export class Victim {
  constructor(base, tokens, pause) {
    this.thread = new Worker(new URL(import.meta.url), { workerData: { base, tokens, pause } });
  }

  /** Asks so many times, or until [`enough`]: how long it took, and how often there was no right answer. */
  measure(most) {
    this.thread.postMessage(most);
    return new Promise((measured, failed) => {
      this.thread.once('message', measured);
      this.thread.once('error', failed);
    });
  }

  enough() { this.thread.postMessage(0); }

  close() { return this.thread.terminate(); }
}

async function ask({ base, tokens }, at, agent) {
  const headers = { authorization: `Bearer ${tokens[at % tokens.length]}`, 'content-type': 'application/json' };
  const { status, text } = await send(`${base}/api/v1/ext/sql`, { headers, body: JSON.stringify({ sql: SQL }), agent });
  return status === 200 && JSON.parse(text).rows[0][0] !== ROWS ? 'a wrong answer' : status;
}

function listen() {
  // The service ends connections that are idle for long, perhaps while a question is on its way there.
  const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: 5_000 });
  let [at, most] = [0, 0];
  parentPort.on('message', async (wanted) => {
    most = wanted;
    if (wanted === 0) return;
    const [took, refused] = [[], {}];
    for (let asked = 0; asked < most; asked += 1) {
      const since = process.hrtime.bigint();
      const answer = await ask(workerData, at++, agent);
      if (answer === 200) took.push(ms(since));
      else refused[answer] = (refused[answer] ?? 0) + 1;
      await sleep(workerData.pause);
    }
    took.sort((a, b) => a - b);
    const rank = (part) => took[Math.ceil(part * took.length) - 1] ?? null;
    parentPort.postMessage({ calls: took.length, p50: rank(0.5), p99: rank(0.99), longest: rank(1), refused });
  });
}

if (!isMainThread) listen();
