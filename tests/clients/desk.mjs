// A desk at which a model plays the client of a question set: it sees what a host shows its model (the server's
// instructions, tools, texts of replies) and nothing else, and says what it would tell the person. Every call is kept.
//
//   node desk.mjs FOLDER open URL TOKEN SET steward|draft all|sql|ask QUESTIONS   QUESTIONS: lines "id<TAB>words"
//   node desk.mjs FOLDER about            the instructions and the tools
//   node desk.mjs FOLDER next             the question that is to be answered
//   node desk.mjs FOLDER call TOOL JSON   calls a tool; prints the number of the call and the texts of its reply
//   node desk.mjs FOLDER answer NUMBER    the rows of that call's reply are the answer
//   node desk.mjs FOLDER rows JSON        rows made of several replies are: [[…], …]
//   node desk.mjs FOLDER asked TEXT       the person is asked what is meant
//   node desk.mjs FOLDER declined TEXT    there is no answer, and why
//
// What was played is in FOLDER/played.jsonl, for `tests/bench/questions/run played`.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const offered = {
  all: () => true,
  sql: (name) => /^dragoman_(list_datasets|get_schema|preview_rows|profile_dataset|sql)$/.test(name),
  ask: (name) => name === 'ask_question' || name === 'dragoman_list_ontologies',
};

const [folder, what, ...rest] = process.argv.slice(2);
const file = `${folder}/desk.json`;
const desk = what === 'open' ? null : JSON.parse(readFileSync(file, 'utf8'));
const keep = (state) => writeFileSync(file, JSON.stringify(state));

const connected = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(desk.url), { requestInit: { headers: { authorization: `Bearer ${desk.token}` } } });
  const client = new Client({ name: 'desk', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(transport);
  return client;
};

const said = (outcome) => {
  const [question] = desk.questions;
  if (!question) throw new Error('there is no question left');
  const { set, with: ontology, tools } = desk;
  appendFileSync(`${folder}/played.jsonl`, `${JSON.stringify({ set, with: ontology, tools, question: question.id, calls: desk.calls, outcome })}\n`);
  keep({ ...desk, questions: desk.questions.slice(1), calls: [] });
  return desk.questions.length > 1 ? `next: ${desk.questions[1].words}` : 'that was the last question';
};

const commands = {
  open: (url, token, set, ontology, tools, list) => {
    mkdirSync(folder, { recursive: true });
    const questions = readFileSync(list, 'utf8').trim().split('\n').map((line) => line.split('\t')).map(([id, words]) => ({ id, words }));
    keep({ url, token, set, with: ontology, tools, questions, calls: [] });
    return `${questions.length} questions`;
  },
  about: async () => {
    const client = await connected();
    const { tools } = await client.listTools();
    const shown = tools.filter((tool) => offered[desk.tools](tool.name)).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    return `${client.getInstructions()}\n\n${shown.map((tool) => JSON.stringify(tool, null, 1)).join('\n\n')}`;
  },
  next: () => desk.questions[0]?.words ?? 'there is no question left',
  call: async (tool, text) => {
    if (!offered[desk.tools](tool)) throw new Error(`there is no tool ${tool}`);
    const args = JSON.parse(text ?? '{}');
    const client = await connected();
    let result;
    try { result = await client.callTool({ name: tool, arguments: args }); } catch (problem) { result = { content: [{ type: 'text', text: String(problem) }] }; }
    const texts = result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n\n');
    keep({ ...desk, calls: [...desk.calls, { tool, arguments: args, bytes: Buffer.byteLength(texts) }] });
    return `call ${desk.calls.length}${result.isError ? ' (error)' : ''}:\n${texts}`;
  },
  answer: (number) => {
    if (!desk.calls[Number(number)]) throw new Error(`there is no call ${number} for this question`);
    return said({ call: Number(number) });
  },
  rows: (rows) => said({ rows: JSON.parse(rows) }),
  asked: (text) => said({ asked: text }),
  declined: (text) => said({ declined: text }),
};

if (!commands[what]) throw new Error(`node desk.mjs FOLDER ${Object.keys(commands).join('|')}`);
console.log(await commands[what](...rest));
process.exit(0);
