-- When the last turn of a run ended, or began while it is under way; before the first, when that was asked for. The next is of
-- the workspace that has waited longest since its last one, and there of the run that has.
ALTER TABLE document_syncs ADD COLUMN turn_at BIGINT NOT NULL DEFAULT 0;
