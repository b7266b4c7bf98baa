// A client that others wrote (tus-js-client) sends a file over a line that breaks again and again, in one process and then in
// another, and stops one that it does not want.
// node tus.mjs <address> <token> <bytes>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { createServer, connect } from 'node:net';
import { Upload } from 'tus-js-client';

const [base, token, size] = process.argv.slice(2);
const service = new URL(base);
const header = Buffer.from('n,word\n');
const line = Buffer.from('123456,abcdefgh\n');
const lines = Math.floor((Number(size) - header.length) / line.length);
const file = Buffer.concat([header, Buffer.concat(Array.from({ length: lines }, () => line))]);

// Between them a line that is cut after so many bytes, each time after a few more, until it holds.
let cuts = 0;
const CUTS = 12;
const proxy = createServer((socket) => {
  const there = connect(Number(service.port), service.hostname);
  let left = cuts < CUTS ? 4096 + cuts * 37_777 : Infinity;
  const close = () => { socket.destroy(); there.destroy(); };
  socket.on('data', (chunk) => {
    there.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) { cuts += 1; there.end(); socket.destroy(); }
  });
  there.on('data', (chunk) => socket.write(chunk));
  for (const one of [socket, there]) { one.on('error', close); one.on('close', close); }
});
await new Promise((listening) => proxy.listen(0, '127.0.0.1', listening));
const through = `http://127.0.0.1:${proxy.address().port}`;

let retries = 0;
const options = (more) => ({
  endpoint: `${through}/api/v1/uploads`,
  headers: { authorization: `Bearer ${token}`, host: service.host },
  retryDelays: Array.from({ length: 60 }, () => 20),
  metadata: { filename: 'long.csv', filetype: 'text/csv' },
  onShouldRetry: () => { retries += 1; return true; },
  ...more,
});
const finished = (more) => new Promise((resolve, reject) => {
  const upload = new Upload(file, options({ ...more, onSuccess: () => resolve(upload), onError: reject }));
  upload.start();
});

// Begun over the line; then its own address is used, which the line has to be put into again.
const begun = await new Promise((resolve, reject) => {
  const upload = new Upload(file, options({
    endpoint: `${base}/api/v1/uploads`,
    onUploadUrlAvailable: () => { upload.abort().then(() => resolve(upload.url), reject); },
    onError: reject,
  }));
  upload.start();
});
const id = begun.split('/').pop();
await finished({ uploadUrl: `${through}/api/v1/uploads/${id}` });

const unwanted = await new Promise((resolve, reject) => {
  const upload = new Upload(file, options({
    endpoint: `${base}/api/v1/uploads`,
    onUploadUrlAvailable: () => { upload.abort(true).then(() => resolve(upload.url), reject); },
    onError: reject,
  }));
  upload.start();
});
const gone = await fetch(unwanted, { method: 'HEAD', headers: { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' } });
proxy.close();
console.log(JSON.stringify({ id, lines, cuts, retries, gone: gone.status }));
process.exit(0);
