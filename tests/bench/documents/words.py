"""Writes beside each document of a folder what another program reads in it: as FILE.words its text, by poppler for PDF,
python-docx, python-pptx, odfpy, and Python's email and mailbox with Beautiful Soup for mails; as FILE.cells the rows of
a workbook's sheets that show, a list of cells in JSON each, by openpyxl, xlrd and odfpy. What these cannot read has no
such file."""

import datetime
import email
import email.policy
import json
import mailbox
import pathlib
import subprocess
import sys


def pdf(path):
    done = subprocess.run(["pdftotext", "-enc", "UTF-8", path, "-"], capture_output=True, timeout=120)
    return done.stdout.decode() if done.returncode == 0 else None


def docx(path):
    import docx

    def lines(holder):
        for block in holder.iter_inner_content():
            if hasattr(block, "text"):
                yield block.text
                continue
            # A cell that takes several places is met at each.
            for cell in {cell._tc: cell for row in block.rows for cell in row.cells}.values():
                yield from lines(cell)

    return "\n".join(lines(docx.Document(path)))


def pptx(path):
    import pptx

    def texts(shapes):
        for shape in shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            if getattr(shape, "has_table", False) and shape.has_table:
                yield from (cell.text for row in shape.table.rows for cell in row.cells)
            yield from texts(getattr(shape, "shapes", []))

    def slides():
        for slide in pptx.Presentation(path).slides:
            yield from texts(slide.shapes)
            notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
            yield notes.text if notes else ""

    return "\n".join(slides())


def odf(path):
    from odf import namespaces, teletype
    from odf.opendocument import load

    def lines(node):
        if node.qname in ((namespaces.TEXTNS, "h"), (namespaces.TEXTNS, "p")):
            yield teletype.extractText(node)
        elif node.qname != (namespaces.TEXTNS, "tracked-changes"):
            for child in node.childNodes:
                if child.nodeType == child.ELEMENT_NODE:
                    yield from lines(child)

    return "\n".join(lines(load(path).body))


def head(message):
    """What stands above a mail, and nothing of a part of one."""
    names = ("Subject", "From", "To", "Cc")
    lines = [f"{'' if name == 'Subject' else name} {message[name]}" for name in names if message[name]]
    moment = message["date"] and message["date"].datetime
    if moment:
        lines.append(f"Date: {moment.isoformat()}" + ("" if moment.tzinfo else "Z"))
    return "\n".join(lines).replace("+00:00", "Z")


def body(message):
    """The text of a mail and of the mails within it, in the plain form where there are several."""
    if message.get_content_type() == "message/delivery-status":
        return str(message)
    if message.is_multipart():
        parts = message.get_payload()
        if message.get_content_type() == "multipart/alternative":
            plain = [part for part in parts if part.get_content_type() == "text/plain"]
            parts = plain[:1] or parts[-1:]
        return "\n".join([head(message)] + [body(part) for part in parts])
    text = ""
    if message.get_content_maintype() == "text":
        text = message.get_content()
        if message.get_content_subtype() == "html":
            import bs4

            text = bs4.BeautifulSoup(text, "html.parser").get_text(" ")
    return f"{head(message)}\n{text}"


def eml(path):
    with open(path, "rb") as file:
        return body(email.message_from_binary_file(file, policy=email.policy.default))


def mbox(path):
    mails = [mail.as_bytes() for mail in mailbox.mbox(path, create=False)]
    return "\n".join(body(email.message_from_bytes(mail, policy=email.policy.default)) for mail in mails)


def said(value):
    """A cell in the words of both sides: whole days have no time, and truth is small."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    return "" if value is None else str(value)


def xlsx(path):
    import openpyxl

    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
        if sheet.sheet_state == "visible":
            for row in sheet.iter_rows():
                yield [said(cell.value) for cell in row if cell.data_type != "e"]


def xls(path):
    import xlrd

    def value(cell, book):
        if cell.ctype == xlrd.XL_CELL_DATE and cell.value < 1:
            return (datetime.datetime.min + datetime.timedelta(days=cell.value)).time().isoformat("seconds")
        if cell.ctype == xlrd.XL_CELL_DATE:
            return said(xlrd.xldate_as_datetime(cell.value, book.datemode))
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return said(bool(cell.value))
        return "" if cell.ctype == xlrd.XL_CELL_ERROR else said(cell.value)

    book = xlrd.open_workbook(path)
    for sheet in book.sheets():
        if sheet.visibility == 0:
            for row in sheet.get_rows():
                yield [value(cell, book) for cell in row]


# The attribute that holds the value of a cell of OpenDocument, by its kind; of all others the text counts.
HELD = {
    "float": "value",
    "percentage": "value",
    "currency": "value",
    "boolean": "booleanvalue",
    "date": "datevalue",
}


def ods(path):
    from odf import style, table, teletype, text
    from odf.opendocument import load

    document = load(path)
    styles = document.getElementsByType(style.Style)
    hidden = {
        one.getAttribute("name")
        for one in styles
        for shown in one.getElementsByType(style.TableProperties)
        if shown.getAttribute("display") == "false"
    }
    for sheet in document.spreadsheet.getElementsByType(table.Table):
        if sheet.getAttribute("stylename") in hidden:
            continue
        for row in sheet.getElementsByType(table.TableRow):
            cells = []
            for cell in row.getElementsByType(table.TableCell):
                kind = cell.getAttribute("valuetype")
                held = HELD.get(kind)
                shown = "\n".join(teletype.extractText(line) for line in cell.getElementsByType(text.P))
                value = str(cell.getAttribute(held)).replace("T", " ").removesuffix(" 00:00:00") if held else shown
                cells += [value] * (int(cell.getAttribute("numbercolumnsrepeated") or 1) if value else 1)
            yield from [cells] * (int(row.getAttribute("numberrowsrepeated") or 1) if any(cells) else 1)


def cells(read):
    """Reads the cells that hold something as lines of JSON."""
    rows = [[cell for cell in row if cell.strip()] for row in read]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row)


READERS = {".pdf": pdf, ".docx": docx, ".pptx": pptx, ".odt": odf, ".odp": odf, ".eml": eml, ".mbox": mbox}
SHEETS = {".xlsx": xlsx, ".xlsm": xlsx, ".xls": xls, ".ods": ods}

for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    ending = path.suffix.lower()
    kind = ".cells" if ending in SHEETS else ".words"
    words = path.with_name(path.name + kind)
    reader = READERS.get(ending) or SHEETS.get(ending)
    if reader is None or words.exists() or path.with_suffix(kind).exists() or not path.is_file():
        continue
    try:
        read = cells(reader(str(path))) if ending in SHEETS else reader(str(path))
        if read and read.strip():
            words.write_text(read)
    except Exception as problem:  # noqa: BLE001: whatever it is, this program is no reference then
        print(f"  no reference for {path.name}: {type(problem).__name__}", file=sys.stderr)
