//! Which fields a number beside a noun may be held against: the key of a thing, an amount, or a number of other things.

use super::*;

impl Parser<'_> {
    /// Whether a noun can only be texts and times of which none is this number: no town is called 7, and no day is 7.
    pub(super) fn is_no_number(&self, noun: NounAt, text: &str) -> bool {
        let fields = self.bound_fields(noun);
        let none = |(d, f): &(usize, usize)| {
            self.field(*d, *f).is_some_and(|field| match field.datatype {
                DataType::String => self.on.indexed(*d, *f) == Some(true) && !self.on.has_value(*d, *f, text),
                _ => field.datatype.is_calendar(),
            })
        };
        !fields.is_empty() && fields.iter().all(none)
    }

    /// Whether a noun can only be fields that are texts.
    pub(super) fn is_text(&self, noun: NounAt) -> bool {
        let text = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype == DataType::String),
            _ => false,
        };
        let entries = &self.sketch.nouns[noun].entries;
        !entries.is_empty() && entries.iter().all(text)
    }

    /// Whether a noun can only be fields that are numbers.
    pub(super) fn number_field(&self, noun: NounAt) -> bool {
        let number = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype.is_number()),
            _ => false,
        };
        let entries = &self.sketch.nouns[noun].entries;
        !entries.is_empty() && entries.iter().all(number)
    }

    /// "a rate of 5 EUR": no more and no less, in its unit.
    pub(super) fn exactly(&mut self, noun: NounAt, value: Bound, negated: bool) -> bool {
        self.at += 1;
        self.sketch.nouns[noun].want = Want::Number;
        let op = if negated { Comparator::NotEqual } else { Comparator::Equal };
        self.add_bound(noun, op, value);
        true
    }

    /// "with 4 doors": a field that is a number of things.
    pub(super) fn with_as_many(&mut self, value: Bound) -> bool {
        let number = |entry: &&Entry| match entry.sense {
            Sense::Field(d, f) => {
                let whole = |field: &crate::model::ontology::Field| {
                    field.datatype == DataType::Integer
                        && field.role != FieldRole::Key
                        && field.unit.as_deref().and_then(vocabulary::unit).is_none()
                };
                !entry.partial && self.field(d, f).is_some_and(whole)
            }
            _ => false,
        };
        let many = self.item(0).filter(|item| words::singular(&item.norm) != item.norm);
        let fields: Vec<Entry> =
            many.map(|item| item.entries.iter().filter(number).cloned().collect()).unwrap_or_default();
        if fields.is_empty() {
            return false;
        }
        let Some(noun) = self.noun(Want::Number) else { return false };
        self.sketch.nouns[noun].entries = fields;
        self.add_bound(noun, Comparator::Equal, value);
        true
    }

    /// "part 7", where parts have names that are texts and keys that are numbers: no name is a number.
    pub(super) fn key_first(&mut self, noun: NounAt, text: &str) {
        let keyed = |entry: &Entry| {
            let dataset = thing(entry)?;
            let entity = self.ontology.datasets.get(dataset)?;
            let at = |name: &String| {
                entity.fields.iter().position(|field| {
                    field.name.eq_ignore_ascii_case(name) || field.expression.eq_ignore_ascii_case(name)
                })
            };
            let label = at(entity.label_field.as_ref()?)?;
            let [key] = entity.primary_key.as_slice() else { return None };
            let key = at(key)?;
            let texts = entity.fields[label].datatype == DataType::String && !self.on.has_value(dataset, label, text);
            (texts && entity.fields[key].datatype.is_number() && !entity.fields[key].hidden).then_some((dataset, key))
        };
        let found: Vec<(usize, usize)> = self.sketch.nouns[noun].entries.iter().filter_map(keyed).collect();
        if let [(dataset, key)] = found.as_slice() {
            let entry = Entry { sense: Sense::Field(*dataset, *key), quality: 1.0, partial: false };
            self.sketch.nouns[noun].entries = vec![entry];
        }
    }
}
