-- Statements that people and models write for ClickHouse. One a line.
SELECT * FROM flights
SELECT count() FROM flights
select origin, count(*) as n from flights group by origin order by n desc limit 5
SELECT origin, countIf(delay > 10), sumIf(delay, delay > 0), avg(delay), uniqExact(dest) FROM flights GROUP BY origin
SELECT f.origin, c.name FROM flights f JOIN carriers c ON c.code = f.carrier
SELECT f.origin, c.name FROM flights AS f LEFT JOIN carriers AS c ON c.code = f.carrier WHERE c.name != ''
SELECT * FROM flights f, carriers c WHERE f.carrier = c.code
SELECT * FROM flights CROSS JOIN carriers
SELECT * FROM flights INNER JOIN (SELECT code AS carrier, name FROM carriers) c USING (carrier)
SELECT * FROM flights ANY LEFT JOIN carriers ON code = carrier
WITH late AS (SELECT * FROM flights WHERE delay > 10) SELECT origin, count() FROM late GROUP BY origin
WITH a AS (SELECT id FROM flights), b AS (SELECT id FROM a WHERE id > 1) SELECT count() FROM b
WITH 10 AS limit_minutes SELECT count() FROM flights WHERE delay > limit_minutes
WITH (SELECT max(delay) FROM flights) AS worst SELECT id FROM flights WHERE delay = worst
SELECT * FROM (SELECT origin, delay FROM flights ORDER BY delay DESC LIMIT 3) ORDER BY origin
SELECT origin FROM flights UNION ALL SELECT code FROM carriers
SELECT count() FILTER (WHERE delay > 10), sum(delay) FILTER (WHERE origin = 'JFK') FROM flights
SELECT origin FROM flights UNION DISTINCT SELECT dest FROM flights
SELECT origin FROM flights INTERSECT SELECT dest FROM flights
SELECT origin FROM flights EXCEPT SELECT dest FROM flights
SELECT * EXCEPT (tags) FROM flights
SELECT * REPLACE (delay + 1 AS delay) FROM flights
SELECT DISTINCT origin FROM flights
SELECT DISTINCT ON (origin) origin, delay FROM flights
SELECT origin, delay FROM flights ORDER BY delay DESC LIMIT 1 BY origin
SELECT origin, delay FROM flights ORDER BY delay LIMIT 2 OFFSET 1
SELECT origin, delay FROM flights ORDER BY delay LIMIT 1, 2
SELECT delay FROM flights ORDER BY delay DESC NULLS LAST LIMIT 2 WITH TIES
SELECT origin, dest, count() FROM flights GROUP BY ROLLUP (origin, dest)
SELECT origin, count() FROM flights GROUP BY origin WITH TOTALS
SELECT origin, dest, count() FROM flights GROUP BY GROUPING SETS ((origin), (dest), ())
SELECT origin, count() AS n FROM flights GROUP BY origin HAVING n > 1
SELECT id, row_number() OVER (PARTITION BY origin ORDER BY delay DESC) AS n FROM flights
SELECT id, sum(delay) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM flights
SELECT id, rank() OVER w FROM flights WINDOW w AS (PARTITION BY origin ORDER BY id)
SELECT id, lagInFrame(delay) OVER (ORDER BY id) FROM flights
SELECT id, row_number() OVER (PARTITION BY origin ORDER BY id) AS n FROM flights QUALIFY n = 1
SELECT toStartOfMonth(day) AS month, sum(price) FROM flights GROUP BY month ORDER BY month
SELECT toYYYYMM(day), formatDateTime(departed, '%Y-%m'), dateDiff('day', day, toDate('2020-02-01')) FROM flights
SELECT day + INTERVAL 1 DAY, addMonths(day, 1), toDayOfWeek(day), date_trunc('week', departed) FROM flights
SELECT now() > departed, today() - 7 > day, yesterday() > day FROM flights
SELECT extract(year FROM day), EXTRACT(MONTH FROM day) FROM flights
SELECT substring(origin FROM 1 FOR 2), substring(origin, 2), trim(both ' ' FROM ' x '), position('abc', 'b') FROM flights
SELECT upper(origin), lower(origin), length(origin), concat(origin, '-', dest), origin || dest FROM flights
SELECT replaceAll(origin, 'J', 'x'), splitByChar(',', 'a,b'), arrayStringConcat(['a', 'b'], ','), match(origin, '^J') FROM flights
SELECT multiIf(delay > 30, 'late', delay > 0, 'some', 'none') AS class, count() FROM flights GROUP BY class
SELECT CASE WHEN delay > 30 THEN 'late' ELSE 'none' END FROM flights
SELECT if(delay > 0, 1, 0), coalesce(delay, 0), nullIf(delay, 0), greatest(delay, 1), delay > 0 ? 1 : 0 FROM flights
SELECT CAST(delay AS String), CAST(delay, 'Float64'), delay::Float64, price::Decimal(10, 1), toInt32('5') FROM flights
SELECT [1, 2, 3], (1, 'a'), map('k', 1), [1, 2][1], (1, 2).1, tuple(1, 2)
SELECT arrayMap(x -> x + 1, [1, 2]), arrayFilter(x -> x > 1, [1, 2]), arraySum([1, 2]), has(tags, 'a') FROM flights
SELECT id, tag FROM flights ARRAY JOIN tags AS tag
SELECT id, tag, n FROM flights LEFT ARRAY JOIN tags AS tag, arrayEnumerate(tags) AS n
SELECT arrayJoin(tags) AS tag, count() FROM flights GROUP BY tag
SELECT quantile(0.9)(delay), quantiles(0.5, 0.9)(delay), median(delay), topK(3)(origin) FROM flights
SELECT groupArray(origin), groupUniqArray(origin), argMax(origin, delay), any(origin), max(delay) FROM flights
SELECT JSONExtractString(info, 'b'), JSONExtractInt(info, 'n'), JSONHas(info, 'b') FROM flights
SELECT * FROM flights WHERE origin IN ('JFK', 'LGA') AND delay NOT IN (1, 2)
SELECT * FROM flights WHERE (origin, dest) IN (('JFK', 'LAX'))
SELECT * FROM flights WHERE carrier IN (SELECT code FROM carriers)
SELECT * FROM flights WHERE carrier NOT IN (SELECT code FROM carriers) OR day IN (toDate('2020-01-01'))
SELECT * FROM flights WHERE delay BETWEEN 5 AND 20 AND origin LIKE 'J%' AND NOT (dest ILIKE '%x')
SELECT * FROM flights WHERE delay IS NOT NULL AND isFinite(delay)
SELECT id FROM flights f WHERE EXISTS (SELECT 1 FROM carriers)
SELECT number FROM numbers(10)
SELECT round(price, 1), floor(1.5), sqrt(16), pow(2, 3), log(10), 7 / 2, intDiv(7, 2), 7 % 3, -5 FROM flights
SELECT 'it''s', 'it\'s', '\\', 0x1F, 1e3, 1.5, true, NULL
SELECT "id", `origin` FROM flights -- the end
SELECT /* a comment */ 1;
