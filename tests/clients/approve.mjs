// A person at a browser, for clients in other languages: node approve.mjs <authorization url> <folder for pictures>
// with EMAIL and PASSWORD in the environment. Logs in, approves, and ends when the client's own callback has answered.
import { approve } from './browser.mjs';

const [url, pictures] = process.argv.slice(2);
await approve(url, { email: process.env.EMAIL, password: process.env.PASSWORD, pictures });
