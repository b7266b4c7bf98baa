//! The text of an ontology to which only something is added: new lines are put where they belong, so that comments, the
//! order and the style of what people wrote stay.

use serde_json::Value;

use crate::engine::ontology::read::{self, Node};
use crate::engine::ontology::write;
use crate::model::ontology::Ontology;

/// The text of `new`, made of the text of `old`; whether what people wrote beside the model (comments, extensions of
/// others) is still there. A text that cannot be added to is written anew.
pub fn text(saved: &str, old: &Ontology, new: &Ontology) -> (String, bool) {
    if old == new {
        return (saved.to_owned(), true);
    }
    let added = added(saved, old, new).filter(|text| read::read(text).is_ok_and(|read| read.ontology == *new));
    match added {
        Some(text) => (text, true),
        None => (write::flat_yaml(new), false),
    }
}

/// Lines to be put behind a line of the text, which is counted from 1.
struct Piece {
    after: usize,
    lines: String,
}

fn added(saved: &str, old: &Ontology, new: &Ontology) -> Option<String> {
    let root = read::parse(saved).ok()?;
    let model = root.get("semantic_model").and_then(|models| models.list()?.first()).unwrap_or(&root);
    let lines: Vec<&str> = saved.lines().collect();
    let written = write::flat(new);
    let mut pieces = Vec::new();
    let datasets = model.get("datasets")?;
    for (at, entity) in new.datasets.iter().enumerate() {
        let value = written.get("datasets")?.get(at)?;
        match old.datasets.get(at) {
            None => pieces.push(behind(&lines, datasets, value)?),
            Some(before) => {
                let fields = datasets.list()?.get(at)?.get("fields");
                for field in before.fields.len()..entity.fields.len() {
                    pieces.push(behind(&lines, fields?, value.get("fields")?.get(field)?)?);
                }
            }
        }
    }
    for (key, known, all) in [
        ("relationships", old.relationships.len(), new.relationships.len()),
        ("metrics", old.metrics.len(), new.metrics.len()),
    ] {
        for at in known..all {
            pieces.push(behind(&lines, model.get(key)?, written.get(key)?.get(at)?)?);
        }
    }
    // From the end, so that the lines before keep their numbers; of one place in their order.
    pieces.sort_by_key(|piece| piece.after);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        text.push_str(line);
        text.push('\n');
        pieces.iter().filter(|piece| piece.after == at + 1).for_each(|piece| text.push_str(&piece.lines));
    }
    Some(text)
}

/// A further item of a list that is written a line for each item or more.
fn behind(lines: &[&str], list: &Node, item: &Value) -> Option<Piece> {
    let last = usize::try_from(list.list()?.last()?.at.line).ok()?;
    let first = lines.get(last.checked_sub(1)?)?;
    let indent = indent_of(first);
    first.trim_start().strip_prefix("- ")?;
    let inside = |line: &&&str| line.trim().is_empty() || indent_of(line) > indent;
    let below = lines.get(last..)?.iter().take_while(inside);
    let filled = below.enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, _)| at + 1).last();
    let mut written = String::new();
    for (at, line) in write::yaml_of(item).lines().enumerate() {
        let start = if at == 0 { "- " } else { "  " };
        let line = if line.is_empty() { String::new() } else { format!("{:indent$}{start}{line}", "") };
        written.push_str(&line);
        written.push('\n');
    }
    Some(Piece { after: last + filled.unwrap_or(0), lines: written })
}

fn indent_of(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}
