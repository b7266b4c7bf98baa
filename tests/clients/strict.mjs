// Strict OAuth libraries that others wrote, through every step that a client may take.
// node strict.mjs <oauth4webapi | openid-client> <issuer> <folder for pictures>, with EMAIL and PASSWORD of a person, and
// GATEWAY_ID and GATEWAY_SECRET of a client that may introspect, in the environment.
// Prints one JSON object; ends with an error when a library finds fault with an answer.
import { approve, approveDevice, callback } from './browser.mjs';

const [flavour, issuer, pictures] = process.argv.slice(2);
const person = { email: process.env.EMAIL, password: process.env.PASSWORD, pictures };
const resource = `${issuer}/mcp`;
const scope = 'data_agent:read data_agent:write';
const back = await callback();
const metadata = {
  client_name: `Strict client (${flavour})`, redirect_uris: [back.url], token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], application_type: 'native',
};
const health = `${issuer}/api/v1/ext/health`;
const seen = {};
const refused = async (what, work) => {
  try { await work(); } catch (problem) { seen[what] = problem.error ?? problem.cause?.error ?? String(problem.cause ?? problem); return; }
  throw new Error(`${what} was not refused`);
};

const flows = {
  async oauth4webapi() {
    const o = await import('oauth4webapi');
    const open = { [o.allowInsecureRequests]: true };
    const unauthorized = await fetch(resource, { method: 'POST' });
    const probe = await o.resourceDiscoveryRequest(new URL(resource), open);
    const protectedResource = await o.processResourceDiscoveryResponse(new URL(resource), probe);
    seen.challenge = unauthorized.headers.get('www-authenticate');
    const [server] = protectedResource.authorization_servers;
    const discovered = await o.discoveryRequest(new URL(server), { algorithm: 'oauth2', ...open });
    const as = await o.processDiscoveryResponse(new URL(server), discovered);
    const registered = await o.dynamicClientRegistrationRequest(as, metadata, open);
    const client = await o.processDynamicClientRegistrationResponse(registered);

    const verifier = o.generateRandomCodeVerifier();
    const state = o.generateRandomState();
    const to = new URL(as.authorization_endpoint);
    to.search = new URLSearchParams({
      client_id: client.client_id, redirect_uri: back.url, response_type: 'code', scope, state, resource,
      code_challenge: await o.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    });
    await approve(String(to), person);
    const answer = o.validateAuthResponse(as, client, await back.response, state);
    const none = o.None();
    const exchange = () => o.authorizationCodeGrantRequest(as, client, none, answer, back.url, verifier,
      { additionalParameters: { resource }, ...open });
    const tokens = await o.processAuthorizationCodeResponse(as, client, await exchange());
    await refused('code_again', async () => o.processAuthorizationCodeResponse(as, client, await exchange()));

    // RFC 9068: signature by the published keys, type, audience, times, and that the client is the one.
    const request = new Request(health, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    const claims = await o.validateJwtAccessToken(as, request, resource, open);
    seen.claims = Object.keys(claims).sort();
    seen.aud = claims.aud;
    const call = await o.protectedResourceRequest(tokens.access_token, 'GET', new URL(health), undefined, undefined, open);
    seen.health = call.status;

    const gateway = { client_id: process.env.GATEWAY_ID };
    const basic = o.ClientSecretBasic(process.env.GATEWAY_SECRET);
    const introspect = async (token) => o.processIntrospectionResponse(as, gateway,
      await o.introspectionRequest(as, gateway, basic, token, open));
    const told = await introspect(tokens.access_token);
    seen.introspected = [told.active, told.client_id === client.client_id, told.aud];

    const refreshed = await o.processRefreshTokenResponse(as, client,
      await o.refreshTokenGrantRequest(as, client, none, tokens.refresh_token, { additionalParameters: { resource }, ...open }));
    seen.rotated = refreshed.refresh_token !== tokens.refresh_token;
    await o.processRevocationResponse(await o.revocationRequest(as, client, none, refreshed.refresh_token, open));
    await refused('refresh_after_revocation', async () => o.processRefreshTokenResponse(as, client,
      await o.refreshTokenGrantRequest(as, client, none, refreshed.refresh_token, open)));
    const after = await fetch(health, { headers: { authorization: `Bearer ${refreshed.access_token}` } });
    seen.after_revocation = after.status;
    seen.introspected_after = await introspect(refreshed.access_token);
  },

  async 'openid-client'() {
    const o = await import('openid-client');
    const options = { execute: [o.allowInsecureRequests], algorithm: 'oauth2' };
    const config = await o.dynamicClientRegistration(new URL(issuer), metadata, o.None(), options);
    const verifier = o.randomPKCECodeVerifier();
    const state = o.randomState();
    const to = o.buildAuthorizationUrl(config, {
      redirect_uri: back.url, scope, state, resource,
      code_challenge: await o.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
    });
    await approve(String(to), person);
    const arrived = new URL(back.url);
    arrived.search = String(await back.response);
    const tokens = await o.authorizationCodeGrant(config, arrived, { pkceCodeVerifier: verifier, expectedState: state }, { resource });
    await refused('code_again', () => o.authorizationCodeGrant(config, arrived, { pkceCodeVerifier: verifier, expectedState: state }));
    const call = await o.fetchProtectedResource(config, tokens.access_token, new URL(health), 'GET');
    seen.health = call.status;
    const refreshed = await o.refreshTokenGrant(config, tokens.refresh_token, { resource });
    seen.rotated = refreshed.refresh_token !== tokens.refresh_token;
    await o.tokenRevocation(config, refreshed.refresh_token);
    await refused('refresh_after_revocation', () => o.refreshTokenGrant(config, refreshed.refresh_token));
    const after = await fetch(health, { headers: { authorization: `Bearer ${refreshed.access_token}` } });
    seen.after_revocation = after.status;

    // A television: no browser, no address to be sent back to (RFC 8628).
    const device = { client_name: 'Strict television', token_endpoint_auth_method: 'none',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] };
    const television = await o.dynamicClientRegistration(new URL(issuer), device, o.None(), options);
    const started = await o.initiateDeviceAuthorization(television, { scope, resource });
    const asking = o.pollDeviceAuthorizationGrant(television, started);
    seen.device_page = await approveDevice(started.verification_uri_complete, person);
    const given = await asking;
    const watched = await o.fetchProtectedResource(television, given.access_token, new URL(health), 'GET');
    seen.device = watched.status;
  },
};

try {
  await flows[flavour]();
} finally {
  back.close();
}
console.log(JSON.stringify(seen));
