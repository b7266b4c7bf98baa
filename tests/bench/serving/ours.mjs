// The program, with the demo's flights and notes in a workspace, a connectivity token and a person's access token.
import { mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { connectProgram, logIn, register } from '../attacks/people.mjs';
import { Installation } from '../attacks/service.mjs';
import { send } from '../attacks/wire.mjs';
import { grow } from './grow.mjs';

const ANN = { email: 'ann@example.com', password: 'correct horse battery' };
const RATES = ['EXT_RATE_TOKEN', 'EXT_RATE_SQL', 'EXT_RATE_ASK', 'EXT_RATE_RESOURCES', 'EXT_RATE_WORKSPACE', 'EXT_RATE_REQUESTS', 'EXT_RATE_SESSIONS',
  'CLIENT_RATE_CALLS', 'CLIENT_RATE_SQL', 'CLIENT_RATE_ASK', 'CLIENT_RATE_RESOURCES', 'RATE_AUTHORIZE', 'RATE_REGISTER', 'RATE_TOKEN'];
const SCOPES = ['data_agent:read', 'data_agent:write'];
export const GROUP = 'SELECT carrier, count(*) AS n, avg(dep_delay) AS delay FROM flights GROUP BY carrier ORDER BY n DESC';
const DIFFERS = 'SELECT carrier, count(*) AS n, avg(dep_delay) AS delay FROM flights WHERE distance <> %d GROUP BY carrier ORDER BY n DESC';
const SEARCH = 'how can I tell that flight number %d was cancelled';

/** A request of the era without sessions. */
export function modern(url, token, method, params = {}) {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const headers = {
    Authorization: `Bearer ${token}`, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json',
    'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(params.name && { 'Mcp-Name': params.name }),
  };
  return { url, headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }) };
}

/** The headers of a new session of the era before. */
async function session(url, token) {
  const headers = {
    Authorization: `Bearer ${token}`, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json',
    'MCP-Protocol-Version': '2025-11-25',
  };
  const clientInfo = { name: 'bench', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const post = (more, message) => send(url, { headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const opened = await post({}, { id: 0, method: 'initialize', params: opening });
  const id = { 'Mcp-Session-Id': opened.headers['mcp-session-id'] };
  await post(id, { method: 'notifications/initialized' });
  return { ...headers, ...id };
}

/** A request in a session. */
async function inSession(url, token, method, params) {
  // Of requests in a session no two at once have one id.
  return { url, headers: await session(url, token), body: JSON.stringify({ jsonrpc: '2.0', method, params }).replace('{', '{"id":%d,') };
}

/** Opens so many sessions with a stream each, which stay open. */
async function listening(url, token, count) {
  for (let open = 0; open < count; open += 1) {
    const headers = await session(url, token);
    const status = await new Promise((answered, failed) => {
      request(url, { headers: { ...headers, Accept: 'text/event-stream' } }, (stream) => answered(stream.resume().statusCode))
        .on('error', failed).end();
    });
    if (status !== 200) throw new Error(`stream ${open}: ${status}`);
  }
}

/** Asks once, and demands an answer that holds a text. */
const holding = (text) => async function check() {
  const answer = await send(this.url, { headers: this.headers, body: this.body.replace('%d', '7') });
  if (answer.status !== 200 || !answer.text.includes(text)) throw new Error(`${this.name}: ${answer.status} ${answer.text.slice(0, 600)}`);
};

export async function ours(binary, work, options, name) {
  mkdirSync(work);
  const installation = new Installation(binary, work);
  installation.env.DRAGOMAN_PUBLIC_URL = '';
  if (options.database !== 'sqlite') installation.env.DATABASE_URL = options.database;
  for (const rate of RATES) installation.env[`DRAGOMAN_${rate}`] = '100000000';
  installation.env.DRAGOMAN_SQL_KNOWN_MB = options.known ? '16' : '0';
  Object.assign(installation.env, {
    DRAGOMAN_EXT_IN_FLIGHT: '256', DRAGOMAN_IN_FLIGHT: '1024', DRAGOMAN_EXT_STREAMS: '2000', DRAGOMAN_STREAMS: '4000',
    DRAGOMAN_MCP_SESSIONS: '2000', DRAGOMAN_CONNECTIONS: '8000',
  });
  const run = (text, input) => installation.command(text.split(' '), input);
  run('admin workspace create bench');
  run(`admin person create ${ANN.email} --name Ann --password-stdin`, ANN.password);
  run(`admin role set ${ANN.email} admin --workspace bench`);
  run('admin workspace connectivity bench on');
  run('import src/ops/demo/flights.parquet --workspace bench --publish');
  run('import src/ops/demo/flights-guide.md --workspace bench --publish');
  const { token } = run('admin token create --workspace bench --label bench --scopes ext:datasets,ext:schema,ext:search,ext:sql');
  grow(installation, options);
  const service = await installation.start({});
  const { headers } = await logIn(service.base, ANN);
  const access = await connectProgram(service.base, { client_id: await register(service.base), workspace: 'bench', scopes: SCOPES, headers });
  const url = `${service.base}/mcp`;
  await listening(url, token, Number(options.streams));
  const tool = (credential, name, args) => modern(url, credential, 'tools/call', { name, arguments: args });
  const sql = (credential, text) => tool(credential, 'dragoman_sql', { sql: text });
  const calls = [
    { name: 'tools/list, token', goal: 16000, ...modern(url, token, 'tools/list'), check: holding('dragoman_sql') },
    { name: 'tools/list, OAuth', goal: 16000, ...modern(url, access, 'tools/list'), check: holding('dragoman_sql') },
    { name: 'tools/list, session', ...await inSession(url, token, 'tools/list', {}), check: holding('dragoman_sql') },
    { name: 'select 1, token', goal: 8000, ...sql(token, 'SELECT 1 AS one'), check: holding('one') },
    { name: 'select 1, OAuth', goal: 8000, ...sql(access, 'SELECT 1 AS one'), check: holding('one') },
    { name: 'select 1, session', ...await inSession(url, token, 'tools/call', { name: 'dragoman_sql', arguments: { sql: 'SELECT 1 AS one' } }), check: holding('one') },
    { name: 'group-by, token', goal: 390, ...sql(token, GROUP), check: holding('58665') },
    { name: 'group-by that differs, token', goal: 390, ...sql(token, DIFFERS), check: holding('58665') },
    { name: 'list datasets, token', ...tool(token, 'dragoman_list_datasets', {}), check: holding('flights') },
    { name: 'search, token', goal: 300, ...tool(token, 'dragoman_search', { query: SEARCH }), check: holding('flights-guide.md') },
  ];
  return { name: options.known ? `${name} that knows` : name, pid: service.child.pid, data: installation.data, env: installation.env, calls, stop: () => service.stop() };
}
