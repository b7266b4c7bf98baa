//! What a document says of itself: the YAML above a Markdown text, between two lines of `---` (as Jekyll, Hugo, Pandoc
//! and Obsidian write it), and what its file or row says beside the text. Filters ask for it. A document without any of it has
//! the time of its import alone.
//!
//! Each chunk has a copy of it, so that little of it is kept: 100 members with names of at most 100 characters, 8 KiB
//! together, and 100 tags of at most 100 characters, 2 KiB together; what is more or longer is left out. Of a text the
//! first 500 characters are kept, with `…` behind them, and of a list the first 50 values. YAML of more than 4 KiB says
//! nothing, and neither does what aliases (`*name`) make many times as large.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::json;
use crate::engine::search::filter::time;
use crate::model::document::{Document, Facts};

/// Bytes of what is read as such.
const BYTES: usize = 4 << 10;
/// Of YAML whose aliases stand for what they name: nodes that they repeat, and bytes of all its texts.
const REPEATED: usize = 1_000;
const YAML_TEXTS: usize = 16 << 10;
/// What is kept: see the module.
const MEMBERS: usize = 100;
const NAME: usize = 100;
const TEXT: usize = 500;
const VALUES: usize = 50;
const WHOLE: usize = 8 << 10;
const TAGS: usize = 100;
const ALL_TAGS: usize = 2 << 10;
/// Names of the moment, the best first.
const MOMENTS: [&str; 5] = ["created_at", "created", "date", "creationdate", "published"];

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// When it was written, or imported where it does not say.
    pub created: Millis,
    /// In lower case.
    pub tags: Vec<String>,
    /// Every member that is a text, a number, a truth or a list of these; no deeper, and no more than the module says.
    pub metadata: BTreeMap<String, Value>,
}

impl About {
    /// What a document of this id, text and facts says; what it says in its text goes before.
    pub fn of(id: Id<Document>, text: &str, facts: &Facts) -> Self {
        let front = front_matter(text).unwrap_or_default();
        let mut said: BTreeMap<&String, &Value> = facts.iter().collect();
        said.extend(&front);
        let by_name = |name: &str| said.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, it)| *it);
        let created = MOMENTS.iter().find_map(|name| time(by_name(name)?.as_str()?));
        let imported = id.uuid().get_timestamp().map_or(0, |at| {
            let (seconds, nanos) = at.to_unix();
            Millis::try_from(seconds).unwrap_or(0) * 1_000 + Millis::from(nanos / 1_000_000)
        });
        let tags = by_name("tags").map(tags).unwrap_or_default();
        Self { created: created.unwrap_or(imported), tags, metadata: kept(said) }
    }
}

/// What is kept of what is said: the moment and the tags first, then the names in their order. What was kept once is kept
/// whole.
pub fn kept<'a>(said: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Facts {
    let is_first = |name: &str| MOMENTS.iter().chain(&["tags"]).any(|first| name.eq_ignore_ascii_case(first));
    let named = said.into_iter().filter(|(name, _)| name.chars().count() <= NAME);
    let (first, others): (Vec<_>, Vec<_>) = named.partition(|(name, _)| is_first(name));
    let all = first.into_iter().chain(others).map(|(name, value)| (name.clone(), short(value)));
    fitting(all, WHOLE).take(MEMBERS).collect()
}

fn short(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.char_indices().nth(TEXT) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
            None => value.clone(),
        },
        Value::Array(all) => all.iter().take(VALUES).map(short).collect(),
        _ => value.clone(),
    }
}

/// Those for which there is room in so many bytes of JSON.
fn fitting<T: Serialize>(all: impl Iterator<Item = T>, mut room: usize) -> impl Iterator<Item = T> {
    all.filter(move |one| {
        let left = json::size(one).ok().and_then(|bytes| room.checked_sub(bytes));
        room = left.unwrap_or(room);
        left.is_some()
    })
}

/// A list, or one text with commas or spaces between them, or in `<…>` each.
fn tags(value: &Value) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Value::String(text) => text.split([',', ' ', '<', '>', '#']).collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let fits = |tag: &String| (1..=NAME).contains(&tag.chars().count());
    let mut tags: Vec<String> = texts.into_iter().map(tag).filter(fits).collect();
    tags.sort();
    tags.dedup();
    fitting(tags.into_iter(), ALL_TAGS).take(TAGS).collect()
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
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_total_scalar_bytes: YAML_TEXTS },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: REPEATED },
    };
    let all: BTreeMap<String, Value> = serde_saphyr::from_str_with_options(yaml, options).ok()?;
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

    #[test]
    fn of_what_says_too_much_of_itself_little_is_kept() {
        let wide = format!("{}¶", "é".repeat(TEXT));
        let mut facts = Facts::from([
            ("a".repeat(NAME + 1), json!(1)),
            ("b".into(), json!(wide)),
            ("c".into(), json!(vec!["x"; VALUES + 1])),
            ("tags".into(), json!((0..1_000).map(|n| format!("tag{n:0>97}")).chain(["ok".into()]).collect::<Vec<_>>())),
        ]);
        let about = About::of(Id::new(&Clock::manual(1)), "", &facts);
        let names: Vec<&str> = about.metadata.keys().map(String::as_str).collect();
        assert_eq!(names, ["b", "c", "tags"], "no name is cut: it would be another's");
        assert_eq!(about.metadata["b"], json!(format!("{}…", "é".repeat(TEXT))));
        assert_eq!(about.metadata["c"].as_array().unwrap().len(), VALUES);
        assert_eq!((about.tags[0].as_str(), about.tags.len()), ("ok", 1 + (ALL_TAGS - 4) / 102));

        facts.extend((0..1_000).map(|n| (format!("m{n}"), json!("x".repeat(1_000)))));
        facts.insert("n".into(), json!(7));
        let about = About::of(Id::new(&Clock::manual(1)), "", &facts);
        assert!(json::size(&about).unwrap() <= WHOLE + ALL_TAGS + 1_000, "{about:?}");
        assert!(about.metadata.contains_key("tags"), "what has a filter of its own goes first");
        assert_eq!(about.metadata["n"], 7, "what is small has room behind what has none");
        assert_eq!(kept(&about.metadata), about.metadata, "once is enough");
        let many: Facts = (0..=MEMBERS).map(|n| (format!("m{n}"), json!(n))).collect();
        assert_eq!(kept(&many).len(), MEMBERS);
    }

    #[test]
    fn yaml_whose_aliases_make_it_large_says_nothing() {
        let yaml = |keys: usize| {
            let named = (0..keys).map(|n| format!("b{n}: *t\n")).collect::<String>();
            let others = (0..50).map(|n| format!("d{n}: &d{n} 1\n")).collect::<String>();
            format!("---\na: &s {}\nt: &t [{}]\n{named}{others}---\nText\n", "x".repeat(800), ["*s"; 250].join(", "))
        };
        assert!(yaml(150).len() < BYTES);
        assert_eq!(of(&yaml(150)), About { created: 1_700_000_000_000, ..About::default() });
        assert_eq!(of("---\na: &s x\nb: [*s, *s]\n---\n").metadata["b"], json!(["x", "x"]));
    }
}
