-- The secret of the access key to a bucket, sealed with the master key for this bucket and access key alone.
ALTER TABLE document_syncs ADD COLUMN sealed_secret TEXT;
