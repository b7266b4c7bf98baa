-- Names of columns that external clients do not see, as a JSON array in lower case.
ALTER TABLE datasets ADD COLUMN hidden_columns TEXT NOT NULL DEFAULT '[]';
-- SHA-256 of the files that came last: who brings them again is told.
ALTER TABLE datasets ADD COLUMN last_files TEXT NOT NULL DEFAULT '';
