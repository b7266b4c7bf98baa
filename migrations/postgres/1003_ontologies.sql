-- The wall of 1001 around semantic models and what was asked of them.
ALTER TABLE ontologies ENABLE ROW LEVEL SECURITY;
ALTER TABLE ontologies FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON ontologies
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
ALTER TABLE ontology_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ontology_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON ontology_versions
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON conversations
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
ALTER TABLE question_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE question_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON question_runs
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
ALTER TABLE remembered ENABLE ROW LEVEL SECURITY;
ALTER TABLE remembered FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON remembered
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
