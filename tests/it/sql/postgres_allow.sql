-- Statements that people and models write for PostgreSQL. Each runs on the server, in its frame. One a line.
SELECT * FROM flights
SELECT count(*) FROM flights
select origin, dest from flights where delay > 10
SELECT f.origin, c.name FROM flights f JOIN carriers c ON c.code = f.carrier
SELECT f.origin, c.name FROM flights AS f LEFT JOIN carriers AS c ON c.code = f.carrier WHERE c.name IS NOT NULL
SELECT * FROM flights f RIGHT JOIN carriers c ON c.code = f.carrier
SELECT * FROM flights f FULL OUTER JOIN carriers c ON c.code = f.carrier
SELECT * FROM flights CROSS JOIN carriers
SELECT * FROM flights, carriers WHERE flights.carrier = carriers.code
SELECT * FROM flights NATURAL JOIN (SELECT 1 AS id) one
SELECT id FROM flights JOIN (SELECT id FROM flights) again USING (id)
SELECT j.id FROM flights JOIN (SELECT id FROM flights) again USING (id) AS j
SELECT origin, count(*) AS n FROM flights GROUP BY origin ORDER BY n DESC LIMIT 5
SELECT origin, count(*) AS n FROM flights GROUP BY 1 HAVING count(*) > 1 ORDER BY 2 DESC NULLS LAST, 1
SELECT origin, avg(delay), min(delay), max(delay), sum(delay), stddev(delay), variance(delay) FROM flights GROUP BY origin
SELECT origin, percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) FROM flights GROUP BY origin
SELECT mode() WITHIN GROUP (ORDER BY origin) FROM flights
SELECT count(*) FILTER (WHERE delay > 0) AS late, count(DISTINCT origin) FROM flights
SELECT origin, string_agg(dest, ', ' ORDER BY dest) FROM flights GROUP BY origin
SELECT array_agg(DISTINCT origin ORDER BY origin) FROM flights
SELECT DISTINCT origin FROM flights
SELECT DISTINCT ON (origin) origin, delay FROM flights ORDER BY origin, delay DESC
SELECT origin, dest, count(*) FROM flights GROUP BY GROUPING SETS ((origin), (dest), ())
SELECT origin, dest, grouping(origin, dest), count(*) FROM flights GROUP BY ROLLUP (origin, dest)
SELECT origin, dest, carrier, count(*) FROM flights GROUP BY CUBE (origin, dest, carrier)
SELECT origin, delay, rank() OVER (PARTITION BY origin ORDER BY delay DESC) FROM flights
SELECT id, sum(delay) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM flights
SELECT id, lag(delay) OVER w, lead(delay, 2, 0) OVER w FROM flights WINDOW w AS (PARTITION BY origin ORDER BY id)
SELECT id, row_number() OVER (ORDER BY id), ntile(4) OVER (ORDER BY id), dense_rank() OVER (ORDER BY delay) FROM flights
SELECT id, first_value(delay) OVER (ORDER BY id RANGE UNBOUNDED PRECEDING), last_value(delay) OVER (ORDER BY id) FROM flights
SELECT id, avg(delay) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM flights
SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY origin ORDER BY delay DESC) AS n FROM flights) t WHERE n = 1
WITH late AS (SELECT * FROM flights WHERE delay > 10) SELECT origin, count(*) FROM late GROUP BY origin
WITH a AS (SELECT id FROM flights), b AS (SELECT id FROM a WHERE id > 1) SELECT count(*) FROM b
WITH a (x, y) AS (SELECT id, delay FROM flights) SELECT x FROM a ORDER BY y
WITH a AS MATERIALIZED (SELECT id FROM flights) SELECT * FROM a
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n
WITH RECURSIVE n (i) AS (VALUES (1) UNION SELECT i + 1 FROM n WHERE i < 10) SELECT * FROM n JOIN flights ON id = i
WITH RECURSIVE t (a, b) AS (SELECT 1, 2 UNION ALL SELECT b, a FROM t) CYCLE a SET seen USING path SELECT a, b FROM t
WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t WHERE a < 3) SEARCH DEPTH FIRST BY a SET place SELECT * FROM t ORDER BY place
WITH x AS (WITH y AS (SELECT id FROM flights) SELECT * FROM y) SELECT * FROM x
(WITH x AS (SELECT id FROM flights) SELECT * FROM x) ORDER BY 1
SELECT * FROM (WITH flights AS (SELECT * FROM flights WHERE delay > 1) SELECT * FROM flights) late
SELECT origin FROM flights UNION SELECT dest FROM flights ORDER BY 1
SELECT origin FROM flights UNION ALL SELECT code FROM carriers LIMIT 3
SELECT origin FROM flights INTERSECT SELECT dest FROM flights
SELECT origin FROM flights EXCEPT SELECT dest FROM flights
(SELECT origin FROM flights ORDER BY delay LIMIT 1) UNION ALL (SELECT dest FROM flights ORDER BY delay DESC LIMIT 1)
((SELECT id FROM flights))
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (n, s)
TABLE flights
SELECT * FROM flights WHERE origin IN ('JFK', 'LGA')
SELECT * FROM flights WHERE origin NOT IN (SELECT code FROM carriers)
SELECT * FROM flights WHERE carrier = ANY (ARRAY['AA', 'UA'])
SELECT * FROM flights WHERE carrier = ANY (SELECT code FROM carriers)
SELECT * FROM flights WHERE delay >= ALL (SELECT delay FROM flights WHERE delay IS NOT NULL)
SELECT * FROM flights f WHERE EXISTS (SELECT 1 FROM carriers c WHERE c.code = f.carrier)
SELECT id, (SELECT name FROM carriers c WHERE c.code = f.carrier) AS carrier FROM flights f
SELECT ARRAY(SELECT code FROM carriers ORDER BY 1)
SELECT f.id, x.n FROM flights f, LATERAL (SELECT f.delay * 2 AS n) x
SELECT f.id, t.tag FROM flights f CROSS JOIN LATERAL unnest(f.tags) AS t (tag)
SELECT f.id, t.tag, t.n FROM flights f LEFT JOIN LATERAL unnest(f.tags) WITH ORDINALITY AS t (tag, n) ON true
SELECT * FROM flights WHERE delay BETWEEN 5 AND 20 AND origin LIKE 'J%' OR dest ILIKE '%x' AND NOT delay IS NULL
SELECT * FROM flights WHERE delay NOT BETWEEN SYMMETRIC 20 AND 5
SELECT * FROM flights WHERE origin SIMILAR TO '(J|L)%' AND dest ~ '^[A-Z]{3}$' AND dest !~* 'q'
SELECT * FROM flights WHERE origin LIKE '50!%' ESCAPE '!'
SELECT * FROM flights WHERE delay IS DISTINCT FROM 5 AND (delay > 0) IS NOT UNKNOWN
SELECT * FROM flights WHERE (origin, dest) = ('JFK', 'LAX')
SELECT * FROM flights WHERE (origin, dest) IN (SELECT origin, dest FROM flights)
SELECT CASE WHEN delay > 30 THEN 'late' WHEN delay > 0 THEN 'some' ELSE 'none' END AS class, count(*) FROM flights GROUP BY 1
SELECT CASE origin WHEN 'JFK' THEN 1 ELSE 0 END FROM flights
SELECT coalesce(delay, 0), nullif(delay, 0), greatest(delay, 1), least(delay, 100) FROM flights
SELECT delay::numeric(10, 2), CAST(delay AS double precision), delay::text, '5'::int, delay::bigint FROM flights
SELECT '{1,2}'::int[], ARRAY[1, 2, 3], ARRAY[[1, 2], [3, 4]], (ARRAY[1, 2, 3])[2], (ARRAY[1, 2, 3])[1:2]
SELECT tags[1], array_length(tags, 1), cardinality(tags), 'x' = ANY (tags), tags || 'y'::text, tags @> ARRAY['a'] FROM flights
SELECT day, extract(year FROM day), date_part('month', day), date_trunc('month', day), to_char(day, 'YYYY-MM') FROM flights
SELECT date_trunc('week', departed AT TIME ZONE 'Europe/Berlin') AS week, count(*) FROM flights GROUP BY 1
SELECT current_date, current_timestamp, localtimestamp, now(), current_date - 7, now() - interval '1 day'
SELECT day + interval '1 month', day - DATE '2020-01-01', age(departed), make_date(2020, 1, 31), make_interval(days => 3) FROM flights
SELECT INTERVAL '1' DAY, TIMESTAMP '2020-01-01 10:00:00', TIMESTAMPTZ '2020-01-01 10:00:00+02', TIME '10:00', interval(3) '1.2345 seconds'
SELECT date_bin('15 minutes', departed, TIMESTAMPTZ '2020-01-01'), extract(epoch FROM departed) FROM flights
SELECT (DATE '2020-01-01', DATE '2020-02-01') OVERLAPS (DATE '2020-01-15', DATE '2020-03-01')
SELECT to_date('2020-01-31', 'YYYY-MM-DD'), to_timestamp(0), to_timestamp('2020', 'YYYY'), to_number('1,234', '9,999')
SELECT upper(origin), lower(origin), initcap(origin), length(origin), substring(origin FROM 1 FOR 2), substr(origin, 2) FROM flights
SELECT trim(both ' ' from ' x '), ltrim(' x'), rtrim('x '), btrim('xx', 'x'), left('abc', 2), right('abc', 2), reverse('abc')
SELECT position('b' in 'abc'), strpos('abc', 'b'), replace('abc', 'b', 'x'), translate('abc', 'ab', 'xy'), overlay('abc' placing 'x' from 2)
SELECT origin || ' - ' || dest, concat(origin, '-', dest), concat_ws('/', origin, dest), format('%s to %s', origin, dest) FROM flights
SELECT split_part('a,b', ',', 1), string_to_array('a,b', ','), array_to_string(ARRAY['a', 'b'], ','), regexp_replace('abc', 'b', 'x', 'g')
SELECT regexp_match('a1b2', '\d'), regexp_split_to_array('a b', '\s+'), starts, ends FROM (SELECT left('ab', 1) AS starts, right('ab', 1) AS ends) x
SELECT m[1] FROM regexp_matches('a1b2', '[a-z]\d', 'g') AS m
SELECT lpad('x', 5, '0'), rpad('x', 5), repeat('x', 3), repeat('*', least(delay, 100)) FROM flights
SELECT md5('x'), encode('x'::bytea, 'hex'), decode('78', 'hex'), sha256('x'), ascii('x'), chr(65)
SELECT round(price, 1), round(1.5), ceil(1.2), floor(1.8), trunc(1.89, 1), abs(-1), sign(-2), mod(7, 3), 7 % 3, power(2, 10), sqrt(16) FROM flights
SELECT exp(1), ln(2.7), log(100), pi(), sin(1), degrees(pi()), gcd(12, 18), width_bucket(5, 0, 10, 5), random() < 2
SELECT 7 / 2, 7 / 2.0, 2 ^ 3, |/ 16, @ -5, 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 2, -(-5), +5
SELECT corr(delay, id), regr_slope(delay, id), covar_pop(delay, id), stddev_pop(delay), var_samp(delay) FROM flights
SELECT bool_and(delay > 0), bool_or(delay > 0), every(delay > 0), bit_or(id) FROM flights
SELECT info -> 'a', info ->> 'b', info #> '{a,0}', info #>> '{a,0}', info @> '{"a": 1}', info ? 'b', info - 'a' FROM flights
SELECT jsonb_typeof(info), jsonb_array_length('[1,2]'), jsonb_build_object('a', 1), to_jsonb(origin), jsonb_pretty(info) FROM flights
SELECT json_agg(origin), jsonb_agg(origin ORDER BY id), json_object_agg(id, origin), row_to_json(f) FROM flights f GROUP BY f.*
SELECT e.key, e.value FROM flights, jsonb_each(info) AS e
SELECT e.key, e.value FROM flights CROSS JOIN LATERAL jsonb_each_text(info) AS e (key, value)
SELECT x FROM jsonb_array_elements('[1, 2]') AS x
SELECT r.a, r.b FROM jsonb_to_recordset('[{"a": 1, "b": "x"}]') AS r (a int, b text)
SELECT * FROM json_to_record('{"a": 1}') AS r (a int)
SELECT jsonb_path_query_first(info, '$.a'), info @? '$.a', jsonb_path_exists(info, '$.b') FROM flights
SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) AS r (n, s)
SELECT * FROM ROWS FROM (json_to_record('{"a": 1}') AS (a int), generate_series(1, 2)) AS r
SELECT n FROM generate_series(1, 10) AS n
SELECT d::date FROM generate_series(DATE '2020-01-01', DATE '2020-01-31', interval '1 day') AS d
SELECT d.day, count(f.id) FROM generate_series((SELECT min(day) FROM flights), (SELECT max(day) FROM flights), '1 day') AS d (day) LEFT JOIN flights f ON f.day = d.day GROUP BY 1 ORDER BY 1
SELECT generate_series(1, 3), unnest(ARRAY[1, 2, 3])
SELECT n FROM generate_series(10, 1, -2) n
SELECT * FROM string_to_table('a,b', ',') AS s
SELECT * FROM flights ORDER BY delay DESC NULLS LAST FETCH FIRST 3 ROWS WITH TIES
SELECT * FROM flights ORDER BY delay USING > OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY
SELECT * FROM flights LIMIT ALL OFFSET 2
SELECT * FROM flights LIMIT 1 + 1
SELECT * FROM flights LIMIT (SELECT 2)
SELECT 'it''s', E'a\nb', $$dollar$$, $tag$with ' quote$tag$, U&'\0061', B'101', X'1F', 'two'\x0a'words'
SELECT 'it''s', 'a -- b', '/* no comment */', "f".origin FROM flights AS "f"
SELECT 1 /* a /* nested */ comment */ + 1 -- end
SELECT id FROM flights; -- with a comment
SELECT origin COLLATE "C", origin COLLATE pg_catalog."C" FROM flights ORDER BY origin COLLATE "C"
SELECT 1 OPERATOR(pg_catalog.+) 2, pg_catalog.upper('a'), '1'::pg_catalog.int4
SELECT f FROM flights f
SELECT (f).origin, (f.*) IS NULL FROM flights f
SELECT f.*, c.* FROM flights f, carriers c
SELECT row(1, 'a'), (1, 2) < (1, 3), ROW(1, NULL) IS NULL
SELECT NULL, true, false, 1.5e3, 0.1, 9223372036854775808, -1
SELECT count(*) FROM flights WHERE to_tsvector('simple', origin) @@ to_tsquery('simple', 'jfk')
SELECT int4range(1, 5) @> 3, daterange('2020-01-01', '2020-02-01') && daterange('2020-01-15', '2020-03-01'), lower(int4range(1, 5))
SELECT inet '192.168.1.1' << inet '192.168.1.0/24', host(inet '10.0.0.1'), point(1, 2) <-> point(3, 4)
SELECT gen_random_uuid() IS NOT NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
SELECT t.name, t.version FROM (SELECT name, code AS version FROM carriers) t
SELECT num_nulls(1, NULL), quote_literal('a'), ascii(normalize('a')), 'a' IS NORMALIZED
SELECT "weird column" FROM flights
SELECT price * 1.1 AS gross, sum(price) OVER () / nullif(count(*) OVER (), 0) FROM flights
SELECT origin, count(*)::float / sum(count(*)) OVER () AS share FROM flights GROUP BY origin
WITH monthly AS (SELECT date_trunc('month', day) AS month, sum(price) AS total FROM flights GROUP BY 1), growth AS (SELECT month, total, lag(total) OVER (ORDER BY month) AS before FROM monthly) SELECT month, round(100.0 * (total - before) / nullif(before, 0), 1) FROM growth ORDER BY month
SELECT 'it\'', (SELECT secret FROM salaries) --'
WITH a0 AS (SELECT origin AS c FROM flights), a1 AS (SELECT c || c AS c FROM a0), a2 AS (SELECT c || c AS c FROM a1), a3 AS (SELECT c || c AS c FROM a2), a4 AS (SELECT c || c AS c FROM a3), a5 AS (SELECT c || c AS c FROM a4), a6 AS (SELECT c || c AS c FROM a5), a7 AS (SELECT c || c AS c FROM a6), a8 AS (SELECT c || c AS c FROM a7), a9 AS (SELECT c || c AS c FROM a8), a10 AS MATERIALIZED (SELECT c || c AS c FROM a9), a11 AS (SELECT c || c AS c FROM a10), a12 AS (SELECT c || c AS c FROM a11), a13 AS (SELECT c || c AS c FROM a12), a14 AS (SELECT c || c AS c FROM a13) SELECT length(c) FROM a14
WITH a0 AS (SELECT origin AS c FROM flights), a1 AS (SELECT c || c AS c FROM a0), a2 AS (SELECT c || c AS c FROM a1), a3 AS (SELECT c || c AS c FROM a2), a4 AS (SELECT c || c AS c FROM a3), a5 AS (SELECT c || c AS c FROM a4), a6 AS (SELECT c || c AS c FROM a5), a7 AS (SELECT c || c AS c FROM a6), a8 AS (SELECT c || c AS c FROM a7), a9 AS (SELECT c || c AS c FROM a8), a10 AS MATERIALIZED (SELECT c || c AS c FROM a9), a11 AS (SELECT c || c AS c FROM a10), a12 AS (SELECT c || c AS c FROM a11), a13 AS (SELECT c || c AS c FROM a12), a14 AS (SELECT c || c AS c FROM a13), a15 AS (SELECT c || c AS c FROM a14), a16 AS (SELECT c || c AS c FROM a15), a17 AS (SELECT c || c AS c FROM a16), a18 AS (SELECT c || c AS c FROM a17), a19 AS (SELECT c || c AS c FROM a18) SELECT length(c) FROM a19 LIMIT 1
