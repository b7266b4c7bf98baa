// A person at a browser: opens the address that a client was given, logs in, approves, and is sent back to the client.
import { chromium } from 'playwright-core';
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';

export const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  // The memory that processes share is small in containers.
  '--disable-dev-shm-usage'];

/** A loopback address that receives the authorization response, as desktop clients have one. */
export async function callback() {
  let arrived;
  const response = new Promise((resolve) => { arrived = resolve; });
  const server = createServer((request, answer) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    answer.end('You can close this window.');
    if (url.pathname === '/callback') arrived(url.searchParams);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${server.address().port}/callback`, response, close: () => server.close() };
}

/** Logs in and approves; returns what the pages said, and keeps a picture of each. */
export async function approve(url, { email, password, pictures, dark = false }) {
  mkdirSync(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
  const said = [];
  try {
    const context = await browser.newContext({ colorScheme: dark ? 'dark' : 'light', javaScriptEnabled: false });
    const page = await context.newPage();
    const outside = [];
    const own = new URL(url).origin;
    page.on('request', (request) => { if (!request.url().startsWith(own)) outside.push(request.url()); });
    const problems = [];
    page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });

    await page.goto(url);
    await page.screenshot({ path: `${pictures}/login.png`, fullPage: true });
    said.push(await page.innerText('body'));
    await page.getByLabel(/e-?mail/i).fill(email);
    await page.getByLabel(/password/i).fill(password);
    await page.getByRole('button', { name: /sign in|log in/i }).click();

    await page.waitForURL(/\/consent/);
    await page.screenshot({ path: `${pictures}/consent.png`, fullPage: true });
    said.push(await page.innerText('body'));
    if (outside.length) throw new Error(`the pages fetched from elsewhere: ${outside}`);
    if (problems.length) throw new Error(`the browser complained: ${problems}`);
    await page.getByRole('button', { name: /approve|allow/i }).click();
    await page.waitForURL(/\/callback/);
  } catch (problem) {
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await page.screenshot({ path: `${pictures}/failed.png`, fullPage: true });
    }
    throw problem;
  } finally {
    await browser.close();
  }
  return said;
}

/** Opens the address that a device shows, logs in, confirms the code and approves; returns what the last page says. */
export async function approveDevice(url, { email, password, pictures }) {
  mkdirSync(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
  try {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(url);
    await page.getByLabel(/e-?mail/i).fill(email);
    await page.getByLabel(/password/i).fill(password);
    await page.getByRole('button', { name: /^sign in$/i }).click();
    await page.getByRole('button', { name: /continue/i }).click();
    await page.screenshot({ path: `${pictures}/device.png`, fullPage: true });
    await page.getByRole('button', { name: /approve/i }).click();
    return await page.innerText('body');
  } finally {
    await browser.close();
  }
}
