-- A transaction may add documents before the dataset that they are of (SET CONSTRAINTS), so that it holds the names of
-- datasets for a shorter time. What the constraint is called depends on the release of PostgreSQL that made it.
DO $$
DECLARE of_dataset NAME;
BEGIN
    SELECT conname INTO STRICT of_dataset FROM pg_constraint WHERE conrelid = 'documents'::regclass AND contype = 'f';
    EXECUTE format('ALTER TABLE documents ALTER CONSTRAINT %I DEFERRABLE', of_dataset);
END $$;
