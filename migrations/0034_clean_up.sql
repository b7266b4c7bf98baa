-- How far clean-up has come, in its one row: it follows the clock, and does not leap with it.
CREATE TABLE clean_up (
    id   BIGINT PRIMARY KEY,
    -- What ended later stays.
    upto BIGINT NOT NULL,
    -- What the clock said then.
    seen BIGINT NOT NULL
);
-- The last that is known of the time is when something was recorded.
INSERT INTO clean_up (id, upto, seen) SELECT 1, at, at FROM audit ORDER BY at DESC LIMIT 1;
