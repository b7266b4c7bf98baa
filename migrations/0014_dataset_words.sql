-- What people write of a dataset. No import and no reading of a source's catalogue overwrites it.
ALTER TABLE datasets ADD COLUMN title TEXT NOT NULL DEFAULT '';
-- 1 when a person wrote the description.
ALTER TABLE datasets ADD COLUMN described BIGINT NOT NULL DEFAULT 0;
-- Descriptions of columns by name, as a JSON object.
ALTER TABLE datasets ADD COLUMN column_texts TEXT NOT NULL DEFAULT '{}';
