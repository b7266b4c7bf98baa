-- Statements that must be refused, one a line: rule, tab, SQL. `\x0d` and `\x0a` stand for CR and LF, `\u{…}` for
-- a character. /etc/passwd stands for a file with a secret, /tmp/dragoman-x for a file that may not appear.
statement	DELETE FROM flights
statement	INSERT INTO flights SELECT * FROM flights
statement	UPDATE flights SET id = 1
statement	DROP TABLE flights
statement	DROP VIEW flights
statement	ALTER TABLE flights ADD COLUMN x INT
statement	TRUNCATE flights
statement	CREATE TABLE x AS SELECT 1
statement	CREATE TEMP TABLE x (a INT)
statement	CREATE VIEW x AS SELECT 1
statement	CREATE TEMP MACRO sum(x) AS 42
statement	CREATE OR REPLACE TEMP VIEW flights AS SELECT 1
statement	CREATE SEQUENCE s
statement	CREATE TYPE t AS ENUM ('a')
statement	CREATE SCHEMA s
statement	CREATE SECRET s (TYPE s3)
statement	MERGE INTO flights USING carriers ON true WHEN MATCHED THEN DELETE
statement	COPY flights TO '/tmp/dragoman-x.csv'
statement	COPY (SELECT 1) TO '/tmp/dragoman-x.csv'
statement	COPY flights FROM '/etc/passwd'
statement	EXPORT DATABASE '/tmp/dragoman-x'
statement	IMPORT DATABASE '/tmp/dragoman-x'
statement	ATTACH ':memory:' AS m
statement	ATTACH '/tmp/x.duckdb'
statement	DETACH d0
statement	USE d0
statement	SET threads=8
statement	SET memory_limit='100GB'
statement	SET lock_configuration=false
statement	RESET memory_limit
statement	SET search_path='d0'
statement	SET schema='d0'
statement	SET VARIABLE y = (SELECT 1)
statement	PRAGMA database_list
statement	PRAGMA table_info(flights)
statement	PRAGMA show_tables
statement	PRAGMA version
statement	PRAGMA enable_profiling
statement	CALL query('SELECT 1')
statement	CALL query_table('flights')
statement	CALL pragma_version()
statement	INSTALL httpfs
statement	LOAD httpfs
statement	LOAD json
statement	UPDATE EXTENSIONS
statement	EXPLAIN SELECT 1
statement	EXPLAIN ANALYZE SELECT * FROM flights
statement	EXPLAIN SELECT length(repeat('x', 100000000))
statement	PREPARE p AS SELECT 1
statement	EXECUTE p
statement	DEALLOCATE p
statement	BEGIN
statement	COMMIT
statement	ROLLBACK
statement	CHECKPOINT
statement	FORCE CHECKPOINT
statement	VACUUM
statement	ANALYZE
statement	SELECT 1; SELECT 2
statement	SELECT 1; DROP TABLE flights
statement	SELECT 1; COMMIT; DROP SCHEMA public CASCADE
statement	BEGIN; SELECT 1
statement	SHOW TABLES
statement	SHOW ALL TABLES
statement	SHOW DATABASES
statement	SHOW SCHEMAS
statement	SHOW flights
statement	WITH d AS (DELETE FROM flights RETURNING *) SELECT * FROM d
statement	WITH d AS (INSERT INTO flights SELECT * FROM flights RETURNING *) SELECT * FROM d
statement	WITH d AS (UPDATE flights SET id = 1 RETURNING *) SELECT * FROM d
statement	WITH c AS (COPY flights TO '/tmp/dragoman-x.csv') SELECT * FROM c
statement	WITH c AS (COPY (SELECT 'pwned') TO '/tmp/dragoman-x.csv' (FORMAT csv, USE_TMP_FILE false)) SELECT 1
statement	SELECT * FROM (WITH c AS (COPY (SELECT 1) TO '/tmp/dragoman-x.csv') SELECT * FROM c)
statement	WITH a AS (SELECT 1), b AS (WITH c AS (DELETE FROM flights RETURNING 1) SELECT * FROM c) SELECT * FROM b
statement	COMMENT ON TABLE flights IS 'x'
statement	-- only a comment
syntax	SELEC 1
syntax	SELECT FROM WHERE
syntax	SELECT 1 INTO x
syntax	SELECT * FROM flights FOR UPDATE
syntax	SELECT (
syntax	SELECT * FROM (EXPLAIN SELECT 1)
syntax	WITH m AS (CREATE TABLE x AS SELECT 1) SELECT 1
syntax	hello there
table	SELECT * FROM secret
table	SELECT s FROM secret
table	SELECT * FROM SECRET
table	SELECT * FROM "secret"
table	FROM secret
table	TABLE secret
table	SELECT * FROM '/etc/passwd'
table	FROM '/etc/passwd'
table	SELECT * FROM 'data.csv'
table	SELECT * FROM 'https://example.com/x.parquet'
table	SELECT * FROM 's3://bucket/x.parquet'
table	SELECT * FROM "/etc/passwd"
table	SELECT * FROM '*.duckdb'
table	SELECT * FROM sqlite_master
table	SELECT * FROM pg_class
table	SELECT * FROM duckdb_tables
table	SELECT * FROM pragma_database_list
table	SELECT (SELECT s FROM secret)
table	SELECT 1 WHERE EXISTS (SELECT 1 FROM secret)
table	SELECT * FROM flights, secret
table	SELECT * FROM flights JOIN secret ON true
table	SELECT * FROM flights WHERE id IN (SELECT s FROM secret)
table	SELECT * REPLACE ((SELECT s FROM secret) AS carrier) FROM flights
table	SELECT * FROM flights ORDER BY (SELECT s FROM secret)
table	SELECT count(*) FILTER (WHERE (SELECT s FROM secret) = 1) FROM flights
table	SELECT sum(id) OVER (ORDER BY (SELECT s FROM secret)) FROM flights
table	SELECT sum(id) OVER (ROWS BETWEEN (SELECT 1 FROM secret) PRECEDING AND CURRENT ROW) FROM flights
table	SELECT list(id ORDER BY (SELECT s FROM secret)) FROM flights
table	SELECT CASE WHEN true THEN (SELECT s FROM secret) END
table	SELECT [(SELECT s FROM secret)]
table	SELECT {'a': (SELECT s FROM secret)}
table	SELECT (SELECT s FROM secret)::VARCHAR
table	SELECT list_transform([1], lambda x: (SELECT s FROM secret))
table	SELECT DISTINCT ON ((SELECT s FROM secret)) id FROM flights
table	SELECT id FROM flights GROUP BY (SELECT s FROM secret)
table	SELECT 1 FROM flights HAVING (SELECT s FROM secret) = 1
table	SELECT id FROM flights QUALIFY (SELECT s FROM secret) = 1
table	VALUES ((SELECT s FROM secret))
table	SELECT * FROM (VALUES ((SELECT s FROM secret))) t
table	SELECT 1 UNION SELECT s FROM secret
table	SELECT 1 EXCEPT SELECT s FROM secret
table	DESCRIBE secret
table	SUMMARIZE secret
table	DESCRIBE SELECT * FROM secret
table	SELECT * FROM (DESCRIBE secret)
table	SELECT * FROM (SUMMARIZE secret)
table	PIVOT secret ON a IN (1) USING count(*)
table	UNPIVOT secret ON a, b INTO NAME n VALUE v
table	SELECT * FROM flights ASOF JOIN secret ON flights.id >= secret.id
table	SELECT * FROM flights POSITIONAL JOIN secret
table	SELECT * FROM flights, LATERAL (SELECT * FROM secret) x
table	WITH secret AS (SELECT * FROM secret) SELECT * FROM secret
table	WITH t AS (SELECT * FROM t) SELECT * FROM t
table	WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
table	SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret) x, secret
table	SELECT (WITH secret AS (SELECT 1 a) SELECT a FROM secret), (SELECT s FROM secret)
table	WITH RECURSIVE secret AS (SELECT s FROM secret UNION ALL SELECT 1 FROM secret) SELECT * FROM secret
table	(WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) UNION ALL SELECT s FROM secret
table	WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i FROM r, secret) SELECT * FROM r
table	SELECT 1 /* /* */ , ' */ , (SELECT s FROM secret) --'
table	SELECT 1 --\x0d , (SELECT s FROM secret)
table	SELECT 1 --\x0a , (SELECT s FROM secret)
table	SELECT $$x$$, (SELECT s FROM secret), $$y$$
table	SELECT $a$ ' $a$, (SELECT s FROM secret) --'
table	SELECT 1 /**/,/**/(SELECT/**/s/**/FROM/**/secret)
table	SELECT * FROM d0
table	SELECT * FROM fligths
table	SELECT * FROM data
table	SELECT * FROM duckdb_views
table	SELECT * FROM flight
qualified_name	SELECT * FROM d0.main.data
qualified_name	SELECT * FROM d0.data
qualified_name	SELECT * FROM information_schema.tables
qualified_name	SELECT * FROM information_schema.columns
qualified_name	SELECT * FROM pg_catalog.pg_class
qualified_name	SELECT * FROM system.main.duckdb_tables
qualified_name	SELECT * FROM temp.x
qualified_name	SELECT * FROM secret.main.data
qualified_name	DESCRIBE d0.main.data
qualified_name	SUMMARIZE d0.main.data
qualified_name	SELECT (SELECT count(*) FROM d1.main.data)
qualified_name	WITH main AS (SELECT 1) SELECT * FROM main.main
table_function	SELECT * FROM read_csv('/etc/passwd')
table_function	SELECT * FROM read_csv_auto('/etc/passwd')
table_function	SELECT * FROM read_text('/etc/passwd')
table_function	SELECT * FROM read_blob('/etc/passwd')
table_function	SELECT * FROM read_json('/etc/passwd')
table_function	SELECT * FROM read_ndjson('/etc/passwd')
table_function	SELECT * FROM read_parquet('/etc/passwd')
table_function	SELECT * FROM parquet_scan('x')
table_function	SELECT * FROM parquet_metadata('x')
table_function	SELECT * FROM parquet_schema('x')
table_function	SELECT * FROM read_duckdb('x')
table_function	SELECT * FROM glob('/*')
table_function	SELECT * FROM sniff_csv('/etc/passwd')
table_function	SELECT * FROM query('SELECT s FROM secret')
table_function	SELECT * FROM query_table('secret')
table_function	SELECT * FROM QUERY('SELECT 1')
table_function	SELECT * FROM histogram('secret', s)
table_function	SELECT * FROM histogram_values('secret', s)
table_function	SELECT * FROM json_execute_serialized_sql('x')
table_function	SELECT * FROM seq_scan('secret')
table_function	SELECT * FROM arrow_scan(1, 2, 3)
table_function	SELECT * FROM pandas_scan(1)
table_function	SELECT * FROM python_map_function(1)
table_function	SELECT * FROM duckdb_tables()
table_function	SELECT * FROM duckdb_databases()
table_function	SELECT * FROM duckdb_settings()
table_function	SELECT * FROM duckdb_secrets()
table_function	SELECT * FROM duckdb_columns()
table_function	SELECT * FROM duckdb_views()
table_function	SELECT * FROM duckdb_functions()
table_function	SELECT * FROM duckdb_temporary_files()
table_function	SELECT * FROM duckdb_logs()
table_function	SELECT * FROM duckdb_extensions()
table_function	SELECT * FROM pragma_table_info('secret')
table_function	SELECT * FROM pragma_storage_info('secret')
table_function	SELECT * FROM pragma_show('secret')
table_function	SELECT * FROM pragma_version()
table_function	SELECT * FROM pragma_database_size()
table_function	SELECT * FROM duckdb_table_sample('secret')
table_function	SELECT * FROM which_secret('x', 's3')
table_function	SELECT * FROM summary((SELECT * FROM flights))
table_function	SELECT * FROM repeat('x', 1000000000)
table_function	SELECT * FROM test_all_types()
table_function	SELECT * FROM checkpoint()
table_function	SELECT * FROM truncate_duckdb_logs()
table_function	SELECT * FROM enable_logging()
table_function	SELECT * FROM flights, LATERAL query('SELECT 1')
table_function	SELECT * FROM main.query('SELECT 1')
table_function	SELECT * FROM system.main.read_text('/etc/passwd')
table_function	SELECT * FROM nosuch(1)
table_function	SELECT (SELECT * FROM read_text('/etc/passwd'))
table_function	DESCRIBE SELECT * FROM read_csv('/etc/passwd')
table_function	WITH a AS (SELECT * FROM query('SELECT 1')) SELECT * FROM a
table_function	SELECT * FROM sum(1)
table_function	SELECT * FROM getenv('HOME')
function	SELECT current_setting('allowed_paths')
function	SELECT getvariable('x')
function	SELECT current_query()
function	SELECT current_database()
function	SELECT current_schema()
function	SELECT current_schemas(true)
function	SELECT session_user()
function	SELECT version()
function	SELECT txid_current()
function	SELECT current_connection_id()
function	SELECT in_search_path('memory', 'main')
function	SELECT stats(id) FROM flights
function	SELECT vector_type(id) FROM flights
function	SELECT nextval('s')
function	SELECT currval('s')
function	SELECT setval('s', 1)
function	SELECT setseed(0.5)
function	SELECT write_log('x')
function	SELECT parse_duckdb_log_message('FileSystem', 'x')
function	SELECT sleep_ms(60000)
function	SELECT pg_sleep(60)
function	SELECT error('x')
function	SELECT assert_true(false)
function	SELECT getenv('HOME')
function	SELECT json_serialize_sql('SELECT 1')
function	SELECT json_serialize_plan('SELECT s FROM secret')
function	SELECT json_execute_serialized_sql('x')
function	SELECT json_deserialize_sql('x')
function	SELECT query('SELECT 1')
function	SELECT query_table('x')
function	SELECT pg_get_viewdef(1)
function	SELECT pg_get_expr('x', 1)
function	SELECT has_table_privilege('secret', 'select')
function	SELECT obj_description(1, 'x')
function	SELECT col_description(1, 1)
function	SELECT finalize(1)
function	SELECT combine(1, 2)
function	SELECT invoke(lambda x: x, 1)
function	SELECT make_type('INTEGER')
function	SELECT switch(1, 2)
function	SELECT __internal_compress_string_ubigint('a')
function	SELECT main.sleep_ms(1)
function	SELECT 'x'.error()
function	SELECT system.main.current_setting('threads')
function	SELECT SLEEP_MS(1)
function	SELECT "sleep_ms"(1)
function	SELECT nosuchfunction(1)
function	SELECT list_aggregate([1], 'sleep_ms')
function	SELECT list_aggr([1], 'nosuch')
function	SELECT 1 FROM flights WHERE sleep_ms(1000) IS NULL
function	SELECT list_transform([1], lambda x: sleep_ms(x))
function	SELECT id FROM flights ORDER BY current_setting('threads')
function	SELECT read_text('/etc/passwd')
function	SELECT get_block_size('memory')
function	SELECT list_apply([60000], lambda x: pg_sleep(x))
function	SELECT duckdb_tables()
function	SELECT inet_server_addr()
function	SELECT pg_typeof(txid_current())
value_name	SELECT current_user
value_name	SELECT CURRENT_SCHEMA
value_name	SELECT "current_catalog"
value_name	SELECT session_user
value_name	SELECT current_role
literal	SELECT 1 LIMIT length(repeat('x', 100000000))
literal	SELECT * FROM flights LIMIT 1 OFFSET length('x')
literal	SELECT * FROM generate_series(1, length(repeat('x', 1000)))
literal	SELECT quantile_cont(id, length('x') / 2) FROM flights
literal	SELECT quantile_disc(id, (SELECT 0.5)) FROM flights
literal	SELECT approx_quantile(id, random()) FROM flights
amplifier	SELECT reservoir_quantile(id, 0.5, length(repeat('x', 1000))) FROM flights
literal	SELECT list_aggregate([1], concat('s', 'um'))
literal	SELECT list_aggregate([1], carrier) FROM flights
literal	SELECT string_agg(carrier, repeat(',', 1000)) FROM flights
literal	SELECT COLUMNS(lambda c: length(repeat(c, 100000)) > 1) FROM flights
literal	SELECT COLUMNS(lambda c: (SELECT true)) FROM flights
literal	SELECT COLUMNS(repeat('x', 1000)) FROM flights
literal	SELECT json_transform('{}', concat('{', '}'))
literal	SELECT from_json('{}', carrier) FROM flights
literal	SELECT * FROM json_each(repeat('[', 1000))
literal	SELECT list_sort([1], lower('DESC'))
literal	SELECT * FROM repeat_row(1, num_rows := length('x'))
literal	SELECT [1].list_aggregate(concat('sum'))
literal	SELECT * FROM flights LIMIT length('x')
amplifier	SELECT length(repeat('x', 4000000000))
amplifier	SELECT repeat('x', 100001)
amplifier	SELECT repeat('x', 1000 * 1000 * 1000)
amplifier	SELECT repeat(repeat('x', 100000), 100000)
amplifier	SELECT 'x'.repeat(1000000000)
amplifier	SELECT main.repeat('x', 5)
amplifier	SELECT repeat([1], 1000000000)
amplifier	SELECT lpad('x', 1000000000, 'y')
amplifier	SELECT rpad('x', 1000000000, 'y')
amplifier	SELECT printf('%1000000000d', 1)
amplifier	SELECT printf('%*d', 1000000000, 1)
amplifier	SELECT format('{:1000000000}', 1)
amplifier	SELECT format('{:{}}', 1, 1000000000)
amplifier	SELECT format(carrier, 1) FROM flights
amplifier	SELECT printf(concat('%', '999999999d'), 1)
amplifier	SELECT bitstring('1', 1000000000)
amplifier	SELECT range(1000000000)
amplifier	SELECT len(range(1000000000))
amplifier	SELECT unnest(range(1000000000))
amplifier	SELECT generate_series(1, 1000000000)
amplifier	SELECT range(0, 1000000000, 1)
amplifier	SELECT range(1000000000, 0, -1)
amplifier	SELECT range(-9223372036854775807, 9223372036854775807)
amplifier	SELECT range(TIMESTAMP '1900-01-01', TIMESTAMP '2100-01-01', INTERVAL 1 MICROSECOND)
amplifier	SELECT generate_series(DATE '0001-01-01', DATE '9999-01-01', INTERVAL 1 DAY)
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2000-01-02', INTERVAL 0 DAY)
amplifier	SELECT list_resize([1], 1000000000)
amplifier	SELECT array_resize([1], 1000000000)
amplifier	SELECT list_distinct(range(100000000))
amplifier	SELECT list_aggregate(range(100000000), 'sum')
amplifier	SELECT reverse(repeat('x', 1000000000))
amplifier	SELECT to_base64(repeat('x', 1000000000)::BLOB)
amplifier	SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))
amplifier	SELECT string_split(repeat('a,', 100000000), ',')
amplifier	SELECT 1 FROM flights WHERE length(repeat('x', 1000000000)) > 1
amplifier	SELECT REPEAT('x', 1e9)
amplifier	SELECT repeat('x', '1000000000')
amplifier	SELECT repeat('x', 1000000000::BIGINT)
amplifier	SELECT equi_width_bins(1, 2, 1000000000, true)
amplifier	SELECT repeat(string := 'x', "n" := 1000000000)
planner	WITH c0 AS (SELECT 1), c1 AS (SELECT 1), c2 AS (SELECT 1), c3 AS (SELECT 1), c4 AS (SELECT 1), c5 AS (SELECT 1), c6 AS (SELECT 1), c7 AS (SELECT 1), c8 AS (SELECT 1), c9 AS (SELECT 1), c10 AS (SELECT 1), c11 AS (SELECT 1), c12 AS (SELECT 1), c13 AS (SELECT 1), c14 AS (SELECT 1), c15 AS (SELECT 1), c16 AS (SELECT 1), c17 AS (SELECT 1), c18 AS (SELECT 1), c19 AS (SELECT 1), c20 AS (SELECT 1), c21 AS (SELECT 1), c22 AS (SELECT 1), c23 AS (SELECT 1), c24 AS (SELECT 1), c25 AS (SELECT 1), c26 AS (SELECT 1), c27 AS (SELECT 1), c28 AS (SELECT 1), c29 AS (SELECT 1), c30 AS (SELECT 1), c31 AS (SELECT 1), c32 AS (SELECT 1), c33 AS (SELECT 1), c34 AS (SELECT 1), c35 AS (SELECT 1), c36 AS (SELECT 1), c37 AS (SELECT 1), c38 AS (SELECT 1), c39 AS (SELECT 1), c40 AS (SELECT 1), c41 AS (SELECT 1), c42 AS (SELECT 1), c43 AS (SELECT 1), c44 AS (SELECT 1), c45 AS (SELECT 1), c46 AS (SELECT 1), c47 AS (SELECT 1), c48 AS (SELECT 1), c49 AS (SELECT 1), c50 AS (SELECT 1), c51 AS (SELECT 1), c52 AS (SELECT 1), c53 AS (SELECT 1), c54 AS (SELECT 1), c55 AS (SELECT 1), c56 AS (SELECT 1), c57 AS (SELECT 1), c58 AS (SELECT 1), c59 AS (SELECT 1), c60 AS (SELECT 1), c61 AS (SELECT 1), c62 AS (SELECT 1), c63 AS (SELECT 1), c64 AS (SELECT 1) SELECT 1
planner	SELECT 1 FROM flights f0, flights f1, flights f2, flights f3, flights f4, flights f5, flights f6, flights f7, flights f8, flights f9, flights f10, flights f11, flights f12, flights f13, flights f14, flights f15, flights f16, flights f17, flights f18, flights f19, flights f20, flights f21, flights f22, flights f23, flights f24, flights f25, flights f26, flights f27, flights f28, flights f29, flights f30, flights f31, flights f32
planner	SELECT 1 FROM flights GROUP BY CUBE (id, carrier, origin, day, dep_delay, distance, id + 1)
planner	SELECT list_transform([1], lambda a: list_transform([a], lambda b: list_transform([b], lambda c: list_transform([c], lambda d: list_transform([d], lambda e: e)))))
node	SELECT * FROM flights AT (VERSION => 1)
node	SELECT 1::main.integer
node	SELECT sum(id) EXPORT_STATE FROM flights
expression	SELECT ?
expression	SELECT $1
expression	SELECT $name
expression	SELECT list_transform([1], x -> x + 1)
expression	SELECT list_filter([1], x -> x > 0)
expression	SELECT * FROM flights WHERE id = ?
nesting	SELECT (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT NULL::STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a INT))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT * FROM (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((flights JOIN flights g ON true) JOIN flights g ON true) JOIN flights g ON true)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['
nesting	SELECT [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
nesting	SELECT {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': {'a': 1}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}
nesting	SELECT json_transform('{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}', '{}')
nesting	SELECT 1::MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, MAP(INT, INT)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(abs(1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM flights)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
table	SELECT E'\' , ' , (SELECT s FROM secret) --'
literal	SELECT * FROM range(length(replace('x', 'x', 'xx')))
literal	SELECT * FROM range(list_sum(list_transform([1], lambda x: x)))
table	SELECT * FROM range((SELECT t FROM secret))
table	SELECT * FROM json_each((SELECT s FROM secret))
table	SELECT * FROM flights LIMIT (SELECT t FROM secret)
table	SELECT repeat('x', (SELECT t FROM secret))
amplifier	SELECT repeat('x', length(repeat('x', id))) FROM flights
amplifier	SELECT repeat(repeat('x', id), id) FROM flights
amplifier	SELECT lpad('x', length(rpad('x', id, 'y')), 'y') FROM flights
amplifier	SELECT repeat(printf('%s', repeat('x', id)), 5) FROM flights
amplifier	SELECT system.main.repeat('x', id) FROM flights
amplifier	SELECT system.main.range(id) FROM flights
amplifier	SELECT range(CAST(random() AS BIGINT), id) FROM flights
amplifier	SELECT range(CAST(day AS TIMESTAMP), now(), INTERVAL 1 SECOND) FROM flights
statement	PIVOT flights ON origin IN (SELECT s FROM secret) USING count(*)
literal	SELECT COLUMNS(['id', (SELECT s FROM secret)]) FROM flights
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01', INTERVAL '1 minute')
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2000-01-02', INTERVAL '0 days')
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2000-01-02', INTERVAL '1 day -24 hours')
table_function	SELECT * FROM read_json_auto('/etc/passwd')
table_function	SELECT * FROM read_json_objects('/etc/passwd')
table_function	SELECT * FROM read_json_objects_auto('/etc/passwd')
table_function	SELECT * FROM read_ndjson_auto('/etc/passwd')
table_function	SELECT * FROM read_ndjson_objects('/etc/passwd')
table_function	SELECT * FROM read_single_csv_file('/etc/passwd')
table_function	SELECT * FROM read_single_json_file('/etc/passwd')
table_function	SELECT * FROM read_single_parquet_file('/etc/passwd')
table_function	SELECT * FROM read_parquet(['/etc/passwd', '/etc/hosts'])
table_function	SELECT * FROM parquet_file_metadata('/etc/passwd')
table_function	SELECT * FROM parquet_kv_metadata('/etc/passwd')
table_function	SELECT * FROM parquet_full_metadata('/etc/passwd')
table_function	SELECT * FROM parquet_bloom_probe('/etc/passwd', 'a', 1)
table_function	SELECT * FROM read_csv('/etc/*', union_by_name := true, filename := true)
table_function	SELECT content FROM read_text(['/etc/passwd'])
table_function	SELECT * FROM read_text('/proc/self/environ')
table_function	SELECT * FROM read_blob('/proc/self/mem')
table_function	SELECT * FROM read_csv('/dev/stdin')
table_function	SELECT * FROM read_csv('/dev/zero', header := false)
table_function	SELECT * FROM read_text('https://example.com/')
table_function	SELECT * FROM read_parquet('s3://bucket/x.parquet')
table_function	SELECT * FROM read_csv('hf://datasets/a/b.csv')
table_function	SELECT * FROM read_text('file:///etc/passwd')
table_function	SELECT * FROM read_text('../../etc/passwd')
table_function	SELECT * FROM glob('**')
table_function	SELECT * FROM glob('s3://bucket/*')
table_function	SELECT * FROM READ_TEXT('/etc/passwd')
table_function	SELECT * FROM "read_text"('/etc/passwd')
table_function	SELECT * FROM "Read_Csv"('/etc/passwd')
table_function	SELECT * FROM main.read_csv('/etc/passwd')
table_function	SELECT * FROM system.main.glob('/*')
table_function	SELECT * FROM pg_catalog.read_text('/etc/passwd')
table_function	SELECT t.content FROM flights, LATERAL read_text(carrier) t
table_function	SELECT * FROM read_text((SELECT carrier FROM carriers LIMIT 1))
table_function	SELECT * FROM read_text('/etc/passwd') WITH ORDINALITY
table_function	SELECT * FROM r: read_text('/etc/passwd')
table_function	SELECT * FROM carriers JOIN read_csv('/etc/passwd') ON true
table_function	SELECT * FROM carriers WHERE carrier IN (SELECT content FROM read_text('/etc/passwd'))
table_function	SELECT count(*) FILTER (WHERE (SELECT content FROM read_text('/etc/passwd')) > '') FROM flights
table_function	SELECT id FROM flights ORDER BY (SELECT content FROM read_text('/etc/passwd'))
table_function	SELECT * FROM flights QUALIFY (SELECT count(*) FROM glob('/*')) > 0
table_function	VALUES ((SELECT content FROM read_text('/etc/passwd')))
table_function	SELECT * REPLACE ((SELECT content FROM read_text('/etc/passwd')) AS carrier) FROM flights
table_function	WITH RECURSIVE r AS (SELECT content FROM read_text('/etc/passwd') UNION ALL SELECT content FROM r) SELECT * FROM r
table_function	SUMMARIZE SELECT * FROM read_csv('/etc/passwd')
table_function	PIVOT read_csv('/etc/passwd') ON a IN (1) USING count(*)
table_function	UNPIVOT (SELECT * FROM read_text('/etc/passwd')) ON content
table_function	SELECT 1 UNION ALL SELECT content FROM read_text('/etc/passwd')
table_function	SELECT * FROM range((SELECT length(content) FROM read_text('/etc/passwd')))
table_function	SELECT * FROM unnest((SELECT list(file) FROM glob('/*')))
table_function	SELECT * FROM json_each((SELECT content FROM read_text('/etc/passwd')))
table_function	SELECT [(SELECT content FROM read_text('/etc/passwd'))]
table_function	SELECT TRY((SELECT content FROM read_text('/etc/passwd')))
table_function	SELECT * FROM flights LIMIT (SELECT count(*) FROM glob('/*'))
table_function	FROM read_text('/etc/passwd') SELECT content
table_function	FROM sniff_csv('/etc/passwd', sample_size := 1)
table_function	FROM read_duckdb('/etc/passwd', table_name := 'data')
table_function	FROM copy_database('d0', 'memory')
table_function	FROM register_external_resource('x')
table_function	FROM create_external_resource('x')
table_function	FROM add_parquet_key('k', '0123456789112345')
table_function	FROM import_database('/tmp/dragoman-x')
table_function	FROM duckdb_external_file_cache()
table	FROM "/etc/passwd"
table	FROM '/etc/passwd' t
table	SELECT t.* FROM '/etc/passwd' AS t
table	SELECT (SELECT content FROM '/etc/passwd.txt')
table	FROM '/proc/self/environ'
table	FROM 'file:///etc/passwd'
table	FROM "https://example.com/x.csv"
table	FROM 'http://169.254.169.254/latest/meta-data'
table	FROM 's3://bucket/*.parquet'
table	FROM 'gcs://bucket/x.csv'
table	FROM 'hf://datasets/a/b/c.csv'
table	FROM 'x.json.gz'
table	FROM 'x.ndjson'
table	FROM 'x.parquet'
table	FROM 'x.duckdb'
table	FROM 'x.db'
table	FROM '~/.ssh/id_rsa'
table	FROM '../secret.csv'
table	FROM '.'
table	FROM '*'
table	FROM 'C:\secret.csv'
table	FROM '/dev/stdin'
table	FROM 'data:text/csv,a'
table	DESCRIBE '/etc/passwd'
table	SUMMARIZE '/etc/passwd'
table	TABLE "/etc/passwd"
table	PIVOT '/etc/passwd' ON a IN (1) USING count(*)
table	UNPIVOT '/etc/passwd' ON a
table	SELECT * FROM flights JOIN '/etc/passwd.csv' ON true
table	SELECT * FROM flights, '/etc/passwd.csv'
table	SELECT * FROM flights ANTI JOIN '/etc/passwd.csv' USING (id)
table	SELECT * FROM (VALUES (1)) v, LATERAL (SELECT * FROM '/etc/passwd.csv') x
table	SELECT * FROM '/etc/passwd.csv' TABLESAMPLE 1 ROWS
table	WITH a AS (FROM '/etc/passwd.csv') SELECT 1
table	SELECT ARRAY(SELECT column0 FROM '/etc/passwd.csv')
qualified_name	FROM data.csv
qualified_name	FROM secret.parquet
qualified_name	FROM a.b.json
qualified_name	FROM "/etc"."passwd.csv"
statement	SET TIME ZONE 'UTC'
statement	SET SESSION threads=1
statement	SET GLOBAL threads=1
statement	SET LOCAL threads=1
statement	SET schema 'd0'
statement	SET enable_external_access=true
statement	SET disabled_filesystems=''
statement	SET allowed_paths=['/etc/passwd']
statement	SET VARIABLE x = 1
statement	RESET SESSION threads
statement	RESET VARIABLE x
statement	RESET lock_configuration
statement	PRAGMA threads=4
statement	PRAGMA memory_limit='1TB'
statement	PRAGMA enable_verification
statement	PRAGMA force_checkpoint
statement	PRAGMA storage_info('flights')
statement	PRAGMA functions
statement	PRAGMA user_agent
statement	PRAGMA import_database('/tmp/dragoman-x')
statement	PRAGMA json_execute_serialized_sql('{}')
statement	PRAGMA database_size
statement	PRAGMA collations
syntax	PRAGMA show('flights')
statement	USE memory.main
statement	USE 'd0'
statement	CALL duckdb_settings()
statement	CALL pragma_table_info('flights')
statement	CALL enable_logging()
statement	CALL force_checkpoint()
statement	CALL read_text('/etc/passwd')
statement	CALL json_execute_serialized_sql('{}')
statement	CALL range(10)
statement	START TRANSACTION
statement	BEGIN TRANSACTION READ ONLY
statement	ABORT
statement	END
statement	VACUUM ANALYZE
statement	VACUUM FULL flights
statement	ANALYZE flights
statement	CHECKPOINT d0
statement	FORCE CHECKPOINT d0
statement	EXPLAIN (FORMAT json) SELECT * FROM secret
statement	EXPLAIN FROM flights
statement	EXPLAIN ANALYZE DELETE FROM flights
statement	EXPLAIN PRAGMA version
statement	CREATE OR REPLACE TABLE flights AS SELECT 1
statement	CREATE TABLE IF NOT EXISTS x (a INT)
syntax	CREATE UNLOGGED TABLE x (a INT)
statement	CREATE MACRO t(x) AS TABLE SELECT * FROM query_table(x)
statement	CREATE FUNCTION f(x) AS x
statement	CREATE INDEX i ON flights (id)
statement	CREATE UNIQUE INDEX i ON flights (id)
statement	CREATE PERSISTENT SECRET s (TYPE s3)
statement	CREATE TYPE t AS INTEGER
statement	CREATE TEMP TABLE x AS FROM flights
statement	CREATE RECURSIVE VIEW v (a) AS SELECT 1
statement	CREATE EXTENSION REPOSITORY r WITH PREFIX 'https://example.com'
statement	DROP SCHEMA main CASCADE
statement	DROP MACRO repeat
statement	DROP FUNCTION now
statement	DROP SECRET s
statement	DROP TYPE IF EXISTS t
statement	DROP INDEX IF EXISTS i
statement	ALTER VIEW flights RENAME TO x
statement	ALTER TABLE flights RENAME TO x
statement	ALTER SEQUENCE s OWNED BY flights
statement	COMMENT ON COLUMN flights.id IS 'x'
statement	INSERT INTO flights VALUES (1)
statement	INSERT OR REPLACE INTO flights VALUES (1)
statement	WITH x AS (SELECT 1) INSERT INTO flights SELECT * FROM x
statement	WITH x AS (SELECT 1) DELETE FROM flights
statement	WITH x AS (SELECT 1) UPDATE flights SET id = 2
statement	DELETE FROM flights RETURNING *
statement	UPDATE flights SET id = 1 RETURNING *
statement	DELETE FROM flights USING carriers WHERE true
statement	COPY FROM DATABASE d0 TO memory
statement	COPY flights TO '/tmp/dragoman-x.parquet' (FORMAT parquet)
statement	COPY (SELECT * FROM secret) TO '/tmp/dragoman-x.json'
statement	COPY flights FROM 'https://example.com/x.csv'
statement	EXPORT DATABASE '/tmp/dragoman-x' (FORMAT parquet)
statement	ATTACH 'https://example.com/x.db' AS x
statement	ATTACH OR REPLACE ':memory:' AS d0
statement	ATTACH IF NOT EXISTS '/tmp/dragoman-x.db' (READ_WRITE)
statement	DETACH DATABASE IF EXISTS d0
statement	INSTALL 'https://example.com/x.duckdb_extension'
statement	FORCE INSTALL httpfs
statement	INSTALL spatial FROM community
statement	LOAD '/tmp/dragoman-x.duckdb_extension'
statement	UPDATE EXTENSIONS (httpfs)
statement	PREPARE p AS DELETE FROM flights
statement	EXECUTE p(1)
statement	DEALLOCATE PREPARE p
statement	CREATE EXTERNAL RESOURCE 'x'
statement	SHOW EXTERNAL RESOURCES
statement	SHOW ALL EXTERNAL RESOURCES
statement	SHOW
statement	DESCRIBE
node	SHOW TABLES FROM d0
node	SHOW TABLES FROM main
statement	SELECT * FROM (SHOW TABLES)
statement	SELECT * FROM (SHOW ALL TABLES)
statement	SELECT * FROM (SHOW DATABASES)
statement	SELECT * FROM (SHOW flights)
statement	WITH x AS (SHOW TABLES) SELECT * FROM x
statement	FROM (DESCRIBE)
statement	SELECT 1;SELECT 2;
statement	;;SELECT 1;;DELETE FROM flights
statement	SELECT 1;\x0aDROP VIEW flights
statement	SELECT 1 /* ; */ ; DELETE FROM flights
statement	SELECT ';' ; DELETE FROM flights
statement	SELECT $$;$$; DELETE FROM flights
statement	SELECT $a$;$a$; DELETE FROM flights
statement	SELECT 1;--\x0dDELETE FROM flights
statement	SELECT 1 -- ;\x0a; DELETE FROM flights
statement	SELECT E'\';'; DELETE FROM flights
statement	SELECT 1; PRAGMA version
statement	SELECT 1; SET threads=1
statement	VALUES (1); VALUES (2)
statement	FROM flights; FROM flights
statement	SELECT 1; SELECT 1; SELECT 1
statement	SELECT 1; EXPLAIN SELECT 1
statement	SELECT 1; WITH d AS (DELETE FROM flights RETURNING 1) SELECT * FROM d
statement	SELECT '''; DELETE FROM flights; --'; SELECT 1
statement	SELECT "a;b" FROM (SELECT 1 AS "a;b"); SELECT 2
statement	SELECT 1;\u{200b}SELECT 2
statement	SELECT 1\u{a0};\u{a0}DELETE FROM flights
statement	\u{feff}DELETE FROM flights
statement	/**/DELETE/**/FROM/**/flights
statement	--\x0aDELETE FROM flights
statement	/* SELECT */ DELETE FROM flights
statement	/* /* */ SELECT 1 */ DELETE FROM flights
statement	deLEte fROm flights
statement	SELECT 1;;;DELETE FROM flights;;;
statement	PIVOT flights ON carrier; SELECT 1
statement	SELECT (WITH d AS (DELETE FROM flights RETURNING 1) SELECT count(*) FROM d)
statement	SELECT * FROM flights WHERE id IN (WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
statement	SELECT EXISTS (WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
statement	SELECT 1 UNION ALL (WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
syntax	WITH RECURSIVE d AS (DELETE FROM flights RETURNING id) SELECT * FROM d
statement	WITH d AS MATERIALIZED (DELETE FROM flights RETURNING id) SELECT * FROM d
statement	WITH d(a) AS (INSERT INTO flights VALUES (1) RETURNING id) SELECT 1
statement	WITH d AS (INSERT INTO flights DEFAULT VALUES) SELECT 1
statement	WITH d AS (DELETE FROM flights) SELECT 1
statement	SELECT * FROM range((WITH d AS (DELETE FROM flights RETURNING id) SELECT count(*) FROM d))
statement	DESCRIBE WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d
statement	SUMMARIZE WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d
statement	SELECT * FROM flights LIMIT (WITH d AS (DELETE FROM flights RETURNING id) SELECT count(*) FROM d)
statement	SELECT * FROM flights, LATERAL (WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
statement	SELECT ARRAY(WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
statement	VALUES ((WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d))
statement	WITH a AS (SELECT 1), c AS (COPY flights TO '/tmp/dragoman-x.csv') SELECT * FROM a
statement	WITH c AS (COPY (FROM secret) TO '/tmp/dragoman-x.parquet' (FORMAT parquet)) FROM c
statement	PIVOT (WITH d AS (DELETE FROM flights RETURNING *) SELECT * FROM d) ON carrier IN ('AA') USING count(*)
syntax	WITH m AS (MERGE INTO flights USING carriers ON true WHEN MATCHED THEN DELETE) SELECT 1
statement	SELECT * FROM flights ORDER BY (WITH d AS (DELETE FROM flights RETURNING id) SELECT * FROM d)
statement	WITH u AS (UPDATE flights SET carrier = (SELECT s FROM secret) RETURNING *) SELECT * FROM u
syntax	WITH x AS (PRAGMA version) SELECT 1
syntax	WITH x AS (SET threads=1) SELECT 1
syntax	WITH x AS (ATTACH ':memory:' AS m) SELECT 1
syntax	WITH x AS (CALL query('SELECT 1')) SELECT 1
syntax	WITH x AS (DROP VIEW flights) SELECT 1
syntax	WITH x AS (EXPLAIN SELECT 1) SELECT * FROM x
syntax	\u{ff33}\u{ff25}\u{ff2c}\u{ff25}\u{ff23}\u{ff34} 1
syntax	SELECT 1 FROM flights WHERE id \u{ff1d} 1
syntax	SELECT * FROM U&"\0073ecret"
syntax	SELECT 'a
syntax	SELECT "a
syntax	SELECT $a$ x
syntax	SELECT 1 /*
syntax	SELECT E'\x00'
syntax	SELECT * FROM flights WHERE
syntax	SELECT 1,,2
syntax	SELECT 1 FROM (SELECT 1
syntax	DO $$ BEGIN END $$
syntax	GRANT ALL ON flights TO public
syntax	DECLARE c CURSOR FOR SELECT 1
syntax	LOCK TABLE flights
syntax	LISTEN x
syntax	SELECT * FROM flights INTO OUTFILE '/tmp/dragoman-x'
syntax	LOAD DATA INFILE '/etc/passwd' INTO TABLE flights
syntax	EXEC xp_cmdshell 'id'
function	SELECT @@version
syntax	SELECT * FROM flights FOR SHARE
syntax	REPLACE INTO flights VALUES (1)
syntax	KILL 1
syntax	SHUTDOWN
syntax	\\! id
syntax	.shell id
syntax	SUMMARIZE
syntax	SELECT * FROM TABLE(read_text('/etc/passwd'))
syntax	SELECT * FROM flights USING SAMPLE (SELECT 1)
syntax	SELECT * FROM flights USING SAMPLE length('x') ROWS
syntax	SELECT * FROM flights USING SAMPLE 1000000000000 ROWS
table	SELECT * FROM sqlite_schema
table	SELECT * FROM sqlite_temp_master
table	SELECT * FROM SQLITE_MASTER
table	SELECT * FROM duckdb_settings
table	SELECT * FROM duckdb_databases
table	SELECT * FROM duckdb_columns
table	SELECT * FROM duckdb_schemas
table	SELECT * FROM duckdb_types
table	SELECT * FROM duckdb_constraints
table	SELECT * FROM duckdb_indexes
table	SELECT * FROM duckdb_logs
table	SELECT * FROM pg_settings
table	SELECT * FROM pg_tables
table	SELECT * FROM pg_views
table	SELECT * FROM pg_namespace
table	SELECT * FROM pg_attribute
table	SELECT * FROM pg_database
table	SELECT * FROM information_schema
table	SELECT sql FROM "duckdb_views"
table	SELECT (SELECT count(*) FROM duckdb_tables)
table	WITH a AS (SELECT * FROM duckdb_databases), duckdb_databases AS (SELECT 1) SELECT * FROM a
table	SELECT * FROM (WITH pg_settings AS (SELECT 1) SELECT * FROM pg_settings) a, pg_settings b
table	WITH RECURSIVE duckdb_views AS (SELECT * FROM duckdb_views UNION ALL SELECT 1) SELECT * FROM duckdb_views
table	DESCRIBE duckdb_settings
table	SUMMARIZE pg_class
qualified_name	SELECT * FROM INFORMATION_SCHEMA.TABLES
qualified_name	SELECT * FROM "information_schema"."columns"
qualified_name	SELECT * FROM system.information_schema.tables
qualified_name	SELECT * FROM d0.information_schema.tables
qualified_name	SELECT * FROM information_schema.schemata
qualified_name	SELECT * FROM pg_catalog.pg_tables
qualified_name	SELECT * FROM system.pg_catalog.pg_class
table	SELECT * FROM main.duckdb_settings
table	SELECT * FROM main.sqlite_master
qualified_name	SELECT * FROM temp.information_schema.tables
qualified_name	DESCRIBE information_schema.tables
qualified_name	SELECT (SELECT count(*) FROM pg_catalog.pg_class)
qualified_name	SELECT * FROM D0.MAIN.DATA
qualified_name	SELECT * FROM "d0"."main"."data"
qualified_name	SELECT * FROM "d0" . "data"
qualified_name	SELECT * FROM d0./**/main./**/data
table	SELECT * FROM memory.main.secret
qualified_name	SELECT * FROM temp.main.secret
table	SELECT * FROM main.secret
qualified_name	TABLE d0.main.data
qualified_name	FROM d0.data
qualified_name	SELECT * FROM flights, d1.main.data
qualified_name	SELECT * FROM flights POSITIONAL JOIN d1.main.data
qualified_name	PIVOT d0.main.data ON a IN (1) USING count(*)
qualified_name	UNPIVOT d0.main.data ON a
qualified_name	WITH d0 AS (SELECT 1) SELECT * FROM d0.data
qualified_name	WITH data AS (SELECT 1) SELECT * FROM d1.main.data
qualified_name	WITH RECURSIVE r(k, v) USING KEY (k) AS (SELECT 1, 2 UNION SELECT k + 1, v FROM recurring.r WHERE k < 3) SELECT * FROM r
qualified_name	SELECT * FROM flights f, f.carrier
qualified_name	SELECT * FROM "memory.main".flights
qualified_name	SELECT * FROM flights.flights.flights
qualified_name	SELECT d0.x FROM d0.main.data
table_function	FROM duckdb_schemas()
table_function	FROM duckdb_types()
table_function	FROM duckdb_constraints()
table_function	FROM duckdb_indexes()
table_function	FROM duckdb_sequences()
table_function	FROM duckdb_dependencies()
table_function	FROM duckdb_keywords()
table_function	FROM duckdb_memory()
table_function	FROM duckdb_optimizers()
table_function	FROM duckdb_prepared_statements()
table_function	FROM duckdb_variables()
table_function	FROM duckdb_secret_types()
table_function	FROM duckdb_log_contexts()
table_function	FROM duckdb_triggers()
table_function	FROM duckdb_dialects()
table_function	FROM duckdb_grammar_extensions()
table_function	FROM duckdb_external_resources()
table_function	FROM duckdb_extension_repositories()
table_function	FROM duckdb_coordinate_systems()
table_function	FROM duckdb_connection_count()
table_function	FROM duckdb_approx_database_count()
table_function	FROM duckdb_eviction_queues()
table_function	FROM duckdb_available_metrics()
table_function	FROM duckdb_profiling_settings()
table_function	FROM pragma_collations()
table_function	FROM pragma_platform()
table_function	FROM pragma_user_agent()
table_function	FROM pragma_database_list()
table_function	FROM show_tables()
table_function	FROM show_tables_expanded()
table_function	FROM show_databases()
table_function	FROM database_list()
table_function	FROM database_size()
table_function	FROM collations()
table_function	FROM functions()
table_function	FROM platform()
table_function	FROM user_agent()
table_function	FROM extension_versions()
table_function	FROM test_vector_types()
table_function	FROM pragma_metadata_info()
table_function	FROM which_secret()
table_function	FROM duckdb_logs_parsed('HTTP')
table_function	FROM table_info('flights')
table_function	FROM storage_info('flights')
syntax	FROM show('secret')
table_function	FROM metadata_info('d0')
table_function	FROM pragma_metadata_info('d0')
table_function	SELECT * FROM Duckdb_Settings()
table_function	SELECT (SELECT path FROM duckdb_databases() LIMIT 1)
table_function	SELECT * FROM flights, duckdb_settings() s
table_function	WITH a AS (FROM duckdb_tables()) SELECT * FROM a
table_function	SELECT * FROM main.duckdb_tables()
table_function	SELECT * FROM pg_catalog.pg_get_viewdef(1)
function	SELECT user()
function	SELECT current_role()
function	SELECT current_user()
function	SELECT current_catalog()
function	SELECT current_transaction_id()
function	SELECT current_query_id()
function	SELECT pg_catalog.current_setting('threads')
function	SELECT format_type(1, 1)
function	SELECT format_pg_type('a', 'b')
function	SELECT map_to_pg_oid('int')
function	SELECT pg_get_constraintdef(1)
function	SELECT shobj_description(1, 'x')
function	SELECT has_schema_privilege('main', 'usage')
function	SELECT has_database_privilege('d0', 'connect')
function	SELECT has_column_privilege('secret', 's', 'select')
function	SELECT has_any_column_privilege('secret', 'select')
function	SELECT pg_has_role('x', 'usage')
function	SELECT pg_table_is_visible(1)
function	SELECT pg_my_temp_schema()
function	SELECT pg_conf_load_time()
function	SELECT pg_postmaster_start_time()
function	SELECT inet_client_addr()
function	SELECT inet_server_port()
function	SELECT index_key('a', 'b')
function	SELECT to_aggregate_state(1)
function	SELECT hive_partition_component('a')
function	SELECT variant_normalize(1)
function	SELECT combine_aggr(1)
function	SELECT __internal_barrier(1)
function	SELECT __internal_compress_integral_utinyint(1, 2)
function	SELECT json_copy_strftime_if_date(1, 'x')
function	SELECT getvariable('secret')
function	SELECT "getvariable"('x')
function	SELECT GETVARIABLE('x')
function	SELECT 'threads'.current_setting()
function	SELECT main.current_query()
function	SELECT memory.main.getvariable('x')
function	SELECT flights.current_setting()
function	SELECT upper(current_setting('threads'))
function	SELECT CASE WHEN current_database() = 'd0' THEN 1 END
function	SELECT [current_database()]
function	SELECT {'a': version()}
function	SELECT MAP {'a': version()}
function	SELECT version()::VARCHAR
function	SELECT TRY(version())
function	SELECT COALESCE(NULL, version())
function	SELECT version() OVER ()
function	SELECT sum(1) FILTER (version() = '')
function	SELECT list_transform([1], lambda x: version())
function	SELECT [version() FOR x IN [1]]
function	SELECT (SELECT version())
function	SELECT 1 WHERE version() = ''
function	SELECT * EXCLUDE (id) REPLACE (version() AS carrier) FROM flights
function	SELECT COLUMNS(lambda c: c = version()) FROM flights
function	SELECT count(*) FROM flights HAVING version() = ''
function	SELECT id FROM flights QUALIFY version() = ''
function	SELECT id FROM flights GROUP BY version()
function	SELECT DISTINCT ON (version()) id FROM flights
function	SELECT sum(id) OVER (PARTITION BY version()) FROM flights
function	SELECT sum(id) OVER (ROWS BETWEEN length(version()) PRECEDING AND CURRENT ROW) FROM flights
function	SELECT * FROM flights f JOIN carriers c ON version() = ''
function	VALUES (version())
function	SELECT * FROM unnest([version()])
function	SELECT * FROM range(length(version()))
function	SELECT * FROM flights LIMIT (SELECT length(version()))
function	SELECT string_agg(carrier, ',' ORDER BY version()) FROM flights
function	PIVOT flights ON carrier IN ('AA') USING max(version())
function	DESCRIBE SELECT version()
function	SELECT lag(version()) OVER () FROM flights
function	SELECT * FROM json_each(json_serialize_sql('SELECT 1'))
function	SELECT nextval('main.s')
function	SELECT setval('s', 1, true)
function	SELECT write_log('x', log_type := 'y')
function	SELECT setseed(random())
function	SELECT error((SELECT 1))
function	SELECT assert_true((SELECT count(*) FROM flights) > 0)
function	SELECT truncate_duckdb_logs()
function	SELECT force_checkpoint()
function	SELECT enable_logging()
function	SELECT import_database('x')
function	SELECT read_csv('/etc/passwd')
function	SELECT glob('/*')
function	SELECT sniff_csv('/etc/passwd')
function	SELECT histogram_values('secret', s)
function	SELECT summary(1)
function	SELECT test_all_types()
function	SELECT seq_scan('x')
function	SELECT carrier.read_text() FROM carriers
function	SELECT '/etc/passwd'.read_text()
function	SELECT carrier.query() FROM carriers
function	SELECT list_transform(['SELECT 1'], lambda q: query(q))
function	SELECT [1].list_aggregate('nextval')
function	SELECT array_aggr([1], 'sleep_ms')
function	SELECT aggregate([1], 'error')
function	SELECT list_aggr(['a'], 'read_text')
function	SELECT list_aggregate([1], 'query_table')
function	SELECT list_aggregate([1], 'Sleep_Ms')
function	SELECT list_aggregate([1], 'sum; DROP')
literal	SELECT list_aggregate([1], '')
function	SELECT list_aggregate([1], 'stats')
function	SELECT pg_sleep(0.1) FROM flights
function	SELECT sleep_ms(id) FROM flights
function	SELECT pg_catalog.pg_sleep(1)
function	SELECT dblink('x', 'y')
function	SELECT lo_import('/etc/passwd')
function	SELECT pg_read_file('/etc/passwd')
function	SELECT load_extension('x')
function	SELECT system('id')
function	SELECT eval('1')
function	SELECT http_get('https://example.com')
function	SELECT open_prompt('x')
function	SELECT url('https://example.com')
function	SELECT xp_cmdshell('id')
function	SELECT load_file('/etc/passwd')
function	SELECT extractvalue(1, 2)
function	SELECT sleep(10)
function	SELECT benchmark(1000000, 1)
function	SELECT utl_http.request('x')
syntax	SELECT sec\u{200b}ret(1)
table_function	FROM query('SEL' || 'ECT 1')
table_function	FROM query($$SELECT 1$$)
table_function	FROM query_table(['flights', 'carriers'])
table_function	FROM query_table('flights')
table_function	FROM query_table((SELECT 'secret'))
table_function	FROM flights, LATERAL query_table(carrier)
table_function	FROM histogram('flights', id, bin_count := 3)
table_function	FROM histogram('secret', s, technique := 'sample')
table_function	FROM main.histogram('secret', s)
table_function	FROM system.main.histogram_values('secret', s)
table_function	FROM HISTOGRAM('secret', s)
table_function	FROM json_execute_serialized_sql(json_serialize_sql('SELECT s FROM secret'))
table_function	FROM (FROM query('SELECT 1'))
table_function	SELECT (FROM query('SELECT 1'))
table_function	FROM enable_profile()
table_function	FROM enable_profiling()
table_function	FROM disable_optimizer()
table_function	FROM enable_verification()
table_function	FROM force_checkpoint()
table_function	FROM enable_logging('FileSystem')
table_function	FROM disable_logging()
table_function	FROM disable_checkpoint_on_shutdown()
table_function	FROM verify_parallelism()
table_function	FROM destroy_external_resource('x')
table_function	FROM write_log('x')
table_function	FROM nextval('s')
table_function	FROM sleep_ms(1)
table_function	FROM current_setting('threads')
table_function	FROM repeat('x', 3)
table_function	FROM list_value(1)
table_function	FROM upper('x')
table_function	FROM json_serialize_sql('SELECT 1')
table_function	FROM read_xlsx('x.xlsx')
table_function	FROM st_read('x')
table_function	FROM postgres_scan('host=x', 'public', 't')
table_function	FROM sqlite_scan('x.db', 't')
table_function	FROM mysql_query('x', 'y')
table_function	FROM iceberg_scan('s3://x')
table_function	FROM delta_scan('s3://x')
table_function	FROM dbgen(sf := 1)
table_function	FROM generate_serie(1, 2)
table	SELECT * FROM Secret
table	SELECT * FROM "SECRET"
table	SELECT * FROM secret AS flights
table	SELECT * FROM secret flights
table_function	SELECT * FROM secret(a, b)
table	SELECT * FROM flights f, secret s WHERE f.id = s.t
table	SELECT * FROM flights NATURAL JOIN secret
table	SELECT * FROM flights CROSS JOIN secret
table	SELECT * FROM flights LEFT JOIN secret ON true
table	SELECT * FROM flights SEMI JOIN secret ON true
table	SELECT * FROM flights ANTI JOIN secret ON true
table	SELECT * FROM flights FULL JOIN secret USING (id)
table	SELECT * FROM (secret)
table	SELECT * FROM ((secret))
table	SELECT * FROM (flights JOIN secret ON true)
table	SELECT * FROM (FROM secret)
table	SELECT * FROM (TABLE secret)
table	(FROM secret)
table	((SELECT * FROM secret))
table	FROM secret SELECT s
table	FROM secret LIMIT 1
table	SELECT s FROM flights, LATERAL (SELECT s FROM secret WHERE t = id)
table	SELECT (SELECT s FROM secret WHERE t = f.id) FROM flights f
table	SELECT 1 INTERSECT SELECT t FROM secret
table	SELECT 1 UNION ALL BY NAME SELECT t FROM secret
table	SELECT 1 EXCEPT ALL SELECT t FROM secret
table	SELECT id FROM flights WHERE id = ANY (SELECT t FROM secret)
table	SELECT id FROM flights WHERE id >= ALL (SELECT t FROM secret)
table	SELECT id FROM flights WHERE (id, carrier) IN (SELECT t, s FROM secret)
table	SELECT id FROM flights WHERE NOT EXISTS (FROM secret)
table	SELECT id IN (FROM secret SELECT t) FROM flights
table	SELECT CAST((SELECT s FROM secret) AS INTEGER)
table	SELECT TRY(CAST((SELECT s FROM secret) AS INTEGER))
table	SELECT TRY_CAST((SELECT s FROM secret) AS INTEGER)
table	SELECT 1 / (SELECT t - 1 FROM secret)
table	SELECT CASE WHEN (SELECT count(*) FROM secret) > 0 THEN 1 ELSE CAST('x' AS INT) END
table	SELECT strptime((SELECT s FROM secret), '%Y')
table	SELECT 'x' COLLATE nocase = (SELECT s FROM secret)
table	SELECT unnest((SELECT list(s) FROM secret))
table	SELECT * FROM unnest((SELECT list(s) FROM secret))
table	SELECT * FROM unnest(ARRAY(SELECT s FROM secret))
table	SELECT * FROM generate_series(1, (SELECT t FROM secret))
table	SELECT * FROM repeat_row((SELECT s FROM secret), num_rows := 1)
table	SELECT MAP {'a': (SELECT s FROM secret)}
table	SELECT [x FOR x IN (SELECT list(s) FROM secret)]
table	SELECT x[(SELECT t FROM secret)] FROM (SELECT [1] AS x)
table	SELECT x[(SELECT t FROM secret):] FROM (SELECT [1] AS x)
table	SELECT struct_pack(a := (SELECT s FROM secret))
table	SELECT coalesce((SELECT s FROM secret), '')
table	SELECT INTERVAL ((SELECT t FROM secret)) DAY
table	SELECT (SELECT s FROM secret) IS NULL
table	SELECT (SELECT s FROM secret) BETWEEN 'a' AND 'z'
table	SELECT (SELECT s FROM secret) LIKE 'C%'
table	SELECT 'a' || (SELECT s FROM secret)
table	SELECT -(SELECT t FROM secret)
table	SELECT (SELECT (SELECT (SELECT s FROM secret)))
table	SELECT count(DISTINCT (SELECT s FROM secret))
table	SELECT first_value((SELECT s FROM secret)) OVER ()
table	SELECT sum(id) OVER w FROM flights WINDOW w AS (PARTITION BY (SELECT s FROM secret))
table	SELECT lag(id, (SELECT t FROM secret)) OVER () FROM flights
table	SELECT id FROM flights GROUP BY GROUPING SETS (((SELECT s FROM secret)))
table	SELECT id FROM flights GROUP BY ROLLUP ((SELECT s FROM secret))
table	SELECT id FROM flights GROUP BY ALL ORDER BY (SELECT s FROM secret)
table	SELECT * FROM flights OFFSET (SELECT t FROM secret)
table	SELECT * FROM (SELECT 1) TABLESAMPLE 100 PERCENT, secret
table	SELECT * FROM flights USING SAMPLE 1 UNION ALL FROM secret
table	WITH a AS (FROM secret) SELECT 1
table	WITH a AS (SELECT 1), b AS (FROM secret) FROM a
table	WITH a AS (WITH b AS (FROM secret) FROM b) FROM a
table	WITH flights AS (FROM secret) FROM flights
table	WITH a AS MATERIALIZED (FROM secret) FROM a
table	WITH RECURSIVE a AS (FROM secret) FROM a
table	WITH RECURSIVE a(s, t) USING KEY (t) AS (FROM secret UNION FROM a) FROM a
table	WITH RECURSIVE a(s, t) USING KEY (t) AS (SELECT '', 1 UNION FROM secret) FROM a
table	WITH secret AS (SELECT 1 AS t), x AS (SELECT * FROM (WITH y AS (SELECT 1) FROM y) z) SELECT * FROM x, secret_a
table	SELECT * FROM (WITH secret AS (SELECT 1) SELECT 1) x JOIN secret ON true
table	SELECT 1 WHERE EXISTS (WITH secret AS (SELECT 1) FROM secret) AND EXISTS (FROM secret)
table	WITH a AS (WITH secret AS (SELECT 1) FROM secret) FROM secret
table	(WITH secret AS (SELECT 1 AS t) FROM secret) EXCEPT (SELECT t FROM secret)
table	WITH "secret " AS (SELECT 1) FROM secret
table	WITH "\u{17f}ecret" AS (SELECT 1) FROM secret
table	WITH s\u{435}cret AS (SELECT 1) FROM secret
table	SELECT * FROM s\u{435}cret
table	SELECT * FROM \u{ff53}ecret
table	SELECT * FROM secret\u{301}
table	SELECT * FROM sec\u{ad}ret
table	SELECT * FROM secret\u{200d}
table	SELECT\u{200b}*\u{200b}FROM\u{200b}secret
table	SELECT\u{3000}*\u{3000}FROM\u{3000}secret
table	SELECT\u{a0}*\u{2060}FROM\u{feff}secret
table	\u{feff}SELECT * FROM secret
table	SELECT * FROM secret\u{202e}
table	SELECT 1 /* \u{202e} */ FROM secret /* \u{2066} */
table	SELECT * FROM fl\u{131}ghts
table	SELECT * FROM c\u{430}rriers
table	SELECT * FROM "flights\u{a0}"
table	SELECT * FROM "flights "
table	SELECT * FROM " flights"
table	SELECT * FROM """secret"""
table	SELECT E'\\', (SELECT s FROM secret), E'\\'
table	SELECT 'a''', (SELECT s FROM secret), '''b'
table	SELECT /*+ hint */ s FROM secret
table	SELECT s/**/FROM/**/secret
table	SELECT(s)FROM(secret)
table	SELECT\x0ds\x0dFROM\x0dsecret
table	SELECT 1 --x\x0d\x0a, (SELECT s FROM secret)
table	SELECT 1 /* -- */, (SELECT s FROM secret)
table	SELECT 1 -- /*\x0a, (SELECT s FROM secret) -- */
table	SELECT /* ' */ (SELECT s FROM secret) /* ' */
table	SELECT /* " */ (SELECT s FROM secret) /* " */
table	SELECT $a$$b$$a$, (SELECT s FROM secret)
table	SELECT $tag$ -- $tag$, (SELECT s FROM secret)
table	SELECT $\u{e9}$ ' $\u{e9}$, (SELECT s FROM secret)
table	SELECT E'\'' , (SELECT s FROM secret) --'
table	SELECT e'a\\\'', (SELECT s FROM secret), ''
table	SELECT x'41', (SELECT s FROM secret)
syntax	SELECT 1.(SELECT s FROM secret)
table	DESCRIBE FROM secret
table	DESCRIBE TABLE secret
table	SUMMARIZE FROM secret
table	SUMMARIZE SELECT s FROM secret
table	SELECT * FROM (SUMMARIZE SELECT * FROM secret)
table	SELECT * FROM (DESCRIBE SELECT s FROM secret) x, flights
table	UNPIVOT (FROM secret) ON s
table	PIVOT flights ON carrier IN ('AA') USING max((SELECT s FROM secret))
table	SELECT * FROM secret PIVOT (count(*) FOR s IN ('a'))
table	SELECT * FROM secret UNPIVOT (v FOR n IN (s))
table	SELECT secret.s FROM secret
table	SELECT secret FROM secret
table	SELECT COLUMNS(*) FROM secret
table	SELECT max(COLUMNS(*)) FROM secret
table	SELECT rowid FROM secret
literal	SELECT * FROM flights LIMIT CASE WHEN true THEN 1 END
literal	SELECT * FROM flights FETCH FIRST length('x') ROWS ONLY
literal	SELECT * FROM flights OFFSET random()
literal	SELECT * FROM flights LIMIT greatest(1, 2)
literal	SELECT * FROM flights LIMIT length('x') %
literal	SELECT quantile_cont(id, [length('x') / 2]) FROM flights
literal	SELECT quantile(id, q) FROM (SELECT 1 AS id, 0.5 AS q)
literal	SELECT percentile_cont(length('x')) WITHIN GROUP (ORDER BY id) FROM flights
literal	SELECT approx_top_k(id, length('x')) FROM flights
literal	SELECT group_concat(carrier, lower('X')) FROM flights
literal	SELECT listagg(carrier, (SELECT ',')) FROM flights
literal	SELECT json_transform_strict('{}', lower('{}'))
literal	SELECT from_json_strict('{}', upper('{}'))
literal	SELECT list_reverse_sort([1], lower('NULLS LAST'))
literal	SELECT array_sort([1], lower('desc'))
literal	SELECT grade_up([1], lower('desc'))
literal	SELECT list_aggregate([1, 2], 'quantile_cont', random())
literal	SELECT array_aggregate([1], lower('SUM'))
literal	SELECT list_aggregate([1], NULL)
literal	SELECT COLUMNS(lambda c: reverse(c) = 'di') FROM flights
literal	SELECT COLUMNS(lambda c: md5(c) > 'a') FROM flights
literal	SELECT COLUMNS(concat('i', 'd')) FROM flights
literal	SELECT COLUMNS(lambda c: c IN (SELECT 'id')) FROM flights
literal	SELECT * FROM flights WHERE COLUMNS(lambda c: regexp_replace(c, 'a', 'b') = c) IS NULL
literal	SELECT COLUMNS(lambda c: hash(c) > 1) FROM flights
literal	SELECT * FROM range(length(repeat('x', 10)))
literal	SELECT * FROM range(1, list_sum([1, 2]))
literal	SELECT * FROM json_tree(replace('[]', 'x', 'y'))
literal	SELECT * FROM repeat_row(lower('x'), num_rows := 1)
literal	SELECT * FROM repeat_row((SELECT 1), num_rows := 1)
syntax	SELECT 1::DECIMAL(length('x'), 0)
syntax	SELECT 'x'::VARCHAR(length('x'))
syntax	SELECT 1::DECIMAL((SELECT 5), 0)
literal	PIVOT flights ON carrier IN (lower('AA')) USING count(*)
literal	SELECT * FROM flights PIVOT (count(*) FOR carrier IN (upper('aa')))
amplifier	SELECT list_resize([1], 1::FLOAT::BIT::INTEGER)
amplifier	SELECT array_resize([1], 5::DOUBLE::BIT::BIGINT)
amplifier	SELECT bitstring('1', 1::FLOAT::BIT::INTEGER)
amplifier	SELECT len(range(0, 1::FLOAT::BIT::INTEGER, 1))
amplifier	SELECT generate_series(0, 1::FLOAT::BIT::INTEGER, 1)
amplifier	SELECT equi_width_bins(1, 2, 1::FLOAT::BIT::INTEGER, true)
amplifier	SELECT format('{:\x31\x30\x30\x30\x30\x30\x30\x30\x30}'::BLOB::VARCHAR, 1)
amplifier	SELECT printf('%\x31\x30\x30\x30\x30\x30\x30\x30\x30d'::BLOB::VARCHAR, 1)
amplifier	SELECT format('\x7b:\x7b\x7d\x7d'::BLOB::VARCHAR, 1, 1000000000)
amplifier	SELECT format(E'{:1\x30\x30\x30\x30\x30\x30}', 1)
amplifier	SELECT generate_series(TIMESTAMP '2800-01-01', TIMESTAMP '290000-12-31', INTERVAL 1 DAY)
amplifier	SELECT generate_series(TIMESTAMP '2900-01-01', TIMESTAMP '290000-12-31', INTERVAL 1 HOUR)
amplifier	SELECT generate_series(TIMESTAMP '2900-01-01 (BC)', TIMESTAMP '2901-01-01', INTERVAL 1 HOUR)
amplifier	SELECT range(DATE '2000-01-01 (BC)', DATE '2000-01-01', INTERVAL 1 DAY)
amplifier	SELECT range(TIMESTAMP '20000-01-01', TIMESTAMP '200000-01-01', INTERVAL 1 MONTH)
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', 'infinity'::TIMESTAMP, INTERVAL 1 DAY)
amplifier	SELECT generate_series('2000-01-01'::BLOB::VARCHAR::DATE, DATE '2001-01-01', INTERVAL 1 DAY)
amplifier	SELECT generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01', INTERVAL 1 HOUR)
amplifier	SELECT range(TIMESTAMP '2000-01-01', TIMESTAMP '2000-02-01', INTERVAL 1 SECOND)
amplifier	SELECT range(TIMESTAMP '2000-01-01', TIMESTAMP '2000-01-02', INTERVAL '1 millisecond')
amplifier	SELECT range(DATE '2000-01-01', DATE '2000-01-02', INTERVAL '0 days')
amplifier	SELECT range(0, 100002, 1)
amplifier	SELECT range(0, 1000000, 9)
amplifier	SELECT range(0, 1, 0)
amplifier	SELECT generate_series(-50001, 50001, 1)
amplifier	SELECT array_resize([1], 100001)
amplifier	SELECT list_resize([1], 100001, 2)
amplifier	SELECT list_resize(value := [1], size := 1000000000)
amplifier	SELECT [1].list_resize(1000000000)
amplifier	SELECT main.list_resize([1], 5)
amplifier	SELECT system.main.bitstring('1', 5)
amplifier	SELECT '1'.bitstring(1000000000)
amplifier	SELECT '{:1000000000}'.format(1)
amplifier	SELECT '%1000000000d'.printf(1)
amplifier	SELECT pg_catalog.range(5)
amplifier	SELECT "REPEAT"('x', 1000000000)
amplifier	SELECT RePeAt('x', 1000000000)
amplifier	SELECT repeat('x'::BLOB, 1000000000)
amplifier	SELECT repeat([[1]], 1000000000)
amplifier	SELECT lpad('x', 100001, 'y')
amplifier	SELECT rpad('x', -100001, 'y')
amplifier	SELECT format('{:>1001}', 1)
amplifier	SELECT format('{0:{1}}', 1, 1000000000)
amplifier	SELECT format('{:.{}}', 1.5, 1000000000)
amplifier	SELECT format('{{{:{}}}}', 1, 1000000000)
amplifier	SELECT printf('%.1001f', 1.5)
amplifier	SELECT printf('%-*s', 1000000000, 'x')
amplifier	SELECT printf('%1$1000000000d', 1)
amplifier	SELECT reservoir_quantile(id, 0.5, 2000000000) FROM flights
amplifier	SELECT reservoir_quantile(id, 0.5, 100001) FROM flights
amplifier	SELECT id.reservoir_quantile(0.5, 2000000000) FROM flights
amplifier	SELECT reservoir_quantile(id, 0.5, 1::FLOAT::BIT::INTEGER) FROM flights
amplifier	SELECT main.reservoir_quantile(id, 0.5, 2000000000) FROM flights
amplifier	SELECT id FROM flights ORDER BY list_resize([1], 1000000000)
amplifier	SELECT count(*) FROM flights HAVING len(range(1000000000)) > 1
amplifier	SELECT id FROM flights QUALIFY length(repeat('x', 1000000000)) > 1
amplifier	SELECT count(*) FILTER (WHERE length(repeat('x', 1000000000)) > 1) FROM flights
amplifier	SELECT sum(id) OVER (ROWS BETWEEN length(lpad('x', 1000000000, 'y')) PRECEDING AND CURRENT ROW) FROM flights
amplifier	SELECT sum(id) OVER (PARTITION BY repeat('x', 1000000000)) FROM flights
amplifier	SELECT lag(id, 1, len(range(1000000000))) OVER () FROM flights
amplifier	SELECT * FROM flights f JOIN carriers c ON len(range(1000000000)) > 1
amplifier	SELECT DISTINCT ON (repeat('x', 1000000000)) id FROM flights
amplifier	SELECT CASE WHEN id > 5 THEN repeat('x', 1000000000) END FROM flights
amplifier	SELECT list_transform([1], lambda x: repeat('x', 1000000000))
amplifier	SELECT [repeat('x', 1000000000) FOR x IN [1]]
amplifier	VALUES (repeat('x', 1000000000))
amplifier	PIVOT flights ON carrier IN ('AA') USING max(repeat('x', 1000000000))
amplifier	SELECT id FROM flights GROUP BY repeat('x', 1000000000)
amplifier	WITH a AS (SELECT repeat('x', 1000000000)) SELECT 1
amplifier	SELECT (SELECT repeat('x', 1000000000))
amplifier	SELECT TRY(repeat('x', 1000000000))
amplifier	SELECT coalesce(NULL, repeat('x', 1000000000))
amplifier	SELECT {'a': repeat('x', 1000000000)}
amplifier	SELECT MAP {repeat('x', 1000000000): 1}
amplifier	SELECT * REPLACE (repeat('x', 1000000000) AS carrier) FROM flights
amplifier	SELECT * FROM unnest([repeat('x', 1000000000)])
amplifier	SELECT count(DISTINCT repeat('x', 1000000000)) FROM flights
amplifier	SELECT string_agg(carrier, ',' ORDER BY repeat('x', 1000000000)) FROM flights
amplifier	SELECT x[length(repeat('x', 1000000000))] FROM (SELECT [1] AS x)
amplifier	SELECT 1 IN (1, len(range(1000000000)))
amplifier	SELECT 'a' LIKE repeat('%', 1000000000)
amplifier	SELECT regexp_matches('a', repeat('a', 1000000000))
amplifier	SELECT repeat('x', 1000000000)::BLOB
amplifier	SELECT INTERVAL (len(range(1000000000))) DAY
amplifier	DESCRIBE SELECT repeat('x', 1000000000)
amplifier	SUMMARIZE SELECT repeat('x', 1000000000)
amplifier	SELECT repeat(lpad('x', 10, 'y'), 10)
amplifier	SELECT len(range(len(range(5))))
amplifier	SELECT list_resize(range(10), 10)
amplifier	SELECT repeat(format('{}', repeat('x', 10)), 10)
amplifier	SELECT lpad('x', 10, repeat('y', 10))
amplifier	SELECT printf(repeat('%d', 10), 1)
amplifier	SELECT repeat(CASE WHEN true THEN repeat('x', 10) END, 10)
amplifier	SELECT repeat(list_reduce(['a'], lambda x, y: repeat(x, 10)), 10)
planner	SELECT 1 FROM flights GROUP BY CUBE (id, carrier, origin), CUBE (day, dep_delay, distance, id + 1)
planner	SELECT 1 FROM flights GROUP BY CUBE (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
planner	SELECT 1 FROM flights GROUP BY ROLLUP (id, carrier, origin, day, dep_delay), CUBE (id, carrier, origin, day)
planner	SELECT 1 FROM flights GROUP BY GROUPING SETS (CUBE (id, carrier, origin, day, dep_delay, distance), CUBE (id, carrier))
planner	SELECT [[[[[a FOR a IN [b]] FOR b IN [c]] FOR c IN [d]] FOR d IN [e]] FOR e IN [1]]
planner	SELECT list_filter([1], lambda a: list_filter([1], lambda b: list_filter([1], lambda c: list_filter([1], lambda d: list_filter([1], lambda e: true) = [1]) = [1]) = [1]) = [1])
planner	SELECT * FROM range(2) r0, range(2) r1, range(2) r2, range(2) r3, range(2) r4, range(2) r5, range(2) r6, range(2) r7, range(2) r8, range(2) r9, range(2) r10, range(2) r11, range(2) r12, range(2) r13, range(2) r14, range(2) r15, range(2) r16, range(2) r17, range(2) r18, range(2) r19, range(2) r20, range(2) r21, range(2) r22, range(2) r23, range(2) r24, range(2) r25, range(2) r26, range(2) r27, range(2) r28, range(2) r29, range(2) r30, range(2) r31, range(2) r32
planner	SELECT * FROM (SELECT 1) s0, (SELECT 1) s1, (SELECT 1) s2, (SELECT 1) s3, (SELECT 1) s4, (SELECT 1) s5, (SELECT 1) s6, (SELECT 1) s7, (SELECT 1) s8, (SELECT 1) s9, (SELECT 1) s10, (SELECT 1) s11, (SELECT 1) s12, (SELECT 1) s13, (SELECT 1) s14, (SELECT 1) s15, (SELECT 1) s16, (SELECT 1) s17, (SELECT 1) s18, (SELECT 1) s19, (SELECT 1) s20, (SELECT 1) s21, (SELECT 1) s22, (SELECT 1) s23, (SELECT 1) s24, (SELECT 1) s25, (SELECT 1) s26, (SELECT 1) s27, (SELECT 1) s28, (SELECT 1) s29, (SELECT 1) s30, (SELECT 1) s31, (SELECT 1) s32
planner	SELECT * FROM (VALUES (0)) v0, (VALUES (1)) v1, (VALUES (2)) v2, (VALUES (3)) v3, (VALUES (4)) v4, (VALUES (5)) v5, (VALUES (6)) v6, (VALUES (7)) v7, (VALUES (8)) v8, (VALUES (9)) v9, (VALUES (10)) v10, (VALUES (11)) v11, (VALUES (12)) v12, (VALUES (13)) v13, (VALUES (14)) v14, (VALUES (15)) v15, (VALUES (16)) v16, (VALUES (17)) v17, (VALUES (18)) v18, (VALUES (19)) v19, (VALUES (20)) v20, (VALUES (21)) v21, (VALUES (22)) v22, (VALUES (23)) v23, (VALUES (24)) v24, (VALUES (25)) v25, (VALUES (26)) v26, (VALUES (27)) v27, (VALUES (28)) v28, (VALUES (29)) v29, (VALUES (30)) v30, (VALUES (31)) v31, (VALUES (32)) v32
planner	WITH c0 AS (SELECT 0), c1 AS (SELECT 1), c2 AS (SELECT 2), c3 AS (SELECT 3), c4 AS (SELECT 4), c5 AS (SELECT 5), c6 AS (SELECT 6), c7 AS (SELECT 7), c8 AS (SELECT 8), c9 AS (SELECT 9), c10 AS (SELECT 10), c11 AS (SELECT 11), c12 AS (SELECT 12), c13 AS (SELECT 13), c14 AS (SELECT 14), c15 AS (SELECT 15), c16 AS (SELECT 16), c17 AS (SELECT 17), c18 AS (SELECT 18), c19 AS (SELECT 19), c20 AS (SELECT 20), c21 AS (SELECT 21), c22 AS (SELECT 22), c23 AS (SELECT 23), c24 AS (SELECT 24), c25 AS (SELECT 25), c26 AS (SELECT 26), c27 AS (SELECT 27), c28 AS (SELECT 28), c29 AS (SELECT 29), c30 AS (SELECT 30), c31 AS (SELECT 31), c32 AS (SELECT 32), c33 AS (SELECT 33), c34 AS (SELECT 34), c35 AS (SELECT 35), c36 AS (SELECT 36), c37 AS (SELECT 37), c38 AS (SELECT 38), c39 AS (SELECT 39), c40 AS (SELECT 40), c41 AS (SELECT 41), c42 AS (SELECT 42), c43 AS (SELECT 43), c44 AS (SELECT 44), c45 AS (SELECT 45), c46 AS (SELECT 46), c47 AS (SELECT 47), c48 AS (SELECT 48), c49 AS (SELECT 49), c50 AS (SELECT 50), c51 AS (SELECT 51), c52 AS (SELECT 52), c53 AS (SELECT 53), c54 AS (SELECT 54), c55 AS (SELECT 55), c56 AS (SELECT 56), c57 AS (SELECT 57), c58 AS (SELECT 58), c59 AS (SELECT 59), c60 AS (SELECT 60), c61 AS (SELECT 61), c62 AS (SELECT 62), c63 AS (SELECT 63), c64 AS (SELECT 64) SELECT 1
node	SELECT * FROM flights AT (TIMESTAMP => now())
node	SELECT * FROM flights AT (VERSION => (SELECT t FROM secret))
node	SELECT * FROM flights JOIN BY (TYPE mark) carriers ON true
node	SELECT * FROM flights JOIN BY (TYPE single) carriers USING (carrier)
node	SELECT * FROM flights JOIN BY (TYPE right_semi) carriers USING (carrier)
node	SELECT * FROM flights JOIN BY (TYPE right_anti) carriers USING (carrier)
node	SELECT * FROM flights PIVOT (count(*) FOR carrier IN mood)
node	SELECT 1::system.main.integer
node	SELECT NULL::d0.main.mood
node	SELECT TRY_CAST(1 AS main.integer)
node	SELECT CAST(1 AS temp.x)
node	SELECT count(*) EXPORT_STATE FROM flights
node	SELECT DEFAULT
node	WITH RECURSIVE r(k, v) USING KEY (k, max((SELECT 5)) AS v) AS (SELECT 1, 2::BIGINT UNION SELECT k + 1, v FROM r WHERE k < 3) SELECT * FROM r
node	WITH RECURSIVE duckdb_databases AS (SELECT 1), r(k, v) USING KEY (k, max((SELECT count(*) FROM duckdb_databases)) AS v) AS (SELECT 1, 2::BIGINT UNION SELECT k + 1, v FROM r WHERE k < 3) SELECT * FROM r
expression	SELECT * FROM range(?)
expression	SELECT * FROM flights WHERE id IN (?, ?)
expression	SELECT ?1
expression	SELECT $secret
expression	SELECT list_reduce([1], (a, b) -> a + b)
expression	SELECT list_apply([1], x -> x)
expression	SELECT filter([1], x -> true)
expression	SELECT reduce([1], (a, b) -> a)
value_name	SELECT CURRENT_USER
value_name	SELECT "CURRENT_USER"
value_name	SELECT id FROM flights WHERE carrier = current_user
value_name	SELECT upper(current_catalog)
value_name	SELECT [session_user]
value_name	SELECT id FROM flights ORDER BY current_role
value_name	SELECT list_transform([1], lambda x: current_schema)
value_name	SELECT * FROM flights f JOIN carriers c ON current_schema = 'main'
value_name	SELECT CASE current_catalog WHEN 'memory' THEN 1 END
value_name	VALUES (current_schema)
nesting	SELECT '((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((('
nesting	SELECT 1 /* [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ */
nesting	SELECT 1 -- {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{
nesting	SELECT NULL::STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a STRUCT(a INT)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT * FROM (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((flights)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT 1 + (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT (SELECT 1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
nesting	SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
nesting	SELECT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT true
nesting	SELECT - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - 1
text	SELECT \u{0}
text	\u{0}SELECT 1
text	SELECT 1\u{0}; DROP VIEW flights
text	SELECT 'a\u{0}', (SELECT s FROM secret)
text	SELECT 1 --\u{0}\x0a, (SELECT s FROM secret)
literal	SELECT percentile_disc(random()) WITHIN GROUP (ORDER BY id) FROM flights
literal	SELECT percentile_cont([length('x')]) WITHIN GROUP (ORDER BY id) FROM flights
literal	SELECT quantile_cont(length('x') ORDER BY id) FROM flights
literal	SELECT quantile_cont(id, q := length('x')) FROM flights
literal	SELECT reservoir_quantile(sample_size := 2000000000, x := id, q := 0.5) FROM flights
literal	SELECT list_aggregate(func := 'sum', l := [1])
literal	SELECT json_transform(structure := lower('{}'), json := '{}')
table	PIVOT secret ON s USING count(*)
table	PIVOT (SELECT * FROM flights, secret) ON s USING count(*)
table	PIVOT main.secret ON s USING count(*)
table_function	PIVOT read_csv('/etc/passwd') ON a USING count(*)
function	PIVOT flights ON origin || version() USING count(*)
function	PIVOT flights ON carrier USING max(version())
qualified_name	PIVOT d0.main.data ON a USING count(*)
statement	PIVOT flights ON carrier; PIVOT flights ON origin
statement	DELETE FROM flights; PIVOT flights ON carrier
statement	CREATE TABLE x AS PIVOT flights ON carrier USING count(*)
statement	PIVOT (WITH d AS (DELETE FROM flights RETURNING *) SELECT * FROM d) ON carrier USING count(*)
amplifier	PIVOT flights ON repeat(carrier, 1000000000) USING count(*)
qualified_name	WITH flights AS (SELECT 1) SELECT * FROM main.flights
qualified_name	SELECT * FROM temp.main.flights
