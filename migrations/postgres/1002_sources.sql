-- The wall of 1001 around remote engines.
ALTER TABLE sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE sources FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sources
    USING (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*')
    WITH CHECK (org_id = current_setting('app.tenant_id', true) OR current_setting('app.tenant_id', true) = '*');
