-- How often something of a workspace has changed that decides who may do what there, and over which datasets: what was
-- read of it stays true for as long as the number is the same. Triggers count, in the transaction that changes, so that
-- whoever writes, from wherever, is counted (sqlite/ and postgres/).
CREATE TABLE freshness (
    org_id     TEXT PRIMARY KEY,
    generation BIGINT NOT NULL
);
INSERT INTO freshness (org_id, generation) SELECT id, 1 FROM orgs;
