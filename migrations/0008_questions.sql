-- Counts the writes of a conversation: of two questions at once the later write is refused.
ALTER TABLE conversations ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;

-- The person behind the credential, so that people find what they asked through their clients.
ALTER TABLE question_runs ADD COLUMN asked_by TEXT;

-- For the sweep, which goes by age alone.
CREATE INDEX question_runs_by_moment ON question_runs (asked_at);
