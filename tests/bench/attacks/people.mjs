// A person at a browser without a screen: signs in on the real pages, and connects programs.
import { createHash, randomBytes } from 'node:crypto';
import { demand, send } from './wire.mjs';

const REDIRECT = 'http://127.0.0.1:43210/callback';

const field = (page, name) => page.match(new RegExp(`name="${name}" value="([^"]*)"`))?.[1] ?? '';
const cookies = ({ headers }) => (headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = (fields, headers) => ({ body: new URLSearchParams(fields).toString(), headers: { ...headers, ...FORM } });

/** Signs in from an address of this machine: the status of the answer, and the headers of the session. */
export async function logIn(base, { email, password }, options = {}) {
  const page = await send(`${base}/login`, options);
  if (page.status !== 200) return { status: page.status };
  const fields = { csrf: field(page.text, 'csrf'), email, password };
  const entered = await send(`${base}/login`, { ...options, ...form(fields, { cookie: cookies(page), origin: base }) });
  return { status: entered.status, headers: { cookie: cookies(entered), origin: base } };
}

/** Makes a program known to the service; its client id. */
export async function register(base) {
  const body = JSON.stringify({ client_name: 'Uploader', redirect_uris: ['http://127.0.0.1/callback'] });
  const { text } = await demand('registration', `${base}/api/oauth/register`, { headers: { 'content-type': 'application/json' }, body });
  return JSON.parse(text).client_id;
}

/** One more grant of the person who is signed in: its access token. */
export async function connectProgram(base, { client_id, workspace, scopes, headers, localAddress }) {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = { client_id, redirect_uri: REDIRECT, response_type: 'code', code_challenge, code_challenge_method: 'S256', scope: scopes.join(' ') };
  const sent = await demand('authorization', `${base}/api/oauth/authorize?${new URLSearchParams(asked)}`, { headers, localAddress });
  if (!sent.headers.location?.startsWith('/consent')) throw new Error(`no consent page: ${sent.status} ${sent.headers.location} ${sent.text.slice(0, 400)}`);
  const page = await demand('consent page', base + sent.headers.location, { headers, localAddress });
  const choice = { csrf: field(page.text, 'csrf'), request: field(page.text, 'request'), workspace, decision: 'approve' };
  const fields = [...Object.entries(choice), ...scopes.map((scope) => ['scope', scope])];
  const answer = await demand('consent', `${base}/consent`, { ...form(fields, headers), localAddress });
  const to = answer.headers.location ?? answer.headers.refresh?.replace(/^0; url=/, '') ?? '';
  const code = to.startsWith(REDIRECT) && new URL(to).searchParams.get('code');
  if (!code) throw new Error(`no code: ${answer.status} ${answer.text.slice(0, 400)}`);
  const exchange = form({ grant_type: 'authorization_code', code, client_id, redirect_uri: REDIRECT, code_verifier: verifier });
  const { text } = await demand('code exchange', `${base}/api/oauth/token`, { ...exchange, localAddress });
  return JSON.parse(text).access_token;
}
