// The picture of the README: an answer of the running demo.
// node picture.mjs <address> <email> <password> <question> <file>
import { chromium } from 'playwright-core';
import { FLAGS } from './browser.mjs';

const [base, email, password, question, file] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
try {
  const page = await (await browser.newContext({ colorScheme: 'light', viewport: { width: 860, height: 900 } })).newPage();
  await page.goto(`${base}/login?return_to=/w/demo/ask?mode=question`);
  await page.getByLabel(/e-?mail/i).fill(email);
  await page.getByLabel(/password/i).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.goto(`${base}/w/demo/ask?mode=question`);
  await page.getByLabel('Your question').fill(question);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  const answer = page.locator('.answer').first();
  await answer.waitFor();
  await answer.getByText('Where it comes from').click();
  const edge = 20;
  const { x, y, width } = await answer.boundingBox();
  // The statement below the facts would make it twice as high.
  const facts = await answer.locator('.facts').boundingBox();
  const top = await page.evaluate(() => scrollY);
  const clip = { x: x - edge, y: y + top - edge, width: width + 2 * edge, height: facts.y + facts.height - y + 2 * edge };
  await page.screenshot({ path: file, fullPage: true, clip });
} finally {
  await browser.close();
}
