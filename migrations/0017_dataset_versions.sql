-- Versions of datasets that are kept: the current one of each, and some before it.
CREATE TABLE dataset_versions (
    org_id TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    version TEXT NOT NULL,
    -- What made it: 'import' or 'append'.
    how TEXT NOT NULL,
    row_count BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    columns_json TEXT NOT NULL,
    source TEXT NOT NULL,
    -- SHA-256 of the files that it came from.
    files TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    -- A person's id; NULL for the operator and for programs.
    made_by TEXT,
    -- Since when it is the current one, or when it last became that.
    current_since BIGINT NOT NULL,
    current_by TEXT,
    PRIMARY KEY (org_id, dataset_id, version),
    FOREIGN KEY (org_id, dataset_id) REFERENCES datasets (org_id, id) ON DELETE CASCADE
);

-- What a document is known by as long as its dataset has it; a text that is replaced keeps it in a row of its own.
ALTER TABLE documents ADD COLUMN document_id TEXT NOT NULL DEFAULT '';
-- SHA-256 of the text: who brings it again is told. Empty for texts of before.
ALTER TABLE documents ADD COLUMN digest TEXT NOT NULL DEFAULT '';
CREATE INDEX documents_by_document ON documents (org_id, document_id);

-- Which rows of documents each version has: versions share the texts that did not change.
CREATE TABLE version_documents (
    org_id TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    version TEXT NOT NULL,
    row_id TEXT NOT NULL,
    PRIMARY KEY (org_id, dataset_id, version, row_id),
    FOREIGN KEY (org_id, row_id) REFERENCES documents (org_id, id) ON DELETE CASCADE
);
CREATE INDEX version_documents_by_row ON version_documents (org_id, row_id);

-- What is there already. Behind the wall of PostgreSQL these find nothing: 1007 does it there.
UPDATE documents SET document_id = id WHERE document_id = '';
INSERT INTO version_documents (org_id, dataset_id, version, row_id)
    SELECT org_id, dataset_id, version, id FROM documents;
INSERT INTO dataset_versions (org_id, dataset_id, version, how, row_count, bytes, columns_json, source, files, made_at,
                              made_by, current_since, current_by)
    SELECT org_id, id, version, 'import', row_count, bytes, columns_json, source, last_files, updated_at, NULL,
           updated_at, NULL
    FROM datasets WHERE version IS NOT NULL AND source_id IS NULL;
