// Passkeys: a form with `data-passkey` describes what to ask the browser for; its answer is sent with the form.
'use strict';

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const withBytes = (known) => known?.map((one) => ({ ...one, id: toBytes(one.id) }));

async function create({ publicKey }) {
  const credential = await navigator.credentials.create({ publicKey: {
    ...publicKey,
    challenge: toBytes(publicKey.challenge),
    user: { ...publicKey.user, id: toBytes(publicKey.user.id) },
    excludeCredentials: withBytes(publicKey.excludeCredentials),
  } });
  const { attestationObject, clientDataJSON } = credential.response;
  return answer(credential, {
    attestationObject: toText(attestationObject),
    clientDataJSON: toText(clientDataJSON),
    transports: credential.response.getTransports?.() ?? [],
  });
}

async function get({ publicKey }) {
  const credential = await navigator.credentials.get({ publicKey: {
    ...publicKey,
    challenge: toBytes(publicKey.challenge),
    allowCredentials: withBytes(publicKey.allowCredentials),
  } });
  const { authenticatorData, clientDataJSON, signature, userHandle } = credential.response;
  return answer(credential, {
    authenticatorData: toText(authenticatorData),
    clientDataJSON: toText(clientDataJSON),
    signature: toText(signature),
    userHandle: userHandle ? toText(userHandle) : null,
  });
}

const answer = (credential, response) => JSON.stringify({
  id: credential.id, rawId: toText(credential.rawId), type: credential.type, response, extensions: {},
});

const REASONS = {
  InvalidStateError: 'This device has a passkey for your account already.',
  NotAllowedError: 'No passkey was used: it was cancelled, took too long, or there is none for this account here.',
};

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const button = form.querySelector('button');
  const problem = form.querySelector('[data-problem]');
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = false;
  };
  if (!window.PublicKeyCredential) {
    say('This browser has no passkeys.');
    continue;
  }
  button.disabled = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.hidden = true;
    try {
      const ask = form.dataset.passkey === 'create' ? create : get;
      form.elements.credential.value = await ask(JSON.parse(form.dataset.options));
      form.submit();
    } catch (cause) {
      say(REASONS[cause.name] ?? 'The browser could not use a passkey here.');
      button.disabled = false;
    }
  });
}
