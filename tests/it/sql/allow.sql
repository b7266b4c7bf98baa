-- Statements that must run, one a line; `\x0a` stands for LF. Tables: flights, carriers, weather, notes, and three with
-- awkward names: order, Größe 🦆, it's "it".
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
SELECT id, current_user FROM (SELECT id, carrier AS current_user FROM flights)
WITH a AS NOT MATERIALIZED (SELECT 1 AS x) SELECT * FROM a
WITH a AS NOT MATERIALIZED (SELECT 1 x), b AS NOT MATERIALIZED (SELECT a.x FROM a, a c) SELECT * FROM b
WITH late AS NOT MATERIALIZED (FROM flights WHERE dep_delay > 10) SELECT carrier, count(*) FROM late GROUP BY ALL
SELECT * FROM "order"
SELECT c_select, "c_select", "Größe", größe, a_b FROM "order"
SELECT "order".c_select FROM "order" ORDER BY "order".c_select
SELECT o.* FROM "order" AS o
SELECT "table".* FROM "order" AS "table"
SELECT * FROM "Größe 🦆"
SELECT g.x FROM "Größe 🦆" AS g JOIN "it's ""it""" AS i USING (x)
SELECT count(*) FROM "it's ""it"""
SUMMARIZE "Größe 🦆"
SELECT sum("select") AS "sum", count(*) AS "count" FROM (SELECT 1 AS "select", 2 AS "group") GROUP BY "group"
SELECT o."Größe", o."a b", o."x""y", o."🦆" FROM (SELECT 1 AS "Größe", 2 AS "a b", 3 AS "x""y", 4 AS "🦆") o
SELECT "end", "user", "values", "window" FROM (SELECT 1 AS "end", 2 AS "user", 3 AS "values", 4 AS "window")
SELECT current_schema FROM (VALUES (1)) t(current_schema)
SELECT t.session_user FROM (SELECT 1 AS session_user) t
SELECT year, month, day FROM (SELECT 2024 AS year, 1 AS month, 2 AS day)
SELECT date, time, timestamp, interval FROM (SELECT DATE '2024-01-01' AS date, TIME '10:00' AS time, TIMESTAMP '2024-01-01' AS timestamp, INTERVAL 1 DAY AS interval)
SELECT type, name, value, key, text, data, index, view, row FROM (SELECT 1 AS type, 2 AS name, 3 AS value, 4 AS key, 5 AS text, 6 AS data, 7 AS index, 8 AS view, 9 AS row)
SELECT 'DROP TABLE flights' AS text, 'read_csv(''/etc/passwd'')' AS more, 'COPY x TO y' AS third
SELECT * FROM flights WHERE carrier = 'SELECT' OR carrier = '; DELETE' OR carrier LIKE '%--%'
SELECT a_name_of_sixty_three_characters_that_is_as_long_as_postgres_has AS a_name_of_sixty_three_characters_that_is_as_long_as_postgres_hav FROM (SELECT 1 AS a_name_of_sixty_three_characters_that_is_as_long_as_postgres_has)
SELECT 'Привет' AS "имя", '你好' AS "名字", '🦆🦆' AS "🦆", length('🦆🦆')
SELECT 1 AS a, 2 AS a, 3 AS A
SELECT * FROM flights f, flights g WHERE f.id = g.id LIMIT 3
/* leading */ SELECT 1 /* trailing */ ; -- end
SELECT 1 ;;
SELECT $tag$it's $$ fine$tag$, $$x$$ || 'y'
SELECT E'tab\tnew\nline', 'multi\x0aline'
SELECT now(), current_timestamp, transaction_timestamp(), get_current_timestamp(), current_localtimestamp()
SELECT now() - INTERVAL '30 days', now() + INTERVAL 1 MONTH, INTERVAL 1 HOUR + now()
SELECT now()::DATE, CAST(now() AS DATE), CAST(current_timestamp AS TIME), now()::TIMESTAMP, now()::VARCHAR
SELECT date_trunc('hour', now()), date_part('dow', now()), extract(epoch FROM now()), year(now()), dayname(now())
SELECT now() > TIMESTAMP '2020-01-01', now() > DATE '2020-01-01', now() BETWEEN DATE '2020-01-01' AND DATE '2120-01-01'
SELECT age(now()), age(TIMESTAMPTZ '2024-01-02', TIMESTAMPTZ '2024-01-01'), now() - TIMESTAMPTZ '2020-01-01' > INTERVAL 0 DAY
SELECT date_diff('day', day, now()), datediff('month', day, current_date), date_sub('year', day, today()) FROM flights
SELECT CAST(day AS TIMESTAMP) AT TIME ZONE 'Europe/Berlin' FROM flights
SELECT (CAST(day AS TIMESTAMP) AT TIME ZONE 'UTC') AT TIME ZONE 'America/New_York' AS local FROM flights
SELECT day AT TIME ZONE 'Asia/Kolkata' FROM flights
SELECT timezone('Australia/Lord_Howe', TIMESTAMP '2024-01-01'), TIMESTAMPTZ '2024-01-01 00:00:00+05:30' AT TIME ZONE 'UTC'
SELECT TIMESTAMPTZ '2024-01-01 10:00:00 Europe/Berlin', '2024-01-01 10:00:00 America/New_York'::TIMESTAMPTZ
SELECT date_trunc('day', CAST(day AS TIMESTAMPTZ)) AS d, count(*) FROM flights GROUP BY date_trunc('day', CAST(day AS TIMESTAMPTZ)) ORDER BY d
SELECT to_timestamp(id * 86400)::DATE AS d, count(*) FROM flights GROUP BY ALL ORDER BY d
SELECT max(to_timestamp(id))::DATE, min(to_timestamp(id)) + INTERVAL 1 DAY FROM flights
SELECT time_bucket(INTERVAL '1 hour', to_timestamp(id * 1000)) AS h, sum(distance) FROM flights GROUP BY h ORDER BY h
SELECT list_transform([now()], lambda t: t - INTERVAL 1 DAY)
SELECT * FROM generate_series(TIMESTAMPTZ '2024-01-01', TIMESTAMPTZ '2024-01-03', INTERVAL 1 DAY) AS t(d)
SELECT range(TIMESTAMPTZ '2024-01-01', TIMESTAMPTZ '2024-01-03', INTERVAL 12 HOUR)
SELECT make_timestamptz(2024, 1, 1, 10, 0, 0), make_timestamptz(2024, 1, 1, 10, 0, 0, 'Europe/Berlin'), make_timestamptz(0)
SELECT strftime(now(), '%Y-%m-%d'), strptime('2024-01-01 +0200', '%Y-%m-%d %z'), try_strptime('x', '%Y')
SELECT epoch_ms(now()) > 0, epoch(now()) > 0, epoch_us(now()) > 0, epoch_ns(now()) > 0
SELECT ago(INTERVAL 1 DAY) < now(), date_add(now(), INTERVAL 1 DAY) > now()
SELECT last_day(now()), monthname(now()), isodow(now()), week(now()), quarter(now()), hour(now()), minute(now())
SELECT TIMETZ '10:00:00+02', 12345678901234567890123456789012345678901234567890::BIGNUM
SELECT {'a': 1}::VARIANT, [1::BIGNUM], MAP {'k': TIMETZ '10:00:00+02'}
SELECT 1::BIGNUM AS a, 2::BIGNUM AS a FROM flights ORDER BY id DESC LIMIT 2
SELECT '0101'::BIT, bit_count('0101'::BIT), '01'::BIT || '10'::BIT, bitstring('01', 8), get_bit('0110'::BIT, 1)
SELECT 'a'::ENUM('a', 'b'), enum_range(NULL::ENUM('a', 'b')), ['a']::ENUM('a', 'b')[]
SELECT union_value(k := 1), union_tag(union_value(k := 1)), 1::UNION(num INTEGER, str VARCHAR)
SELECT 'infinity'::DATE, '-infinity'::TIMESTAMP, 'infinity'::TIMESTAMPTZ, isinf('infinity'::DATE), isfinite(1.0)
SELECT 170141183460469231731687303715884105727::HUGEINT, '-170141183460469231731687303715884105728'::HUGEINT, 340282366920938463463374607431768211455::UHUGEINT
SELECT 'NaN'::FLOAT, 'inf'::DOUBLE, -'inf'::DOUBLE, isnan('nan'::DOUBLE)
SELECT INTERVAL '1 year 2 months 3 days 04:05:06', INTERVAL (2) DAY, INTERVAL 1 WEEK, to_days(3), -INTERVAL 1 DAY
SELECT INTERVAL '3' HOUR * 2, INTERVAL 1 DAY / 2, INTERVAL 90 MINUTE > INTERVAL 1 HOUR
SELECT '\xAA\x00'::BLOB, encode('ä'), decode('\xC3\xA4'::BLOB), octet_length('\xC3\xA4'::BLOB), to_hex(255), unhex('FF'), from_base64('YWI='), base64('ab'::BLOB)
SELECT MAP {'a': 1, 'b': 2}, MAP([1, 2], ['x', 'y']), map_keys(MAP {1: 2}), map_values(MAP {1: 2}), map_entries(MAP {1: 2}), MAP {'a': 1}.a
SELECT cardinality(MAP {1: 2}), map_contains(MAP {1: 2}, 1), map_concat(MAP {1: 2}, MAP {3: 4}), map_from_entries([(1, 'a')]), map_extract(MAP {1: 2}, 1)
SELECT {'x': 1, 'y': {'z': [1, 2]}}, struct_insert({'a': 1}, b := 2), struct_extract({'a': 1}, 'a'), {'a': 1}['a'], struct_keys({'a': 1})
SELECT s.* FROM (SELECT {'a': 1, 'b': 2} AS s)
SELECT s.a, s['b'] FROM (SELECT {'a': 1, 'b': 2} AS s)
SELECT row(1, 'a'), (1, 2, 3), row(1, 2)[1]
SELECT unnest([{'a': 1, 'b': [1, 2]}], recursive := true)
SELECT unnest({'a': 1, 'b': {'c': 2}}, recursive := true)
SELECT unnest([[1, 2], [3]], max_depth := 2)
SELECT id, unnest([1, 2]) AS u, unnest(['a', 'b', 'c']) AS v FROM flights LIMIT 6
SELECT generate_subscripts([10, 20, 30], 1) AS i, unnest([10, 20, 30]) AS v
SELECT * FROM unnest([1, 2, 3]) WITH ORDINALITY AS t(x, n)
SELECT list_value(1, 2), list_concat([1], [2]), [1] || [2], list_slice([1, 2, 3], 1, 2), [1, 2, 3][-1], [1, 2, 3][:2], [1, 2, 3, 4][1:4:2]
SELECT list_append([1], 2), list_prepend(0, [1]), list_position([1, 2], 2), list_has_any([1], [1, 2]), list_has_all([1, 2], [1]), list_intersect([1, 2], [2])
SELECT list_aggregate([1, 2, 3], 'avg'), list_aggr([1, 2], 'string_agg', '-'), list_min([1, 2]), list_max([1, 2]), list_avg([1, 2]), list_median([1, 2, 3])
SELECT list_reverse([1, 2]), list_sort([3, 1, 2], 'DESC', 'NULLS FIRST'), list_reverse_sort([1, 2]), list_grade_up([3, 1]), list_unique([1, 1]), flatten([[1], [2]])
SELECT list_zip([1, 2], ['a', 'b']), array_to_string([1, 2], ','), list_where([1, 2], [true, false]), list_select([1, 2, 3], [1, 3]), list_resize([1], 3)
SELECT list_cosine_similarity([1.0, 2.0], [2.0, 1.0]), list_distance([1.0], [2.0]), array_cross_product([1.0, 2.0, 3.0]::FLOAT[3], [2.0, 3.0, 4.0]::FLOAT[3]), list_dot_product([1], [2])
SELECT list_transform([1, 2], lambda x, i: x * i), list_filter([1, 2, 3], lambda x: x % 2 = 1), list_reduce([1, 2, 3], lambda acc, x: acc + x, 10)
SELECT [x + 1 FOR x IN [1, 2, 3]], [x FOR x, i IN [10, 20, 30] IF i > 1], [upper(s) FOR s IN ['a', 'b'] IF s <> 'a']
SELECT list_transform(list_filter([1, 2, 3, 4], lambda x: x > 1), lambda x: list_transform([x], lambda y: y * 10))
SELECT [1, 2]::INTEGER[2], array_value(1, 2), array_distance([1.0, 2.0]::FLOAT[2], [2.0, 3.0]::FLOAT[2]), array_inner_product([1.0]::FLOAT[1], [2.0]::FLOAT[1])
SELECT f.id, c.name FROM flights f INNER JOIN carriers c USING (carrier) WHERE f.id < 3
SELECT f.id, w.temp FROM flights f ASOF LEFT JOIN weather w ON f.origin = w.origin AND f.day >= w.day ORDER BY f.id
SELECT * FROM flights f JOIN LATERAL (SELECT max(temp) AS warmest FROM weather w WHERE w.origin = f.origin) w ON true
SELECT * FROM flights f LEFT JOIN LATERAL unnest([f.id, f.id + 1]) AS u(x) ON true LIMIT 4
SELECT f.id FROM flights f RIGHT JOIN carriers USING (carrier)
SELECT a.i, b.i FROM range(3) a(i) JOIN range(3) b(i) ON a.i < b.i
SELECT q.id, p.id FROM (SELECT 1 AS id, [1.0, 0.0]::FLOAT[2] AS e) q JOIN (SELECT 2 AS id, [0.0, 1.0]::FLOAT[2] AS e) p EXACT NEAREST 1 BY DISTANCE array_distance(q.e, p.e)
FROM flights SELECT id WHERE dep_delay > 0 ORDER BY id LIMIT 2
FROM flights WHERE id < 3
FROM (FROM flights LIMIT 3) SELECT count(*)
FROM flights f JOIN carriers c USING (carrier) SELECT c.name, count(*) GROUP BY ALL
SELECT carrier, count(*) FROM flights GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL DESC
SELECT origin, carrier, grouping_id(origin, carrier), sum(distance) FROM flights GROUP BY GROUPING SETS ((origin, carrier), (origin), ())
SELECT origin, sum(distance) FROM flights GROUP BY ROLLUP (origin) ORDER BY origin NULLS LAST
SELECT carrier, origin, count(*) FROM flights GROUP BY carrier, CUBE (origin)
SELECT carrier, max(dep_delay) FILTER (WHERE origin = 'JFK') AS jfk, count(DISTINCT origin), sum(DISTINCT distance) FROM flights GROUP BY carrier
SELECT carrier, list(id ORDER BY dep_delay DESC)[1:2], string_agg(DISTINCT origin, '/' ORDER BY origin), array_agg(id) FILTER (id > 3) FROM flights GROUP BY carrier
SELECT first(id ORDER BY day), last(id ORDER BY day), any_value(carrier), arbitrary(carrier), bool_and(id >= 0), bool_or(id > 5), product(1 + id % 2) FROM flights
SELECT arg_max(id, dep_delay, 2), min_by(id, dep_delay), max(id, 3), count_if(id > 3), countif(id > 3), sum(id) / count(*) FROM flights
SELECT mode(carrier), entropy(carrier), skewness(id), kurtosis(id), var_pop(id), var_samp(id), stddev_pop(id), sem(id), mad(id), geomean(id + 1), favg(id), fsum(id) FROM flights
SELECT quantile_disc(id, 0.5), quantile_cont(id, [0.25, 0.75]), quantile(id, 0.5), percentile_disc(0.5) WITHIN GROUP (ORDER BY id DESC), mode() WITHIN GROUP (ORDER BY carrier), approx_quantile(id, [0.5, 0.9]), reservoir_quantile(id, 0.5) FROM flights
SELECT approx_count_distinct(id), approx_top_k(carrier, 2), histogram(carrier), histogram(id, [5, 10]), bit_and(id), bit_or(id), bit_xor(id), bitstring_agg(id, 0, 31) FROM flights
SELECT regr_slope(id, distance), regr_intercept(id, distance), regr_r2(id, distance), regr_count(id, distance), corr(id, distance), covar_samp(id, distance) FROM flights
SELECT weighted_avg(dep_delay, distance), kahan_sum(id), sum_no_overflow(id::INTEGER), max_by(carrier, dep_delay, 2) FROM flights
SELECT json_group_array(carrier), json_group_object(carrier, name), json_group_structure(to_json(carrier)) FROM carriers
SELECT id, row_number() OVER (), rank() OVER (ORDER BY carrier), dense_rank() OVER (ORDER BY carrier), cume_dist() OVER (ORDER BY id), nth_value(id, 2) OVER (ORDER BY id), lead(id, 2, -1) OVER (ORDER BY id) FROM flights
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM flights
SELECT id, avg(dep_delay) OVER (ORDER BY day RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND INTERVAL 3 DAYS FOLLOWING) FROM flights
SELECT id, sum(id) OVER (ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM flights
SELECT id, count(*) FILTER (WHERE dep_delay > 0) OVER (PARTITION BY carrier ORDER BY id), count(DISTINCT origin) OVER (PARTITION BY carrier) FROM flights
SELECT id, lag(dep_delay IGNORE NULLS) OVER w, first_value(dep_delay) OVER w FROM flights WINDOW w AS (PARTITION BY carrier ORDER BY id), v AS (w ROWS 2 PRECEDING)
SELECT id, fill(dep_delay) OVER (ORDER BY id), quantile_cont(dep_delay, 0.5) OVER (ORDER BY id ROWS 3 PRECEDING) FROM flights
SELECT id FROM flights QUALIFY row_number() OVER (PARTITION BY carrier ORDER BY dep_delay DESC, id) <= 2
SELECT carrier, sum(count(*)) OVER () FROM flights GROUP BY carrier
SELECT carrier, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM flights GROUP BY carrier ORDER BY share DESC
WITH RECURSIVE tree(n, path) AS (SELECT 1, [1] UNION ALL SELECT n + 1, list_append(path, n + 1) FROM tree WHERE n < 4) SELECT * FROM tree
WITH RECURSIVE t(a, b) USING KEY (a) AS (SELECT 1, 1 UNION SELECT a, b + 1 FROM t WHERE b < 3) SELECT * FROM t
WITH t(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT * FROM t
WITH t AS (SELECT 1 AS a), u AS MATERIALIZED (SELECT a + 1 AS a FROM t) SELECT * FROM t UNION ALL FROM u ORDER BY a
WITH a AS (WITH b AS (SELECT 1 AS x) SELECT x FROM b) SELECT * FROM a
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) v(n, s) WHERE s IS NULL
VALUES (1), (2) ORDER BY 1 DESC LIMIT 1
SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 EXCEPT SELECT 1 ORDER BY 1
SELECT 1 AS a UNION BY NAME SELECT 2 AS b
SELECT carrier FROM flights INTERSECT ALL SELECT carrier FROM carriers
SELECT carrier FROM flights EXCEPT ALL SELECT carrier FROM carriers
(SELECT id FROM flights ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM flights ORDER BY id DESC LIMIT 1)
SELECT * EXCLUDE (id, day) REPLACE (dep_delay / 60 AS dep_delay) FROM flights
SELECT * EXCLUDE id FROM flights
SELECT f.* EXCLUDE (id), c.name FROM flights f JOIN carriers c USING (carrier)
SELECT * RENAME (id AS flight_id, day AS flight_day) FROM flights
SELECT * LIKE 'd%' FROM flights
SELECT * NOT LIKE 'd%' FROM flights
SELECT * ILIKE 'D%' FROM flights
SELECT * SIMILAR TO 'd.*' FROM flights
SELECT * GLOB 'd*' FROM flights
SELECT COLUMNS('(dep)_(delay)') AS '\2_\1' FROM flights
SELECT COLUMNS(* EXCLUDE (id)) FROM flights
SELECT COLUMNS([x FOR x IN (*) IF x LIKE 'd%']) FROM flights
SELECT COLUMNS(['id', 'day']), max(COLUMNS(['id'])) OVER () FROM flights
SELECT coalesce(*COLUMNS('dep.*|distance')) FROM flights
SELECT sum(COLUMNS('d(ep_delay|istance)')) FROM flights
SELECT count(COLUMNS(*)) FROM flights
SELECT * FROM flights WHERE COLUMNS('dep_delay|distance') > 0
SELECT n: carrier, total: sum(distance) FROM flights GROUP BY n
SELECT a: 1, b: 'x'
SELECT #1, #2 FROM flights
SELECT flights FROM flights LIMIT 1
SELECT f FROM flights f LIMIT 1
SELECT carrier.lower().upper().left(1) FROM flights
SELECT 'a,b'.string_split(',').list_transform(lambda x: x.upper())
SELECT [3, 1, 2].list_sort().list_reverse()
SELECT name[1], name[1:3], name[-2:], name[:-2] FROM carriers
SELECT id IN (1, 2, 3), id NOT IN (SELECT id FROM flights WHERE id > 5), 1 IN [1, 2], (id, carrier) IN (SELECT id, carrier FROM flights) FROM flights
SELECT id = ANY (SELECT 1), id > ALL (SELECT -1), EXISTS (FROM carriers), NOT EXISTS (FROM carriers WHERE false) FROM flights
SELECT carrier LIKE 'A_', carrier ILIKE 'a%', carrier GLOB '[A-B]*', carrier SIMILAR TO '[A-Z]+', carrier ~ 'A', carrier !~~ 'x', carrier NOT ILIKE 'b%' FROM flights
SELECT 'a' ^@ 'a', 'a' || 1, 'a' < 'b', 'A' COLLATE NOCASE = 'a', 'ä' COLLATE NOACCENT = 'a'
SELECT 7 / 2, 7 // 2, 7 % 3, 2 ** 3, 2 ^ 3, 5!, @(-3), 6 & 3, 6 | 3, 1 << 3, 8 >> 1, ~1, xor(5, 1), -(-1), +1
SELECT 1 = 1.0, 1 <> 2, 1 != 2, NULL IS DISTINCT FROM 1, 1 IS NOT DISTINCT FROM 1, true IS NOT NULL, NOT false, true AND NULL, 2 BETWEEN 1 AND 3
SELECT try(1 / 0), try('x'::INTEGER), TRY_CAST('x' AS DATE), coalesce(NULL, 1), ifnull(NULL, 1), nullif(1, 1), if(true, 1, 2), least(1, 2), greatest(1, 2)
SELECT CASE carrier WHEN 'AA' THEN 1 ELSE 0 END, CASE WHEN id > 3 THEN 'big' END, iff FROM (SELECT carrier, id, 1 AS iff FROM flights)
SELECT 0b1010, 0xFF, 1e-3, 1_000_000, .5, 5.
SELECT trunc(1.7), round(-1.5), round(1234, -2), round_even(0.5, 0), sign(-2), cbrt(27), exp(1), ln(1), log(10), log2(8), log(2, 8), pi(), degrees(pi()), radians(180)
SELECT sin(0), cos(0), tan(0), asin(0), acos(1), atan(0), atan2(0, 1), sinh(0), cosh(0), tanh(0), cot(1), gcd(12, 8), lcm(4, 6), factorial(5), even(2.5), nextafter(1.0, 2.0), gamma(5), lgamma(5), fdiv(1, 2), fmod(5, 3), isfinite(1.0), signbit(-1.0)
SELECT random() BETWEEN 0 AND 1, uuid() IS NOT NULL, gen_random_uuid() IS NOT NULL, uuidv7() IS NOT NULL, hash('a'), md5('a'), sha1('a'), sha256('a'), md5_number('a')
SELECT concat('a', NULL, 'b'), concat_ws('-', 'a', NULL, 'b'), 'a' || 'b', format('{:,}', 1234567), format('{:.2f} {}', 1.5, 'x'), printf('%d%%', 5), format_bytes(1000), formatReadableSize(1000), format('{:t>5}', 'x')
SELECT upper('a'), ucase('a'), lower('A'), lcase('A'), initcap FROM (SELECT 1 AS initcap)
SELECT trim('  a '), ltrim('xa', 'x'), rtrim('ax', 'x'), trim(BOTH 'x' FROM 'xax'), trim(LEADING FROM ' a'), left('abc', 2), right('abc', 2), left('abc', -1), substring('abc' FROM 2 FOR 1), substr('abc', 2)
SELECT position('b' IN 'abc'), strpos('abc', 'b'), instr('abc', 'b'), contains('abc', 'b'), starts_with('abc', 'a'), ends_with('abc', 'c'), prefix('abc', 'a'), suffix('abc', 'c')
SELECT replace('abc', 'b', 'x'), translate('abc', 'ab', 'xy'), reverse('abc'), repeat('ab', 3), lpad('1', 3, '0'), rpad('1', 3, '0'), overlay('abcdef' PLACING 'xx' FROM 2 FOR 3), ascii('a'), chr(97), unicode('ä'), ord('a')
SELECT split_part('a-b-c', '-', 2), string_split('a b', ' '), str_split('a,b', ','), 'a,b'.split(','), string_split_regex('a1b2', '\d'), regexp_split_to_array('a b', ' '), regexp_split_to_table('a b', ' ')
SELECT regexp_matches('abc', 'b'), regexp_full_match('abc', 'a.c'), regexp_extract('abc', '(b)(c)', 2), regexp_extract('2024-01', '(\d+)-(\d+)', ['y', 'm']), regexp_extract_all('a1b2', '\d'), regexp_replace('abc', '[ab]', 'x', 'g'), regexp_escape('a.b')
SELECT levenshtein('a', 'b'), damerau_levenshtein('ab', 'ba'), hamming('ab', 'ac'), jaccard('ab', 'ac'), jaro_similarity('ab', 'ac'), jaro_winkler_similarity('ab', 'ac'), editdist3('a', 'b'), mismatches('ab', 'ac'), strip_accents('é'), nfc_normalize('é'), length_grapheme('🦆'), bar(5, 0, 10)
SELECT url_encode('a b'), url_decode('a%20b'), to_base(10, 2), bin(5), hex('a'), to_binary('a'), parse_path('a/b'), parse_filename('a/b.c'), parse_dirname('a/b'), bit_length('a'), strlen('ä'), len('abc'), char_length('abc'), length([1, 2])
SELECT date_trunc('week', DATE '2024-02-15'), date_trunc('quarter', TIMESTAMP '2024-02-15 10:00:00'), DATE '2024-02-15' + 1, DATE '2024-02-15' - DATE '2024-01-01', DATE '2024-02-15' + TIME '10:00', day - 7 FROM flights LIMIT 1
SELECT extract(isodow FROM day), extract('week' FROM day), date_part(['year', 'month'], day), datepart('doy', day), weekday(day), dayofyear(day), isoyear(day), yearweek(day), decade(day), century(day), era(day), julian(day), weekofyear(day) FROM flights
SELECT strftime(day, '%a %d %b %Y'), strftime('%j', day), strptime('15.02.2024', '%d.%m.%Y'), strptime('2024-02-15', ['%d.%m.%Y', '%Y-%m-%d']), make_date(2024, 2, 29), make_time(10, 0, 0), make_timestamp(2024, 1, 1, 0, 0, 0), epoch_ms(0), days_in_month(day) FROM flights
SELECT DATE 'epoch', '2024-02-29'::DATE, CAST('10:00:00.123456' AS TIME), '2024-01-01 10:00:00.123456789'::TIMESTAMP_NS, '2024-01-01'::TIMESTAMP_S, '2024-01-01'::TIMESTAMP_MS, time_bucket(INTERVAL '1 month', DATE '2024-02-15'), time_bucket(INTERVAL 1 DAY, TIMESTAMP '2024-02-15 10:00', INTERVAL 6 HOUR)
SELECT '{"a": [1, {"b": 2}]}'::JSON -> '$.a[1].b', '{"a": 1}' ->> 'a', json_extract('{"a": 1}', ['$.a', '$.b']), json_array_length('[1, 2]'), json_type('[1]'), json_structure('{"a": 1}'), json_contains('{"a": 1}', '{"a": 1}'), json_exists('{"a": 1}', '$.a')
SELECT json_transform('{"a": "1"}', '{"a": "INTEGER"}'), from_json('[1]', '["INTEGER"]'), json_merge_patch('{"a": 1}', '{"b": 2}'), json_quote('a'), row_to_json({'a': 1}), array_to_json([1]), json_pretty('{"a": 1}'), json_value('{"a": 1}', '$.a'), '[1, 2]'::JSON::INTEGER[]
SELECT e.key, e.value, e.type FROM json_each('{"a": 1, "b": [2]}') e
SELECT t.fullkey, t.atom FROM json_tree('{"a": {"b": 1}}') t
SELECT j.a, j -> 'b' FROM (SELECT '{"a": 1, "b": 2}'::JSON AS j)
SELECT * FROM (SELECT unnest(from_json('[{"a": 1}, {"a": 2}]', '[{"a": "INTEGER"}]'), recursive := true))
PIVOT flights ON carrier IN ('AA', 'UA') USING sum(distance) AS total, count(*) AS n GROUP BY origin
PIVOT (SELECT origin, carrier, distance FROM flights) ON carrier IN ('AA', 'UA') USING sum(distance)
FROM (PIVOT flights ON origin IN ('JFK') USING count(*) GROUP BY carrier) SELECT carrier
UNPIVOT weather ON temp, wind
UNPIVOT weather ON (temp, wind) INTO NAME what VALUE a, b
UNPIVOT weather ON COLUMNS(* EXCLUDE (origin, day)) INTO NAME what VALUE amount
SELECT * FROM weather UNPIVOT INCLUDE NULLS (amount FOR what IN (temp, wind))
SELECT * FROM weather UNPIVOT (amount FOR what IN (temp, wind))
UNPIVOT (SELECT 42 AS a, 'x' AS b) ON COLUMNS(*)::VARCHAR
SELECT * FROM flights USING SAMPLE 10%
SELECT * FROM flights USING SAMPLE reservoir(5 ROWS) REPEATABLE (42)
SELECT * FROM flights TABLESAMPLE reservoir(20%)
SELECT * FROM flights USING SAMPLE 50% (system, 7)
SELECT * FROM flights LIMIT 2 + 3 OFFSET 7 // 2
SELECT * FROM flights LIMIT 20%
SELECT * FROM flights ORDER BY id LIMIT ALL
SELECT * FROM flights OFFSET 15
SELECT * FROM flights ORDER BY carrier COLLATE NOCASE ASC NULLS FIRST, 1 DESC, id + 1
SELECT * FROM flights ORDER BY ALL LIMIT 2
SELECT DISTINCT carrier, origin FROM flights ORDER BY ALL
SELECT DISTINCT ON (origin) origin, id FROM flights ORDER BY origin, id DESC
SUMMARIZE SELECT id, dep_delay FROM flights
DESCRIBE SELECT now() AS t, 1::BIGNUM AS b
DESC flights
SELECT column_name, min, max FROM (SUMMARIZE flights)
SELECT range(0, 10, 3), generate_series(5, 1, -2), range(NULL), list_sum(range(10)), generate_series(TIMESTAMP '2024-03-01', TIMESTAMP '2024-01-01', -INTERVAL '1' MONTH)
SELECT * FROM range(date_part('month', DATE '2024-03-01')) AS t(m)
SELECT * FROM range(epoch(TIMESTAMP '1970-01-01 00:00:05')::BIGINT) AS t(s)
SELECT c.carrier, m.m FROM carriers c, generate_series(1, CASE WHEN c.carrier = 'AA' THEN 2 ELSE 1 END) AS m(m)
SELECT d::DATE AS d, count(f.id) FROM generate_series(DATE '2013-01-01', DATE '2013-01-05', INTERVAL 1 DAY) AS s(d) LEFT JOIN flights f ON f.day = s.d GROUP BY d ORDER BY d
SELECT * FROM repeat_row('x', 1, num_rows := 3)
SELECT printf('hello'), printf(NULL), format('x'), repeat(NULL, 3), lpad('Base', NULL, '-')
SELECT string_agg(carrier, chr(10) || '- ') FROM carriers
SELECT cast_to_type('42', NULL::INTEGER), can_cast_implicitly(1, NULL::BIGINT), typeof(1::BIGINT), pg_typeof('a')
SELECT pg_size_pretty(1000), current_date - 1, today() - INTERVAL 1 DAY, localtime IS NOT NULL
SELECT alias(id), constant_or_null(1, NULL), nullif(1, 2), count(*) FILTER (id > 1) FROM flights GROUP BY id LIMIT 1
SELECT lttb(id, dep_delay, 3), array_agg(DISTINCT carrier ORDER BY carrier) FROM flights
SELECT avg(day::TIMESTAMP), median(day), quantile_disc(day, 0.5), mode(day), arg_max(carrier, day) FROM flights
SELECT equi_width_bins(0, 10, 2, true), histogram(dep_delay, [0, 20, 40]) FROM flights
SELECT sum(CASE WHEN origin = 'JFK' THEN 1 ELSE 0 END)::DOUBLE / count(*) AS share, round(avg(distance), 2) AS mean FROM flights
WITH daily AS (SELECT day, count(*) AS n FROM flights GROUP BY day) SELECT day, n, avg(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS moving, n - lag(n) OVER (ORDER BY day) AS change FROM daily ORDER BY day
WITH ranked AS (SELECT *, rank() OVER (PARTITION BY origin ORDER BY dep_delay DESC) AS r FROM flights) SELECT origin, carrier, dep_delay FROM ranked WHERE r <= 3 ORDER BY origin, r
SELECT c.name, coalesce(sum(f.distance), 0) AS km FROM carriers c LEFT JOIN flights f ON f.carrier = c.carrier AND f.day BETWEEN '2013-01-05' AND '2013-01-10' GROUP BY c.name ORDER BY km DESC
SELECT date_trunc('week', day) AS week, carrier, sum(distance) AS km, sum(sum(distance)) OVER (PARTITION BY carrier ORDER BY date_trunc('week', day)) AS running FROM flights GROUP BY 1, 2 ORDER BY 1, 2
SELECT * FROM flights WHERE day >= CURRENT_DATE - INTERVAL '30 years' AND extract(dow FROM day) IN (0, 6)
SELECT width, count(*) FROM (SELECT floor(dep_delay / 10) * 10 AS width FROM flights) GROUP BY width ORDER BY width
SELECT f1.id, f2.id FROM flights f1 JOIN flights f2 ON f1.carrier = f2.carrier AND f1.id < f2.id AND f2.day - f1.day <= 3 ORDER BY 1, 2
SELECT carrier, dep_delay, ntile(4) OVER (ORDER BY dep_delay) AS quartile, percent_rank() OVER (ORDER BY dep_delay) FROM flights ORDER BY dep_delay LIMIT 5
WITH cohort AS (SELECT carrier, min(day) AS first FROM flights GROUP BY carrier) SELECT c.first, date_diff('week', c.first, f.day) AS week, count(DISTINCT f.carrier) FROM flights f JOIN cohort c USING (carrier) GROUP BY ALL ORDER BY ALL
SELECT carrier, quantile_cont(dep_delay, 0.9) - quantile_cont(dep_delay, 0.1) AS spread FROM flights GROUP BY carrier HAVING spread > 0 ORDER BY spread DESC
SELECT (SELECT count(*) FROM flights f2 WHERE f2.carrier = f1.carrier AND f2.dep_delay > f1.dep_delay) + 1 AS place, f1.id FROM flights f1 ORDER BY 1, 2
SELECT count(*), count(dep_delay), count(DISTINCT carrier) FROM flights
SELECT sum(distance), avg(distance), min(distance), max(distance) FROM flights
SELECT carrier, sum(distance) FROM flights GROUP BY carrier ORDER BY 2 DESC
SELECT carrier, origin, sum(distance) AS km FROM flights GROUP BY 1, 2 HAVING km > 1000 ORDER BY km
SELECT upper(carrier) AS c, count(*) FROM flights GROUP BY c
SELECT * FROM flights WHERE dep_delay > 5 AND (origin = 'JFK' OR carrier = 'UA')
SELECT * FROM flights WHERE day = '2013-01-05'
SELECT * FROM flights WHERE day::VARCHAR LIKE '2013-01-0%'
SELECT * FROM flights WHERE month(day) = 1 AND year(day) = 2013
SELECT * FROM flights WHERE id % 2 = 0 ORDER BY id DESC LIMIT 3
SELECT * FROM flights WHERE carrier IN ('AA') AND NOT dep_delay IS NULL
SELECT carrier || '-' || origin AS route, count(*) FROM flights GROUP BY ALL
SELECT f.*, c.name FROM flights AS f JOIN carriers AS c ON c.carrier = f.carrier ORDER BY f.id
SELECT f.id FROM flights f, carriers c, weather w WHERE f.carrier = c.carrier AND f.origin = w.origin
SELECT c.name FROM carriers c WHERE NOT EXISTS (SELECT 1 FROM flights f WHERE f.carrier = c.carrier)
SELECT c.name, (SELECT count(*) FROM flights f WHERE f.carrier = c.carrier) AS n FROM carriers c
SELECT avg(n) FROM (SELECT carrier, count(*) AS n FROM flights GROUP BY carrier)
SELECT t.carrier FROM (SELECT carrier, avg(dep_delay) AS d FROM flights GROUP BY carrier) t WHERE t.d = (SELECT max(d) FROM (SELECT avg(dep_delay) AS d FROM flights GROUP BY carrier))
SELECT day, dep_delay, sum(dep_delay) OVER (ORDER BY day) AS running FROM flights
SELECT carrier, day, rank() OVER (PARTITION BY carrier ORDER BY dep_delay DESC) FROM flights
SELECT carrier, first_value(id) OVER (PARTITION BY carrier ORDER BY day), last_value(id) OVER (PARTITION BY carrier ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM flights
SELECT strftime(day, '%Y-%m') AS month, count(*) FROM flights GROUP BY month ORDER BY month
SELECT date_part('week', day) AS w, sum(distance) FROM flights GROUP BY w ORDER BY w
SELECT date_trunc('month', day)::DATE AS m, carrier, avg(dep_delay) FROM flights GROUP BY ALL ORDER BY m, carrier
SELECT day - INTERVAL 1 DAY AS yesterday, day + INTERVAL '1 week' AS later FROM flights
SELECT max(day) - min(day) AS days FROM flights
SELECT CASE WHEN dep_delay <= 0 THEN 'on time' WHEN dep_delay <= 15 THEN 'late' ELSE 'very late' END AS bucket, count(*) AS n FROM flights GROUP BY bucket ORDER BY n DESC
SELECT round(100.0 * sum(CASE WHEN dep_delay > 0 THEN 1 ELSE 0 END) / count(*), 1) AS percent_late FROM flights
SELECT carrier, round(avg(dep_delay), 1) AS mean, round(stddev(dep_delay), 1) AS sd, min(dep_delay), max(dep_delay) FROM flights GROUP BY carrier
SELECT origin, carrier, count(*) AS n, round(count(*) / sum(count(*)) OVER (PARTITION BY origin), 3) AS share FROM flights GROUP BY origin, carrier
WITH a AS (SELECT carrier, count(*) AS n FROM flights GROUP BY carrier), b AS (SELECT max(n) AS most FROM a) SELECT a.carrier FROM a, b WHERE a.n = b.most
WITH d AS (SELECT day, dep_delay, lag(dep_delay) OVER (ORDER BY day) AS before FROM flights) SELECT * FROM d WHERE dep_delay > before
WITH numbers AS (SELECT * FROM range(5) t(n)) SELECT n, n * n AS square FROM numbers
WITH RECURSIVE fib(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM fib WHERE b < 50) SELECT a FROM fib
WITH RECURSIVE days AS (SELECT DATE '2013-01-01' AS d UNION ALL SELECT (d + INTERVAL 1 DAY)::DATE FROM days WHERE d < DATE '2013-01-05') SELECT d FROM days
SELECT list(carrier) FROM carriers
SELECT array_agg(id ORDER BY id) FILTER (WHERE origin = 'JFK') FROM flights
SELECT string_agg(name, '; ') FROM carriers
SELECT group_concat(carrier) FROM carriers
SELECT listagg(carrier, ',' ORDER BY carrier) FROM carriers
SELECT unnest(string_split('a,b,c', ',')) AS part
SELECT carrier, unnest(list(id)) AS id FROM flights GROUP BY carrier
SELECT * FROM (SELECT unnest([1, 2]) AS a) CROSS JOIN (SELECT unnest(['x', 'y']) AS b)
SELECT len(list(DISTINCT origin)) FROM flights
SELECT regexp_extract(name, '^(\w+)', 1) AS first_word FROM carriers
SELECT name FROM carriers WHERE lower(name) LIKE '%air%' ORDER BY length(name)
SELECT replace(replace(name, 'a', ''), 'e', '') FROM carriers
SELECT substring(name, 1, 1) || '.' AS initial FROM carriers
SELECT name.split(' ')[1] FROM carriers
SELECT coalesce(nullif(trim(name), ''), 'unknown') FROM carriers
SELECT CAST('42' AS INTEGER) + 1, '42'::INT * 2, CAST(4.6 AS INTEGER), 1.0::VARCHAR
SELECT 10 / 4, 10 // 4, 10 % 4, 10.0 / 4, -7 // 2, -7 % 3
SELECT 0.1 + 0.2 = 0.3, 0.1::DOUBLE + 0.2::DOUBLE, 1e10, 12345678901234567890
SELECT DATE '2024-02-29' + INTERVAL 1 YEAR, DATE '2024-01-31' + INTERVAL 1 MONTH
SELECT date_diff('month', DATE '2024-01-31', DATE '2024-02-01'), date_sub('month', DATE '2024-01-31', DATE '2024-02-29')
SELECT extract(year FROM DATE '2024-02-29'), extract(doy FROM DATE '2024-12-31'), extract(week FROM DATE '2024-12-30')
SELECT TIMESTAMP '2024-01-01 12:34:56.789', date_trunc('minute', TIMESTAMP '2024-01-01 12:34:56.789')
SELECT make_timestamp(1704067200000000), epoch(TIMESTAMP '2024-01-01')
SELECT '12:00:00'::TIME + INTERVAL 90 MINUTE, TIME '10:00' < TIME '11:00'
SELECT strptime('01/02/2024', '%d/%m/%Y')::DATE
SELECT dayname(day), count(*) FROM flights GROUP BY ALL ORDER BY min(isodow(day))
SELECT hour(TIMESTAMP '2024-01-01 13:00:00'), minute(TIME '13:37:00'), second(TIMESTAMP '2024-01-01 00:00:59')
SELECT current_date > DATE '2020-01-01' AS later
SELECT * FROM weather WHERE temp < 0 OR wind >= 5
SELECT origin, temp * 9 / 5 + 32 AS fahrenheit FROM weather
SELECT w.origin, count(f.id) FROM weather w LEFT JOIN flights f ON f.origin = w.origin AND f.day = w.day GROUP BY w.origin
SELECT body::JSON ->> '$.kind', json_extract_string(body, '$.kind'), body ->> 'kind' FROM notes
SELECT json_keys(body::JSON), json_type(body::JSON, '$.kind') FROM notes
SELECT to_json(f) FROM (SELECT id, carrier FROM flights LIMIT 1) f
SELECT json_object('id', id, 'carrier', carrier) FROM flights LIMIT 2
SELECT map_from_entries(list((carrier, name))) FROM carriers
SELECT {'carrier': carrier, 'n': count(*)} FROM flights GROUP BY carrier
SELECT struct_pack(a := 1, b := 'x').b
SELECT (SELECT {'a': 1}).a
SELECT list_sort(list(carrier)) FROM carriers
SELECT list_aggregate(list(distance), 'max') FROM flights
SELECT list_transform(list(id), lambda x: x * 2)[1:3] FROM flights
SELECT list_filter(list(carrier), lambda c: c LIKE 'A%') FROM carriers
SELECT list_reduce(list(distance), lambda a, b: greatest(a, b)) FROM flights
SELECT [c || '!' FOR c IN list(carrier)] FROM carriers
SELECT array_length([1, 2, 3]), list_contains(['a'], 'a'), list_indexof(['a', 'b'], 'b'), array_position([1, 2], 3)
SELECT max(id) FILTER (WHERE carrier = 'AA') - min(id) FILTER (WHERE carrier = 'AA') FROM flights
SELECT bool_or(dep_delay > 25), bool_and(dep_delay > -11) FROM flights
SELECT approx_count_distinct(carrier) FROM flights
SELECT corr(id, distance), regr_r2(distance, id) FROM flights
SELECT carrier, dep_delay - avg(dep_delay) OVER (PARTITION BY carrier) AS deviation FROM flights
SELECT id, dep_delay, (dep_delay - avg(dep_delay) OVER ()) / stddev(dep_delay) OVER () AS z FROM flights
SELECT id, abs(dep_delay), sign(dep_delay), dep_delay ** 2, sqrt(abs(dep_delay)) FROM flights
SELECT width_bucket FROM (SELECT floor(dep_delay / 10) AS width_bucket FROM flights)
SELECT 1 WHERE false
SELECT NULL, NULL::INTEGER, [NULL], {'a': NULL}
SELECT true OR NULL, false AND NULL, NULL = NULL, NULL IS NULL
SELECT '' = '', length(''), '' IS NULL
SELECT 'it''s', '"quoted"', 'percent %', 'under_score', 'back\slash', '{brace}', '[bracket]', '(paren)'
SELECT ' -- not a comment', '/* nor this */'
SELECT 1 AS "weird ""name""", 2 AS "semi;colon", 3 AS "dash--dash", 4 AS "/* star */"
SELECT 1 "implicit alias", 2 implicit_two
SELECT COUNT(*) FROM FLIGHTS WHERE CARRIER = 'AA'
SELECT count( * ) FROM  flights  WHERE   id=1
SELECT (((1)))
SELECT ALL id FROM flights LIMIT 1
SELECT id id2, id AS id3 FROM flights LIMIT 1
SELECT flights.id, flights.carrier FROM flights LIMIT 1
SELECT x.id FROM flights x LIMIT 1
SELECT "f"."id" FROM flights AS "f" LIMIT 1
SELECT a.b.c FROM (SELECT {'b': {'c': 1}} AS a)
SELECT `carrier` FROM `flights`
SELECT * FROM main.flights
SELECT main.flights.id, f.name FROM memory.main.flights JOIN Main.carriers AS f USING (carrier)
SELECT * FROM main."order"
DESCRIBE main.flights
SUMMARIZE main.flights
WITH w AS (SELECT * FROM main.flights) SELECT count(*) FROM w
PIVOT flights ON origin USING count(*)
PIVOT main.flights ON origin USING sum(distance) GROUP BY carrier
SELECT * FROM (PIVOT flights ON origin USING count(*))
FROM (PIVOT flights ON carrier, origin USING count(*) AS n GROUP BY day) ORDER BY day LIMIT 3
PIVOT (SELECT origin, carrier || '-' || origin AS way, distance FROM flights) ON way USING sum(distance), count(*) GROUP BY origin
PIVOT flights ON year(day) USING avg(dep_delay) GROUP BY carrier ORDER BY carrier
PIVOT flights ON (carrier, origin) USING count(*) GROUP BY day
WITH few AS (SELECT * FROM flights WHERE id < 5), p AS (PIVOT few ON origin USING count(*) GROUP BY carrier) SELECT * FROM p
SELECT carrier, (SELECT count(*) FROM (PIVOT flights ON origin USING count(*))) AS n FROM carriers
