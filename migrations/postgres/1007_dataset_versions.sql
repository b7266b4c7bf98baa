-- What 0017 could not see of data that were there behind the wall.
SELECT set_config('app.tenant_id', '*', true);
UPDATE documents SET document_id = id WHERE document_id = '';
INSERT INTO version_documents (org_id, dataset_id, version, row_id)
    SELECT org_id, dataset_id, version, id FROM documents
    ON CONFLICT DO NOTHING;
INSERT INTO dataset_versions (org_id, dataset_id, version, how, row_count, bytes, columns_json, source, files, made_at,
                              made_by, current_since, current_by)
    SELECT org_id, id, version, 'import', row_count, bytes, columns_json, source, last_files, updated_at, NULL,
           updated_at, NULL
    FROM datasets WHERE version IS NOT NULL AND source_id IS NULL
    ON CONFLICT DO NOTHING;

-- The wall of 1001 around versions of datasets.
ALTER TABLE dataset_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE dataset_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dataset_versions
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');

ALTER TABLE version_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE version_documents FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON version_documents
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
