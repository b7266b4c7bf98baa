-- Remote engines whose tables are datasets of a workspace. `address` has no password in it; the password is sealed with
-- the master key, for this row and this address alone.
CREATE TABLE sources (
    org_id          TEXT NOT NULL REFERENCES orgs (id),
    id              TEXT NOT NULL,
    name            TEXT NOT NULL,
    engine          TEXT NOT NULL,
    address         TEXT NOT NULL,
    ca              TEXT,
    sealed_password TEXT NOT NULL,
    created_by      TEXT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    checked_at      BIGINT NOT NULL,
    -- Why it could not be used when it was last checked; empty when it could.
    problem         TEXT NOT NULL,
    PRIMARY KEY (org_id, id),
    UNIQUE (org_id, name)
);

-- Where the rows of a dataset are, when they are in a remote engine.
ALTER TABLE datasets ADD COLUMN source_id TEXT;
ALTER TABLE datasets ADD COLUMN remote_schema TEXT;
ALTER TABLE datasets ADD COLUMN remote_table TEXT;
CREATE INDEX datasets_by_source ON datasets (org_id, source_id);
