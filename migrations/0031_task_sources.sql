-- The datasets that what a task came to was made of, each with the columns that were hidden then, as JSON
-- (`model::task::Seen`); empty where nothing is known of them.
ALTER TABLE tasks ADD COLUMN seen TEXT NOT NULL DEFAULT '[]';
