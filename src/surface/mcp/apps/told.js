// What an answer says in words. Of markdown only what our narratives are made of is read: lines, emphasis, code,
// escapes. Tables in it are left out: the rows are shown as such.
const SPANS = /\\([!-/:-@[-`{-~])|`([^`]+)`|\*\*|_(?=\S)|_/g;

function spansOf(line) {
  const parts = [];
  const styles = { strong: false, em: false };
  let last = 0;
  const push = (text, code) => {
    if (!text) return;
    let part = code ? element('code', text) : document.createTextNode(text);
    for (const name of Object.keys(styles).filter((name) => styles[name])) {
      const around = element(name);
      around.append(part);
      part = around;
    }
    parts.push(part);
  };
  for (const found of line.matchAll(SPANS)) {
    const [mark, escaped, code] = found;
    const inWord = mark === '_' && /\w/.test(line[found.index - 1] || '') && /\w/.test(line[found.index + 1] || '');
    push(line.slice(last, found.index));
    last = found.index + mark.length;
    if (escaped) push(escaped);
    else if (code) push(code.replaceAll('\\|', '|'), true);
    else if (inWord) push(mark);
    else if (mark === '**') styles.strong = !styles.strong;
    else styles.em = !styles.em;
  }
  push(line.slice(last));
  return parts;
}

// The lines of a narrative, by what they are: the answer, what to be careful with, how it was read.
function linesOf(narrative) {
  const lines = String(narrative).split('\n').map((line) => line.trim()).filter(Boolean);
  const words = lines.filter((line) => !/^\||^…/.test(line));
  const warns = (line) => line.startsWith('⚠');
  return {
    answer: words.filter((line, at) => at === 0 && !warns(line)),
    caveats: words.filter(warns).map((line) => line.replace(/^⚠\uFE0F?\s*/u, '')),
    reading: words.filter((line, at) => at > 0 && !warns(line)),
  };
}

function said(line, className) {
  const made = element('p', undefined, className);
  made.append(...spansOf(line));
  return made;
}

// A caveat that stands in a block of its own is a text or an object with one.
function caveatsOf(given, lines) {
  if (!Array.isArray(given.caveats)) return lines.caveats.map((line) => said(line));
  return given.caveats.map((one) => element('p', String(isNone(one) || typeof one !== 'object' ? one : one.text ?? one.says ?? plain(one))));
}

// What stands below: what to be careful with, how the question was read, and the SQL.
function notesOf(given, lines) {
  const notes = [];
  const caveats = caveatsOf(given, lines);
  if (caveats.length > 0) {
    const box = element('section', undefined, 'caveats');
    box.append(element('h2', caveats.length === 1 ? 'Caveat' : 'Caveats'), ...caveats);
    notes.push(box);
  }
  notes.push(...lines.reading.map((line) => said(line, 'soft')));
  const sql = (given.dataLineage || {}).sql || (given.columns ? host.asked.sql : undefined);
  if (sql) {
    const box = element('details');
    box.append(element('summary', 'SQL'), element('pre', String(sql)));
    notes.push(box);
  }
  return notes;
}
