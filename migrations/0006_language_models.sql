-- What a workspace lets be sent to language models: `off`, `restricted` or `allowed`, and whether stored values may be
-- part of it.
ALTER TABLE orgs ADD COLUMN llm_egress TEXT NOT NULL DEFAULT 'off';
ALTER TABLE orgs ADD COLUMN llm_send_values BIGINT NOT NULL DEFAULT 0;
