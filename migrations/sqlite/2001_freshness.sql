-- What counts as a change of a workspace; `migrations/postgres/1009_freshness.sql` says the same.
-- What is not cached needs no count: a token, a grant or a member that is new.

CREATE TRIGGER orgs_new AFTER INSERT ON orgs BEGIN
    INSERT INTO freshness (org_id, generation) VALUES (NEW.id, 1) ON CONFLICT (org_id) DO UPDATE SET generation = generation + 1;
END;
CREATE TRIGGER orgs_changed AFTER UPDATE OF slug, name, connectivity_enabled, suspended_at ON orgs
WHEN OLD.slug IS NOT NEW.slug OR OLD.name IS NOT NEW.name OR OLD.suspended_at IS NOT NEW.suspended_at
  OR OLD.connectivity_enabled IS NOT NEW.connectivity_enabled BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.id;
END;
CREATE TRIGGER orgs_gone AFTER DELETE ON orgs BEGIN
    DELETE FROM freshness WHERE org_id = OLD.id;
END;

CREATE TRIGGER tokens_changed
AFTER UPDATE OF label, scopes, digest, created_at, expires_at, revoked_at, replaced_by ON connectivity_tokens BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER tokens_gone AFTER DELETE ON connectivity_tokens BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = OLD.org_id;
END;

CREATE TRIGGER grants_changed AFTER UPDATE OF user_id, client_id, revoked_at ON grants
WHEN OLD.revoked_at IS NOT NEW.revoked_at OR OLD.user_id IS NOT NEW.user_id OR OLD.client_id IS NOT NEW.client_id BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER grants_gone AFTER DELETE ON grants BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = OLD.org_id;
END;

CREATE TRIGGER memberships_changed AFTER UPDATE ON memberships BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER memberships_gone AFTER DELETE ON memberships BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = OLD.org_id;
END;

CREATE TRIGGER users_changed AFTER UPDATE OF email, name, suspended_at ON users
WHEN OLD.email IS NOT NEW.email OR OLD.name IS NOT NEW.name OR OLD.suspended_at IS NOT NEW.suspended_at BEGIN
    UPDATE freshness SET generation = generation + 1
    WHERE org_id IN (SELECT org_id FROM memberships WHERE user_id = NEW.id);
END;

CREATE TRIGGER clients_changed AFTER UPDATE OF name ON oauth_clients WHEN OLD.name IS NOT NEW.name BEGIN
    UPDATE freshness SET generation = generation + 1
    WHERE org_id IN (SELECT org_id FROM grants WHERE client_id = NEW.id);
END;
CREATE TRIGGER clients_gone AFTER DELETE ON oauth_clients BEGIN
    UPDATE freshness SET generation = generation + 1
    WHERE org_id IN (SELECT org_id FROM grants WHERE client_id = OLD.id);
END;

-- '-' is the operator's, for every workspace.
CREATE TRIGGER client_blocks_new AFTER INSERT ON client_blocks BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE NEW.org_id IN ('-', org_id);
END;
CREATE TRIGGER client_blocks_gone AFTER DELETE ON client_blocks BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE OLD.org_id IN ('-', org_id);
END;

CREATE TRIGGER datasets_new AFTER INSERT ON datasets BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER datasets_changed AFTER UPDATE ON datasets BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER datasets_gone AFTER DELETE ON datasets BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = OLD.org_id;
END;
CREATE TRIGGER sources_new AFTER INSERT ON sources BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER sources_changed AFTER UPDATE OF name, engine ON sources
WHEN OLD.name IS NOT NEW.name OR OLD.engine IS NOT NEW.engine BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = NEW.org_id;
END;
CREATE TRIGGER sources_gone AFTER DELETE ON sources BEGIN
    UPDATE freshness SET generation = generation + 1 WHERE org_id = OLD.org_id;
END;
