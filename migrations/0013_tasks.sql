-- Calls that go on after their client was given a handle (MCP, Tasks extension), and what they came to.
CREATE TABLE tasks (
    org_id       TEXT NOT NULL REFERENCES orgs (id),
    id           TEXT NOT NULL,
    -- Whose it is: the grant or the connectivity token that began it.
    credential   TEXT NOT NULL,
    tool         TEXT NOT NULL,
    status       TEXT NOT NULL,
    -- What it is doing, or why it ended.
    message      TEXT NOT NULL,
    -- Sealed: what it asks, what it came to, or why it failed.
    outcome      TEXT,
    -- 1 when it is to stop.
    cancelled    BIGINT NOT NULL DEFAULT 0,
    -- Who works on it, and until when that is sure.
    node         TEXT NOT NULL,
    leased_until BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX tasks_by_end ON tasks (expires_at);
CREATE INDEX tasks_by_credential ON tasks (org_id, credential);
