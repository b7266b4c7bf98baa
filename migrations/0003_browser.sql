-- Browser sessions: the cookie's value is never stored, only its SHA-256.
CREATE TABLE browser_sessions (
    id_hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT,
    data TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX browser_sessions_user ON browser_sessions (user_id);
CREATE INDEX browser_sessions_expiry ON browser_sessions (expires_at);

-- What a client asked for, waiting for the person's answer on the consent page. Used once.
CREATE TABLE pending_authorizations (
    handle_hash TEXT NOT NULL PRIMARY KEY,
    session_hash TEXT NOT NULL,
    user_id TEXT NOT NULL,
    data TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX pending_authorizations_expiry ON pending_authorizations (expires_at);
