// An OpenID provider that others wrote, with one account that signs in without a page.
// node provider.mjs <redirect address>
// Prints its issuer, and serves until its standard input ends.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [redirect] = process.argv.slice(2);
const server = createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'house', client_secret: 'a secret of the house', redirect_uris: [redirect],
    grant_types: ['authorization_code'], response_types: ['code'],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  // The address is in the ID token, as Google puts it there.
  conformIdTokenClaims: false,
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: 'Cleo@Example.com', email_verified: true, name: 'Cleo' }),
  }),
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['a key for cookies'] },
  async loadExistingGrant(ctx) {
    const { client, session } = ctx.oidc;
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid email profile');
    await grant.save();
    return grant;
  },
});

const handle = provider.callback();
server.on('request', (request, answer) => {
  if (!request.url.startsWith('/interaction/')) return handle(request, answer);
  return provider.interactionFinished(request, answer, { login: { accountId: 'subject-of-cleo' } })
    .catch((problem) => { answer.statusCode = 500; answer.end(String(problem)); });
});
console.log(issuer);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
