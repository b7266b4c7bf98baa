// How attackers talk: many requests at once, requests that never end, and connections that are cut off.
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** After this long a request counts as not answered. */
const PATIENCE_MS = 20_000;
/** A connection that is this much younger than its attack was there from the beginning. */
const START_MS = 2_000;

export const ms = (since) => Number(process.hrtime.bigint() - since) / 1e6;

/** Counts what it is told. */
export class Tally {
  counts = {};

  add(what) { this.counts[what] = (this.counts[what] ?? 0) + 1; }
}

/** One request and its whole answer; a broken connection has its error's name for a status. */
export function send(url, { method, headers = {}, body, agent, localAddress } = {}) {
  if (body !== undefined) headers = { ...headers, 'content-length': Buffer.byteLength(body) };
  return new Promise((answered) => {
    const failed = ({ code, message }) => answered({ status: code ?? message, headers: {}, text: '' });
    const options = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, agent, localAddress, timeout: PATIENCE_MS };
    const sent = request(url, options, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => answered({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
      response.on('error', failed);
    });
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', failed);
    sent.end(body);
  });
}

/** One request whose answer must be good. */
export async function demand(what, url, options) {
  const answer = await send(url, options);
  if (![200, 201, 303].includes(answer.status)) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 400)}`);
  return answer;
}

/**
 * Makes `count` calls by `callers` in turn, at most `pace` a second and until `window` milliseconds are over. The same
 * load is offered to every program, so that figures of two can be compared. Returns how many were made.
 */
export async function flood({ count, callers, pace, window }, call) {
  const began = process.hrtime.bigint();
  let next = 0;
  await Promise.all(Array.from({ length: callers }, async (_, caller) => {
    while (next < count && ms(began) < window) {
      const at = next++;
      const early = (at * 1000) / pace - ms(began);
      if (early > 1) await sleep(early);
      await call(at, caller);
    }
  }));
  return next;
}

/** The status of what is read of an answer. */
const status = (data) => Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1]) || 'no HTTP';

/** The head of a request with a token. */
export function head(method, path, port, token, headers) {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/**
 * Keeps one request for each of `heads` on its way until `window` milliseconds are over, and sends a `piece` of its body
 * every so often. Who is refused or cut off comes back after `back` milliseconds. Counts the answers in `tally`; returns
 * the seconds that each connection lived which the service ended, and how many it bore with from the beginning to the end.
 */
export async function drip({ port, heads, piece, every, back, window }, tally) {
  const [lived, open] = [[], new Set()];
  let held = 0;
  const began = process.hrtime.bigint();
  const writing = setInterval(() => open.forEach((socket) => socket.write(piece)), every);
  const once = (text) => new Promise((closed) => {
    const since = process.hrtime.bigint();
    let [answer, isOver] = ['closed', false];
    const socket = connect(port, '127.0.0.1', () => { socket.write(text); open.add(socket); });
    socket.once('data', (data) => { answer = status(data); open.delete(socket); });
    socket.on('data', () => {});
    socket.on('error', () => {});
    const over = setTimeout(() => {
      isOver = true;
      if (open.has(socket)) answer = 'not answered';
      if (ms(since) > window - START_MS) held += 1;
      socket.destroy();
    }, window - ms(began));
    socket.on('close', () => {
      clearTimeout(over);
      open.delete(socket);
      tally.add(answer);
      if (!isOver) lived.push(ms(since) / 1000);
      closed();
    });
  });
  await Promise.all(heads.map(async (text) => {
    for (;;) {
      await once(text);
      if (ms(began) + back >= window) return;
      await sleep(back);
    }
  }));
  clearInterval(writing);
  return { lived: lived.sort((a, b) => a - b), held };
}

/** Sends a whole request and hangs up `wait` milliseconds later; returns the status if there was one by then. */
export function cutOff(port, bytes, wait) {
  return new Promise((closed) => {
    let answer = 'cut off';
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (data) => { answer = status(data); });
    socket.on('error', () => {});
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('close', () => closed(answer));
    socket.write(bytes, () => setTimeout(() => socket.destroy(), wait));
  });
}

/** Opens a stream; returns its status and, when it is open, its socket. */
export function stream(port, text) {
  return new Promise((answered) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.once('data', (data) => answered({ status: status(data), socket }));
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => answered({ status: 'closed', socket }));
  });
}
