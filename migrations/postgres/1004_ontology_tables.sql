-- The wall of 1001 around the names of the tables that semantic models use.
ALTER TABLE ontology_tables ENABLE ROW LEVEL SECURITY;
ALTER TABLE ontology_tables FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON ontology_tables
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
