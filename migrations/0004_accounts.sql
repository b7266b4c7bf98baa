-- Accounts (second factors, passkeys, other providers, links by e-mail), invitations, suspension, confidential
-- clients, devices, remembered consent.

-- A person without a password has an empty hash, which no password matches.
ALTER TABLE users ADD COLUMN suspended_at BIGINT;
ALTER TABLE orgs ADD COLUMN suspended_at BIGINT;
-- JSON array of e-mail domains that members must have; empty means any.
ALTER TABLE orgs ADD COLUMN email_domains TEXT NOT NULL DEFAULT '[]';

-- Digest of a confidential client's secret; NULL for a public client. Of those, some may ask about every access token.
ALTER TABLE oauth_clients ADD COLUMN secret_digest TEXT;
ALTER TABLE oauth_clients ADD COLUMN may_introspect BIGINT NOT NULL DEFAULT 0;

-- Clients that may not be used, by id (which may be the address of a document). '-' is the whole installation.
CREATE TABLE client_blocks (
    org_id     TEXT NOT NULL,
    client_id  TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, client_id)
);
CREATE INDEX client_blocks_by_client ON client_blocks (client_id);

-- How well the person had proved themselves (aal1, aal2), and from which browser session they approved.
ALTER TABLE grants ADD COLUMN acr TEXT NOT NULL DEFAULT 'aal1';
ALTER TABLE grants ADD COLUMN session_hash TEXT;
CREATE INDEX grants_by_client ON grants (client_id);
CREATE INDEX grants_by_end ON grants (ends_at);

-- What a person approved once, so that the same request need not be asked again. `addresses` is a digest of all redirect
-- addresses that the client had then.
CREATE TABLE consents (
    org_id       TEXT NOT NULL REFERENCES orgs (id),
    user_id      TEXT NOT NULL REFERENCES users (id),
    client_id    TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    resource     TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    addresses    TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id, client_id, redirect_uri, resource)
);

-- Devices that wait for approval (RFC 8628). Codes are kept as digests.
CREATE TABLE device_codes (
    digest       TEXT PRIMARY KEY,
    user_code    TEXT NOT NULL UNIQUE,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    resource     TEXT NOT NULL,
    ip           TEXT NOT NULL,
    state        TEXT NOT NULL,
    org_id       TEXT,
    grant_id     TEXT,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    polled_at    BIGINT,
    poll_seconds BIGINT NOT NULL
);
CREATE INDEX device_codes_expiry ON device_codes (expires_at);

-- Browser sessions as their owner sees them; `id` is public, the cookie is not in the database.
ALTER TABLE browser_sessions ADD COLUMN id TEXT;
ALTER TABLE browser_sessions ADD COLUMN created_at BIGINT;
ALTER TABLE browser_sessions ADD COLUMN seen_at BIGINT;
ALTER TABLE browser_sessions ADD COLUMN ip TEXT;
ALTER TABLE browser_sessions ADD COLUMN agent TEXT;

-- Links by e-mail that work once: `reset` of a password. Only digests are kept.
CREATE TABLE email_links (
    digest     TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    user_id    TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE INDEX email_links_by_user ON email_links (user_id);
CREATE INDEX email_links_expiry ON email_links (expires_at);

CREATE TABLE invitations (
    org_id      TEXT NOT NULL REFERENCES orgs (id),
    id          TEXT NOT NULL UNIQUE,
    email       TEXT NOT NULL,
    role        TEXT NOT NULL,
    digest      TEXT NOT NULL UNIQUE,
    invited_by  TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    accepted_at BIGINT,
    revoked_at  BIGINT,
    PRIMARY KEY (org_id, id)
);

-- Time-based one-time passwords (RFC 6238); the key is sealed. Unconfirmed until the first right code.
CREATE TABLE totp (
    user_id      TEXT PRIMARY KEY REFERENCES users (id),
    sealed       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step    BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users (id),
    digest  TEXT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, digest)
);

-- Passkeys (WebAuthn); only public keys.
CREATE TABLE passkeys (
    credential_id TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL REFERENCES users (id),
    name          TEXT NOT NULL,
    data          TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE INDEX passkeys_by_user ON passkeys (user_id);

-- How often a person's codes were tried in the minute since `started_at`.
CREATE TABLE factor_tries (
    user_id    TEXT PRIMARY KEY REFERENCES users (id),
    started_at BIGINT NOT NULL,
    tries      BIGINT NOT NULL
);

-- Challenges of passkeys that were answered, until they are too old to be answered again.
CREATE TABLE used_challenges (
    digest     TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_challenges_expiry ON used_challenges (expires_at);

-- Who a person is at another provider.
CREATE TABLE upstream_identities (
    issuer       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    user_id      TEXT NOT NULL REFERENCES users (id),
    email        TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX upstream_identities_by_user ON upstream_identities (user_id);

-- A task that runs on one node at a time: whoever holds it until then.
CREATE TABLE leases (
    name       TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- A signing key that leaked: refused and unpublished from then on.
ALTER TABLE signing_keys ADD COLUMN withdrawn_at BIGINT;

-- What the clean-up looks rows up by.
CREATE INDEX grants_by_revocation ON grants (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX grants_not_redeemed ON grants (created_at) WHERE redeemed_at IS NULL;
CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at);
CREATE INDEX consents_by_client ON consents (client_id);
