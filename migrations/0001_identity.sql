-- Workspaces, people, OAuth clients, grants, connectivity tokens and signing keys.
-- Times are epoch milliseconds, flags 0 or 1. Of codes, tokens and passwords only digests are kept.

CREATE TABLE orgs (
    id                   TEXT PRIMARY KEY,
    slug                 TEXT NOT NULL UNIQUE,
    name                 TEXT NOT NULL,
    connectivity_enabled BIGINT NOT NULL,
    created_at           BIGINT NOT NULL
);

CREATE TABLE users (
    id            TEXT PRIMARY KEY,
    email         TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    BIGINT NOT NULL
);

CREATE TABLE memberships (
    org_id     TEXT NOT NULL REFERENCES orgs (id),
    user_id    TEXT NOT NULL REFERENCES users (id),
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id);

-- Clients belong to the installation, not to a workspace. Equal metadata is one client (fingerprint).
CREATE TABLE oauth_clients (
    id               TEXT PRIMARY KEY,
    fingerprint      TEXT NOT NULL UNIQUE,
    name             TEXT NOT NULL,
    redirect_uris    TEXT NOT NULL,
    application_type TEXT NOT NULL,
    uri              TEXT,
    created_at       BIGINT NOT NULL
);

-- One approval by one person for one client: the family of everything that is issued under it. Its row is what
-- redeeming, rotating and revoking lock. No foreign key on the client: a client id may be the URL of its metadata.
CREATE TABLE grants (
    org_id          TEXT NOT NULL REFERENCES orgs (id),
    id              TEXT NOT NULL UNIQUE,
    user_id         TEXT NOT NULL REFERENCES users (id),
    client_id       TEXT NOT NULL,
    scopes          TEXT NOT NULL,
    resource        TEXT NOT NULL,
    redirect_uri    TEXT NOT NULL,
    code_digest     TEXT NOT NULL UNIQUE,
    code_challenge  TEXT NOT NULL,
    code_expires_at BIGINT NOT NULL,
    auth_time       BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    redeemed_at     BIGINT,
    last_used_at    BIGINT NOT NULL,
    ends_at         BIGINT NOT NULL,
    revoked_at      BIGINT,
    revoked_why     TEXT,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX grants_by_user ON grants (user_id, org_id);

-- Every refresh token of a family in its order; a superseded one stays, for a later use of it is evidence of theft.
CREATE TABLE refresh_tokens (
    digest        TEXT PRIMARY KEY,
    grant_id      TEXT NOT NULL REFERENCES grants (id),
    generation    BIGINT NOT NULL,
    issued_at     BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    superseded_at BIGINT,
    UNIQUE (grant_id, generation)
);

CREATE TABLE connectivity_tokens (
    org_id       TEXT NOT NULL REFERENCES orgs (id),
    id           TEXT NOT NULL UNIQUE,
    label        TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    digest       TEXT NOT NULL,
    last_four    TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT,
    use_count    BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);

-- Private halves are sealed with the master key. The generation is unique, so that two nodes which start at once on an
-- empty database agree on one first key.
CREATE TABLE signing_keys (
    kid         TEXT PRIMARY KEY,
    generation  BIGINT NOT NULL UNIQUE,
    sealed      TEXT NOT NULL,
    public      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    active_from BIGINT NOT NULL,
    retired_at  BIGINT
);
