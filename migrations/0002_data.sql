-- Datasets, their documents, and the audit log.

CREATE TABLE datasets (
    org_id TEXT NOT NULL REFERENCES orgs (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    kind TEXT NOT NULL,
    externally_queryable BIGINT NOT NULL,
    version TEXT,
    row_count BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    columns_json TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    UNIQUE (org_id, name)
);

CREATE TABLE documents (
    org_id TEXT NOT NULL,
    id TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    version TEXT NOT NULL,
    title TEXT NOT NULL,
    source_file TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    FOREIGN KEY (org_id, dataset_id) REFERENCES datasets (org_id, id) ON DELETE CASCADE
);
CREATE INDEX documents_by_dataset ON documents (org_id, dataset_id, version);

-- One chain a workspace; '-' is the chain of entries about no workspace.
CREATE TABLE audit_heads (
    chain TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);

CREATE TABLE audit (
    chain TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    entry TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE INDEX audit_by_time ON audit (chain, at);
