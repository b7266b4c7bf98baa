// A client that starts its server: node stdio.mjs <flavour: sdk | legacy | modern> <sql> <command and its arguments…>
// The token comes from DRAGOMAN_TOKEN. Prints one JSON object; ends with an error when anything is not as it should be.
const [flavour, sql, command, ...args] = process.argv.slice(2);
const library = flavour === 'sdk'
  ? { ...(await import('@modelcontextprotocol/sdk/client/index.js')), ...(await import('@modelcontextprotocol/sdk/client/stdio.js')) }
  : { ...(await import('@modelcontextprotocol/client')), ...(await import('@modelcontextprotocol/client/stdio')) };
const options = flavour === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};

const transport = new library.StdioClientTransport({ command, args, env: { ...process.env }, stderr: 'inherit' });
const client = new library.Client({ name: `stdio-${flavour}`, version: '1.0.0' }, options);
const problems = [];
client.onerror = (problem) => problems.push(String(problem));
await client.connect(transport);
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
const called = await client.callTool({ name: 'dragoman_sql', arguments: { sql } });
if (called.isError) throw new Error(JSON.stringify(called.content));
const read = await client.readResource({ uri: 'dragoman://datasets' });
let refused;
try { await client.getPrompt({ name: 'no_such_prompt' }); } catch (problem) { refused = String(problem.message); }
const complaints = [...problems];
await client.close();
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  resources: resources.map((resource) => resource.uri),
  prompts: prompts.map((prompt) => prompt.name),
  rows: called.structuredContent.rows,
  datasets: JSON.parse(read.contents[0].text),
  refused,
  problems: complaints,
}));
