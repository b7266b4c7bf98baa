// The attacks, by number. Each has
//   what       in words
//   settings   of the service, besides its defaults: only limits that are not under attack, so that the other workspace
//              can ask often enough to be measured
//   pause      milliseconds between two questions of the other workspace
//   idle       how many it asks before the attack, and
//   rest       for how many milliseconds it asks nothing then
//   prepare    makes what the attack needs, and goes each of its ways to the end, so that what these cost once is not
//              taken for what the attack costs
//   run        attacks, until it is done or the time is over: how many were offered; of bodies the lives that the service
//              ended and how many were held all the time; of streams how many were open at the end
// All connections come from 127.0.0.1, as do those of the other workspace, unless said otherwise.
import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectProgram, logIn, register } from './people.mjs';
import { cutOff, demand, drip, flood, head, send, stream } from './wire.mjs';

const UNLIMITED = '1000000';
const OTHERS = { DRAGOMAN_EXT_RATE_SQL: UNLIMITED, DRAGOMAN_EXT_RATE_WORKSPACE: UNLIMITED };
const RAISED = { ...OTHERS, DRAGOMAN_EXT_RATE_TOKEN: UNLIMITED };
const PAUSE_MS = 20;
const IDLE_CALLS = 300;

const GRANTS = 23;
const UPLOADS_OF_A_GRANT = 3;
const SCOPES = ['data_agent:read', 'datasets:write'];
/** Grants that are made from one address, which may ask for ten a minute. */
const GRANTS_OF_AN_ADDRESS = 8;

const CONNECTIONS = 16;
const LOG_INS_AT_ONCE = 8;
/** One log-in in so many has a wrong password; after more of them than this an address would be refused. */
const WRONG_EVERY = 25;
const WRONG_OF_AN_ADDRESS = 4;
const LONG_NAME = 'x'.repeat(500_000);
/** As many as one principal may have. */
const SESSIONS = 20;
const BODIES = 200;
/** How long streams are held once all are open, in milliseconds. */
const HOLD_MS = 20_000;

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const rpc = (method, params, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const opening = (name) => rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } });

/** Posts to /mcp, many over a few connections. */
async function posts(on, { count, pace, requests }) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const offered = await flood({ count: on.number(count), callers: CONNECTIONS, pace, window: on.window }, async (at) => {
    const { what = '', headers, body } = requests(at);
    const answer = await send(`${on.base}/mcp`, { headers: { ...JSON_HEADERS, ...headers }, body, agent });
    on.answers.add(answer.status);
    // Of a tool the answer is 200 whatever it says.
    const code = /\\?"code\\?":\s*\\?"(\w+)/.exec(answer.text)?.[1];
    if (what) on.details.add(`${what}: ${answer.status}${code ? ` ${code}` : ''}`);
  });
  agent.destroy();
  return { offered };
}

const stranger = () => ({ body: rpc('ping') });
const badToken = () => ({ headers: { authorization: `Bearer dgmcp_AAAAAAAA_${randomBytes(16).toString('hex')}` }, body: rpc('ping') });

/** A call of the revision without sessions. */
function call(token, what, name, args) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const headers = { authorization: `Bearer ${token}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return { what, headers, body: rpc('tools/call', { name, arguments: args, _meta: meta }) };
}

const REFUSED = [
  (token) => ({ what: 'initialize', headers: { authorization: `Bearer ${token}` }, body: opening('bench') }),
  (token) => call(token, 'unknown tool', 'no_such_tool', {}),
  (token) => call(token, 'wrong arguments', 'dragoman_sql', { sql: 7 }),
  (token) => call(token, 'over the rate', 'dragoman_list_datasets', {}),
];

/** Each request once. */
async function once(on, requests) {
  for (const { headers, body } of requests) await send(`${on.base}/mcp`, { headers: { ...JSON_HEADERS, ...headers }, body });
}

/** Opens as many sessions as one principal may have; their ids. */
async function openSessions(on, name) {
  const ids = [];
  for (let opened = 0; opened < SESSIONS; opened += 1) {
    const headers = { ...JSON_HEADERS, authorization: `Bearer ${on.token}` };
    const answer = await demand('initialize', `${on.base}/mcp`, { headers, body: opening(name) });
    ids.push(answer.headers['mcp-session-id']);
  }
  return ids;
}

const upload = (on, token) => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': 1_000_000 };
  const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="slow.csv"\r\n\r\nid\n';
  return head('POST', '/api/v1/datasets', on.port, token, headers) + part;
};

/** An upload that is sent at once. */
async function wholeUpload(on, token) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x' };
  const body = '--x\r\ncontent-disposition: form-data; name="file"; filename="whole.csv"\r\n\r\nid\n1\n2\n\r\n--x--\r\n';
  await demand('upload', `${on.base}/api/v1/datasets`, { headers, body });
}

const nobody = (at) => ({ email: `nobody-${at}@example.com`, password: 'a wrong password' });

const trickle = (on, path) => `${head('POST', path, on.port, on.token, { ...JSON_HEADERS, 'content-length': 1_000 })}{`;

function streamOf(on, at) {
  const session = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': on.sessions[at % on.sessions.length] };
  return head('GET', '/mcp', on.port, on.token, { accept: 'text/event-stream', connection: 'close', ...session });
}

const ATTACKS = [
  {
    id: '1',
    what: `${GRANTS * UPLOADS_OF_A_GRANT} uploads of one person, four bytes every 10 s`,
    async prepare(on) {
      const { status, headers } = await logIn(on.base, on.person);
      if (status !== 303) throw new Error(`log-in: ${status}`);
      const client_id = await register(on.base);
      on.grants = [];
      for (let made = 0; made < GRANTS; made += 1) {
        const localAddress = `127.0.2.${1 + Math.floor(made / GRANTS_OF_AN_ADDRESS)}`;
        on.grants.push(await connectProgram(on.base, { client_id, workspace: on.workspace, scopes: SCOPES, headers, localAddress }));
      }
      await wholeUpload(on, on.grants[0]);
    },
    async run(on) {
      const heads = on.grants.flatMap((token) => Array(UPLOADS_OF_A_GRANT).fill(upload(on, token)));
      const { lived, held } = await drip({ port: on.port, heads, piece: 'aaa\n', every: 10_000, back: 5_000, window: on.window }, on.answers);
      return { offered: heads.length, lived, held };
    },
  },
  {
    id: '2a',
    what: '10,000 posts without a token, 1,000/s',
    prepare: (on) => once(on, [stranger()]),
    run: (on) => posts(on, { count: 10_000, pace: 1_000, requests: stranger }),
  },
  {
    id: '2b',
    what: '10,000 posts with bad tokens, 1,000/s',
    prepare: (on) => once(on, [badToken()]),
    run: (on) => posts(on, { count: 10_000, pace: 1_000, requests: badToken }),
  },
  {
    // The rate of one token is attacked here: the other workspace has as many calls as its ten tokens have.
    id: '2c',
    what: '4 × 2,000 refused calls of a good token, 250/s',
    settings: OTHERS,
    pause: 120,
    idle: 200,
    rest: 20_000,
    prepare: (on) => once(on, REFUSED.map((refused) => refused(on.token))),
    run: (on) => posts(on, { count: 8_000, pace: 250, requests: (at) => REFUSED[at % REFUSED.length](on.token) }),
  },
  {
    id: '8a',
    what: `500 log-ins, ${LOG_INS_AT_ONCE} at once`,
    // As many at once as in the attack: the service may keep a buffer for each that it lets run beside others.
    async prepare(on) {
      await flood({ count: 2 * LOG_INS_AT_ONCE, callers: LOG_INS_AT_ONCE, pace: Infinity, window: on.window }, async (_, caller) => {
        const { status } = await logIn(on.base, on.person, { localAddress: `127.0.3.${1 + caller}` });
        if (status !== 303) throw new Error(`log-in: ${status}`);
      });
    },
    async run(on) {
      const offered = await flood({ count: on.number(500), callers: LOG_INS_AT_ONCE, pace: Infinity, window: on.window }, async (at, caller) => {
        const wrong = at / WRONG_EVERY;
        const answer = Number.isInteger(wrong)
          ? logIn(on.base, nobody(at), { localAddress: `127.0.4.${1 + Math.floor(wrong / WRONG_OF_AN_ADDRESS)}` })
          : logIn(on.base, on.person, { localAddress: `127.0.3.${1 + caller}` });
        on.answers.add((await answer).status);
      });
      return { offered };
    },
  },
  {
    id: '8b',
    what: `2,000 sessions cut off while they open, names of ${LONG_NAME.length / 1000} and 12 kB, 100/s`,
    prepare: (on) => openSessions(on, 'bench'),
    async run(on) {
      // Those that are too long to be read, and those that are not.
      const openings = [LONG_NAME, LONG_NAME.slice(0, 12_000)].map(opening).map((body) =>
        Buffer.from(head('POST', '/mcp', on.port, on.token, { ...JSON_HEADERS, 'content-length': Buffer.byteLength(body) }) + body));
      const offered = await flood({ count: on.number(2_000), callers: CONNECTIONS, pace: 100, window: on.window }, async (at) => {
        // At different moments of the answer.
        on.answers.add(await cutOff(on.port, openings[at % 2], (at >> 1) % 8));
      });
      return { offered };
    },
  },
  {
    id: '8c',
    what: '3,000 streams of one token, 300/s',
    async prepare(on) {
      on.sessions = await openSessions(on, 'bench');
      (await stream(on.port, streamOf(on, 0))).socket.destroy();
    },
    async run(on) {
      const sockets = new Set();
      const offered = await flood({ count: on.number(3_000), callers: CONNECTIONS, pace: 300, window: on.window }, async (at) => {
        const { status, socket } = await stream(on.port, streamOf(on, at));
        on.answers.add(status);
        if (status === 200) sockets.add(socket.once('close', () => sockets.delete(socket)));
        else socket.destroy();
      });
      await sleep(Math.min(HOLD_MS, on.window));
      const open = sockets.size;
      sockets.forEach((socket) => socket.destroy());
      return { offered, open };
    },
  },
  {
    id: '9',
    what: `${BODIES} bodies, a byte every 5 s`,
    prepare: (on) => once(on, [REFUSED[3](on.token)]),
    async run(on) {
      const heads = Array.from({ length: BODIES }, (_, at) => trickle(on, at % 2 ? '/mcp' : '/api/v1/ext/sql'));
      const { lived, held } = await drip({ port: on.port, heads, piece: ' ', every: 5_000, back: 5_000, window: on.window }, on.answers);
      return { offered: heads.length, lived, held };
    },
  },
];

export const attacks = ATTACKS.map((attack) => ({ settings: RAISED, pause: PAUSE_MS, idle: IDLE_CALLS, rest: 0, ...attack }));
