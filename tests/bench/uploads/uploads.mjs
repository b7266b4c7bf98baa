// node uploads.mjs <binary>; see run.
import assert from 'node:assert/strict';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { connectProgram, logIn, register } from '../attacks/people.mjs';
import { Installation, killAll } from '../attacks/service.mjs';

const MOST = 536_870_912;
const LINE = 16;
const ROWS = MOST / LINE - 1;
const PERSON = { email: 'ann@example.com', password: 'correct horse battery' };

/** A file of exactly so many bytes: its header, and each of its lines, have sixteen. */
async function write(path) {
  const file = createWriteStream(path);
  const word = (row) => (Math.imul(row, 2_654_435_761) >>> 0).toString(36).padStart(6, '0').slice(-6);
  file.write('number,the_word\n');
  for (let row = 0; row < ROWS;) {
    let part = '';
    for (const end = Math.min(ROWS, row + 65_536); row < end; row += 1) part += `${10_000_000 + row},${word(row)}\n`;
    if (!file.write(part)) await once(file, 'drain');
  }
  await once(file.end(), 'finish');
  assert.equal(file.bytesWritten, MOST);
}

/** One request; `parts` are streams or texts that follow one another. A broken one gives the status 0. */
function ask(base, token, method, path, headers, parts = [], tell = () => {}) {
  return new Promise((answered) => {
    const sent = request(base + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } }, (response) => {
      const read = [];
      response.on('data', (part) => read.push(part));
      response.on('end', () => answered({ status: response.statusCode, headers: response.headers, text: Buffer.concat(read).toString() }));
    });
    sent.on('error', (problem) => answered({ status: 0, text: String(problem) }));
    const closed = new Promise((ended) => sent.on('close', ended));
    (async () => {
      let bytes = 0;
      for (const part of parts) {
        for await (const chunk of typeof part === 'string' ? [part] : part) {
          if (sent.destroyed) return;
          if (!sent.write(chunk)) await Promise.race([new Promise((free) => sent.once('drain', free)), closed]);
          tell(bytes += chunk.length, sent);
        }
      }
      sent.end();
    })().catch(() => sent.destroy());
  });
}

const work = mkdtempSync(join(tmpdir(), 'dragoman-uploads-'));
try {
  const path = join(work, 'large.csv');
  await write(path);
  const installation = new Installation(process.argv[2], work);
  installation.command(['admin', 'workspace', 'create', 'acme']);
  installation.command(['admin', 'person', 'create', PERSON.email, '--password-stdin'], PERSON.password);
  installation.command(['admin', 'role', 'set', PERSON.email, 'admin', '--workspace', 'acme']);
  installation.command(['admin', 'workspace', 'connectivity', 'acme', 'on']);
  const service = await installation.start({});
  const { headers } = await logIn(service.base, PERSON);
  const client_id = await register(service.base);
  const token = await connectProgram(service.base, { client_id, workspace: 'acme', scopes: ['datasets:write'], headers });
  const api = (...more) => ask(service.base, token, ...more);

  const measured = async (what, act) => {
    const ends = service.watch();
    const began = Date.now();
    const rows = await act();
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    console.log(`| ${what} | ${seconds} | ${Math.round(ends())} | ${rows.toLocaleString('en')} |`);
  };
  const made = ({ status, text }) => {
    assert.equal(status, 200, text);
    const { row_count } = JSON.parse(text);
    assert.equal(row_count, ROWS);
    return row_count;
  };
  console.log(`${cpus().length} × ${cpus()[0].model}, ${Math.round(totalmem() / 2 ** 30)} GB; at rest ${Math.round(service.memory().rss)} MB resident\n`);
  console.log('| 536,870,912 bytes of CSV | seconds | MB resident, peak | rows |\n|---|---|---|---|');

  const tus = { 'tus-resumable': '1.0.0' };
  const begin = (size) => api('POST', '/api/v1/uploads', { ...tus, 'upload-length': size, 'upload-metadata': `filename ${btoa('large.csv')}` });
  const { pathname } = new URL((await begin(MOST)).headers.location);
  const send = (from, tell) => api('PATCH', pathname, { ...tus, 'upload-offset': from, 'content-type': 'application/offset+octet-stream' }, [createReadStream(path, { start: from, highWaterMark: 1 << 20 })], tell);
  const offset = async () => Number((await api('HEAD', pathname, tus)).headers['upload-offset']);
  await measured('tus, killed half way and gone on with', async () => {
    const killed = await send(0, (bytes, sent) => { if (bytes >= MOST / 2) sent.destroy(); });
    assert.equal(killed.status, 0);
    let from = await offset();
    assert.ok(from > MOST / 4 && from <= MOST / 2 + (1 << 20), `${from}`);
    // What the dead connection still brought may come after we asked.
    for (let answer = await send(from); answer.status !== 204; answer = await send(from)) {
      assert.equal(answer.status, 409, answer.text);
      from = await offset();
    }
    return await offset() / LINE - 1;
  });
  const json = { 'content-type': 'application/json' };
  const upload = JSON.stringify({ uploads: [pathname.split('/').pop()], name: 'by_tus' });
  await measured('its import', async () => made(await api('POST', '/api/v1/datasets', json, [upload])));

  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="large.csv"\r\n\r\n';
  const form = (more) => {
    const parts = [head, createReadStream(path, { highWaterMark: 1 << 20 }), `${more}\r\n--b--\r\n`];
    const length = head.length + MOST + parts[2].length;
    return api('POST', '/api/v1/datasets', { 'content-type': 'multipart/form-data; boundary=b', 'content-length': length }, parts);
  };
  await measured('form, with its import', async () => made(await form('')));

  for (const [what, refused] of [['tus', await begin(MOST + 1)], ['form', await form('x')]]) {
    assert.equal(refused.status, 413, `${what}: ${refused.text}`);
    const { error } = JSON.parse(refused.text);
    assert.deepEqual([error.code, error.details.limit, error.details.max], ['file_too_large', 'upload_bytes', MOST]);
    console.log(`\n${what}, one byte more: ${refused.status}, “${error.message}”`);
  }
  console.log(`\nat the end ${Math.round(service.memory().rss)} MB resident`);
  await service.stop();
} finally {
  killAll();
  rmSync(work, { recursive: true, force: true });
}
