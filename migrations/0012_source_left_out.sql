-- What was left out of a source's catalogue when it was last read, because there is too much of it; empty when nothing was.
ALTER TABLE sources ADD COLUMN left_out TEXT NOT NULL DEFAULT '';
