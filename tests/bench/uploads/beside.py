"""How many rows a second an import takes in, beside DuckDB's own readers over the same files, in turns.

  python tests/bench/uploads/beside.py PROGRAM [--rows 2000000] [--rounds 3]

PROGRAM is a release build. Makes a table of eight columns as CSV, NDJSON, Parquet and XLSX (of at most 100,000 rows) in a
folder in TMPDIR, which takes a minute or two; at 2,000,000 rows the files and what is made of them need 1.5 GB. README.md says
what is measured.

Needs Linux and a Python with DuckDB of the engine's release (pip install duckdb). Nothing is fetched: DuckDB reads XLSX where
its extension is there (python -c 'import duckdb; duckdb.sql("INSTALL excel")'); where it is not, its figures of that are -.
"""
import argparse
import collections
import csv
import datetime
import http.client
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile

NAMES = ["id", "customer", "note", "amount", "ordered_on", "updated_at", "is_paid", "stars"]
WORDS = "amber basalt cedar delta ember fjord garnet harbour indigo juniper kestrel lagoon meadow nectar opal pepper quartz river".split()
FIRST, DAYS = datetime.datetime(2015, 1, 1), 4_000
SHEET_ROWS = 100_000  # more are not in an XLSX
READERS = {"csv": "read_csv", "ndjson": "read_json", "parquet": "read_parquet", "xlsx": "read_xlsx"}
# What a worker has for an import (`memory_mb` in src/engine/sql/import.rs).
THREADS, MEMORY = 2, "1024MiB"
PATIENCE = 1_000  # seconds for an answer; an import has 900
START = 60
PIECE = 1 << 20

PARQUET = """
import sys, duckdb
source, to = sys.argv[1:]
with duckdb.connect(config={"threads": 1}) as db:
    db.execute(f"COPY (FROM read_csv('{source}', types={{'amount': 'DECIMAL(12,2)'}})) TO '{to}' (FORMAT parquet)")
"""
EXCEL = "import duckdb; duckdb.execute('LOAD excel')"
IMPORT = f"""
import sys, time, duckdb
file, reader, source = sys.argv[1:]
began = time.monotonic()
with duckdb.connect(file, config={{"threads": {THREADS}, "memory_limit": "{MEMORY}"}}) as db:
    if reader == "read_xlsx":
        db.execute("LOAD excel")
    rows = db.execute(f"CREATE TABLE data AS FROM {{reader}}('{{source}}')").fetchone()[0]
print(rows, time.monotonic() - began)
"""


def made(count):
    """The rows; the same ones each time."""
    dice = random.Random(7)
    for at in range(count):
        moment = FIRST + datetime.timedelta(days=dice.randrange(DAYS), seconds=dice.randrange(86_400))
        note = ", ".join(dice.choices(WORDS, k=3)) if dice.random() < 0.7 else None
        stars = dice.randrange(1, 6) if dice.random() < 0.9 else None
        amount = dice.randrange(1, 10_000_000) / 100
        yield at + 1, " ".join(dice.choices(WORDS, k=2)), note, amount, moment.date(), moment, dice.random() < 0.8, stars


def texts(count, work):
    """CSV and NDJSON."""
    encode = json.JSONEncoder(default=str).encode
    with open(work / "table.csv", "w") as table, open(work / "table.ndjson", "w") as lines:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(NAMES)
        for row in made(count):
            number, customer, note, amount, day, moment, is_paid, stars = row
            writer.writerow([number, customer, note, f"{amount:.2f}", day, moment, str(is_paid).lower(), stars])
            lines.write(encode(dict(zip(NAMES, row))) + "\n")


def workbook(count, file):
    """One sheet, its texts beside it as Excel writes them."""
    shared = {}

    def cell(place, value):
        if value is None:
            return ""
        how = ""
        if isinstance(value, bool):
            how, value = ' t="b"', int(value)
        elif isinstance(value, str):
            how, value = ' t="s"', shared.setdefault(value, len(shared))
        elif isinstance(value, datetime.datetime):
            how, value = ' s="2"', (value - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
        elif isinstance(value, datetime.date):
            how, value = ' s="1"', (value - datetime.date(1899, 12, 30)).days
        return f'<c r="{place}"{how}><v>{value}</v></c>'

    xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    main, office = (f"http://schemas.openxmlformats.org/{name}" for name in ["spreadsheetml/2006/main", "officeDocument/2006/relationships"])
    package, kinds = "http://schemas.openxmlformats.org/package/2006", "application/vnd.openxmlformats-officedocument.spreadsheetml"

    def relations(*targets):
        each = "".join(f'<Relationship Id="r{at}" Type="{office}/{kind}" Target="{target}"/>' for at, (kind, target) in enumerate(targets, 1))
        return f'<Relationships xmlns="{package}/relationships">{each}</Relationships>'

    parts = {"workbook": "sheet.main", "styles": "styles", "sharedStrings": "sharedStrings", "worksheets/sheet1": "worksheet"}
    types = "".join(f'<Override PartName="/xl/{part}.xml" ContentType="{kinds}.{kind}+xml"/>' for part, kind in parts.items())
    default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    formats = "".join(f'<xf numFmtId="{number}" applyNumberFormat="1"/>' for number in [0, 14, 22])
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        def put(name, text):
            packed.writestr(zipfile.ZipInfo(name), xml + text, zipfile.ZIP_DEFLATED)
        put("[Content_Types].xml", f'<Types xmlns="{package}/content-types">{default}{types}</Types>')
        put("_rels/.rels", relations(("officeDocument", "xl/workbook.xml")))
        put("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Orders" sheetId="1" r:id="r1"/></sheets></workbook>')
        put("xl/_rels/workbook.xml.rels", relations(("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")))
        put("xl/styles.xml", f'<styleSheet xmlns="{main}"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills>'
            f'<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3">{formats}</cellXfs></styleSheet>')
        sheet = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        sheet.compress_type = zipfile.ZIP_DEFLATED
        with packed.open(sheet, "w") as out:
            out.write(f'{xml}<worksheet xmlns="{main}"><sheetData>'.encode())
            for at, row in enumerate([NAMES, *made(count)], 1):
                cells = "".join(cell(f"{letter}{at}", value) for letter, value in zip("ABCDEFGH", row))
                out.write(f'<row r="{at}">{cells}</row>'.encode())
            out.write(b"</sheetData></worksheet>")
        put("xl/sharedStrings.xml", f'<sst xmlns="{main}" uniqueCount="{len(shared)}">{"".join(f"<si><t>{text}</t></si>" for text in shared)}</sst>')


def ended(process):
    """Waits for its end; megabytes of the largest of it and those that it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss * 1024 / 1e6


def run(command, env=None):
    """What it prints, seconds, and megabytes."""
    with tempfile.TemporaryFile() as log:
        began = time.monotonic()
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True) as process:
            said = process.stdout.read()
            peak = ended(process)
        took = time.monotonic() - began
        if process.returncode:
            log.seek(0)
            raise SystemExit(f"{' '.join(map(str, command))}: {log.read().decode()[-2000:]}")
    return said, took, peak


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("dragoman", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Dragoman:
    """The program, over a data folder that is new for each import."""

    def __init__(self, program):
        self.program = program
        plain = {name: value for name, value in os.environ.items() if not name.startswith("DRAGOMAN_") and name != "DATABASE_URL"}
        self.env = plain | {"DRAGOMAN_ADMIN_LISTEN": "off", "DRAGOMAN_LOG": "warn", "DRAGOMAN_UPLOAD_BYTES": str(1 << 40)}

    def command(self, data, *arguments):
        return run([self.program, "--data", data, *arguments, "--json"], self.env)

    def by_command(self, folder, file):
        """The whole command, its start too."""
        self.command(folder, "admin", "workspace", "create", "bench")
        said, took, peak = self.command(folder, "import", file, "--workspace", "bench", "--name", "orders")
        return json.loads(said)["row_count"], took, peak

    def by_service(self, folder, file):
        """From the first byte of a form to the answer; the start is not counted."""
        self.command(folder, "admin", "workspace", "create", "bench")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen([self.program, "--data", folder, "serve", "--listen", address], env=self.env, stdout=log, stderr=log)
        try:
            self.up(process, folder)
            began = time.monotonic()
            reply = self.send(folder, file)
            took = time.monotonic() - began
        finally:
            process.terminate()
            peak = ended(process)
        return reply["row_count"], took, peak

    def up(self, process, folder):
        end = time.monotonic() + START
        while True:
            try:
                return self.ask(folder, "GET", "/api/v1/ext/datasets")
            except (OSError, http.client.HTTPException):
                if time.monotonic() > end or os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    raise SystemExit(f"the service does not start: {(folder / 'log').read_text()[-2000:]}") from None
                time.sleep(0.02)

    def send(self, folder, file):
        border = uuid.uuid4().hex
        part = f"--{border}\r\ncontent-disposition: form-data; name="
        head = f'{part}"name"\r\n\r\norders\r\n{part}"file"; filename="{file.name}"\r\n\r\n'.encode()
        tail = f"\r\n--{border}--\r\n".encode()

        def body():
            yield head
            with open(file, "rb") as source:
                while piece := source.read(PIECE):
                    yield piece
            yield tail
        length = len(head) + file.stat().st_size + len(tail)
        headers = {"content-type": f"multipart/form-data; boundary={border}", "content-length": str(length)}
        return self.ask(folder, "POST", "/api/v1/datasets", body(), headers)

    @staticmethod
    def ask(folder, method, path, body=None, headers=None):
        wire = Unix(str(folder / "service.sock"))
        try:
            wire.request(method, "/local" + path, body, {"dragoman-workspace": "bench", **(headers or {})})
            answer = wire.getresponse()
            text = answer.read().decode()
        finally:
            wire.close()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {text[:500]}")
        return json.loads(text)


def by_duckdb(folder, file):
    """From opening the database to its being closed; the start of Python is not counted."""
    said, _, peak = run([sys.executable, "-c", IMPORT, folder / "table.duckdb", READERS[file.suffix[1:]], file])
    rows, took = said.split()
    return int(rows), float(took), peak


def measured(ways, files, rounds, work):
    """Seconds and megabytes of each file by each way, round by round."""
    seen, excel = collections.defaultdict(list), has_excel()
    for turn in range(rounds):
        for file, count in files.items():
            for name, way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
                if name == "DuckDB" and file.suffix == ".xlsx" and not excel:
                    continue
                with tempfile.TemporaryDirectory(dir=work) as folder:
                    rows, took, peak = way(pathlib.Path(folder), file)
                if rows != count:
                    raise SystemExit(f"{name} made {rows} rows of {file.name}, which has {count}")
                seen[file, name].append((took, peak))
        load(f"after round {turn + 1}")
    return seen


def has_excel():
    return subprocess.run([sys.executable, "-c", EXCEL], stderr=subprocess.DEVNULL).returncode == 0


def told(seen, files):
    print("\n| kind | MB | rows | DuckDB, rows/s | command, rows/s | ratio | service, rows/s | ratio | MB: DuckDB | command | service |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for file, count in files.items():
        middle = {name: [statistics.median(figure) for figure in zip(*seen[file, name])] for name in ["DuckDB", "command", "service"]}
        speed = {name: count / figures[0] if figures else None for name, figures in middle.items()}
        cells = [file.suffix[1:], f"{file.stat().st_size / 1e6:.1f}", f"{count:,}", f"{speed['DuckDB']:,.0f}" if speed["DuckDB"] else "-"]
        for name in ["command", "service"]:
            cells += [f"{speed[name]:,.0f}", f"{speed[name] / speed['DuckDB']:.2f}" if speed["DuckDB"] else "-"]
        cells += [f"{figures[1]:.0f}" if figures else "-" for figures in middle.values()]
        print(f"| {' | '.join(cells)} |")


def load(when):
    print(f"[{when}: {os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}]", flush=True)


def main():
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("program", type=pathlib.Path)
    reading.add_argument("--rows", type=int, default=2_000_000)
    reading.add_argument("--rounds", type=int, default=3)
    options = reading.parse_args()
    if importlib.util.find_spec("duckdb") is None:
        raise SystemExit("the Python package duckdb is missing: pip install duckdb")
    ours = Dragoman(options.program.resolve())
    ways = [("DuckDB", by_duckdb), ("command", ours.by_command), ("service", ours.by_service)]
    print(f"DuckDB {importlib.metadata.version('duckdb')}, {THREADS} threads, {MEMORY}; middle figures, rounds: {options.rounds}")
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as work:
        work = pathlib.Path(work)
        texts(options.rows, work)
        run([sys.executable, "-c", PARQUET, work / "table.csv", work / "table.parquet"])
        sheet = min(options.rows, SHEET_ROWS)
        workbook(sheet, work / "table.xlsx")
        files = {work / f"table.{kind}": sheet if kind == "xlsx" else options.rows for kind in READERS}
        load("before the rounds")
        told(measured(ways, files, options.rounds, work), files)


main()
