-- Statements that must be refused, one a line: rule, tab, SQL. `\x0d` and `\x0a` stand for CR and LF.
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
statement	PIVOT flights ON origin USING count(*)
statement	SELECT * FROM (PIVOT flights ON origin USING count(*))
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
qualified_name	SELECT * FROM main.flights
qualified_name	SELECT * FROM memory.main.flights
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
literal	SELECT reservoir_quantile(id, 0.5, length(repeat('x', 1000))) FROM flights
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
