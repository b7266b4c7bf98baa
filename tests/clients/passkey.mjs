// A person at a browser with a passkey: adds it, signs in with it alone, and after the password.
// node passkey.mjs <address> <email> <password> <folder for pictures> <light | dark>
// Prints one JSON object; ends with an error when anything is not as it should be.
import { chromium } from 'playwright-core';
import { mkdirSync } from 'node:fs';
import { FLAGS } from './browser.mjs';

const [base, email, password, pictures, colour] = process.argv.slice(2);
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const context = await browser.newContext({ colorScheme: colour });
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
    automaticPresenceSimulation: true,
  } });
  let shots = 0;
  const picture = (name) => page.screenshot({ path: `${pictures}/${++shots}-${name}-${colour}.png`, fullPage: true });
  const at = (path) => page.waitForURL((url) => url.pathname === path);
  const signIn = async (to) => {
    await page.goto(`${base}/login?return_to=${encodeURIComponent(to)}`);
    await page.getByLabel(/e-?mail/i).fill(email);
    await page.getByLabel(/password/i).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const signOut = async () => {
    await page.goto(`${base}/`);
    await page.getByText(email).first().click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  };

  await signIn('/account/passkeys');
  await at('/account/passkeys');
  await picture('passkeys-none');
  await page.getByLabel(/name/i).fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { name: 'Recovery codes' }).waitFor();
  const codes = await page.locator('li code').count();
  await picture('recovery-codes');
  await page.getByRole('link', { name: 'I have kept them' }).click();
  await at('/account/passkeys');
  await picture('passkeys-one');
  // The same device again: the browser itself refuses, and the page says why.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const said = await page.locator('[data-problem]:not([hidden])').innerText();
  await picture('passkeys-known');

  await signOut();
  await page.goto(`${base}/login?return_to=/account/passkeys`);
  await picture('login');
  await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
  await picture('login-passkey');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await at('/account/passkeys');
  const row = await page.locator('tbody tr').innerText();

  await signOut();
  await signIn('/account/two-step');
  await at('/login/two-step');
  await picture('two-step');
  // A device that does not verify its user proves nothing.
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  const unverified = await page.locator('[data-problem]:not([hidden])').innerText();
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await at('/account/two-step');
  await picture('settings');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: /Enter the code/ }).waitFor();
  const scanned = await page.locator('img.qr').evaluate((image) => image.complete && image.naturalWidth > 0);
  await picture('key');
  await page.goto(`${base}/login/confirm?return_to=/account`);
  await picture('confirm');

  const plain = await (await browser.newContext({ colorScheme: colour, javaScriptEnabled: false })).newPage();
  await plain.goto(`${base}/login/passkey`);
  await plain.screenshot({ path: `${pictures}/${++shots}-without-script-${colour}.png`, fullPage: true });
  const without = await plain.innerText('main');
  if (problems.length) throw new Error(`the browser complained: ${problems}`);
  console.log(JSON.stringify({ codes, said, row, unverified, scanned, without }));
} catch (problem) {
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      console.error(page.url(), await page.innerText('body').catch(() => ''));
      await page.screenshot({ path: `${pictures}/failed-${colour}.png`, fullPage: true });
    }
  }
  throw problem;
} finally {
  await browser.close();
}
