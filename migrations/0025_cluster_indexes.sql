-- Indexes of dataset versions on a Qdrant server. A row is there before the first point and after the last one: it
-- outlives the dataset that it was of, until its points are removed.
CREATE TABLE cluster_indexes (
    org_id TEXT NOT NULL,
    build TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    version TEXT NOT NULL,
    encoder TEXT NOT NULL,
    terms TEXT NOT NULL,
    cutter TEXT NOT NULL,
    points BIGINT NOT NULL,
    standing TEXT NOT NULL,
    touched_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, build)
);
CREATE INDEX cluster_indexes_by_version ON cluster_indexes (org_id, dataset_id, version);

-- Where a workspace's indexes are written, once somebody has moved them: 'folder' or 'qdrant'.
CREATE TABLE index_homes (
    org_id TEXT NOT NULL PRIMARY KEY REFERENCES orgs (id),
    home TEXT NOT NULL
);
