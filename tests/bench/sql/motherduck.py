"""Dragoman beside mcp-server-motherduck: the same rows, the same questions in turns, over MCP (Streamable HTTP here,
standard input and output there), and which hostile statements each lets through.

motherduck.py BINARY, from the project's folder (tests/bench/sql/run does that). Ends within 15 minutes.

The other server's DuckDB is older than ours and does not read our files: each has a file of its own, made of the same
Parquet and CSV. Both run as their manuals say for a local read-only file; the other is given a time limit for queries,
which it does not have by itself.
"""
import collections
import http.client
import importlib.metadata
import json
import os
import pathlib
import queue
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import duckdb

BINARY = sys.argv[1]
TPCH = pathlib.Path("tests/data/tpch").resolve()
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
SMALL = [
    "SELECT o_orderstatus, count(*) AS n FROM orders GROUP BY o_orderstatus ORDER BY n DESC",
    "SELECT c_mktsegment, avg(c_acctbal) AS mean FROM customer GROUP BY c_mktsegment ORDER BY mean",
    "SELECT p_brand, max(p_retailprice) AS most FROM part GROUP BY p_brand ORDER BY most DESC LIMIT 5",
    "SELECT n_name, count(*) AS n FROM supplier JOIN nation ON s_nationkey = n_nationkey GROUP BY n_name ORDER BY n DESC, n_name LIMIT 5",
]
TIMES = 15
QUERY_SECONDS = 3
ANSWER_SECONDS = 12
LONGEST = 15 * 60
MEMORY = 6 << 30

# Tables of the hostile statements; `secret` is somebody else's.
CSV = {
    "flights": "id,carrier,origin,day,dep_delay,distance\n" + "".join(
        f"{i},{['AA', 'UA', 'B6'][i % 3]},{['JFK', 'LGA'][i % 2]},2013-01-{i + 1:02},{i * 7 % 40 - 10},{i * 100}\n" for i in range(20)),
    "carriers": "carrier,name\nAA,American Airlines\nUA,United\nB6,JetBlue Air\n",
    "weather": "origin,day,temp,wind\nJFK,2013-01-01,10.5,3\nLGA,2013-01-02,-2.0,5\n",
    "notes": 'body\n"{""kind"": ""x""}"\n',
}


class Gone(Exception):
    """The server gave no answer in time, or ended."""


class Ours:
    """The built program over Streamable HTTP, with a connectivity token."""

    def __init__(self, work, workspaces):
        self.data = work / "ours"
        self.port = free_port()
        rates = {f"DRAGOMAN_EXT_RATE_{name}": "1000000" for name in ["TOKEN", "SQL", "RESOURCES", "WORKSPACE"]}
        self.environment = {**os.environ, **rates, "DRAGOMAN_ADMIN_LISTEN": "off", "DRAGOMAN_LISTEN": f"127.0.0.1:{self.port}",
                            "DRAGOMAN_SQL_SECONDS": str(QUERY_SECONDS), "DRAGOMAN_PUBLIC_URL": "", "DATABASE_URL": ""}
        self.tokens = {}
        for name, files in workspaces.items():
            self.command("admin", "workspace", "create", name)
            self.command("admin", "workspace", "connectivity", name, "on")
            for file in files:
                self.command("import", str(file), "--workspace", name, "--publish")
            scopes = "ext:datasets,ext:schema,ext:search,ext:sql"
            made = self.command("admin", "token", "create", "--workspace", name, "--label", "bench", "--scopes", scopes)
            self.tokens[name] = json.loads(made)["token"]
        self.process = subprocess.Popen([BINARY, "serve", "--data", str(self.data)], env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = self.process.stdout.readline()
        assert "is up on" in first, first
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS + QUERY_SECONDS)

    def command(self, *arguments):
        return subprocess.run([BINARY, *arguments, "--json", "--data", str(self.data)], env=self.environment, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def sql(self, workspace, sql):
        """Whether it ran, and what came."""
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": "dragoman_sql", "arguments": {"sql": sql}, "_meta": meta}
        headers = {"authorization": f"Bearer {self.tokens[workspace]}", "accept": "application/json, text/event-stream",
                   "content-type": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call",
                   "mcp-name": "dragoman_sql"}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self.connection.request("POST", "/mcp", body, headers)
        answer = json.loads(self.connection.getresponse().read())
        result = answer.get("result", {"isError": True})
        return not result.get("isError", False), json.dumps(answer)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class Theirs:
    """The other server, as its manual says for a local file, over standard input and output."""

    def __init__(self, file, *options):
        self.command = [str(pathlib.Path(sys.executable).parent / "mcp-server-motherduck"), "--db-path", str(file),
                        "--query-timeout", str(QUERY_SECONDS), *options]
        self.home = file.parent / "home"
        self.home.mkdir(exist_ok=True)
        self.start()

    def start(self):
        bounded = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.process = subprocess.Popen(self.command, cwd=self.home, env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, preexec_fn=bounded)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(self.process, self.lines), daemon=True).start()
        self.id = 0
        information = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", information, 60)
        self.say({"method": "notifications/initialized"})

    @staticmethod
    def read(process, lines):
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    def say(self, message):
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.process.stdin.flush()
        except OSError as problem:
            raise Gone() from problem

    def ask(self, method, params, seconds=ANSWER_SECONDS):
        self.id += 1
        self.say({"id": self.id, "method": method, "params": params})
        while True:
            try:
                line = self.lines.get(timeout=seconds)
            except queue.Empty as problem:
                raise Gone() from problem
            if line is None:
                raise Gone()
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer

    def sql(self, _workspace, sql):
        answer = self.ask("tools/call", {"name": "execute_query", "arguments": {"sql": sql}})
        result = answer.get("result", {"isError": True})
        return not result.get("isError", False), json.dumps(answer)

    def stop(self):
        self.process.kill()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rank(values, part):
    values = sorted(values)
    return values[max(0, -(-int(part * 1000) * len(values) // 1000) - 1)]


def table(title, head, rows):
    print(f"\n{title}")
    cells = [head, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))))


def load(when):
    print(f"[{when}: {os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}]", flush=True)


def speed(ours, theirs):
    """Each question to each server in turns."""
    queries = {"small": SMALL, "TPC-H-shaped": [query["sql"] for query in json.loads((TPCH / "queries.json").read_text())]}
    rows = []
    for name, statements in queries.items():
        took = collections.defaultdict(list)
        ratios = collections.defaultdict(list)
        for sql in statements:
            each = collections.defaultdict(list)
            for turn in range(TIMES + 1):
                order = [("Dragoman", ours), *theirs.items()]
                for server, asked in order[turn % len(order):] + order[:turn % len(order)]:
                    began = time.perf_counter()
                    ran, text = asked.sql("speed", sql)
                    if turn:
                        each[server].append((time.perf_counter() - began) * 1e3)
                    assert ran, (server, sql, text[:500])
            for server, values in each.items():
                took[server] += values
                ratios[server].append(rank(values, 0.5) / rank(each["Dragoman"], 0.5))
        for server, values in took.items():
            rows.append([name, server, len(values), f"{rank(values, 0.5):.1f}", f"{rank(values, 0.99):.1f}", f"{rank(ratios[server], 0.5):.2f}"])
    table("One caller, scale 0.01, in ms", ["queries", "server", "calls", "p50", "p99", "median ratio to Dragoman"], rows)


def hostile(ours, theirs):
    """Which statements run without an error."""
    counts = collections.defaultdict(collections.Counter)
    for line in pathlib.Path("tests/it/sql/deny.sql").read_text().splitlines():
        if not line or line.startswith("-- "):
            continue
        rule, sql = line.split("\t", 1)
        sql = sql.replace("\\x0d", "\r").replace("\\x0a", "\n")
        count = counts[rule]
        count["all"] += 1
        count["ours"] += ours.sql("hostile", sql)[0]
        try:
            count["theirs"] += theirs.sql("hostile", sql)[0]
        except Gone:
            count["hung"] += 1
            theirs.stop()
            theirs.start()
    counts["all"] = sum(counts.values(), collections.Counter())
    rows = [[rule, count["all"], count["ours"], count["theirs"], count["hung"]] for rule, count in sorted(counts.items(), key=lambda item: item[0] == "all")]
    head = ["class", "statements", "ran: Dragoman", "ran: theirs", f"theirs: no answer in {ANSWER_SECONDS} s, or ended"]
    table("Statements that no caller should be able to run (tests/it/sql/deny.sql)", head, rows)


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="dragoman-bench-"))
    watchdog = threading.Timer(LONGEST, lambda: os._exit(1))
    watchdog.daemon = True
    watchdog.start()
    servers = []
    try:
        load("at the start")
        print(f"mcp-server-motherduck {importlib.metadata.version('mcp-server-motherduck')}, DuckDB {duckdb.__version__}")
        files = []
        for name, text in CSV.items():
            (work / f"{name}.csv").write_text(text)
            files.append(work / f"{name}.csv")
        (work / "secret.csv").write_text("s,t\nx,1\n")
        with duckdb.connect(str(work / "tpch.duckdb")) as made:
            for name in TABLES:
                made.execute(f"CREATE TABLE {name} AS FROM '{TPCH / name}.parquet'")
        with duckdb.connect(str(work / "hostile.duckdb")) as made:
            for name in CSV:
                made.execute(f"CREATE TABLE {name} AS FROM read_csv('{work / name}.csv')")
        workspaces = {"speed": [TPCH / f"{name}.parquet" for name in TABLES], "hostile": files, "other": [work / "secret.csv"]}
        ours = Ours(work, workspaces)
        servers.append(ours)
        theirs = {"theirs": Theirs(work / "tpch.duckdb"), "theirs, connection kept": Theirs(work / "tpch.duckdb", "--no-ephemeral-connections")}
        servers += theirs.values()
        speed(ours, theirs)
        load("after the times")
        other = Theirs(work / "hostile.duckdb")
        servers.append(other)
        hostile(ours, other)
        load("at the end")
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(work)
        for left in pathlib.Path("/tmp").glob("dragoman-x*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


main()
