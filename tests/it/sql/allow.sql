-- Statements that must pass, one a line. Tables: flights, carriers, weather, notes.
SELECT 1
SELECT count(*) FROM flights
SELECT * FROM flights LIMIT 5
FROM flights
FROM flights SELECT carrier, count(*) GROUP BY carrier
TABLE carriers
SELECT carrier, avg(dep_delay) AS mean FROM flights GROUP BY carrier ORDER BY mean DESC LIMIT 3
SELECT carrier, avg(dep_delay) FROM flights GROUP BY ALL ORDER BY ALL
SELECT f.carrier, c.name FROM flights f JOIN carriers c ON f.carrier = c.carrier
SELECT * FROM flights JOIN carriers USING (carrier)
SELECT * FROM flights NATURAL JOIN carriers
SELECT f.id FROM flights f LEFT JOIN weather w ON f.origin = w.origin AND f.day = w.day
SELECT f.id FROM flights f FULL OUTER JOIN carriers c ON f.carrier = c.carrier
SELECT * FROM carriers CROSS JOIN weather
SELECT * FROM flights, carriers WHERE flights.carrier = carriers.carrier
SELECT * FROM flights SEMI JOIN carriers USING (carrier)
SELECT * FROM flights ANTI JOIN carriers USING (carrier)
SELECT * FROM carriers POSITIONAL JOIN weather
SELECT f.id, w.temp FROM flights f ASOF JOIN weather w ON f.origin = w.origin AND f.day >= w.day
WITH late AS (SELECT * FROM flights WHERE dep_delay > 15) SELECT carrier, count(*) FROM late GROUP BY carrier
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
WITH a AS MATERIALIZED (SELECT carrier FROM flights) SELECT count(*) FROM a
WITH flights AS (SELECT * FROM carriers) SELECT * FROM flights
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n
WITH RECURSIVE n(i) AS (VALUES (1) UNION SELECT i * 2 FROM n WHERE i < 100) SELECT * FROM n
SELECT (SELECT max(dep_delay) FROM flights) AS worst
SELECT * FROM flights WHERE carrier IN (SELECT carrier FROM carriers WHERE name LIKE 'A%')
SELECT * FROM flights f WHERE EXISTS (SELECT 1 FROM weather w WHERE w.origin = f.origin)
SELECT * FROM flights WHERE dep_delay > ALL (SELECT temp FROM weather WHERE temp < 0)
SELECT * FROM (SELECT carrier, count(*) AS n FROM flights GROUP BY 1) AS t WHERE n > 1
SELECT f.carrier, x.n FROM carriers f, LATERAL (SELECT count(*) AS n FROM flights g WHERE g.carrier = f.carrier) x
SELECT carrier FROM flights UNION SELECT carrier FROM carriers
SELECT carrier FROM flights UNION ALL BY NAME SELECT carrier FROM carriers
SELECT carrier FROM flights INTERSECT SELECT carrier FROM carriers
SELECT carrier FROM flights EXCEPT SELECT carrier FROM carriers ORDER BY 1
(SELECT 1 AS a) UNION ALL (SELECT 2) ORDER BY a LIMIT 1 OFFSET 1
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)
SELECT DISTINCT carrier FROM flights
SELECT DISTINCT ON (carrier) carrier, dep_delay FROM flights ORDER BY carrier, dep_delay DESC
SELECT carrier, origin, count(*) FROM flights GROUP BY ROLLUP (carrier, origin)
SELECT carrier, origin, count(*) FROM flights GROUP BY CUBE (carrier, origin)
SELECT carrier, grouping(carrier), count(*) FROM flights GROUP BY GROUPING SETS ((carrier), ())
SELECT carrier, count(*) FROM flights GROUP BY carrier HAVING count(*) > 1
SELECT carrier, count(*) FILTER (WHERE dep_delay > 0) FROM flights GROUP BY carrier
SELECT id, row_number() OVER (PARTITION BY carrier ORDER BY dep_delay DESC) AS r FROM flights QUALIFY r = 1
SELECT id, lag(dep_delay, 1, 0) OVER (ORDER BY id) FROM flights
SELECT id, sum(dep_delay) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM flights
SELECT id, avg(dep_delay) OVER w FROM flights WINDOW w AS (PARTITION BY carrier)
SELECT id, first_value(carrier) OVER (ORDER BY id), ntile(4) OVER (ORDER BY id), percent_rank() OVER (ORDER BY id) FROM flights
SELECT id, last_value(dep_delay IGNORE NULLS) OVER (ORDER BY id) FROM flights
SELECT quantile_cont(dep_delay, 0.5), median(dep_delay), mode(carrier), stddev(dep_delay) FROM flights
SELECT quantile_cont(dep_delay, [0.25, 0.5, 0.75]) FROM flights
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY dep_delay) FROM flights
SELECT approx_count_distinct(carrier), approx_quantile(dep_delay, 0.5) FROM flights
SELECT corr(dep_delay, distance), regr_slope(dep_delay, distance), covar_pop(dep_delay, distance) FROM flights
SELECT string_agg(carrier, ', ' ORDER BY carrier) FROM carriers
SELECT list(carrier ORDER BY carrier) FROM carriers
SELECT arg_max(carrier, dep_delay), max_by(carrier, dep_delay), min_by(carrier, dep_delay) FROM flights
SELECT histogram(carrier) FROM flights
SELECT carrier, sum(distance) / nullif(count(*), 0) FROM flights GROUP BY carrier
SELECT CASE WHEN dep_delay > 15 THEN 'late' WHEN dep_delay > 0 THEN 'soon' ELSE 'ok' END AS state, count(*) FROM flights GROUP BY state
SELECT coalesce(dep_delay, 0), ifnull(dep_delay, 0), greatest(1, 2), least(1, 2) FROM flights
SELECT CAST(dep_delay AS VARCHAR), dep_delay::DOUBLE, TRY_CAST('x' AS INTEGER) FROM flights
SELECT 1::DECIMAL(10, 2), 'a'::VARCHAR, [1, 2]::INTEGER[], [1, 2]::DOUBLE[2]
SELECT {'a': 1, 'b': 'x'}::STRUCT(a INTEGER, b VARCHAR)
SELECT MAP {'a': 1}['a'], {'a': 1}.a, [1, 2, 3][1], [1, 2, 3][1:2], 'abc'[1]
SELECT date_trunc('month', day), count(*) FROM flights GROUP BY 1 ORDER BY 1
SELECT extract(year FROM day), year(day), month(day), dayname(day), strftime(day, '%Y-%m') FROM flights
SELECT date_diff('day', DATE '2013-01-01', day), day + INTERVAL 3 DAY, day - INTERVAL '1 month' FROM flights
SELECT DATE '2013-01-01', TIMESTAMP '2013-01-01 10:00:00', TIME '10:00:00', INTERVAL 1 YEAR
SELECT current_date, current_timestamp, now(), today(), localtimestamp, current_time, localtime
SELECT time_bucket(INTERVAL 7 DAY, day), count(*) FROM flights GROUP BY 1
SELECT make_date(2013, 1, 1), epoch_ms(0), to_timestamp(0), age(DATE '2013-01-01', DATE '2012-01-01')
SELECT * FROM flights WHERE day BETWEEN DATE '2013-01-01' AND DATE '2013-01-31'
SELECT * FROM flights WHERE dep_delay NOT BETWEEN 0 AND 10 AND carrier NOT IN ('AA', 'UA')
SELECT * FROM flights WHERE carrier IS NOT NULL AND dep_delay IS NULL OR NOT (id = 1)
SELECT * FROM flights WHERE carrier IS DISTINCT FROM 'AA'
SELECT * FROM carriers WHERE name LIKE '%Air%' OR name ILIKE '%jet%' OR name NOT LIKE 'x\_%' ESCAPE '\'
SELECT * FROM carriers WHERE name SIMILAR TO '.*Air.*' OR regexp_matches(name, 'Air') OR name ~ 'x' OR name GLOB 'A*'
SELECT regexp_extract(name, '([A-Z]+)', 1), regexp_replace(name, 'a', 'b', 'g') FROM carriers
SELECT upper(name), lower(name), length(name), trim(name), substr(name, 1, 3), left(name, 2), replace(name, 'a', 'b') FROM carriers
SELECT name || ' (' || carrier || ')' FROM carriers
SELECT concat(name, '-', carrier), concat_ws(', ', name, carrier), split_part(name, ' ', 1), string_split(name, ' ') FROM carriers
SELECT lpad(carrier, 5, '0'), rpad(carrier, 5, ' '), repeat('x', 10), reverse(carrier) FROM carriers
SELECT printf('%05.2f', 1.5), format('{} of {}', 1, 2), printf('%s: %d', 'a', 1)
SELECT round(1.234, 2), floor(1.5), ceil(1.5), abs(-1), sqrt(4), power(2, 10), ln(2), 7 // 2, 7 % 2, 2 ** 3, -dep_delay FROM flights
SELECT starts_with(name, 'A'), contains(name, 'i'), name.upper().length() FROM carriers
SELECT list_transform([1, 2, 3], lambda x: x + 1), list_filter([1, 2, 3], lambda x: x > 1), list_reduce([1, 2, 3], lambda a, b: a + b)
SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]
SELECT list_sum([1, 2]), list_sort([2, 1]), list_distinct([1, 1]), list_contains([1], 1), len([1, 2]), list_aggregate([1, 2], 'sum')
SELECT unnest([1, 2, 3]), unnest({'a': 1, 'b': 2})
SELECT * FROM unnest([1, 2, 3]) AS t(x)
SELECT * FROM range(10) AS t(i)
SELECT * FROM generate_series(1, 10, 2) AS t(i)
SELECT CAST(d AS DATE) FROM generate_series(DATE '2013-01-01', DATE '2013-01-31', INTERVAL 1 DAY) AS t(d)
SELECT unnest(generate_series(DATE '2013-01-01', DATE '2013-01-31', INTERVAL 1 DAY)) AS d
SELECT range(5), generate_series(1, 5), list_transform(range(1, 4), lambda i: i * i)
SELECT c.carrier, t.i FROM carriers c, range(2) AS t(i)
SELECT '{"a": {"b": 1}}'::JSON -> 'a' ->> 'b', json_extract('{"a": 1}', '$.a'), json_extract_string('{"a": "x"}', '$.a')
SELECT to_json({'a': 1}), json_object('a', 1), json_array(1, 2), json_keys('{"a": 1}'), json_valid('{')
SELECT * FROM json_each('{"a": 1, "b": 2}')
SELECT body ->> 'kind' FROM notes
SELECT * EXCLUDE (dep_delay) FROM flights
SELECT * REPLACE (upper(carrier) AS carrier) FROM flights
SELECT * RENAME (carrier AS airline) FROM flights
SELECT f.* FROM flights f
SELECT COLUMNS('dep_.*') FROM flights
SELECT COLUMNS(lambda c: c LIKE 'dep%') FROM flights
SELECT min(COLUMNS(* EXCLUDE (carrier, origin, day))) FROM flights
SELECT count(*), max(COLUMNS(*)) FROM weather
SELECT * LIKE 'dep%' FROM flights
DESCRIBE flights
DESCRIBE SELECT carrier, count(*) FROM flights GROUP BY carrier
SUMMARIZE flights
SUMMARIZE SELECT dep_delay FROM flights
SELECT column_name, column_type FROM (DESCRIBE flights)
PIVOT flights ON origin IN ('JFK', 'LGA') USING count(*) GROUP BY carrier
SELECT * FROM flights PIVOT (count(*) FOR origin IN ('JFK', 'LGA') GROUP BY carrier)
UNPIVOT weather ON temp, wind INTO NAME measure VALUE amount
SELECT * FROM flights USING SAMPLE 2
SELECT * FROM flights TABLESAMPLE 50 PERCENT (bernoulli)
SELECT * FROM flights ORDER BY dep_delay DESC NULLS LAST, id LIMIT 10 OFFSET 2
SELECT * FROM flights LIMIT 10%
SELECT hash(carrier), md5(carrier), sha256(carrier), uuid() IS NOT NULL, random() < 2 FROM carriers
SELECT typeof(dep_delay), pg_typeof(carrier), alias(carrier) FROM flights
SELECT 'it''s', E'a\nb', $$dollar 'quoted'$$, 'DROP TABLE x; --', '/* not */ a comment'
SELECT 1 -- a comment; DELETE FROM flights
SELECT 1 /* a /* nested */ comment */ + 1
SELECT 1;
SELECT 1 AS "select", 2 AS "a b", 3 AS "x""y"
SELECT "carrier" FROM "flights" AS "F"
select CARRIER from FLIGHTS where Flights.Carrier = 'AA'
SELECT n: count(*), who: carrier FROM flights GROUP BY who
SELECT xor(1, 2), 5 & 3, 5 | 3, 1 << 4, ~5, 5 != 3, 5 <> 3, 'a' ^@ 'a'
SELECT 1_000, 0x1F, 1e3, .5, 1.5e-3, true, NULL
SELECT row(1, 'a'), (1, 2) = (1, 2), struct_pack(a := 1)
SELECT max(dep_delay, 3), min(carrier, 2) FROM flights
SELECT bar(dep_delay, 0, 100, 10), ascii('a'), chr(65), levenshtein('ab', 'abc'), jaccard('ab', 'abc') FROM flights
SELECT a || b || c || d || e || f || g || h || i || j || k || l || m || n || o || p || q || r || s || t || u || v || w || x || y || z || a || b || c || d || e || f || g || h || i || j || k || l || m || n || o FROM (SELECT 'a' a, 'b' b, 'c' c, 'd' d, 'e' e, 'f' f, 'g' g, 'h' h, 'i' i, 'j' j, 'k' k, 'l' l, 'm' m, 'n' n, 'o' o, 'p' p, 'q' q, 'r' r, 's' s, 't' t, 'u' u, 'v' v, 'w' w, 'x' x, 'y' y, 'z' z)
SELECT 'x\'' , (SELECT s FROM secret) --'
SELECT * FROM flights "a\"" , secret --"
SELECT now() - INTERVAL 1 DAY, date_trunc('day', now()), extract(year FROM current_timestamp), now()::DATE, age(DATE '2013-01-01')
SELECT count(*) FROM flights WHERE day > now() - INTERVAL '20 years' AND date_diff('day', day, current_timestamp) > 0
SELECT CAST(to_timestamp(0) AS TIMESTAMP) AT TIME ZONE 'UTC', TIMESTAMP '2013-01-01 10:00:00' AT TIME ZONE 'UTC'
SELECT min(COLUMNS(['dep_delay', 'distance'])) FROM flights
SELECT COLUMNS(lambda c: c IN ('id', 'day') OR list_contains(['origin'], c)) FROM flights
SELECT * FROM range((SELECT count(*) FROM carriers)) AS t(i)
SELECT * FROM generate_series(1, (SELECT max(id) FROM flights)) AS t(i)
SELECT * FROM generate_series(date_trunc('month', DATE '2013-01-15'), last_day(DATE '2013-01-15'), INTERVAL 1 DAY) AS t(d)
SELECT * FROM range(len([1, 2, 3])) AS t(i)
SELECT n.body, e.key FROM notes n, json_each(n.body::JSON) e
SELECT e.key FROM (SELECT '{"a": {"b": 1}}'::JSON AS j) t, json_each(t.j -> 'a') e
SELECT * FROM flights ORDER BY id LIMIT (SELECT count(*) FROM carriers)
SELECT carrier, repeat('#', CAST(count(*) / 2 AS INTEGER)) AS bar FROM flights GROUP BY carrier
SELECT rpad(name, (SELECT max(length(name)) FROM carriers), ' '), lpad(rpad(carrier, 4, ' '), 6, ' ') FROM carriers
SELECT lpad(printf('%d', id), 5, '0'), format('{}|{}', lpad(carrier, 3, ' '), repeat('-', 3)) FROM flights
SELECT [i * i FOR i IN range(1, id + 1)], unnest(range(id)) FROM flights
SELECT list_transform(range(100), lambda x: repeat('x', x))
SELECT unnest(generate_series(min(day), max(day), INTERVAL 1 DAY)) AS d FROM flights
SELECT unnest(generate_series(DATE '2013-01-01', DATE '2013-12-31', INTERVAL '1 day')) AS d
SELECT generate_series(TIMESTAMP '2013-01-01', TIMESTAMP '2013-01-02', INTERVAL 30 MINUTE), range(TIMESTAMP '2013-01-01', TIMESTAMP '2013-01-02', INTERVAL '15 minutes')
SELECT repeat('x', 5::BIGINT), lpad('x', CAST(5 AS INTEGER), 'y'), format('{}'::VARCHAR, 1), list_resize([1], 3::INT)
SELECT reservoir_quantile(dep_delay, 0.5), reservoir_quantile(dep_delay, 0.5, 1000) FROM flights
SELECT unnest(range('2013-01-01'::DATE, CAST('2013-02-01' AS DATE), INTERVAL 1 DAY)) AS d
SELECT generate_series(TIMESTAMP '2013-01-01T00:00:00', TIMESTAMP '2013-01-02 00:00:00', INTERVAL 1 HOUR)
SELECT f.id FROM flights f RIGHT JOIN carriers c USING (carrier)
WITH RECURSIVE r(k, v) USING KEY (k, max(v)) AS (SELECT 1, 2 UNION SELECT k + 1, v FROM r WHERE k < 3) SELECT * FROM r
WITH RECURSIVE r(k, v) USING KEY (k) AS (SELECT 1, 2 UNION SELECT k + 1, v FROM r WHERE k < 3) SELECT * FROM r
