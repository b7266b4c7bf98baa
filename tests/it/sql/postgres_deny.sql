-- What must be refused, and by which rule: the rule, a tab, the statement. \x0d and \x0a stand for the characters.
statement	INSERT INTO flights VALUES (1)
statement	UPDATE flights SET id = 1
statement	DELETE FROM flights
statement	MERGE INTO flights f USING carriers c ON c.code = f.carrier WHEN MATCHED THEN DELETE
statement	TRUNCATE flights
statement	DROP TABLE flights
statement	CREATE TABLE x (a int)
statement	CREATE TABLE x AS SELECT * FROM flights
statement	CREATE TEMP VIEW x AS SELECT * FROM flights
statement	CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
statement	CREATE EXTENSION dblink
statement	CREATE ROLE x SUPERUSER
statement	ALTER ROLE dragoman SUPERUSER
statement	ALTER TABLE flights ADD COLUMN x int
statement	ALTER SYSTEM SET archive_command = 'x'
statement	GRANT ALL ON flights TO public
statement	REVOKE ALL ON flights FROM public
statement	SET ROLE postgres
statement	SET search_path = warehouse
statement	SET SESSION AUTHORIZATION postgres
statement	RESET ALL
statement	SHOW search_path
statement	BEGIN
statement	COMMIT
statement	ROLLBACK
statement	SAVEPOINT a
statement	SET TRANSACTION READ WRITE
statement	PREPARE p AS SELECT 1
statement	EXECUTE p
statement	DEALLOCATE p
statement	DECLARE c CURSOR FOR SELECT * FROM flights
statement	FETCH ALL FROM c
statement	COPY flights TO '/tmp/dragoman-x.csv'
statement	COPY flights TO PROGRAM 'touch /tmp/dragoman-x'
statement	COPY (SELECT 1) TO STDOUT
statement	EXPLAIN SELECT * FROM flights
statement	EXPLAIN ANALYZE DELETE FROM flights
statement	ANALYZE flights
statement	VACUUM
statement	CLUSTER
statement	REINDEX DATABASE postgres
statement	CHECKPOINT
statement	LOCK TABLE flights
statement	LISTEN a
statement	NOTIFY a, 'b'
statement	UNLISTEN *
statement	LOAD 'auto_explain'
statement	DISCARD ALL
statement	DO $$ BEGIN RAISE NOTICE 'x'; END $$
statement	CALL p()
statement	COMMENT ON TABLE flights IS 'x'
statement	REFRESH MATERIALIZED VIEW x
statement	SECURITY LABEL ON TABLE flights IS 'x'
statement	IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c
statement	SELECT * INTO copied FROM flights
statement	SELECT 1 AS a INTO TEMP copied
statement	SELECT * FROM flights FOR UPDATE
statement	SELECT * FROM flights FOR NO KEY UPDATE SKIP LOCKED
statement	SELECT * FROM (SELECT * FROM flights FOR SHARE) x
statement	SELECT 1; SELECT 2
statement	SELECT 1; DROP TABLE flights
statement	SELECT 1; COMMIT; DROP SCHEMA public CASCADE
statement	SELECT 1 /* x */; /* y */ DELETE FROM flights
statement	;
statement	-- nothing
statement	WITH d AS (DELETE FROM flights RETURNING *) SELECT * FROM d
statement	WITH d AS (INSERT INTO flights SELECT * FROM flights RETURNING *) SELECT * FROM d
statement	WITH d AS (UPDATE flights SET id = 2 RETURNING *) SELECT * FROM d
statement	WITH a AS (SELECT 1) DELETE FROM flights
statement	SELECT * FROM (WITH d AS (DELETE FROM flights RETURNING *) SELECT * FROM d) x
table	SELECT * FROM salaries
table	SELECT * FROM pg_class
table	SELECT * FROM pg_shadow
table	SELECT * FROM pg_stat_activity
table	TABLE salaries
table	SELECT (SELECT secret FROM salaries LIMIT 1)
table	SELECT * FROM flights, salaries
table	SELECT * FROM flights JOIN salaries ON true
table	SELECT * FROM flights WHERE id IN (SELECT id FROM salaries)
table	SELECT * FROM flights WHERE EXISTS (SELECT 1 FROM salaries WHERE amount > 5)
table	SELECT * FROM flights ORDER BY (SELECT amount FROM salaries LIMIT 1)
table	SELECT * FROM flights LIMIT (SELECT amount FROM salaries LIMIT 1)
table	SELECT * FROM flights GROUP BY (SELECT secret FROM salaries)
table	SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM salaries)) FROM flights
table	SELECT sum(id) OVER (ORDER BY (SELECT amount FROM salaries)) FROM flights
table	SELECT sum(id) OVER w FROM flights WINDOW w AS (PARTITION BY (SELECT amount FROM salaries))
table	SELECT string_agg(origin, ',' ORDER BY (SELECT secret FROM salaries)) FROM flights
table	SELECT CASE WHEN true THEN (SELECT secret FROM salaries) END
table	SELECT ARRAY(SELECT secret FROM salaries)
table	SELECT ROW((SELECT secret FROM salaries))
table	SELECT * FROM unnest(ARRAY(SELECT secret FROM salaries)) x
table	SELECT * FROM generate_series(1, (SELECT amount FROM salaries)) x
table	SELECT coalesce((SELECT secret FROM salaries), 'x')
table	SELECT (ARRAY[1])[(SELECT amount FROM salaries)]
table	SELECT (SELECT secret FROM salaries)::text
table	SELECT (SELECT secret FROM salaries) COLLATE "C"
table	VALUES ((SELECT secret FROM salaries))
table	SELECT DISTINCT ON ((SELECT secret FROM salaries)) 1
table	SELECT 1 UNION SELECT amount FROM salaries
table	SELECT 1 UNION (SELECT 2 EXCEPT SELECT amount FROM salaries)
table	SELECT make_interval(days => (SELECT amount FROM salaries))
table	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (SELECT amount FROM salaries))
table	SELECT GREATEST(1, (SELECT amount FROM salaries))
table	SELECT grouping((SELECT amount FROM salaries)) FROM flights GROUP BY 1
table	WITH a AS (SELECT * FROM salaries) SELECT * FROM a
table	WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries
table	WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
table	SELECT * FROM (WITH salaries AS (SELECT 1) SELECT * FROM salaries) x, salaries
table	(WITH salaries AS (SELECT 1 AS a) SELECT a FROM salaries) UNION ALL SELECT amount FROM salaries
table	WITH x AS (WITH salaries AS (SELECT 1) SELECT * FROM salaries) SELECT * FROM salaries
table	WITH RECURSIVE r AS (SELECT amount FROM salaries UNION ALL SELECT * FROM r) SELECT * FROM r
table	WITH flights AS (SELECT * FROM flights) SELECT * FROM flights
table	WITH pg_class AS (SELECT 1) SELECT * FROM pg_class
table	SELECT * FROM Salaries
table	SELECT * FROM "Flights"
table	SELECT * FROM "flights "
table	SELECT * FROM U&"\0073alaries"
table	SELECT E'it\'', (SELECT secret FROM salaries) --'
table	SELECT $a$ $b$ $a$, (SELECT secret FROM salaries)
table	SELECT 1 /* /* */ */, (SELECT secret FROM salaries)
table	SELECT 1 --\x0d, 2\x0a, (SELECT secret FROM salaries)
table	SELECT * FROM fligths
qualified_name	SELECT * FROM warehouse.salaries
qualified_name	SELECT * FROM warehouse.flight_facts
qualified_name	SELECT * FROM warehouse.flights
qualified_name	SELECT * FROM postgres.warehouse.salaries
qualified_name	SELECT * FROM pg_catalog.pg_authid
qualified_name	SELECT * FROM information_schema.tables
qualified_name	SELECT * FROM "warehouse"."salaries"
qualified_name	TABLE warehouse.salaries
qualified_name	WITH salaries AS (SELECT 1) SELECT * FROM warehouse.salaries
qualified_name	SELECT warehouse.upper('a')
qualified_name	SELECT public.dblink('x', 'y')
qualified_name	SELECT information_schema._pg_expandarray(ARRAY[1])
qualified_name	SELECT origin COLLATE warehouse.mine FROM flights
node	SELECT * FROM ONLY flights
node	SELECT * FROM flights TABLESAMPLE bernoulli (10)
node	SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS x int)
node	SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$'))
node	SELECT JSON_VALUE('{"a": 1}', '$.a')
node	SELECT JSON_OBJECT('a': 1)
function	SELECT pg_read_file('/etc/passwd')
function	SELECT pg_read_binary_file('/etc/passwd')
function	SELECT pg_ls_dir('/')
function	SELECT pg_stat_file('/etc/passwd')
function	SELECT pg_sleep(100)
function	SELECT pg_sleep_for('1 hour')
function	SELECT pg_terminate_backend(1)
function	SELECT pg_cancel_backend(1)
function	SELECT pg_reload_conf()
function	SELECT pg_advisory_lock(1)
function	SELECT pg_notify('a', 'b')
function	SELECT pg_get_viewdef('x')
function	SELECT pg_relation_size('warehouse.salaries')
function	SELECT pg_database_size('postgres')
function	SELECT pg_total_relation_size(1)
function	SELECT pg_switch_wal()
function	SELECT pg_catalog.pg_read_file('/etc/passwd')
function	SELECT lo_import('/etc/passwd')
function	SELECT lo_export(1, '/tmp/dragoman-x')
function	SELECT lo_get(1)
function	SELECT lo_create(1)
function	SELECT dblink('host=x', 'SELECT 1')
function	SELECT query_to_xml('SELECT * FROM warehouse.salaries', true, false, '')
function	SELECT table_to_xml('warehouse.salaries', true, false, '')
function	SELECT database_to_xml(true, false, '')
function	SELECT schema_to_xml('warehouse', true, false, '')
function	SELECT cursor_to_xml('c', 1, true, false, '')
function	SELECT ts_stat('SELECT secret FROM warehouse.salaries')
function	SELECT ts_rewrite('a'::tsquery, 'SELECT a, b FROM warehouse.salaries')
function	SELECT current_setting('data_directory')
function	SELECT set_config('search_path', 'warehouse', false)
function	SELECT nextval('x')
function	SELECT currval('x')
function	SELECT setval('x', 1)
function	SELECT lastval()
function	SELECT txid_current()
function	SELECT version()
function	SELECT current_query()
function	SELECT current_database()
function	SELECT inet_server_addr()
function	SELECT inet_client_addr()
function	SELECT has_table_privilege('warehouse.salaries', 'select')
function	SELECT to_regclass('warehouse.salaries')
function	SELECT obj_description(1)
function	SELECT col_description(1, 1)
function	SELECT row_security_active('warehouse.salaries')
function	SELECT pg_backend_pid()
function	SELECT pg_typeof(1)
function	SELECT current_schemas(true)
function	SELECT array_fill(0, ARRAY[100000000])
function	SELECT jsonb_populate_record(NULL::text, '{}')
function	SELECT int4in('1')
function	SELECT texteq('a', 'b')
function	SELECT xmlcomment('x')
function	SELECT xpath('/a', '<a/>')
function	SELECT xmlelement(name a)
function	SELECT uper('a')
function	SELECT nosuchfunction(1)
function	SELECT 1 FROM flights WHERE pg_sleep(1) IS NULL
function	SELECT 1 FROM flights ORDER BY pg_sleep(1)
function	SELECT sum(pg_sleep(1)) OVER () FROM flights
function	SELECT (1).pg_sleep
function	SELECT f.pg_sleep FROM flights f
function	SELECT ('x'::text).pg_read_file
function	SELECT (f).pg_typeof FROM flights f
table_function	SELECT * FROM pg_ls_dir('/')
table_function	SELECT * FROM pg_show_all_settings()
table_function	SELECT * FROM pg_stat_get_activity(NULL)
table_function	SELECT * FROM dblink('host=x', 'SELECT 1') AS t (a int)
table_function	SELECT * FROM upper('a')
table_function	SELECT * FROM ROWS FROM (unnest(ARRAY[1]), pg_ls_dir('/')) x
table_function	SELECT * FROM jsonb_populate_recordset(NULL::text, '[]')
value_name	SELECT current_user
value_name	SELECT session_user
value_name	SELECT user
value_name	SELECT current_role
value_name	SELECT current_catalog
value_name	SELECT current_schema
type	SELECT 'warehouse.salaries'::regclass
type	SELECT 'pg_sleep'::regproc
type	SELECT 'dragoman'::regrole
type	SELECT 'warehouse'::regnamespace
type	SELECT 1::oid
type	SELECT CAST('x' AS pg_catalog.regclass)
type	SELECT '<a/>'::xml
type	SELECT NULL::warehouse.salaries
type	SELECT NULL::salaries
type	SELECT '(1)'::flights
type	SELECT 'x'::cstring
type	SELECT '1'::inteeger
type	SELECT regclass 'warehouse.salaries'
type	SELECT * FROM json_to_record('{}') AS r (a regclass)
type	SELECT '{x}'::regclass[]
operator	SELECT 1 OPERATOR(warehouse.+) 2
operator	SELECT 1 === 2
operator	SELECT flights *= flights FROM flights
operator	SELECT 1 = ANY (ARRAY[1]), 1 @#@ 2
operator	SELECT * FROM flights ORDER BY id USING OPERATOR(warehouse.<)
column	SELECT ctid FROM flights
column	SELECT xmin, * FROM flights
column	SELECT flights.tableoid FROM flights
column	SELECT (SELECT f.ctid) FROM flights f
expression	SELECT $1
expression	SELECT * FROM flights WHERE id = $2
planner	WITH a AS NOT MATERIALIZED (SELECT 1) SELECT * FROM a
planner	SELECT 1 FROM flights GROUP BY CUBE (1, 2, 3, 4, 5, 6, 7)
amplifier	SELECT repeat('x', 1000000000)
amplifier	SELECT repeat('x', delay) FROM flights
amplifier	SELECT repeat('x', '1000000000'::int)
amplifier	SELECT repeat('x', greatest(1, 2))
amplifier	SELECT lpad('x', 1000000000)
amplifier	SELECT rpad('x', 1000 * 1000000)
amplifier	SELECT repeat(repeat('x', 100000), 100000)
amplifier	SELECT repeat('x', least(delay, 1000000000)) FROM flights
amplifier	SELECT format('%1000000000s', 'x')
amplifier	SELECT format('%*s', 1000000000, 'x')
amplifier	SELECT format(origin) FROM flights
amplifier	SELECT * FROM generate_series(1, 1000000000000)
amplifier	SELECT generate_series(1, 100000000)
literal	SELECT '1'::numeric(id, 2) FROM flights
syntax	SELEC 1
syntax	SELECT * FROM
syntax	SELECT * FORM flights WHERE
syntax	SELECT 'unclosed
syntax	SELECT 1)
syntax	) SELECT 1 (
syntax	SELECT 1 /* unclosed
syntax	FROM flights
syntax	SELECT * FROM flights QUALIFY row_number() OVER () = 1
syntax	SELECT $a$ unclosed
syntax	SELECT 1) AS x; DROP TABLE flights; SELECT (1
planner	WITH a0 AS (SELECT origin AS c FROM flights), a1 AS (SELECT c || c AS c FROM a0), a2 AS (SELECT c || c AS c FROM a1), a3 AS (SELECT c || c AS c FROM a2), a4 AS (SELECT c || c AS c FROM a3), a5 AS (SELECT c || c AS c FROM a4), a6 AS (SELECT c || c AS c FROM a5), a7 AS (SELECT c || c AS c FROM a6), a8 AS (SELECT c || c AS c FROM a7), a9 AS (SELECT c || c AS c FROM a8), a10 AS (SELECT c || c AS c FROM a9), a11 AS (SELECT c || c AS c FROM a10), a12 AS (SELECT c || c AS c FROM a11), a13 AS (SELECT c || c AS c FROM a12), a14 AS (SELECT c || c AS c FROM a13), a15 AS (SELECT c || c AS c FROM a14), a16 AS (SELECT c || c AS c FROM a15), a17 AS (SELECT c || c AS c FROM a16), a18 AS (SELECT c || c AS c FROM a17), a19 AS (SELECT c || c AS c FROM a18) SELECT length(c) FROM a19
planner	SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT c || c AS c FROM (SELECT origin AS c FROM flights) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a
planner	SELECT * FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT c || c AS c FROM (SELECT DISTINCT origin AS c FROM flights) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a WHERE c = 'x'
planner	SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT d || e AS c FROM (SELECT c AS d, c AS e FROM (SELECT origin AS c FROM flights) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b) a) b
planner	SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT (SELECT c || c) AS c FROM (SELECT origin AS c FROM flights) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a) a
