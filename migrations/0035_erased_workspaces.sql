-- Since when a workspace is being erased; its row is the last of it that goes.
ALTER TABLE orgs ADD COLUMN erased_at BIGINT;
