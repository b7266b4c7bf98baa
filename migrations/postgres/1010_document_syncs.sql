-- The wall of 1001 around datasets of documents that are kept from tables.
ALTER TABLE document_syncs ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_syncs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON document_syncs
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
