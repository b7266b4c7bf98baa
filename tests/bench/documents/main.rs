//! How much of documents and sheets is recovered, by format: run by `tests/bench/documents/run`; `README.md` beside it
//! says what is printed.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on should stop, and prints"
)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::engine::extract::sheets::Workbook;
use dragoman::engine::extract::{self, Budget, detect};

/// What came of the files of a format.
#[derive(Default)]
struct Tally {
    files: usize,
    refused: usize,
    measured: usize,
    recall: f64,
    precision: f64,
    order: f64,
    parts: usize,
    bytes: u64,
    time: Duration,
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder of documents");
    let mut paths = Vec::new();
    gather(Path::new(&folder), &mut paths);
    paths.sort();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut remarks = Vec::new();
    for path in paths {
        // As in the process that reads documents: its stack, and a panic that is an error.
        let reading = path.clone();
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || one(&reading));
        let (ending, name) = (ending(&path), path.display().to_string());
        let tally = tallies.entry(ending).or_default();
        tally.files += 1;
        match thread.unwrap().join() {
            Ok(Ok(read)) => {
                tally.parts += read.parts;
                tally.bytes += read.bytes;
                tally.time += read.time;
                if let Some(Compared { recall, precision, order }) = read.words {
                    tally.measured += 1;
                    tally.recall += recall;
                    tally.precision += precision;
                    tally.order += order;
                    if recall < 0.9 {
                        remarks.push(format!("{recall:.3} of the words or cells: {name}"));
                    }
                }
            }
            Ok(Err(message)) => {
                tally.refused += 1;
                remarks.push(format!("refused: {name}: {message}"));
            }
            Err(_) => {
                tally.refused += 1;
                remarks.push(format!("PANIC: {name}"));
            }
        }
    }
    println!("format    files refused measured  recall precision  order  parts/s    MB/s");
    for (ending, tally) in &tallies {
        let (measured, seconds) = (tally.measured.max(1) as f64, tally.time.as_secs_f64().max(1e-9));
        println!(
            "{ending:<9} {:>5} {:>7} {:>8}  {:>6.3} {:>9.3} {:>6.3} {:>8.0} {:>7.1}",
            tally.files,
            tally.refused,
            tally.measured,
            tally.recall / measured,
            tally.precision / measured,
            tally.order / measured,
            tally.parts as f64 / seconds,
            tally.bytes as f64 / 1e6 / seconds,
        );
    }
    remarks.iter().for_each(|remark| println!("{remark}"));
}

struct Read {
    parts: usize,
    bytes: u64,
    time: Duration,
    words: Option<Compared>,
}

/// The part of the expected words that was found, the part of the found that was expected, and the part of the expected
/// pairs of words that follow each other which do so in what was found; each as often as it is there. Of sheets the same
/// of cells, and the part of the expected rows that were found as a whole.
struct Compared {
    recall: f64,
    precision: f64,
    order: f64,
}

fn one(path: &Path) -> Result<Read, String> {
    let bytes = std::fs::read(path).map_err(|problem| problem.to_string())?;
    let size = bytes.len() as u64;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let began = Instant::now();
    if SHEETS.contains(&ending(path).as_str()) {
        detect::format(&mut Cursor::new(&bytes), &name).map_err(|error| error.message)?;
        let (parts, found) = rows(bytes)?;
        let time = began.elapsed();
        let expected = reference(path, "cells").map(|lines| expected(&lines)).transpose()?;
        return Ok(Read { parts, bytes: size, time, words: expected.map(|expected| same_cells(&expected, &found)) });
    }
    let found = extract::read(&bytes, &name).map_err(|error| error.message)?;
    let time = began.elapsed();
    let text: String = found.documents.iter().map(|document| format!("{}\n", document.text)).collect();
    let parts = found.documents.len() + text.matches(extract::PAGE_BREAK).count();
    let words = reference(path, "words").map(|reference| compared(&words(&reference), &words(&text)));
    Ok(Read { parts, bytes: size, time, words })
}

/// What another program read in a file, or in all files of its name.
fn reference(path: &Path, kind: &str) -> Option<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = [path.with_file_name(format!("{name}.{kind}")), path.with_extension(kind)];
    beside.iter().find_map(|path| std::fs::read_to_string(path).ok())
}

/// How many sheets of a workbook show, and, as an import reads them, the cells of each row that hold something. The names
/// of columns are a row too, less what was made up in them.
fn rows(bytes: Vec<u8>) -> Result<(usize, Vec<Vec<String>>), String> {
    let budget = Budget::new(bytes.len() as u64);
    let mut workbook = Workbook::open(bytes, &budget).map_err(|error| error.message)?;
    let sheets = workbook.sheets();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for sheet in &sheets {
        let Some(table) = workbook.table(sheet).map_err(|error| error.message)? else { continue };
        let mut before = HashSet::new();
        let names = table.columns.iter().filter(|(name, _)| !name.starts_with("column_"));
        rows.push(names.map(|(name, _)| cell(as_written(name, &mut before))).collect());
        rows.extend(table.rows().map(|row| row.iter().flatten().map(|value| cell(value)).collect::<Vec<String>>()));
    }
    rows.retain(|row| !row.is_empty());
    Ok((sheets.len(), rows))
}

/// The name of a column without the number that tells it from one `before` it.
fn as_written<'n>(name: &'n str, before: &mut HashSet<String>) -> &'n str {
    let numbered = name.rsplit_once('_').filter(|(_, number)| number.parse::<usize>().is_ok_and(|number| number > 1));
    let own = numbered.map(|(own, _)| own).filter(|own| before.contains(&own.to_lowercase()));
    before.insert(name.to_lowercase());
    own.unwrap_or(name)
}

/// Rows as another program read them.
fn expected(lines: &str) -> Result<Vec<Vec<String>>, String> {
    let row = |line: &str| -> Result<Vec<String>, String> {
        let cells: Vec<String> = serde_json::from_str(line).map_err(|problem| problem.to_string())?;
        Ok(cells.iter().map(|value| cell(value)).collect())
    };
    lines.lines().map(row).collect()
}

/// A cell as it is compared: whatever white space is in it, a number by its value, a moment at midnight as the day.
fn cell(value: &str) -> String {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let day = value.strip_suffix(" 00:00:00").unwrap_or(&value);
    day.parse::<f64>().map_or_else(|_| day.to_owned(), |number| number.to_string())
}

fn same_cells(expected: &[Vec<String>], found: &[Vec<String>]) -> Compared {
    let cells = |rows: &[Vec<String>]| counted(rows.iter().flatten().cloned());
    let whole = |rows: &[Vec<String>]| counted(rows.iter().map(|row| row.join("\u{1f}")));
    let (recall, precision) = parts(&cells(expected), &cells(found));
    Compared { recall, precision, order: parts(&whole(expected), &whole(found)).0 }
}

fn compared(expected: &[String], found: &[String]) -> Compared {
    let pairs = |words: &[String]| counted(words.windows(2).map(|pair| pair.join(" ")));
    let (recall, precision) = parts(&counted(expected.iter().cloned()), &counted(found.iter().cloned()));
    // One word alone follows none.
    let order = if expected.len() < 2 { recall } else { parts(&pairs(expected), &pairs(found)).0 };
    Compared { recall, precision, order }
}

/// What both have, as part of the one and of the other.
fn parts(one: &HashMap<String, usize>, other: &HashMap<String, usize>) -> (f64, f64) {
    let both: usize = one.iter().map(|(word, count)| other.get(word).map_or(0, |found| *found.min(count))).sum();
    let part = |of: &HashMap<String, usize>| both as f64 / of.values().sum::<usize>().max(1) as f64;
    (part(one), part(other))
}

fn counted(words: impl Iterator<Item = String>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

const ENDINGS: &[&str] = &["pdf", "docx", "pptx", "odt", "odp", "html", "htm", "epub", "rtf", "eml", "mbox", "zip"];
const SHEETS: &[&str] = &["xlsx", "xlsm", "xls", "ods"];
/// What much else is named like: only with a reference is it one of ours.
const TEXTS: &[&str] = &["txt", "csv"];

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn gather(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, paths);
            continue;
        }
        let ending = ending(&path);
        let is_one = |endings: &[&str]| endings.contains(&ending.as_str());
        if is_one(ENDINGS) || is_one(SHEETS) || (is_one(TEXTS) && reference(&path, "words").is_some()) {
            paths.push(path);
        }
    }
}
