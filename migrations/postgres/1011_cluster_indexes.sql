-- The wall of 1001 around indexes on a Qdrant server.
ALTER TABLE cluster_indexes ENABLE ROW LEVEL SECURITY;
ALTER TABLE cluster_indexes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON cluster_indexes
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');

ALTER TABLE index_homes ENABLE ROW LEVEL SECURITY;
ALTER TABLE index_homes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON index_homes
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
