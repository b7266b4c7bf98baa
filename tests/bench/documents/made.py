"""Has other programs write what packages carry as plain text, so that what is in it is known: tables as sheets
(openpyxl, XlsxWriter, xlwt, odfpy), tables and texts in other encodings than UTF-8 (Python's codecs), and mails in
boxes (Python's mailbox). Beside each file lies what is in it: as FILE.cells the rows, as FILE.words the text.

  made.py FOLDER"""

import csv
import datetime
import email
import json
import mailbox
import pathlib
import re
import subprocess
import sys
import test

import odf.opendocument
import odf.style
import odf.table
import odf.text
import openpyxl
import xlsxwriter
import xlwt

TABLES = 25
ROWS = 2_000
# Encodings of Unicode, and those of before with the languages that were written in them.
UNICODE = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
OLDER = {
    "cp1250": "cs hu pl ro sk",
    "iso8859-2": "cs hu pl ro sk",
    "cp1251": "bg ru sr uk",
    "koi8-r": "ru",
    "cp1252": "ca da de es eu fi fr gl it nb nl pt pt_BR sv",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1257": "lt",
    "shift_jis": "ja",
    "euc_jp": "ja",
    "iso2022_jp": "ja",
    "euc_kr": "ko",
    "big5": "zh_TW",
    "gb18030": "zh_CN",
}

out = pathlib.Path(sys.argv[1])
made = out / "made"
tests = pathlib.Path(test.__file__).parent


def typed(cell):
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", cell):
        return int(cell)
    if re.fullmatch(r"-?(0|[1-9]\d{0,8})\.\d{1,6}", cell):
        return float(cell)
    try:
        return datetime.date.fromisoformat(cell) if re.fullmatch(r"(19|20)\d\d-\d\d-\d\d", cell) else cell
    except ValueError:
        return cell


def tables():
    """Tables of packages, spread over all that there are, each with its name and cells."""
    found = []
    for path in sorted(out.glob("packages/*/**/*.csv")):
        if not path.is_file() or not 500 < path.stat().st_size < 300_000:
            continue
        try:
            rows = list(csv.reader(path.open(encoding="utf-8", newline=""), strict=True))[:ROWS]
        except (csv.Error, UnicodeDecodeError):
            continue
        if len(rows) > 2 and 1 < len(rows[0]) < 100 and all(len(row) == len(rows[0]) for row in rows):
            found.append((path.stem, rows))
    return found[:: max(1, len(found) // TABLES)][:TABLES]


def by_openpyxl(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([None if cell == "" else cell for cell in row])
    book.save(path)


def by_xlsxwriter(path, rows):
    book = xlsxwriter.Workbook(path)
    sheet, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if isinstance(cell, datetime.date):
                sheet.write_datetime(y, x, cell, day)
            elif isinstance(cell, str):
                sheet.write_string(y, x, cell)
            else:
                sheet.write_number(y, x, cell)
    book.close()


def by_xlwt(path, rows):
    book = xlwt.Workbook(encoding="utf-8")
    sheet, day = book.add_sheet("Sheet"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            sheet.write(y, x, cell, day) if isinstance(cell, datetime.date) else sheet.write(y, x, cell)
    book.save(str(path))


def by_odfpy(path, rows):
    document = odf.opendocument.OpenDocumentSpreadsheet()
    sheet = odf.table.Table(name="Sheet")
    for row in rows:
        line = odf.table.TableRow()
        for cell in row:
            if isinstance(cell, datetime.date):
                value = odf.table.TableCell(valuetype="date", datevalue=cell.isoformat())
            elif isinstance(cell, str):
                value = odf.table.TableCell(valuetype="string") if cell else odf.table.TableCell()
            else:
                value = odf.table.TableCell(valuetype="float", value=cell)
            if cell != "":
                value.addElement(odf.text.P(text=str(cell)))
            line.addElement(value)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    document.save(str(path))


WRITERS = {"openpyxl.xlsx": by_openpyxl, "xlsxwriter.xlsx": by_xlsxwriter, "xlwt.xls": by_xlwt, "odfpy.ods": by_odfpy}


def sheets():
    for name, rows in tables():
        rows = [[typed(cell.strip()) for cell in row] for row in rows]
        cells = [[str(cell) for cell in row if cell != ""] for row in rows]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in cells if row)
        for ending, write in WRITERS.items():
            path = made / f"{name}.{ending}"
            if not path.exists():
                write(path, rows)
            path.with_name(path.name + ".cells").write_text(lines)


def encodings():
    """Debian's reference cards in what their languages were written in, Python's own texts in encodings of East Asia,
    and tables that have letters beyond ASCII; without the few signs that an encoding lacks."""
    for sample in sorted((tests / "cjkencodings").glob("*-utf8.txt")):
        name = sample.name.removesuffix("-utf8.txt")
        (made / f"python-{name}.txt").write_bytes((sample.parent / f"{name}.txt").read_bytes())
        (made / f"python-{name}.txt.words").write_text(sample.read_text("utf-8"))
    texts = []
    for card in sorted(out.glob("packages/debian-refcard/**/refcard-*-a4.pdf")):
        language = card.stem.split("-")[1]
        read = subprocess.run(["pdftotext", "-enc", "UTF-8", card, "-"], capture_output=True, check=True).stdout
        own = [encoding for encoding, languages in OLDER.items() if language in languages.split()]
        texts.append((card.stem, "txt", read.decode().replace("\f", ""), UNICODE + own))
    for path in sorted(out.glob("packages/*/**/*.csv")):
        read = path.read_bytes()[:200_000] if path.is_file() else b""
        try:
            text = read[: read.rfind(b"\n") + 1].decode()
        except UnicodeDecodeError:
            continue
        if not text.isascii():
            texts.append((path.stem, "csv", text, [*UNICODE, "cp1252"]))
    for name, ending, text, encodings in texts:
        for encoding in encodings:
            written = text.encode(encoding, "ignore")
            (made / f"{name}.{encoding}.{ending}").write_bytes(written)
            (made / f"{name}.{encoding}.{ending}.words").write_text(written.decode(encoding))


def mails():
    """The mails that Python tests its reader with, and all mails that there are in boxes of twenty."""
    for number, path in enumerate(sorted((tests / "test_email" / "data").glob("msg_*.txt"))):
        (made / f"python-{number}.eml").write_bytes(path.read_bytes())
    found = [path for path in sorted(out.rglob("*.eml")) if path.is_file()]
    for start in range(0, len(found), 20):
        path = made / f"{start}.mbox"
        path.unlink(missing_ok=True)
        box = mailbox.mbox(path)
        for mail in found[start : start + 20]:
            try:
                box.add(email.message_from_bytes(mail.read_bytes()))
            except (UnicodeError, ValueError, KeyError):
                continue
        box.close()


sheets()
encodings()
mails()
