//! Whose something is: "manager of shop 2", "opening date of shop 17".

use super::super::items::Kind;
use super::super::sketch::{Bound, Cond, Noun, NounAt, Want};
use super::Parser;
use super::nouns::{role, thing};
use crate::engine::agent::english::lexicon::{Entry, Sense};

impl Parser<'_> {
    /// "manager of shop 2", where a relationship of shops is called so: the one end of it.
    pub(super) fn part_of_one(&mut self, noun: NounAt) -> bool {
        if self.word(0) != "of" {
            return false;
        }
        let next = 1 + usize::from(matches!(self.word(1), "the" | "each" | "every" | "our"));
        let owners: Vec<usize> =
            self.item(next).map(|item| item.entries.iter().filter_map(thing).collect()).unwrap_or_default();
        let position =
            |name: &str| self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name));
        let entries = &self.sketch.nouns[noun].entries;
        let part = entries.iter().filter_map(role).find_map(|role| {
            let known = self.ontology.relationships.get(role)?;
            let (from, to) = (position(&known.from)?, position(&known.to)?);
            (owners.contains(&from) && from != to).then_some((role, from, to))
        });
        let Some((role, _, to)) = part.filter(|(_, from, _)| !entries.iter().any(|entry| thing(entry) == Some(*from)))
        else {
            return false;
        };
        self.at += next;
        let owner = self.noun(Want::Thing);
        let entry = Entry { sense: Sense::Entity(to), quality: 1.0, partial: false };
        self.sketch.nouns[noun].entries = vec![entry];
        self.sketch.nouns[noun].roles = vec![role];
        let asked = self.sketch.nouns[noun].want == Want::Column;
        if let Some(owner) = owner {
            let start = self.sketch.nouns[noun].items.start;
            let one = self.literal_of(owner);
            let asked = asked && self.sketch.measures.is_empty() && self.frames.is_empty();
            if asked && (self.sketch.subject.is_none() || one && self.shared(start)) {
                self.sketch.subject = Some(owner);
                self.focus = Some(owner);
                self.sketch.parts.push(noun);
                self.sketch.only_columns |= one;
            }
        }
        true
    }

    /// "opening date of shop 17": the number says which shop, not which date; and it is the shop that is asked about.
    pub(super) fn one_owner(&mut self, noun: NounAt) {
        let Some(owner) = self.sketch.nouns[noun].of else { return };
        let start = self.sketch.nouns[noun].items.start;
        let asked = self.sketch.nouns[noun].want == Want::Column && self.sketch.measures.is_empty();
        let asked = asked && self.frames.is_empty() && self.literal_of(owner);
        let open = self.sketch.subject.is_none_or(|subject| subject == owner);
        if asked && (open || self.shared(start)) {
            self.sketch.subject = Some(owner);
            self.focus = Some(owner);
        }
    }

    /// "buyer and shop of sale 7": what was taken for the subject is a column beside this one.
    fn shared(&mut self, start: usize) -> bool {
        let Some(subject) = self.sketch.subject else { return false };
        let beside =
            matches!(self.previous_of(start), "and" | "," | "&") && self.sketch.nouns[subject].items.end + 1 == start;
        if beside {
            self.sketch.nouns[subject].want = Want::Column;
            self.sketch.columns.insert(0, subject);
        }
        beside
    }

    /// "bread Rye Loaf - flour, price", "sale 7: shop and customer": the row that was named is what the columns are of.
    pub(super) fn column_of_one(&mut self, noun: NounAt, start: usize) -> bool {
        let sign = matches!(self.previous_of(start), "-" | "–" | "—" | ":");
        let bare = self.sketch.subject.is_none() && self.sketch.columns.is_empty() && self.sketch.measures.is_empty();
        if !sign || !bare || self.frames.last().is_some() {
            return false;
        }
        let (owner, end) = match self.sketch.conds.as_slice() {
            [Cond::Values { nouns, negated: false }] => {
                let Some(last) = nouns.last().map(|last| &self.sketch.nouns[*last]) else { return false };
                (last.of, last.items.end)
            }
            [Cond::Compare { field, .. }] => (Some(*field), self.sketch.nouns[*field].items.end + 1),
            _ => return false,
        };
        let own = owner.map(|owner| &self.sketch.nouns[owner]);
        let dataset = own.and_then(|own| {
            own.entries.iter().find_map(|entry| match entry.sense {
                Sense::Entity(d) => Some(d),
                Sense::Field(d, _) => Some(d),
                _ => None,
            })
        });
        let Some(dataset) = dataset.filter(|_| end + 1 == start) else { return false };
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let subject = Noun::new(self, end..end, vec![entry], Want::Thing, "");
        self.sketch.subject = Some(self.push(subject));
        self.focus = self.sketch.subject;
        self.sketch.nouns[noun].want = Want::Column;
        self.sketch.columns.push(noun);
        true
    }

    /// "the customer's town and region": of one and the same, though the region is none of its own fields.
    pub(super) fn owners(&mut self) {
        let sketch = &self.sketch;
        // "holder names": of those who play that part, not of all people.
        let part = sketch.columns.first().map(|first| sketch.nouns[*first].roles.as_slice());
        if let (Some([role]), None, true, None) = (part, sketch.subject, sketch.measures.is_empty(), &sketch.rank)
            && sketch.groups.is_empty()
            && let Some(relationship) = self.ontology.relationships.get(*role).filter(|known| known.role.is_some())
            && let Some(from) =
                self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(&relationship.from))
        {
            let at = sketch.nouns[sketch.columns[0]].items.start;
            let entry = Entry { sense: Sense::Entity(from), quality: 1.0, partial: false };
            let subject = Noun::new(self, at..at, vec![entry], Want::Thing, "");
            self.sketch.subject = Some(self.push(subject));
            self.sketch.only_columns = true;
            return;
        }
        if self.several_of_one() {
            return;
        }
        let sketch = &self.sketch;
        let plain = sketch.subject.is_none() && sketch.measures.is_empty() && sketch.rank.is_none();
        if !plain || !sketch.groups.is_empty() || sketch.columns.len() < 2 {
            return;
        }
        let Some(owner) = sketch.columns.first().and_then(|first| sketch.nouns[*first].of) else {
            self.owners_by_value();
            return;
        };
        let own: Vec<usize> = sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        // "customer names and points": the points of the customers.
        for column in self.sketch.columns.clone() {
            let noun = &mut self.sketch.nouns[column];
            let theirs = |entry: &Entry| matches!(entry.sense, Sense::Field(d, _) if own.contains(&d));
            if noun.of.is_none() && noun.entries.iter().any(theirs) {
                noun.of = Some(owner);
            }
        }
        let sketch = &self.sketch;
        let far = |column: &NounAt| {
            let entries = &sketch.nouns[*column].entries;
            !entries.is_empty()
                && entries.iter().all(|entry| match entry.sense {
                    Sense::Entity(d) | Sense::Field(d, _) => !own.contains(&d),
                    _ => true,
                })
        };
        if sketch.columns.iter().any(far) {
            self.sketch.subject = Some(owner);
        }
    }

    /// "buyer and shop for the sale Eleven": both are those of the sale, though the buyer was named first.
    fn several_of_one(&mut self) -> bool {
        let sketch = &self.sketch;
        let bare = sketch.measures.is_empty() && sketch.groups.is_empty() && sketch.rank.is_none();
        let (Some(subject), [column, ..], true) = (sketch.subject, sketch.columns.as_slice(), bare) else {
            return false;
        };
        let place = |noun: &Noun| {
            noun.entries.iter().find_map(|entry| match entry.sense {
                Sense::Entity(d) | Sense::Field(d, _) => Some(d),
                _ => None,
            })
        };
        let (own, other) = (place(&sketch.nouns[subject]), place(&sketch.nouns[*column]));
        let listed = sketch.nouns[subject].items.end + 1 == sketch.nouns[*column].items.start
            && !sketch.nouns[subject].items.is_empty()
            && sketch.nouns[*column].before == "and";
        let named = sketch.conds.iter().find_map(|cond| match cond {
            Cond::Values { nouns, negated: false } => nouns.first().and_then(|first| sketch.nouns[*first].of),
            Cond::Compare { field, value: Bound::Text(_), .. } => Some(*field),
            _ => None,
        });
        let Some(named) = named.map(|named| &sketch.nouns[named]) else { return false };
        let owner = place(named).filter(|owner| {
            matches!(named.before.as_str(), "for" | "of" | "the") && Some(*owner) != own && !is_field(named)
        });
        let Some(owner) = owner.filter(|_| listed && own != other) else { return false };
        let entry = Entry { sense: Sense::Entity(owner), quality: 1.0, partial: false };
        let thing = Noun::new(self, named.items.end..named.items.end, vec![entry], Want::Thing, "");
        self.sketch.nouns[subject].want = Want::Column;
        self.sketch.columns.insert(0, subject);
        self.sketch.subject = Some(self.push(thing));
        true
    }

    /// "region and country for Ada": of the one whose name it is, where the columns are of several things.
    fn owners_by_value(&mut self) {
        let places = |noun: NounAt| -> Vec<usize> {
            let place = |entry: &Entry| match entry.sense {
                Sense::Entity(d) | Sense::Field(d, _) | Sense::Value { dataset: d, .. } if !entry.partial => Some(d),
                _ => None,
            };
            let mut places: Vec<usize> = self.sketch.nouns[noun].entries.iter().filter_map(place).collect();
            places.dedup();
            places
        };
        let value = self.sketch.conds.iter().find_map(|cond| match cond {
            Cond::Values { nouns, negated: false } => match nouns.as_slice() {
                [one]
                    if matches!(self.sketch.nouns[*one].before.as_str(), "for" | "of")
                        || self.sketch.nouns[*one].of.is_some_and(|of| !is_field(&self.sketch.nouns[of])) =>
                {
                    Some(*one)
                }
                _ => None,
            },
            _ => None,
        });
        let Some(value) = value else { return };
        let [owner] = places(value)[..] else { return };
        let columns: Vec<Vec<usize>> = self.sketch.columns.iter().map(|column| places(*column)).collect();
        let several = columns.windows(2).any(|two| two[0] != two[1]);
        if several {
            let entry = Entry { sense: Sense::Entity(owner), quality: 1.0, partial: false };
            let at = self.sketch.nouns[value].items.start;
            let subject = Noun::new(self, at..at, vec![entry], Want::Thing, "");
            self.sketch.subject = Some(self.push(subject));
        }
    }

    /// A number or text right behind a thing that says which one it is.
    fn literal_of(&mut self, owner: NounAt) -> bool {
        let literal = self.item(0).is_some_and(|item| match &item.kind {
            Kind::Number(quantity) => quantity.unit.is_none() && quantity.value.fract() == 0.0,
            Kind::Quoted => true,
            _ => item.has_value() && !item.is_named(),
        });
        // What says which one it is, is a condition beside the thing itself.
        let mut named = self.sketch.nouns[owner].clone();
        named.entries.retain(Entry::is_thing);
        named.want = Want::Bound;
        let focus = self.focus;
        let known = literal
            && !named.entries.is_empty()
            && self.guarded(|parser| {
                let named = parser.push(named.clone());
                parser.literal_after(named)
            });
        self.focus = focus;
        known
    }
}

/// Whether a noun can be no thing.
fn is_field(noun: &Noun) -> bool {
    noun.entries.iter().all(|entry| thing(entry).is_none())
}
