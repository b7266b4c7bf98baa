//! What the documentation repeats is what the program says: settings, clients and their troubles, codes, quotations.
//!
//! `UPDATE_DOCS=1 cargo test --locked --test it -- docs::repeats` writes the tables and the guides anew.

use std::fmt::Write as _;
use std::fs;

use dragoman::config::{Config, VARIABLES, Variable};
use dragoman::model::error::Code;
use dragoman::ops::connectivity::guides::GUIDES;
use dragoman::ops::connectivity::place::Place;
use dragoman::surface::docs;

use super::page::Page;
use super::root;

/// The service that the guides in the source are for.
fn example() -> Place {
    let address = |name: &str| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://dragoman.example.com".to_owned());
    Place::new(&Config::read(address).unwrap(), None, None)
}

/// Holds a file, or writes it where that is asked for.
fn hold(file: &str, expected: &str) {
    let path = root().join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == expected, "{file} is not what the program says; run the tests with UPDATE_DOCS=1");
}

/// Holds the rows of the table with this head.
fn hold_table(file: &str, head: &str, rows: &[String]) {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let (before, after) = text.split_once(head).unwrap_or_else(|| panic!("{file} has no table {head}"));
    let end = after.find("\n\n").map_or(after.len(), |at| at + 1);
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    hold(file, &format!("{before}{head}{rows}{}", &after[end..]));
}

#[test]
fn every_setting_with_its_default_and_meaning() {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let row = |v: &Variable| format!("| `{}` | {} | {} |", v.name, code(v.default), v.meaning);
    let rows: Vec<String> = VARIABLES.iter().map(row).collect();
    hold_table("docs/settings.md", "| variable | default | meaning |\n|---|---|---|\n", &rows);
}

#[test]
fn the_clients_that_the_console_connects() {
    let from = |cloud| if cloud { "its maker’s cloud: needs a public https address" } else { "your machine" };
    let rows: Vec<String> = GUIDES
        .iter()
        .map(|it| {
            format!(
                "| [{}](connect/{}.md) | {} | {} | {} |",
                it.name,
                it.id,
                it.about,
                from(it.from_cloud),
                it.class.name()
            )
        })
        .collect();
    let head = "| client | how | where it asks from | how far tried |\n|---|---|---|---|\n";
    hold_table("docs/connect.md", head, &rows);
}

#[test]
fn the_guides_of_the_console() {
    for guide in GUIDES {
        hold(&format!("docs/connect/{}.md", guide.id), &docs::guide_text(guide, &example()));
    }
}

/// Every trouble of every guide, each once, with the clients that have it.
#[test]
fn the_troubles_of_the_guides() {
    let place = example();
    let mut troubles: Vec<(String, String, Vec<String>)> = Vec::new();
    for guide in GUIDES {
        let name = format!("[{}](connect/{}.md)", guide.name, guide.id);
        for trouble in guide.troubles {
            let (symptom, mend) = (place.fill(trouble.symptom), place.fill(trouble.mend));
            match troubles.iter_mut().find(|known| known.0 == symptom && known.1 == mend) {
                Some((.., with)) => with.push(name.clone()),
                None => troubles.push((symptom, mend, vec![name.clone()])),
            }
        }
    }
    // What many have comes first.
    troubles.sort_by_key(|(.., with)| usize::MAX - with.len());
    let rows: Vec<String> = troubles
        .into_iter()
        .map(|(symptom, mend, with)| {
            let with = match with.len() {
                all if all == GUIDES.len() => "all".to_owned(),
                many if many > 5 => format!("{many} of them"),
                _ => with.join(", "),
            };
            let plain = |text: String| text.replace('|', "\\|").replace('_', "\\_");
            format!("| {} | {} | {with} |", plain(symptom), plain(mend))
        })
        .collect();
    hold_table("docs/troubleshooting.md", "| you see | what to do | with |\n|---|---|---|\n", &rows);
}

#[test]
fn every_code_of_an_error_with_its_status() {
    let page = fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    for code in Code::ALL {
        let info = code.info();
        assert!(page.contains(&format!("\n| `{}` | {} | ", info.name, info.status)), "{}: {}", info.name, info.status);
    }
}

/// Words in quotation marks are the program's own: they stand in its sources.
#[test]
fn the_words_that_people_see() {
    let mut sources = String::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_text = path.extension().is_some_and(|kind| kind == "rs" || kind == "html");
            if path.is_dir() {
                folders.push(path);
            } else if is_text {
                // A text over several lines is one.
                let text = fs::read_to_string(path).unwrap().replace("\\\n", "");
                let _ = writeln!(sources, "{}", text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    let page = Page::read(&root().join("docs/troubleshooting.md"));
    let quotations = page.quotations();
    assert!(quotations.len() > 20, "{quotations:?}");
    let unknown: Vec<_> = quotations.iter().filter(|said| !sources.contains(said.as_str())).collect();
    assert!(unknown.is_empty(), "the program does not say this: {unknown:#?}");
}
