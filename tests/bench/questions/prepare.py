"""Turns the published files of the five data sets into folders of CSV and Parquet files that can be imported.

    python3 prepare.py SOURCE OUT

SOURCE holds `acme/data/*.csv`, `nycflights13/*.parquet`, `chinook/Chinook_Sqlite.sqlite`,
`sakila/postgres-sakila-insert-data-using-copy.sql` and `tpch/*.parquet`, each as its publisher gives it. OUT gets
`acme`, `flights`, `chinook`, `sakila` and `tpch`, one file for each table, named as the table. Needs only the
standard library; the same input gives the same bytes.
"""

import csv
import shutil
import sqlite3
import sys
from pathlib import Path

# Left out: a search index, a picture, and a password.
SAKILA_DROPPED = {("film", "fulltext"), ("staff", "picture"), ("staff", "password")}


def snake(name):
    """`InvoiceLine` is `invoice_line`, as the file of a table is named."""
    return "".join("_" + c.lower() if c.isupper() and at else c.lower() for at, c in enumerate(name))


def write_csv(path, header, rows):
    """NULL is an empty field. Text that is empty is NULL too: the sets do not tell them apart."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def copied(folder, pattern, out):
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob(pattern)):
        shutil.copyfile(path, out / path.name.lower())


def chinook(database, out):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (table,) in tables:
        rows = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2')
        write_csv(out / f"{snake(table)}.csv", [column[0] for column in rows.description], rows)


def copy_value(text):
    """A value of PostgreSQL's COPY text format."""
    if text == r"\N":
        return None
    if "\\" in text:
        for escaped, plain in ((r"\t", "\t"), (r"\n", "\n"), (r"\r", "\r"), (r"\\", "\\")):
            text = text.replace(escaped, plain)
    return text


def sakila(dump, out):
    table, columns, rows = None, [], []
    for line in dump.read_text(encoding="utf-8").split("\n"):
        if table is None:
            if line.startswith("COPY public."):
                head, _, rest = line[len("COPY public.") :].partition(" (")
                table, columns, rows = head, rest.split(")")[0].split(", "), []
            continue
        if line != r"\.":
            rows.append([copy_value(value) for value in line.split("\t")])
            continue
        kept = [at for at, column in enumerate(columns) if (table, column) not in SAKILA_DROPPED]
        booleans = {at for at in kept if columns[at] in ("activebool",) or (table, columns[at]) == ("staff", "active")}
        plain = []
        for row in rows:
            values = []
            for at in kept:
                value = row[at]
                if at in booleans and value in ("t", "f"):
                    value = "true" if value == "t" else "false"
                elif columns[at] == "special_features" and value:
                    value = value.strip("{}").replace('"', "")
                elif value is not None:
                    value = value.strip() if columns[at] == "name" else value
                values.append(value)
            plain.append(values)
        write_csv(out / f"{table}.csv", [columns[at] for at in kept], plain)
        table = None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    copied(source / "acme" / "data", "*.csv", out / "acme")
    copied(source / "nycflights13", "*.parquet", out / "flights")
    copied(source / "tpch", "*.parquet", out / "tpch")
    chinook(source / "chinook" / "Chinook_Sqlite.sqlite", out / "chinook")
    sakila(source / "sakila" / "postgres-sakila-insert-data-using-copy.sql", out / "sakila")


if __name__ == "__main__":
    main()
