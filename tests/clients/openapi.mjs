// An OpenAPI document against what others demand of it: a validator of the whole form, every example against its own
// schema, and for GPT Actions their published rules.
//
//   node openapi.mjs URL [actions]
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const [url, rules] = process.argv.slice(2);
const document = await (await fetch(url)).json();
const problems = [];
const must = (holds, what) => { if (!holds) problems.push(what); };

const judged = await new Validator().validate(structuredClone(document));
must(judged.valid, `the validator: ${JSON.stringify(judged.errors)}`);

const ajv = addFormats(new Ajv2020({ strict: false }));
ajv.addFormat('float', true);
/** Whether an example is what its schema says. */
const exemplary = (schema, example, what) => must(ajv.validate(schema, example), `${what}: ${ajv.errorsText()}`);
/** With no member that the schema does not know. */
const closed = (schema) => JSON.parse(JSON.stringify(schema, (key, value) => (
  value?.type === 'object' && value.properties && value.additionalProperties === undefined ? { ...value, additionalProperties: false } : value)));

const operations = Object.entries(document.paths)
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
const ids = new Set();
for (const { path, method, operation } of operations) {
  const name = operation.operationId;
  must(/^[a-zA-Z0-9_-]{1,64}$/.test(name) && !ids.has(name), `${method} ${path} has an id of its own`);
  ids.add(name);
  must(operation.summary?.length > 0 && operation.description?.length > 0, `${name} is described`);
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
  must(parameters.sort().join() === named.sort().join(), `${name}: the path names ${named}, and the parameters ${parameters}`);
  const body = operation.requestBody?.content['application/json'];
  if (body) exemplary(closed(body.schema), body.example, `${name}: the example of a request`);
  const answer = operation.responses['200'].content['application/json'];
  if (answer?.example) exemplary(closed(answer.schema), answer.example, `${name}: the example of an answer`);
}

// developers.openai.com/api/docs/actions: getting started, production notes, authentication.
if (rules === 'actions') {
  const { origin } = new URL(url);
  must(document.servers?.length === 1 && document.servers[0].url.startsWith(`${origin}/`), 'one absolute server');
  const schemes = Object.values(document.components.securitySchemes);
  must(schemes.length === 1 && schemes[0].type === 'http' && schemes[0].scheme === 'bearer', 'one key, as a bearer');
  for (const { operation } of operations) {
    const name = operation.operationId;
    for (const field of ['description', 'summary']) {
      must(operation[field]?.length <= 300, `${name}: ${field} has ${operation[field]?.length}`);
    }
    for (const parameter of operation.parameters) {
      const described = parameter.description ?? parameter.schema.description ?? '';
      must(described.length <= 700, `${name}.${parameter.name} is described in ${described.length}`);
      must(parameter.in !== 'header', `${name}: headers of one's own are not sent`);
    }
    const walk = (value) => {
      if (value === null || typeof value !== 'object') return;
      must(!Array.isArray(value.type), `${name}: a type of several`);
      if (typeof value.description === 'string') must(value.description.length <= 700, `${name}: a description`);
      Object.values(value).forEach(walk);
    };
    walk(operation.requestBody?.content['application/json'].schema);
    const answer = operation.responses['200'].content['application/json'];
    must(answer.schema.type === 'object' && answer.schema.properties, `${name} answers an object with properties`);
    must(operation['x-openai-isConsequential'] === false, `${name} changes nothing, and says so`);
  }
  must(ids.size > 0 && ids.size <= 30, `${ids.size} operations: at most 30`);
}
const shown = operations.filter(({ operation }) => operation.responses['200'].content['application/json']?.example);
console.log(JSON.stringify({ problems, operations: [...ids].sort(), shown: shown.map(({ operation }) => operation.operationId).sort() }));
