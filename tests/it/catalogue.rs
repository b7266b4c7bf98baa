//! The attack catalogue is covered: `tests/catalogue.md` has a row for each of its lines, every row names tests that
//! exist, and every test that claims a line is in its row.

mod authorize;
mod bearer;
mod parsers;
mod token;
mod transport;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The catalogue's sections, and how many lines each has.
const LINES: [(char, usize); 12] = [
    ('A', 31),
    ('B', 32),
    ('C', 20),
    ('D', 15),
    ('E', 9),
    ('F', 13),
    ('G', 17),
    ('H', 10),
    ('I', 26),
    ('J', 12),
    ('K', 12),
    ('L', 12),
];

fn ids() -> BTreeSet<String> {
    let of = |(section, count): (char, usize)| (1..=count).map(move |line| format!("{section}{line:02}"));
    LINES.into_iter().flat_map(of).collect()
}

/// The lines that a test's name begins with: `a01_a02_what_is_shown`.
fn claimed(name: &str) -> Vec<String> {
    let ids = ids();
    name.split('_').map(str::to_uppercase).take_while(|part| ids.contains(part)).collect()
}

/// Names of the tests in a source text.
fn tests_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut attributed = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributed |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let name = line.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ");
        if let Some(name) = name.filter(|_| attributed) {
            names.push(name.split(['(', '<']).next().unwrap().to_owned());
        }
        attributed = false;
    }
    names
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("node_modules") {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Everything that is wrong with a table, given the tests that exist.
fn problems(table: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, what, shown] = cells[..] else {
            problems.push(format!("not three cells: {line}"));
            continue;
        };
        if id == "id" {
            continue;
        }
        if !ids().contains(id) || what.is_empty() {
            problems.push(format!("{id}: no line of the catalogue, or nothing said of it"));
        }
        let names: Vec<&str> = match shown.strip_prefix("does not apply: ") {
            Some(reason) if reason.len() > 10 => Vec::new(),
            _ => shown.split(", ").map(|name| name.trim_matches('`')).collect(),
        };
        for name in &names {
            if *name == "pending" {
                problems.push(format!("{id}: pending"));
            } else if !tests.contains(*name) {
                problems.push(format!("{id}: there is no test {name}"));
            } else if !claimed(name).iter().any(|line| line == id) {
                problems.push(format!("{id}: the name of {name} does not say so"));
            }
        }
        if rows.insert(id, names).is_some() {
            problems.push(format!("{id}: twice"));
        }
    }
    let missing = ids().into_iter().filter(|id| !rows.contains_key(id.as_str()));
    problems.extend(missing.map(|id| format!("{id}: missing")));
    for test in tests {
        for id in claimed(test) {
            if rows.get(id.as_str()).is_some_and(|names| !names.contains(&test.as_str())) {
                problems.push(format!("{id}: the row lacks {test}"));
            }
        }
    }
    problems
}

#[test]
fn every_line_of_the_catalogue_is_tested_or_does_not_apply() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        sources(&root.join(folder), &mut files);
    }
    let mut tests = BTreeSet::new();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let skipped = concat!("#[", "ignore");
        assert!(!source.contains(skipped), "{}: a test is skipped", file.display());
        tests.extend(tests_in(&source));
    }
    let table = std::fs::read_to_string(root.join("tests/catalogue.md")).unwrap();
    let problems = problems(&table, &tests);
    assert!(problems.is_empty(), "{} problems in tests/catalogue.md:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_catalogue_has_two_hundred_and_nine_lines() {
    assert_eq!(ids().len(), 209);
    assert_eq!(claimed("a01_b32_of_many"), ["A01", "B32"]);
    assert!(claimed("m01_nothing").is_empty() && claimed("a32_nothing").is_empty() && claimed("a_client").is_empty());
    let source = "#[test]\nfn a01_x() {}\n#[tokio::test(flavor = \"multi_thread\")]\n#[expect(x)]\nasync fn b02_y() {}\nfn c03_z() {}\n";
    assert_eq!(tests_in(source), ["a01_x", "b02_y"]);
}

#[test]
fn a_table_that_claims_too_much_or_too_little_is_seen() {
    let tests: BTreeSet<String> = ["a01_x", "a02_a03_y", "z"].map(String::from).into();
    let good: Vec<String> = ids()
        .into_iter()
        .map(|id| match id.as_str() {
            "A01" => "| A01 | one | `a01_x` |".to_owned(),
            "A02" => "| A02 | two | `a02_a03_y` |".into(),
            "A03" => "| A03 | three | `a02_a03_y` |".into(),
            other => format!("| {other} | more | does not apply: there is no such thing here |"),
        })
        .collect();
    assert!(problems(&good.join("\n"), &tests).is_empty());
    for (row, instead, problem) in [
        (0, "", "A01: missing"),
        (0, "| A01 | one | `a01_gone` |", "A01: there is no test a01_gone"),
        (0, "| A01 | one | `z` |", "A01: the name of z does not say so"),
        (0, "| A01 | one | pending |", "A01: pending"),
        (0, "| A01 | one | does not apply: no |", "A01: there is no test does not apply: no"),
        (2, "| A03 | three | does not apply: there is none |", "A03: the row lacks a02_a03_y"),
        (0, "| A02 | one | `a02_a03_y` |", "A02: twice"),
        (0, "| A99 | one | `a01_x` |", "A99: no line of the catalogue, or nothing said of it"),
    ] {
        let mut bad = good.clone();
        bad[row] = instead.to_owned();
        let found = problems(&bad.join("\n"), &tests);
        assert!(found.contains(&problem.to_owned()), "{instead}: {found:?}");
    }
}
