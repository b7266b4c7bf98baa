"""Runs the reference SQL of the question sets, and judges answers by it; README.md says what counts as right.

    python3 compare.py check [SET ...]       every reference runs, and means the same in every session's time zone
    python3 compare.py score SET ANSWERS     judges ANSWERS, a JSON object: id -> {"outcome": "answer" | "clarify" |
                                             "decline", "columns": [...], "rows": [[...], ...]}

DRAGOMAN_BENCH_DATA may name a folder that holds a folder for each set; without it the data of this project are read.
Needs only the standard library and duckdb.
"""

import collections
import datetime
import decimal
import json
import os
import re
import sys
import zoneinfo
from pathlib import Path

HERE = Path(__file__).resolve().parent
SETS = ("acme", "flights", "chinook", "sakila", "tpch", "traps")
RELATIVE = 1e-6

# A session's time zone that is none of the sets' and a day ahead of most: what references say must not depend on it.
ELSEWHERE = "Pacific/Auckland"


# --- reading


def scalar(text):
    if text.startswith('"'):
        return json.loads(text)
    if text.startswith("["):
        return [word.strip() for word in text[1:-1].split(",") if word.strip()]
    return {"true": True, "false": False}.get(text, text)


def questions(path):
    """The head and the questions of a question file, which keeps to the few forms of YAML that are read here."""
    head, found, block, indent = {}, [], None, 0
    for line in path.read_text(encoding="utf-8").split("\n"):
        if block is not None and (not line.strip() or len(line) - len(line.lstrip()) >= indent):
            block.append(line[indent:])
            continue
        block = None
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if match := re.fullmatch(r"(\w+): (.+)", line):
            head[match[1]] = scalar(match[2])
        elif line == "questions:":
            continue
        elif match := re.fullmatch(r"  - id: (.+)", line):
            found.append({"id": match[1], "sqls": [], "ordered": False, "after": None})
        elif line == "    sql: |":
            block, indent = [], 6
            found[-1]["sqls"].append(block)
        elif line == "    sqls:":
            continue
        elif line == "      - |":
            block, indent = [], 8
            found[-1]["sqls"].append(block)
        elif match := re.fullmatch(r"    (\w+): (.+)", line):
            found[-1][match[1]] = scalar(match[2])
        else:
            raise ValueError(f"{path}: not understood: {line}")
    for question in found:
        question["sqls"] = ["\n".join(block).strip() for block in question["sqls"]]
    return head, found


def folder(name, head):
    given = os.environ.get("DRAGOMAN_BENCH_DATA")
    elsewhere = Path(given) / name if given else None
    return elsewhere if elsewhere and elsewhere.is_dir() else HERE.parents[2] / head["data"]


def database(path, zone):
    """The tables of a folder, as the importer names and reads them."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{zone}'")
    for file in sorted(path.iterdir()):
        table = "_".join(re.findall(r"[a-z0-9]+", file.stem.lower()))
        if file.suffix == ".csv":
            rows = f"read_csv('{file}', sample_size=-1, quote='\"', escape='\"', comment='')"
        elif file.suffix == ".parquet":
            rows = f"read_parquet('{file}')"
        else:
            continue
        connection.execute(f'CREATE TABLE "{table}" AS SELECT * FROM {rows}')
        for (column,) in connection.execute(f'SELECT column_name FROM (DESCRIBE "{table}")').fetchall():
            if not re.fullmatch(r"[A-Za-z_]\w*", column):
                plain = "_".join(re.findall(r"[^\W_]+", column)).lower()
                connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO {plain}')
    return connection


# --- comparing


def normal(value, zone="UTC"):
    """A value as (kind, comparable): numbers, civil times of the zone to the microsecond, and the rest as text."""
    if value is None:
        return ("null", "")
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, (int, float, decimal.Decimal)):
        return ("number", float(value))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(zoneinfo.ZoneInfo(zone))
        return ("time", value.replace(tzinfo=None).isoformat(timespec="microseconds"))
    if isinstance(value, datetime.date):
        return ("time", datetime.datetime(value.year, value.month, value.day).isoformat(timespec="microseconds"))
    text = str(value).strip()
    if match := re.fullmatch(r"(\d{4})-(\d\d)", text):
        text = f"{match[1]}-{match[2]}-01"
    elif match := re.fullmatch(r"(\d{4})-Q([1-4])", text):
        text = f"{match[1]}-{int(match[2]) * 3 - 2:02}-01"
    if re.match(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)", text):
        try:
            return normal(datetime.datetime.fromisoformat(text), zone)
        except ValueError:
            pass
    return ("text", text)


def near(one, other):
    return abs(one - other) <= max(RELATIVE * max(abs(one), abs(other)), 1e-9)


def as_column(reference, answer):
    """Answers that carry exact numbers as text, read as numbers where the reference has numbers."""
    if any(kind == "number" for kind, _ in reference):
        read = []
        for kind, value in answer:
            if kind == "text" and re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", value):
                kind, value = "number", float(value)
            read.append((kind, value))
        return read
    return answer


def same_rows(reference, answer):
    """Whether two lists of rows are equal as multisets."""
    groups = (collections.defaultdict(list), collections.defaultdict(list))
    for rows, group in zip((reference, answer), groups):
        for row in rows:
            key = tuple((kind, None if kind == "number" else value) for kind, value in row)
            group[key].append([value for kind, value in row if kind == "number"])
    if groups[0].keys() != groups[1].keys():
        return False
    for key, ours in groups[0].items():
        theirs = groups[1][key]
        if len(ours) != len(theirs):
            return False
        for one, other in zip(sorted(ours), sorted(theirs)):
            if not all(near(a, b) for a, b in zip(one, other)):
                return False
    return True


def matches(reference, answer, ordered=False, zone="UTC"):
    """Whether the columns of the reference are among those of the answer, with the same rows.

    Each reference column is given a column of its own of the answer, so that the rows of these columns are the rows
    of the reference as multisets. When `ordered`, the last reference column (what is ranked by) must have the same
    values in the same order, so that rows that are tied may be exchanged.
    """
    if len(reference) != len(answer):
        return False
    if not reference:
        return True
    ours = [[normal(value, zone) for value in column] for column in zip(*reference)]
    theirs = [[normal(value, zone) for value in column] for column in zip(*answer)]

    def search(taken):
        if len(taken) == len(ours):
            chosen = [as_column(column, theirs[at]) for column, at in zip(ours, taken)]
            if not same_rows(list(zip(*ours)), list(zip(*chosen))):
                return False
            last = zip(ours[-1], chosen[-1])
            return not ordered or all(a == b or a[0] == b[0] == "number" and near(a[1], b[1]) for a, b in last)
        column = ours[len(taken)]
        for at, candidate in enumerate(theirs):
            if at in taken:
                continue
            if same_rows([[value] for value in column], [[value] for value in as_column(column, candidate)]):
                if search([*taken, at]):
                    return True
        return False

    return search([])


def judge(question, answer, run, zone):
    """`right`, `silent` (nothing false was said, but no answer was given) or `wrong`."""
    outcome, kind = answer["outcome"], question["kind"]
    if outcome == "answer":
        rows = answer["rows"]
        if kind in ("clarify", "decline"):
            return "wrong" if rows else "right" if kind == "decline" else "silent"
        if any(matches(run(sql), rows, question["ordered"], zone) for sql in question["sqls"]):
            return "right"
        return "wrong" if rows else "silent"
    if outcome == "clarify":
        return "silent" if kind == "answer" else "right"
    return "right" if kind == "decline" else "silent"


# --- commands


def check(names):
    bad = 0
    for name in names:
        head, asked = questions(HERE / name / "questions.yaml")
        connection = database(folder(name, head), head["timezone"])
        elsewhere = database(folder(name, head), ELSEWHERE)
        kinds = collections.Counter(question["kind"] for question in asked)
        seen = set()
        for question in asked:
            problem = None
            if question["id"] in seen or question["after"] and question["after"] not in seen:
                problem = "its id is taken, or what it follows was not asked before"
            seen.add(question["id"])
            if bool(question["sqls"]) != (question["kind"] in ("answer", "answer_or_clarify")):
                problem = "it has SQL and should not, or should and has none"
            for sql in question["sqls"]:
                rows = connection.execute(sql).fetchall()
                if not matches(rows, rows, question["ordered"], head["timezone"]):
                    problem = "a reference is not equal to itself"
                if not matches(rows, elsewhere.execute(sql).fetchall(), zone=head["timezone"]):
                    problem = "a reference leaves its time zone to the session"
            if problem:
                bad += 1
                print(f"{question['id']}: {problem}")
        print(name, len(asked), dict(kinds))
    sys.exit(1 if bad else 0)


def score(name, path):
    head, asked = questions(HERE / name / "questions.yaml")
    connection = database(folder(name, head), head["timezone"])
    answers = json.loads(Path(path).read_text(encoding="utf-8"))
    results = collections.Counter()
    for question in asked:
        answer = answers.get(question["id"], {"outcome": "decline"})
        result = judge(question, answer, lambda sql: connection.execute(sql).fetchall(), head["timezone"])
        results[question["kind"], result] += 1
        if result != "right":
            print(f"{result:7} {question['id']:8} {question['kind']:18} {question['question']}")
    for (kind, result), count in sorted(results.items()):
        print(f"{kind:18} {result:7} {count}")


def main():
    match sys.argv[1:]:
        case ["check", *names]:
            check(names or SETS)
        case ["score", name, path]:
            score(name, path)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
