-- What counts as a change of a workspace; `migrations/sqlite/2001_freshness.sql` says the same.
-- Deferred: the row is locked when everything else already is, and only for as long as the commit takes, so that writers
-- wait for each other but never in a circle.

CREATE FUNCTION freshen(org TEXT) RETURNS void LANGUAGE sql AS
$$ UPDATE freshness SET generation = generation + 1 WHERE org_id = org $$;

CREATE FUNCTION freshen_org_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM freshen(COALESCE(NEW.org_id, OLD.org_id));
    RETURN NULL;
END $$;

CREATE FUNCTION freshen_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM freshen(NEW.id);
    RETURN NULL;
END $$;

CREATE FUNCTION freshness_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO freshness (org_id, generation) VALUES (NEW.id, 1)
    ON CONFLICT (org_id) DO UPDATE SET generation = freshness.generation + 1;
    RETURN NULL;
END $$;

CREATE FUNCTION freshness_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM freshness WHERE org_id = OLD.id;
    RETURN NULL;
END $$;

-- Workspaces in one order, always.
CREATE FUNCTION freshen_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM freshen(m.org_id) FROM (SELECT org_id FROM memberships WHERE user_id = NEW.id ORDER BY org_id) m;
    RETURN NULL;
END $$;

CREATE FUNCTION freshen_of_client() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM freshen(g.org_id)
    FROM (SELECT DISTINCT org_id FROM grants WHERE client_id = OLD.id ORDER BY org_id) g;
    RETURN NULL;
END $$;

-- '-' is the operator's, for every workspace.
CREATE FUNCTION freshen_of_block() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM freshen(f.org_id)
    FROM (SELECT org_id FROM freshness WHERE COALESCE(NEW.org_id, OLD.org_id) IN ('-', org_id) ORDER BY org_id) f;
    RETURN NULL;
END $$;

CREATE TRIGGER orgs_new AFTER INSERT ON orgs FOR EACH ROW EXECUTE FUNCTION freshness_begins();
CREATE TRIGGER orgs_gone AFTER DELETE ON orgs FOR EACH ROW EXECUTE FUNCTION freshness_ends();
CREATE CONSTRAINT TRIGGER orgs_changed AFTER UPDATE ON orgs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((OLD.slug, OLD.name, OLD.connectivity_enabled, OLD.suspended_at)
      IS DISTINCT FROM (NEW.slug, NEW.name, NEW.connectivity_enabled, NEW.suspended_at))
EXECUTE FUNCTION freshen_id();

CREATE CONSTRAINT TRIGGER tokens_changed AFTER UPDATE ON connectivity_tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((OLD.label, OLD.scopes, OLD.digest, OLD.created_at, OLD.expires_at, OLD.revoked_at, OLD.replaced_by)
      IS DISTINCT FROM (NEW.label, NEW.scopes, NEW.digest, NEW.created_at, NEW.expires_at, NEW.revoked_at, NEW.replaced_by))
EXECUTE FUNCTION freshen_org_id();
CREATE CONSTRAINT TRIGGER tokens_gone AFTER DELETE ON connectivity_tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION freshen_org_id();

CREATE CONSTRAINT TRIGGER grants_changed AFTER UPDATE ON grants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((OLD.user_id, OLD.client_id, OLD.revoked_at) IS DISTINCT FROM (NEW.user_id, NEW.client_id, NEW.revoked_at))
EXECUTE FUNCTION freshen_org_id();
CREATE CONSTRAINT TRIGGER grants_gone AFTER DELETE ON grants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION freshen_org_id();

CREATE CONSTRAINT TRIGGER memberships_changed AFTER UPDATE OR DELETE ON memberships DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION freshen_org_id();

CREATE CONSTRAINT TRIGGER users_changed AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((OLD.email, OLD.name, OLD.suspended_at) IS DISTINCT FROM (NEW.email, NEW.name, NEW.suspended_at))
EXECUTE FUNCTION freshen_of_user();

CREATE CONSTRAINT TRIGGER clients_changed AFTER UPDATE ON oauth_clients DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION freshen_of_client();
CREATE CONSTRAINT TRIGGER clients_gone AFTER DELETE ON oauth_clients DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION freshen_of_client();

CREATE CONSTRAINT TRIGGER client_blocks_changed AFTER INSERT OR DELETE ON client_blocks DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION freshen_of_block();

CREATE CONSTRAINT TRIGGER datasets_changed AFTER INSERT OR UPDATE OR DELETE ON datasets DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION freshen_org_id();
CREATE CONSTRAINT TRIGGER sources_new_or_gone AFTER INSERT OR DELETE ON sources DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION freshen_org_id();
CREATE CONSTRAINT TRIGGER sources_changed AFTER UPDATE ON sources DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN ((OLD.name, OLD.engine) IS DISTINCT FROM (NEW.name, NEW.engine)) EXECUTE FUNCTION freshen_org_id();
