-- The second wall between tenants, on PostgreSQL only: a statement sees and writes the rows of the workspace that its
-- transaction named, whatever it asks for. Without a name it sees nothing; '*' is all, for what precedes the tenant.
-- FORCE, because the role that the service connects as owns the tables.

ALTER TABLE datasets ENABLE ROW LEVEL SECURITY;
ALTER TABLE datasets FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON datasets
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');

ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON documents
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');

ALTER TABLE connectivity_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE connectivity_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON connectivity_tokens
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
