//! What a document says of itself: the YAML above a Markdown text, between two lines of `---` (as Jekyll, Hugo, Pandoc
//! and Obsidian write it), and what its file or row says beside the text. Filters ask for it. A document without any of it has
//! the time of its import alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::engine::search::filter::time;
use crate::model::document::{Document, Facts};

/// Bytes of what is read as such.
const BYTES: usize = 4 << 10;
/// Names of the moment, the best first.
const MOMENTS: [&str; 5] = ["created_at", "created", "date", "creationdate", "published"];

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// When it was written, or imported where it does not say.
    pub created: Millis,
    /// In lower case.
    pub tags: Vec<String>,
    /// Every member that is a text, a number, a truth or a list of these; no deeper.
    pub metadata: BTreeMap<String, Value>,
}

impl About {
    /// What a document of this id, text and facts says; what it says in its text goes before.
    pub fn of(id: Id<Document>, text: &str, facts: &Facts) -> Self {
        let mut metadata = facts.clone();
        metadata.extend(front_matter(text).unwrap_or_default());
        let by_name = |name: &str| metadata.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, it)| it);
        let created = MOMENTS.iter().find_map(|name| time(by_name(name)?.as_str()?));
        let imported = id.uuid().get_timestamp().map_or(0, |at| {
            let (seconds, nanos) = at.to_unix();
            Millis::try_from(seconds).unwrap_or(0) * 1_000 + Millis::from(nanos / 1_000_000)
        });
        let tags = by_name("tags").map(tags).unwrap_or_default();
        Self { created: created.unwrap_or(imported), tags, metadata }
    }
}

/// A list, or one text with commas or spaces between them, or in `<…>` each.
fn tags(value: &Value) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Value::String(text) => text.split([',', ' ', '<', '>', '#']).collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let mut tags: Vec<String> = texts.into_iter().map(tag).filter(|tag| !tag.is_empty()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// A tag as it is compared.
fn tag(text: &str) -> String {
    text.trim().trim_start_matches('#').to_lowercase()
}

fn front_matter(text: &str) -> Option<BTreeMap<String, Value>> {
    let rest = text.strip_prefix("---\n")?;
    let within = (0..=rest.len().min(BYTES)).rev().find_map(|end| rest.get(..end))?;
    let end = ["\n---\n", "\n...\n"].iter().filter_map(|fence| within.find(fence)).min();
    let yaml = within.get(..end?)?;
    let all: BTreeMap<String, Value> = serde_saphyr::from_str(yaml).ok()?;
    Some(all.into_iter().filter(|(key, value)| !key.contains('"') && is_flat(value)).collect())
}

fn is_flat(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => false,
        Value::Array(all) => all.iter().all(|one| !one.is_array() && is_flat(one)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::clock::Clock;

    fn of(text: &str) -> About {
        About::of(Id::new(&Clock::manual(1_700_000_000_000)), text, &Facts::new())
    }

    #[test]
    fn front_matter_gives_tags_a_moment_and_flat_members() {
        let text = "---\ntitle: Returns\ndate: 2022-01-01T12:00:00Z\ntags: [MySQL, json]\nScore: 12\nok: true\ndeep: {a: 1}\n---\n# Text\n";
        let about = of(text);
        assert_eq!(about.created, 1_641_038_400_000);
        assert_eq!(about.tags, ["json", "mysql"]);
        let expected = json!({
            "title": "Returns", "date": "2022-01-01T12:00:00Z", "tags": ["MySQL", "json"], "Score": 12, "ok": true,
        });
        assert_eq!(json!(about.metadata), expected);
        assert_eq!(of("---\nTags: <mysql><json>\n---\n").tags, ["json", "mysql"]);
        assert_eq!(of("---\ntags: a, b c\n---\n").tags, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_no_front_matter_says_nothing_but_the_moment_of_the_import() {
        let nothing = About { created: 1_700_000_000_000, ..About::default() };
        let long = format!("---\na: {}\n---\n", "é".repeat(BYTES));
        for text in ["", "# Title\n---\na: 1\n---\n", "---\na: 1\n", "---\n- a\n---\n", "---\na: [\n---\n", &long] {
            assert_eq!(of(text), nothing, "{text:.40}");
        }
    }
}
