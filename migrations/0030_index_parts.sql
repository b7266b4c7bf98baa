-- The builds whose points an index has, as JSON (`model::cluster_index::Chain`); empty where these are its own alone.
ALTER TABLE cluster_indexes ADD COLUMN chain TEXT NOT NULL DEFAULT '';
