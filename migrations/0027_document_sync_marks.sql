-- What is known of the pages and files that datasets of documents are kept from, since they were read.
CREATE TABLE document_sync_marks (
    org_id TEXT NOT NULL,
    -- The dataset of documents.
    name   TEXT NOT NULL,
    -- The address of a page.
    item   TEXT NOT NULL,
    -- What tells whether it has changed since, as JSON.
    mark   TEXT NOT NULL,
    PRIMARY KEY (org_id, name, item),
    FOREIGN KEY (org_id, name) REFERENCES document_syncs (org_id, name) ON DELETE CASCADE
);
