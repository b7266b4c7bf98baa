-- Semantic models of a workspace. Each saved text is kept as a version; what holds of the newest is beside the name.
CREATE TABLE ontologies (
    org_id        TEXT NOT NULL REFERENCES orgs (id),
    id            TEXT NOT NULL,
    name          TEXT NOT NULL,
    description   TEXT NOT NULL,
    -- draft, checking, ready, failed
    status        TEXT NOT NULL,
    -- Why it is failed; empty otherwise.
    problem       TEXT NOT NULL,
    version       BIGINT NOT NULL,
    dataset_count BIGINT NOT NULL,
    field_count   BIGINT NOT NULL,
    -- What the last comparison with the data found (JSON), and of which data it was: a digest of the versions.
    attestation   TEXT,
    attested_data TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    UNIQUE (org_id, name)
);

CREATE TABLE ontology_versions (
    org_id      TEXT NOT NULL REFERENCES orgs (id),
    ontology_id TEXT NOT NULL,
    version     BIGINT NOT NULL,
    text        TEXT NOT NULL,
    -- What it changed, in words.
    summary     TEXT NOT NULL,
    -- A person's id; NULL for the operator.
    saved_by    TEXT,
    saved_at    BIGINT NOT NULL,
    PRIMARY KEY (org_id, ontology_id, version),
    FOREIGN KEY (org_id, ontology_id) REFERENCES ontologies (org_id, id) ON DELETE CASCADE
);

-- Questions that belong together. `credential` is who asked first: nobody else can go on with it.
CREATE TABLE conversations (
    org_id      TEXT NOT NULL REFERENCES orgs (id),
    id          TEXT NOT NULL,
    ontology_id TEXT NOT NULL,
    credential  TEXT NOT NULL,
    state       TEXT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    FOREIGN KEY (org_id, ontology_id) REFERENCES ontologies (org_id, id) ON DELETE CASCADE
);
CREATE INDEX conversations_by_age ON conversations (updated_at);

-- How each question was answered, for people to look into; no row of any result.
CREATE TABLE question_runs (
    org_id          TEXT NOT NULL REFERENCES orgs (id),
    id              TEXT NOT NULL,
    ontology_id     TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    credential      TEXT NOT NULL,
    question        TEXT NOT NULL,
    -- answer, clarification, cannot_answer, failed
    outcome         TEXT NOT NULL,
    trace           TEXT NOT NULL,
    duration_ms     BIGINT NOT NULL,
    asked_at        BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    FOREIGN KEY (org_id, ontology_id) REFERENCES ontologies (org_id, id) ON DELETE CASCADE
);
CREATE INDEX question_runs_by_age ON question_runs (org_id, ontology_id, asked_at);

-- What people agreed to have remembered of an ontology: how an open point is settled (preference), and which plan
-- answers a question (verified).
CREATE TABLE remembered (
    org_id      TEXT NOT NULL REFERENCES orgs (id),
    id          TEXT NOT NULL,
    ontology_id TEXT NOT NULL,
    kind        TEXT NOT NULL,
    -- The open point's key, or the question in its normal form.
    key         TEXT NOT NULL,
    -- What was chosen, or the plan (JSON).
    value       TEXT NOT NULL,
    said        TEXT NOT NULL,
    made_by     TEXT,
    made_at     BIGINT NOT NULL,
    PRIMARY KEY (org_id, id),
    UNIQUE (org_id, ontology_id, kind, key),
    FOREIGN KEY (org_id, ontology_id) REFERENCES ontologies (org_id, id) ON DELETE CASCADE
);
