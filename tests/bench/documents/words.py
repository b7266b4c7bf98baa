"""Writes beside each document of a folder what another program reads in it, as FILE.words: poppler for PDF, python-docx,
python-pptx, odfpy and Beautiful Soup for the others. What these cannot read has no such file."""

import pathlib
import subprocess
import sys


def pdf(path):
    done = subprocess.run(["pdftotext", "-enc", "UTF-8", path, "-"], capture_output=True, timeout=120)
    return done.stdout.decode() if done.returncode == 0 else None


def docx(path):
    import docx

    def cells(table):
        for row in table.rows:
            for cell in row.cells:
                yield cell.text

    document = docx.Document(path)
    texts = [paragraph.text for paragraph in document.paragraphs]
    return "\n".join(texts + [text for table in document.tables for text in cells(table)])


def pptx(path):
    import pptx

    texts = []
    for slide in pptx.Presentation(path).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            if getattr(shape, "has_table", False) and shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
    return "\n".join(texts)


def odf(path):
    from odf import teletype, text
    from odf.opendocument import load

    document = load(path)
    kinds = [text.H, text.P]
    return "\n".join(teletype.extractText(found) for kind in kinds for found in document.getElementsByType(kind))


READERS = {".pdf": pdf, ".docx": docx, ".pptx": pptx, ".odt": odf, ".odp": odf}

for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    words = path.with_name(path.name + ".words")
    reader = READERS.get(path.suffix.lower())
    if reader is None or words.exists() or path.with_suffix(".words").exists() or not path.is_file():
        continue
    try:
        read = reader(str(path))
    except Exception as problem:  # noqa: BLE001: whatever it is, this program is no reference then
        print(f"  no reference for {path.name}: {type(problem).__name__}", file=sys.stderr)
        continue
    if read and read.strip():
        words.write_text(read)
