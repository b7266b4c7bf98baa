-- What a person set for themselves: JSON, by subject.
ALTER TABLE users ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
