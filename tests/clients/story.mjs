// The whole story through clients that others wrote: discover, register, log in, approve, list, read, ask, search.
// node story.mjs <flavour: sdk | legacy | modern> <mcp url> <email> <password> <folder for pictures>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { approve, callback } from './browser.mjs';

const [flavour, url, email, password, pictures] = process.argv.slice(2);
const library = flavour === 'sdk'
  ? { ...(await import('@modelcontextprotocol/sdk/client/index.js')), ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')) }
  : await import('@modelcontextprotocol/client');
const options = flavour === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};

const back = await callback();
const kept = {};
const provider = {
  redirectUrl: back.url,
  clientMetadata: {
    client_name: `Foreign client (${flavour})`, redirect_uris: [back.url], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  },
  state: () => 'state-of-this-run',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
  redirectToAuthorization: (to) => { kept.authorization = to; },
};

const open = () => ({
  client: new library.Client({ name: `foreign-${flavour}`, version: '1.0.0' }, options),
  transport: new library.StreamableHTTPClientTransport(new URL(url), { authProvider: provider }),
});

let { client, transport } = open();
let refused;
try { await client.connect(transport); } catch (problem) { refused = problem; }
if (!kept.authorization) throw new Error(`the client was not asked to log in: ${refused?.stack ?? 'it just connected'}`);

const pages = await approve(String(kept.authorization), { email, password, pictures, dark: flavour === 'modern' });
const answer = await back.response;
back.close();
if (answer.get('state') !== 'state-of-this-run') throw new Error('the state did not come back');
await transport.finishAuth(flavour === 'sdk' ? answer.get('code') : answer);

({ client, transport } = open());
await client.connect(transport);
const call = async (name, args = {}) => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  const text = JSON.parse(result.content[0].text);
  if (JSON.stringify(text) !== JSON.stringify(result.structuredContent)) throw new Error(`${name}: text and structure differ`);
  return result.structuredContent;
};
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { datasets } = await call('dragoman_list_datasets');
const flights = datasets.find((dataset) => dataset.name === 'flights');
const schema = await call('dragoman_get_schema', { dataset_id: flights.id });
const preview = await call('dragoman_preview_rows', { dataset_id: flights.id, limit: 3 });
const sql = await call('dragoman_sql', {
  sql: 'SELECT a.name, round(avg(f.dep_delay), 2) AS delay FROM flights f JOIN airlines a USING (carrier) GROUP BY ALL ORDER BY delay DESC LIMIT 1',
});
const search = await call('dragoman_search', { query: 'what does a negative delay mean' });
const forbidden = await client.callTool({ name: 'dragoman_sql', arguments: { sql: "FROM '/etc/passwd'" } });
const read = await client.readResource({ uri: `dragoman://datasets/${flights.id}` });
const rotated = kept.tokens.refresh_token;
console.log(JSON.stringify({
  pages, issuer: answer.get('iss'), client_id: kept.client.client_id, scope: kept.tokens.scope, has_refresh: Boolean(rotated),
  tools: tools.map((tool) => tool.name), resources: resources.map((resource) => resource.uri),
  datasets: datasets.map((dataset) => dataset.name), columns: schema.columns.length, rows: preview.rows.length,
  sql: sql.rows, best: search.matches[0].metadata.source_file,
  forbidden: { isError: forbidden.isError, body: JSON.parse(forbidden.content[0].text) },
  resource_table: JSON.parse(read.contents[0].text).table_name,
}));
await client.close();
