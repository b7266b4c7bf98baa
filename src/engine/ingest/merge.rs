//! Texts that are added to documents which are there: what is new, what takes the place of an earlier text, and what is
//! there already.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::base::id::Id;
use crate::model::document::{Changes, Document, DocumentRow, ParsedDocument, digest};
use crate::model::version::Twins;
use crate::store::documents::Outline;

/// What becomes of a dataset's documents.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Those that stay as they are.
    pub kept: Vec<(Id<Document>, Id<DocumentRow>)>,
    /// Those that are read and indexed: new ones, and new texts of those that are there, under their ids.
    pub fresh: Vec<(Id<Document>, Arc<ParsedDocument>)>,
    pub changes: Changes,
}

/// A text of the name of one that is there takes its place, and its id. A text that is there already under another name
/// stays out where `twins` do: it would be found twice. Where several have one name, the first is met by the first.
pub(super) fn merge(
    mut known: Vec<Outline>,
    read: Vec<(Id<Document>, Arc<ParsedDocument>)>,
    gone: &HashSet<Id<Document>>,
    twins: Twins,
) -> Merged {
    let mut merged = Merged::default();
    let before = known.len();
    known.retain(|known| !gone.contains(&known.id));
    merged.changes.removed = before - known.len();
    let mut named = by_name(known);
    // By name first: which texts stay is known then.
    let mut others = Vec::new();
    for (id, document) in read {
        let digest = digest(&document.text, &document.facts);
        match named.get_mut(&document.source_file).and_then(VecDeque::pop_front) {
            Some(known) if known.digest == digest => {
                merged.changes.unchanged += 1;
                merged.kept.push((known.id, known.row));
                others.push((None, digest));
            }
            Some(known) => {
                merged.changes.replaced += 1;
                merged.fresh.push((known.id, document));
                others.push((None, digest));
            }
            None => others.push((Some((id, document)), digest)),
        }
    }
    let mut there: HashSet<String> = HashSet::new();
    for known in named.into_values().flatten() {
        there.insert(known.digest);
        merged.kept.push((known.id, known.row));
    }
    there.extend(others.iter().filter(|(new, _)| new.is_none()).map(|(_, digest)| digest.clone()));
    for (new, digest) in others {
        let Some(new) = new else { continue };
        if there.insert(digest) || twins == Twins::Stay {
            merged.changes.added += 1;
            merged.fresh.push(new);
        } else {
            merged.changes.unchanged += 1;
        }
    }
    merged.changes.total = merged.kept.len() + merged.fresh.len();
    merged
}

/// All that is there gives way to what was read: a text of the name of one has its id, and none of the others stays.
pub(super) fn replace(known: Vec<Outline>, read: Vec<(Id<Document>, Arc<ParsedDocument>)>) -> Merged {
    let mut changes = Changes { removed: known.len(), total: read.len(), ..Changes::default() };
    let mut named = by_name(known);
    let renamed = read.into_iter().map(|(id, document)| {
        let Some(known) = named.get_mut(&document.source_file).and_then(VecDeque::pop_front) else {
            changes.added += 1;
            return (id, document);
        };
        changes.removed -= 1;
        match known.digest == digest(&document.text, &document.facts) {
            true => changes.unchanged += 1,
            false => changes.replaced += 1,
        }
        (known.id, document)
    });
    let fresh = renamed.collect();
    Merged { kept: Vec::new(), fresh, changes }
}

fn by_name(known: Vec<Outline>) -> HashMap<String, VecDeque<Outline>> {
    let mut named: HashMap<String, VecDeque<Outline>> = HashMap::new();
    for known in known {
        named.entry(known.source_file.clone()).or_default().push_back(known);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::secret::sha256_hex;
    use crate::model::document::{Facts, Markup};

    fn known(clock: &Clock, name: &str, text: &str) -> Outline {
        let (id, row) = (Id::new(clock), Id::new(clock));
        Outline { id, row, source_file: name.into(), digest: sha256_hex(text.as_bytes()) }
    }

    fn read(clock: &Clock, name: &str, text: &str) -> (Id<Document>, Arc<ParsedDocument>) {
        let (title, source_file, text) = (name.to_owned(), name.to_owned(), text.to_owned());
        (
            Id::new(clock),
            Arc::new(ParsedDocument { title, source_file, text, markup: Markup::Plain, facts: Facts::new() }),
        )
    }

    fn changes(added: usize, replaced: usize, unchanged: usize, total: usize) -> Changes {
        Changes { added, replaced, unchanged, removed: 0, total }
    }

    fn add(known: Vec<Outline>, read: Vec<(Id<Document>, Arc<ParsedDocument>)>) -> Merged {
        merge(known, read, &HashSet::new(), Twins::StayOut)
    }

    #[test]
    fn a_text_replaces_its_namesake_and_keeps_its_id() {
        let clock = Clock::manual(1);
        let (a, b) = (known(&clock, "a", "1"), known(&clock, "b", "2"));
        let (of_a, of_b) = (a.id, b.id);
        let merged = add(vec![a, b], vec![read(&clock, "a", "new"), read(&clock, "b", "2"), read(&clock, "c", "3")]);
        assert_eq!(merged.changes, changes(1, 1, 1, 3));
        assert_eq!(merged.fresh[0].0, of_a);
        assert_eq!(merged.kept.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [of_b]);
    }

    #[test]
    fn a_text_that_is_there_under_another_name_stays_out() {
        let clock = Clock::manual(1);
        let there = vec![known(&clock, "a", "1")];
        let merged = add(there, vec![read(&clock, "b", "1"), read(&clock, "c", "2"), read(&clock, "d", "2")]);
        assert_eq!(merged.changes, changes(1, 0, 2, 2), "twice in one import is once too");
        // The other one is about to be replaced: its text is not there any more.
        let there = vec![known(&clock, "a", "1")];
        let merged = add(there, vec![read(&clock, "b", "1"), read(&clock, "a", "2")]);
        assert_eq!(merged.changes, changes(1, 1, 0, 2));
    }

    #[test]
    fn what_replaces_all_has_the_ids_of_its_names() {
        let clock = Clock::manual(1);
        let there = vec![known(&clock, "a", "1"), known(&clock, "b", "2"), known(&clock, "c", "3")];
        let ids = [there[0].id, there[1].id];
        let merged = replace(there, vec![read(&clock, "b", "2"), read(&clock, "a", "new"), read(&clock, "d", "2")]);
        assert_eq!(merged.changes, Changes { removed: 1, ..changes(1, 1, 1, 3) });
        assert_eq!((merged.fresh[0].0, merged.fresh[1].0), (ids[1], ids[0]));
        assert!(merged.kept.is_empty() && !ids.contains(&merged.fresh[2].0));
    }

    #[test]
    fn those_of_one_name_are_met_in_their_order() {
        let clock = Clock::manual(1);
        let there = vec![known(&clock, "box", "1"), known(&clock, "box", "2")];
        let second = there[1].id;
        let merged = add(there, vec![read(&clock, "box", "1"), read(&clock, "box", "x"), read(&clock, "box", "y")]);
        assert_eq!((merged.changes, merged.fresh[0].0), (changes(1, 1, 1, 3), second));
    }
    #[test]
    fn what_is_gone_is_not_there_for_any_other() {
        let clock = Clock::manual(1);
        let (a, b) = (known(&clock, "a", "1"), known(&clock, "b", "2"));
        let (gone, stays) = (HashSet::from([a.id]), b.id);
        let merged = merge(vec![a, b], vec![read(&clock, "c", "1")], &gone, Twins::StayOut);
        assert_eq!(merged.changes, Changes { removed: 1, ..changes(1, 0, 0, 2) }, "its text is new again");
        assert_eq!(merged.kept.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [stays]);
    }

    #[test]
    fn twins_stay_where_each_is_known_by_its_name() {
        let clock = Clock::manual(1);
        let there = vec![known(&clock, "t:1", "same")];
        let rows = vec![read(&clock, "t:1", "same"), read(&clock, "t:2", "same")];
        let merged = merge(there, rows, &HashSet::new(), Twins::Stay);
        assert_eq!(merged.changes, changes(1, 0, 1, 2));
    }
}
