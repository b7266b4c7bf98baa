-- A connectivity token that another has replaced: it ends by itself, and counts no more among those in force.

ALTER TABLE connectivity_tokens ADD COLUMN replaced_by TEXT;
