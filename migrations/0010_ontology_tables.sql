-- The names of the tables that each kept text uses, in lower case; '*' where the text could not be read, '' where it uses
-- none. A text without a row is of before, and is read once to find out.
CREATE TABLE ontology_tables (
    org_id      TEXT NOT NULL REFERENCES orgs (id),
    ontology_id TEXT NOT NULL,
    version     BIGINT NOT NULL,
    name        TEXT NOT NULL,
    PRIMARY KEY (org_id, name, ontology_id, version),
    FOREIGN KEY (org_id, ontology_id, version)
        REFERENCES ontology_versions (org_id, ontology_id, version) ON DELETE CASCADE
);
CREATE INDEX ontology_tables_by_version ON ontology_tables (org_id, ontology_id, version);
