// Judges the OpenAPI document for GPT Actions: a published validator for its form, the published rules of Actions, and each
// example against its own schema.
//
//   node openapi.mjs URL
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const document = await (await fetch(process.argv[2])).json();
const problems = [];
const must = (holds, what) => { if (!holds) problems.push(what); };

const judged = await new Validator().validate(structuredClone(document));
must(judged.valid, `the validator: ${JSON.stringify(judged.errors)}`);

// developers.openai.com/api/docs/actions: getting started, production notes, authentication.
const origin = new URL(process.argv[2]).origin;
must(document.servers?.length === 1 && document.servers[0].url.startsWith(`${origin}/`), 'one absolute server');
const schemes = Object.values(document.components.securitySchemes);
must(schemes.length === 1 && schemes[0].type === 'oauth2', 'one way to sign in');
for (const url of ['authorizationUrl', 'tokenUrl']) {
  must(new URL(schemes[0].flows.authorizationCode[url]).origin === origin, `${url} is on the same host`);
}
const ajv = addFormats(new Ajv2020({ strict: false }));
// Replies leave out what is empty; their schemas do not say so of every member.
const loose = (schema) => JSON.parse(JSON.stringify(schema, (key, value) => (key === 'required' && Array.isArray(value) ? undefined : value)));
const ids = new Set();
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const name = operation.operationId;
    must(/^[a-zA-Z0-9_-]{1,64}$/.test(name) && !ids.has(name), `${method} ${path} has an id of its own`);
    ids.add(name);
    for (const field of ['description', 'summary']) {
      must(operation[field]?.length > 0 && operation[field].length <= 300, `${name}: ${field} has ${operation[field]?.length}`);
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
    const body = operation.requestBody?.content['application/json'];
    walk(body?.schema);
    if (body) must(ajv.validate(body.schema, body.example), `${name}: the example of a request: ${ajv.errorsText()}`);
    const answer = operation.responses['200'].content['application/json'];
    must(answer.schema.type === 'object' && answer.schema.properties, `${name} answers an object with properties`);
    must(answer.example, `${name} has no example of an answer`);
    if (answer.example) {
      must(ajv.validate(loose(answer.schema), answer.example), `${name}: the example of an answer: ${ajv.errorsText()}`);
      const unknown = Object.keys(answer.example).filter((key) => !(key in answer.schema.properties));
      must(unknown.length === 0, `${name}: its schema knows no ${unknown}`);
    }
    must(operation['x-openai-isConsequential'] === false, `${name} changes nothing, and says so`);
  }
}
must(ids.size > 0 && ids.size <= 30, `${ids.size} operations: at most 30`);
console.log(JSON.stringify({ problems, operations: [...ids].sort() }));
