"""What SQL costs through the service beside DuckDB itself, on loopback, in turns.

tpch.py PROGRAM COMMAND [OPTIONS], from the project's folder; COMMAND is one of
  0.01, 1    the 22 queries of TPC-H's shape at that scale, over REST with one connection and by the Python library over
             one file with the same tables, in turns; with --files also by the library over the service's own files, as its
             workers open them: what of the difference comes of these. All threads of one process share its memory, so that
             the library is the faster the more it is asked
  tenants    workspaces that each have a table of 10,000 rows and ask at a time, each on a connection of its own

Needs a Python with duckdb of the engine's release (pip install duckdb==2.0.0), and tpchgen-cli for scale 1 (that generator
makes the data in tests/bench/sql/tpch.rs too). Not results in the sense of the TPC.
"""
import argparse
import asyncio
import collections
import contextlib
import datetime
import decimal
import http.client
import itertools
import json
import math
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import duckdb

TPCH = pathlib.Path("tests/data/tpch").resolve()
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
# For both sides: some queries need more than the service's usual memory at scale 1.
MEMORY_MB = 2048
# What a worker of the service has for one who asks alone: its part of the cores, at most two (`threads` in src/engine/sql/pool.rs).
THREADS = max(1, min(os.cpu_count(), 2))
RATES = ["EXT_RATE_TOKEN", "EXT_RATE_SQL", "EXT_RATE_WORKSPACE", "EXT_RATE_REQUESTS"]
ROWS = 10_000
GROUP = "SELECT region, max(tenant) AS tenant, count(*) AS n, sum(amount) AS total FROM events WHERE id <> {} GROUP BY region ORDER BY region"


class Service:
    """The program over a folder of its own."""

    def __init__(self, program, work, **settings):
        self.program, self.data, self.process = program, work / "data", None
        plain = {name: value for name, value in os.environ.items() if not name.startswith("DRAGOMAN_") and name != "DATABASE_URL"}
        rates = {f"DRAGOMAN_{rate}": "100000000" for rate in RATES}
        self.env = {**plain, **rates, "DRAGOMAN_ADMIN_LISTEN": "off", "DRAGOMAN_LOG": "warn", "DRAGOMAN_SQL_KNOWN_MB": "0", **settings}

    def command(self, *arguments):
        made = subprocess.run([self.program, *arguments, "--json", "--data", self.data], env=self.env, check=True, capture_output=True)
        return made.stdout

    def workspace(self, name, files):
        """Makes a workspace with published tables; its token for SQL."""
        self.command("admin", "workspace", "create", name)
        self.command("admin", "workspace", "connectivity", name, "on")
        self.command("import", *map(str, files), "--workspace", name, "--publish")
        return json.loads(self.command("admin", "token", "create", "--workspace", name, "--label", "bench", "--scopes", "ext:sql,ext:datasets"))["token"]

    def start(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        env = {**self.env, "DRAGOMAN_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = subprocess.Popen([self.program, "serve", "--data", self.data], env=env, stdout=subprocess.PIPE, text=True)
        while "is up on" not in (line := self.process.stdout.readline()):
            assert line, "the program ended before it was up"

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)

    def workers(self):
        return [int(pid) for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir() for pid in (task / "children").read_text().split()]

    def spent(self):
        """Processor time in ms of the service and its workers, those that ended included, to the tick."""
        def of(pid, columns):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
                return sum(map(int, fields[slice(*columns)])) * 1e3 / os.sysconf("SC_CLK_TCK")
            return 0
        return of(self.process.pid, (11, 15)) + sum(of(pid, (11, 13)) for pid in self.workers())

    def precisely(self):
        """The same in ns, of threads that still run."""
        total = 0
        for pid in [self.process.pid, *self.workers()]:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        total += int((task / "schedstat").read_text().split()[0])
        return total

    def memory(self):
        """MB: the service, resident; its workers, what they share divided; and one of them, at the middle, what is its own."""
        def field(pid, name):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                return sum(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
            return 0
        workers = self.workers()
        own = [field(pid, "Private_Dirty:") for pid in workers]
        return field(self.process.pid, "Rss:"), sum(field(pid, "Pss:") for pid in workers), statistics.median(own or [0])


class Rest:
    """One connection, kept alive."""

    def __init__(self, service, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, sql):
        """All rows, and the engine's own milliseconds as the service tells them."""
        self.connection.request("POST", "/api/v1/ext/sql", json.dumps({"sql": sql}), self.headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200 and not answer["truncated"], str(answer)[:600]
        return answer["rows"], answer["execution_ms"]


def table(title, head, rows):
    print(f"\n{title}")
    cells = [head, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        print("  " + "  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))))


def load(when):
    print(f"[{when}: {os.cpu_count()} processors, load {' '.join(f'{load:.2f}' for load in os.getloadavg())}]", flush=True)


def plain(value):
    """A value as both sides have it: numbers as such, and days as text."""
    if isinstance(value, (int, float, decimal.Decimal)):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    with contextlib.suppress(TypeError, ValueError):
        return float(value)
    return value


def same(one, other):
    """Whether rows are the same: numbers to nine digits, since sums of fractions depend on their order."""
    def close(left, right):
        left, right = plain(left), plain(right)
        return left == right or (isinstance(left, float) and isinstance(right, float) and math.isclose(left, right, rel_tol=1e-9))
    ordered = lambda rows: sorted(rows, key=lambda row: [f"{value:.6g}" if isinstance(value, float) else str(value) for value in map(plain, row)])
    return len(one) == len(other) and all(
        len(left) == len(right) and all(map(close, left, right)) for left, right in zip(ordered(one), ordered(other)))


def data(scale, work):
    if scale == "0.01":
        return TPCH
    made = work / "parquet"
    subprocess.run([pathlib.Path(sys.executable).parent / "tpchgen-cli", "parquet", "-s", scale, "--output-dir", made], check=True)
    return made


def attach(connection, files, own):
    """Opens the service's table files as its workers do: each attached, with a view that has the table's name."""
    first = "SELECT column_name FROM duckdb_columns() WHERE table_name = '{}' ORDER BY column_index"
    names = {own.execute(first.format(name)).fetchone()[0]: name for name in TABLES}
    for at, file in enumerate(files):
        with duckdb.connect(str(file), read_only=True) as one:
            name = names[one.execute(first.format("data")).fetchone()[0]]
        connection.execute(f"ATTACH '{file}' AS d{at} (READ_ONLY); CREATE VIEW {name} AS SELECT * FROM d{at}.main.data")


def by_service(service, rest):
    def ask(sql):
        spent, began = service.precisely(), time.perf_counter()
        rows, engine = rest.ask(sql)
        took = time.perf_counter() - began
        return took * 1e3, (service.precisely() - spent) / 1e6, engine, rows
    return ask


def by_library(connection):
    def ask(sql):
        spent, began = time.process_time_ns(), time.perf_counter()
        rows = connection.execute(sql).fetchall()
        took = time.perf_counter() - began
        return took * 1e3, (time.process_time_ns() - spent) / 1e6, 0, rows
    return ask


def in_turns(queries, ways, rounds):
    """What each query took by each way: milliseconds, those of processor time, and those that the service tells."""
    # None always follows the same other one.
    orders = list(itertools.permutations(ways.items()))
    seen = {query["nr"]: {name: [] for name in ways} for query in queries}
    for turn in range(rounds + 1):
        for query in queries:
            answers = {}
            for name, ask in orders[turn % len(orders)]:
                *figures, answers[name] = ask(query["sql"])
                # The first round makes everything warm, and compares.
                if turn:
                    seen[query["nr"]][name].append(figures)
            if not turn:
                query["rows"] = len(answers["library"])
                for name, rows in answers.items():
                    assert same(answers["library"], rows), f"query {query['nr']}: {name} answers something else"
    return seen


def tpch(program, work, scale, rounds, only, with_files):
    folder = data(scale, work)
    settings = {"SQL_MEMORY_MB": MEMORY_MB, "SQL_SECONDS": 60, "SQL_ROWS": 1_000_000, "REPLY_BYTES": 100_000_000}
    service = Service(program, work, **{f"DRAGOMAN_{name}": str(value) for name, value in settings.items()})
    token = service.workspace("bench", [folder / f"{name}.parquet" for name in TABLES])
    config = {"threads": THREADS, "memory_limit": f"{MEMORY_MB}MiB"}
    own = work / "library.duckdb"
    with duckdb.connect(str(own), config=config) as made:
        for name in TABLES:
            made.execute(f"CREATE TABLE {name} AS FROM read_parquet('{folder / name}.parquet')")
    if folder != TPCH:
        shutil.rmtree(folder)
    try:
        service.start()
        rest, library = Rest(service, token), duckdb.connect(str(own), read_only=True, config=config)
        files = sorted(service.data.glob("workspaces/*/tables/*/*.duckdb"))
        ways = {"library": by_library(library), "service": by_service(service, rest)}
        if with_files:
            attached = duckdb.connect(config=config)
            attach(attached, files, library)
            ways["files"] = by_library(attached)
        sizes = own.stat().st_size / 1e6, sum(file.stat().st_size for file in files) / 1e6
        print(f"the library's file {sizes[0]:.1f} MB, the service's {sizes[1]:.1f}; {THREADS} threads and {MEMORY_MB} MB on both sides")
        # All tables are opened by one query, so that none of the measured ones needs another worker.
        rest.ask("SELECT " + " + ".join(f"(SELECT count(*) FROM {name})" for name in TABLES))
        queries = [query for query in json.loads((TPCH / "queries.json").read_text()) if not only or query["nr"] in only]
        load("before the rounds")
        seen = in_turns(queries, ways, rounds)
        load("after them")
    finally:
        service.stop()
    told(f"TPC-H-shaped queries, scale {scale}, {rounds} rounds, in ms; all answers were the same", queries, seen, "files" if with_files else None)


def told(title, queries, seen, third):
    def of(query, name, figure, which):
        return which(one[figure] for one in seen[query["nr"]][name])
    kinds = {"waited, middle": (0, statistics.median), "processor time, middle": (1, statistics.median),
             "waited, least": (0, min), "processor time, least": (1, min)}
    pairs = {kind: [(of(query, "library", *how), of(query, "service", *how), query["nr"]) for query in queries] for kind, how in kinds.items()}
    rows = []
    for at, query in enumerate(queries):
        cells = [f"{figure:.2f}" for kind in kinds for figure in pairs[kind][at][:2]]
        ratios = [f"{pairs[kind][at][1] / pairs[kind][at][0]:.3f}" for kind in kinds]
        last = [f"{of(query, third, 1, min):.2f}"] if third else []
        cells = [cell for place in range(4) for cell in (*cells[2 * place:2 * place + 2], ratios[place])]
        rows.append([query["nr"], query["rows"], *cells, f"{of(query, 'service', 2, statistics.median):.0f}", *last])
    head = ["query", "rows", *["library", "service", "ratio"], *["CPU", "service", "ratio"], *["least", "service", "ratio"],
            *["least CPU", "service", "ratio"], "told", *(["CPU of files, least"] if third else [])]
    table(title, head, rows)
    for kind, each in pairs.items():
        added = statistics.median(service - library for library, service, _ in each)
        mean = statistics.geometric_mean(service / library for library, service, _ in each)
        whole = sum(service for _, service, _ in each) / sum(library for library, _, _ in each)
        worst = ", ".join(f"{ratio:.2f} (query {nr})" for ratio, nr in sorted(((service / library, nr) for library, service, nr in each), reverse=True)[:3])
        print(f"{kind}: added {added:.2f} ms at the median; ratio {mean:.3f} (geometric mean), {whole:.3f} (of the sums), worst {worst}")


async def asking(service, token, until, first, took, refused, check=None):
    """One caller on a connection of its own, who asks another question each time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    number = first
    while time.perf_counter() < until:
        body = json.dumps({"sql": GROUP.format(number)}).encode()
        number += 1
        began = time.perf_counter()
        lines = ["POST /api/v1/ext/sql HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}",
                 "Content-Type: application/json", f"Content-Length: {len(body)}", "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        answer = await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
        if head.startswith(b"HTTP/1.1 200"):
            took.append((time.perf_counter() - began) * 1e3)
        else:
            refused.append(json.loads(answer)["error"]["message"])
            await asyncio.sleep(0.05)
        if check is not None:
            rows = json.loads(answer)["rows"]
            assert {row[1] for row in rows} == {check} and sum(row[2] for row in rows) in (ROWS - 1, ROWS), answer
            break
    writer.close()


def rank(values, part):
    values = sorted(values)
    return values[max(0, math.ceil(part * len(values)) - 1)] if values else math.nan


def give(service, work, count):
    """Makes workspaces that each have a table of their own; their tokens."""
    tokens = []
    for tenant in range(count):
        columns = f"range AS id, {tenant} AS tenant, 'r' || range % 7 AS region, CAST(range * 7 % 1000 AS DECIMAL(15,2)) AS amount"
        with duckdb.connect() as made:
            made.execute(f"COPY (SELECT {columns} FROM range({ROWS})) TO '{work}/events.parquet'")
        tokens.append(service.workspace(f"tenant-{tenant}", [work / "events.parquet"]))
    return tokens


def each_once(service, tokens, number):
    """Milliseconds that each waits for an answer, one after the other; and that it is of its own table."""
    took = []
    for tenant, token in enumerate(tokens):
        asyncio.run(asking(service, token, math.inf, number, took, [], tenant))
    return took


async def all_at_once(service, tokens, until, first, took, refused):
    await asyncio.gather(*[asking(service, token, until, first + tenant * 10_000, took, refused) for tenant, token in enumerate(tokens)])


def tenants(program, work, count, rounds, seconds, usual):
    service = Service(program, work, **({} if usual else {"DRAGOMAN_IN_FLIGHT": "1024"}))
    tokens = give(service, work, count)
    try:
        service.start()
        spent = service.spent()
        first = each_once(service, tokens, -1)
        # A worker begins, and opens the table; in the end as many spare ones are there as before.
        time.sleep(2)
        spent = (service.spent() - spent) / count
        later = each_once(service, tokens, -2)
        print(f"one at a time: a tenant's first answer {rank(first, 0.5):.1f} ms (p99 {rank(first, 0.99):.1f}; {spent:.1f} of processor time), "
              f"its next {rank(later, 0.5):.2f} (p99 {rank(later, 0.99):.2f})")
        rows, workers = [], set(service.workers())
        load("before the rounds")
        for turn in range(rounds):
            took, refused = [], []
            spent, own, began = service.spent(), time.process_time(), time.perf_counter()
            asyncio.run(all_at_once(service, tokens, began + seconds, turn * 10_000_000, took, refused))
            elapsed, spent, own = time.perf_counter() - began, service.spent() - spent, (time.process_time() - own) * 1e3
            before, workers = workers, set(service.workers())
            answers, part = len(took) or math.nan, (spent + own) / 1e3 / elapsed / os.cpu_count()
            memory = [f"{megabytes:.0f}" for megabytes in service.memory()]
            rows.append([turn + 1, f"{len(took) / elapsed:.0f}", *[f"{rank(took, at):.0f}" for at in (0.5, 0.99, 1)], len(refused),
                         f"{spent / answers:.2f}", f"{own / answers:.2f}", f"{part:.2f}", len(workers), len(workers - before), *memory])
            for text, times in collections.Counter(refused).items():
                print(f"round {turn + 1}, refused {times} times: {text}")
        load("after them")
        head = ["round", "queries/s", "p50 ms", "p99 ms", "most", "refused", "CPU ms", "of who asks", "part of the machine", "workers", "new ones",
                "MB service", "MB workers", "MB own of one"]
        table(f"{count} tenants at a time, a group-by over {ROWS} rows that differs, {seconds} s", head, rows)
    finally:
        service.stop()
    alone(service)


def alone(service):
    """The same statements by the library on one thread, one after the other over the same files."""
    connection, took = duckdb.connect(config={"threads": 1}), []
    files = sorted(service.data.glob("workspaces/*/tables/*/*.duckdb"))
    for at, file in enumerate(files):
        connection.execute(f"ATTACH '{file}' AS d{at} (READ_ONLY); CREATE VIEW events{at} AS SELECT * FROM d{at}.main.data")
    for number in range(6):
        for at in range(len(files)):
            began = time.process_time_ns()
            connection.execute(GROUP.format(number).replace("FROM events", f"FROM events{at}")).fetchall()
            took.append((time.process_time_ns() - began) / 1e6)
    warm = took[len(files):]
    print(f"the library alone, one thread: {rank(warm, 0.5):.2f} ms of processor time a query (p99 {rank(warm, 0.99):.2f})")


def main():
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("program", type=pathlib.Path)
    reading.add_argument("command", choices=["0.01", "1", "tenants"])
    reading.add_argument("--rounds", type=int)
    reading.add_argument("--tenants", type=int, default=100)
    reading.add_argument("--seconds", type=int, default=10)
    reading.add_argument("--only", type=lambda text: [int(number) for number in text.split(",")], help="of the 22 queries")
    reading.add_argument("--usual", action="store_true", help="tenants: the service's own limit of calls at the same time")
    reading.add_argument("--files", action="store_true", help="the service's files by the library too")
    options = reading.parse_args()
    program, work = options.program.resolve(), pathlib.Path(tempfile.mkdtemp(prefix="dragoman-bench-"))
    load("at the start")
    print(f"DuckDB {duckdb.__version__} beside {program.name}")
    try:
        if options.command == "tenants":
            tenants(program, work, options.tenants, options.rounds or 3, options.seconds, options.usual)
        else:
            tpch(program, work, options.command, options.rounds or {"0.01": 9, "1": 3}[options.command], options.only, options.files)
    finally:
        shutil.rmtree(work)


main()
