-- When the last turn of a run began. The next is of the workspace that has waited longest since its last one, and there of
-- the run that has.
ALTER TABLE document_syncs ADD COLUMN taken_at BIGINT NOT NULL DEFAULT 0;
