-- What must be refused for ClickHouse: the rule, a tab, the statement. \x0d and \x0a stand for the characters.
statement	INSERT INTO flights VALUES (1)
statement	INSERT INTO FUNCTION url('http://x') SELECT * FROM flights
statement	ALTER TABLE flights DELETE WHERE 1
statement	DELETE FROM flights
statement	UPDATE flights SET id = 1
statement	DROP TABLE flights
statement	CREATE TABLE x (a Int8) ENGINE = Memory
statement	CREATE VIEW x AS SELECT 1
statement	ATTACH TABLE x
statement	RENAME TABLE flights TO x
statement	TRUNCATE TABLE flights
statement	OPTIMIZE TABLE flights
statement	SYSTEM SHUTDOWN
statement	KILL QUERY WHERE 1
statement	SET max_memory_usage = 0
statement	USE system
statement	SHOW TABLES
statement	DESCRIBE TABLE flights
statement	EXISTS TABLE flights
statement	EXPLAIN SELECT 1
statement	GRANT SELECT ON *.* TO x
statement	BACKUP TABLE flights TO Disk('x')
statement	WATCH flights
statement	FROM flights SELECT 1
statement	(SELECT 1)
statement	VALUES (1)
statement	SELECT 1; SELECT 2
statement	SELECT 1; DROP TABLE flights
statement	;
statement	-- nothing
statement	SELECT 1 SETTINGS max_memory_usage = 0
statement	SELECT * FROM (SELECT 1 SETTINGS readonly = 0)
statement	SELECT 1 FORMAT JSON
statement	SELECT 1 INTO OUTFILE '/tmp/dragoman-x'
statement	SELECT * FROM flights SAMPLE 0.1, system.tables
statement	SELECT COLUMNS('a') FROM flights
statement	SELECT * APPLY(sum) FROM flights
statement	WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a
statement	SELECT 1 GROUP BY CUBE (1, 2)
statement	SELECT * FROM flights PARALLEL WITH SELECT 1
table	SELECT * FROM salaries
table	SELECT * FROM tables
table	SELECT * FROM flights, salaries
table	SELECT * FROM flights AS f, salaries AS s
table	SELECT * FROM flights JOIN salaries ON 1 = 1
table	SELECT * FROM flights f JOIN carriers c ON f.carrier = c.code, salaries
table	SELECT * FROM flights JOIN carriers USING carrier, salaries
table	SELECT * FROM flights ARRAY JOIN tags AS t JOIN salaries ON 1 = 1
table	SELECT * FROM flights FINAL, salaries
table	SELECT (SELECT secret FROM salaries)
table	SELECT * FROM flights WHERE id IN (SELECT id FROM salaries)
table	SELECT * FROM flights WHERE id IN salaries
table	SELECT * FROM flights WHERE id IN (salaries)
table	SELECT * FROM flights WHERE id NOT IN ((salaries))
table	SELECT in(1, salaries)
table	SELECT * FROM flights WHERE id IN (1, salaries)
table	SELECT * FROM flights UNION ALL SELECT * FROM salaries
table	SELECT * FROM (salaries)
table	SELECT * FROM (flights, salaries)
table	SELECT * FROM (flights JOIN salaries ON 1 = 1)
table	SELECT * FROM ((SELECT * FROM salaries))
table	SELECT arrayMap(x -> (SELECT max(amount) FROM salaries), [1])
table	SELECT count() FROM flights ORDER BY (SELECT amount FROM salaries)
table	SELECT * FROM flights LIMIT (SELECT amount FROM salaries)
table	SELECT sum(id) OVER (ORDER BY (SELECT amount FROM salaries)) FROM flights
table	SELECT extract('a', (SELECT secret FROM salaries))
table	SELECT substring((SELECT secret FROM salaries), 1)
table	SELECT extract(WITH 1 AS a FROM salaries SELECT secret)
table	WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries
table	WITH a AS (SELECT * FROM salaries) SELECT 1
table	WITH flights AS (SELECT * FROM flights) SELECT * FROM flights
table	SELECT * FROM (WITH salaries AS (SELECT 1) SELECT 1) x, salaries
table	SELECT * FROM Flights
table	SELECT * FROM `salaries`
table	SELECT 'it\\', (SELECT secret FROM salaries), 'x'
table	SELECT '' '', (SELECT secret FROM salaries)
table	SELECT 1 --x\x0a, (SELECT secret FROM salaries)
qualified_name	SELECT * FROM warehouse.salaries
qualified_name	SELECT * FROM system.tables
qualified_name	SELECT * FROM `system`.`users`
qualified_name	SELECT * FROM flights, system.tables
qualified_name	SELECT * FROM flights f GLOBAL_ JOIN system.one ON 1
qualified_name	SELECT * FROM information_schema.tables
qualified_name	SELECT * FROM warehouse.flights
qualified_name	SELECT a.upper('x') FROM flights a
table_function	SELECT * FROM url('http://169.254.169.254/')
table_function	SELECT * FROM file('/etc/passwd')
table_function	SELECT * FROM s3('http://x')
table_function	SELECT * FROM remote('x', system.one)
table_function	SELECT * FROM mysql('x', 'y', 'z', 'a', 'b')
table_function	SELECT * FROM postgresql('x', 'y', 'z', 'a', 'b')
table_function	SELECT * FROM merge('.*', '.*')
table_function	SELECT * FROM executable('x', 'TSV', 'a String')
table_function	SELECT * FROM flights JOIN url('http://x') u ON 1 = 1
statement	SELECT * FROM dictionary('x')
table_function	SELECT * FROM cluster('x', system.one)
table_function	SELECT * FROM viewIfPermitted(SELECT 1 ELSE null('a Int8'))
table_function	SELECT * FROM VALUES('a Int8', 1)
table_function	SELECT * FROM input('a Int8')
function	SELECT file('/etc/passwd')
function	SELECT dictGet('d', 'a', 1)
function	SELECT joinGet('j', 'a', 1)
function	SELECT hasColumnInTable('system', 'tables', 'name')
function	SELECT sleep(3)
function	SELECT sleepEachRow(1) FROM flights
function	SELECT currentUser()
function	SELECT currentDatabase()
function	SELECT version()
function	SELECT hostName()
function	SELECT getSetting('max_memory_usage')
function	SELECT getMacro('x')
function	SELECT getServerPort('tcp_port')
function	SELECT addressToSymbol(1)
function	SELECT demangle('x')
function	SELECT catboostEvaluate('x', 1)
function	SELECT aiGenerate('x')
function	SELECT aiClassify('x', ['a'])
function	SELECT encrypt('aes-128-ecb', 'x', 'y')
function	SELECT throwIf(1)
function	SELECT arrayReduce('sum', [1])
function	SELECT initializeAggregation('sum', 1)
function	SELECT filesystemAvailable()
function	SELECT queryID()
function	SELECT queryString_('x')
function	SELECT uper('a')
function	SELECT `sleep`(1)
function	SELECT randomString(1000000000)
function	SELECT nullIn(1, salaries)
function	SELECT globalIn(1, salaries)
text	SELECT * FROM flights AS where, system.tables
text	SELECT * FROM flights AS group, system.tables
text	SELECT * FROM flights AS array JOIN salaries ON 1 = 1
text	SELECT * FROM flights AS limit FINAL, salaries
text	SELECT * FROM flights AS from
text	SELECT * FROM flights WHERE, system.tables
text	SELECT 1 AS "a\"b"
text	SELECT ‘a’
text	SELECT $a$ x $a$
text	SELECT 1 # x
text	SELECT {a:Int32}
text	SELECT @@version
text	SELECT 1 /* /* */ */
node	SELECT * FROM flights GLOBAL JOIN carriers ON 1 = 1
node	SELECT * FROM 'flights'
syntax	SELECT 'open
syntax	SELECT 1)
syntax	SELECT (1
syntax	SELECT 1) UNION ALL SELECT * FROM (SELECT 1
syntax	SELECT /* open
node	SELECT * FROM flights SELECT, system.tables
node	SELECT * FROM flights SELECT FINAL, salaries
table	SELECT * FROM (FROM flights SELECT 1)
table	SELECT substring(FROM salaries)
text	SELECT 1 IN (1e)
text	SELECT * FROM 1e
text	SELECT * FROM flights x, salaries y
table	SELECT * FROM flights FETCH, salaries
table	SELECT * FROM flights IN, salaries
text	SELECT 1 // '\x0a, (SELECT groupArray(x) FROM otherdb.secret) -- '\x0aFROM flights
text	SELECT (SELECT any(x), 1. FROM otherdb.secret) FROM flights
text	SELECT id FROM flights WHERE id > 1. SETTINGS max_memory_usage=0
node	SELECT * FROM (WITH secret AS (SELECT 1 AS x) SELECT x FROM secret UNION ALL SELECT x FROM secret) s, flights
node	SELECT id FROM flights UNION ALL WITH 1 AS y SELECT hidden FROM flights
