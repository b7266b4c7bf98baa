-- Where the chains of the audit log begin once entries were deleted at the end of their time: the last entry that was,
-- and a code that only the holder of the master key can make.
CREATE TABLE audit_cuts (
    chain TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    mac TEXT NOT NULL
);
