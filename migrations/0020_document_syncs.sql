-- Datasets of documents that are kept from tables: what each document is made of, and how the last run went.
CREATE TABLE document_syncs (
    org_id        TEXT NOT NULL REFERENCES orgs (id),
    -- The dataset of documents; until the first run has ended it is not there.
    name          TEXT NOT NULL,
    -- Table, key and columns, as JSON.
    mapping       TEXT NOT NULL,
    -- From the end of one run to the next; NULL: when somebody asks.
    every_minutes BIGINT,
    -- Up to where changes are known: the greatest value of the column that tells of them.
    cursor        TEXT,
    -- The run that is wanted, under way, or was the last.
    job_id        TEXT NOT NULL,
    state         TEXT NOT NULL,
    -- What it is doing, or why it failed.
    message       TEXT NOT NULL,
    -- Thousandths.
    progress      BIGINT NOT NULL,
    -- What it changed, as JSON.
    changes       TEXT,
    -- Who works on it, and until when that is sure.
    node          TEXT NOT NULL,
    leased_until  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    requested_at  BIGINT NOT NULL,
    ended_at      BIGINT,
    -- The end of the last run that worked.
    synced_at     BIGINT,
    PRIMARY KEY (org_id, name)
);
