//! States at a time: "open on 10 June" is what had begun by then and had not ended. A named condition that says only
//! that the end is not known is one of today; at another time it is said by the beginning and the end. The time of a
//! state that has a date of its own is that date: "ended in 2026".

use jiff::civil::Date;

use super::*;
use crate::engine::agent::english::lexicon::{dated, words};

impl Builder<'_> {
    /// The condition of a state on one day, with the positions of the conditions of the question that it stands for.
    pub(super) fn state_at(&mut self) -> Result<Option<(Condition, [usize; 2])>, Fault> {
        let conds = &self.sketch.conds;
        let day = |window: &Window| -> Option<String> {
            let start: Date = window.start.as_ref()?.parse().ok()?;
            let end = window.end.clone()?;
            (start.tomorrow().ok()?.to_string() == end).then_some(end)
        };
        let window = conds.iter().enumerate().find_map(|(at, cond)| match cond {
            Cond::Window { field: None, windows, negated: false, .. } => match windows.as_slice() {
                [window] => Some((at, window, day(window)?)),
                _ => None,
            },
            _ => None,
        });
        let Some((window_at, window, end)) = window else { return Ok(None) };
        let state = conds.iter().enumerate().find_map(|(at, cond)| match cond {
            Cond::Flag { noun, negated } => Some((at, *noun, *negated, self.end_of(*noun)?)),
            _ => None,
        });
        let Some((flag_at, noun, negated, ended)) = state else { return Ok(None) };
        let begun = self.time_of(self.anchor)?;
        let text = self.sketch.nouns[noun].text.clone();
        if negated || !begun.dataset.eq_ignore_ascii_case(&ended.dataset) || begun.field == ended.field {
            return cannot(format!("“{text}” says how it is now: how it was at another time is not told here."));
        }
        let bound = |start: Option<String>, end: Option<String>| Window { start, end, ..window.clone() };
        let later = bound(Some(end.clone()), None);
        let condition = Condition::All(vec![
            Condition::Within { field: begun, window: bound(None, Some(end)), negated: false },
            Condition::Any(vec![
                Condition::IsNull { field: ended.clone(), negated: false },
                Condition::Within { field: ended, window: later, negated: false },
            ]),
        ]);
        self.assumptions.push(format!("“{text}” at that time: begun by then, and not ended by then."));
        Ok(Some((condition, [flag_at, window_at])))
    }

    /// The time that is not known where a named condition holds, if it says only that, of the rows that are asked for.
    fn end_of(&self, noun: NounAt) -> Option<FieldRef> {
        let Target::Segment(segment) = self.found.get(noun)?.as_ref()?.target else { return None };
        let expression = self.resolver.ontology.segments.get(segment)?.expression.trim();
        let head = expression.get(..expression.len().checked_sub(" IS NULL".len())?)?;
        expression.get(head.len()..)?.eq_ignore_ascii_case(" IS NULL").then_some(())?;
        let (dataset, field) = head.trim().split_once('.')?;
        let own = self.resolver.position(dataset)? == self.anchor;
        Some(FieldRef::new(dataset, field)).filter(|end| own && end.is_calendar(self.resolver.ontology))
    }

    /// The date of a state that is said of the rows of a dataset, where they have one that is called like it and is not
    /// their usual date: that of the end in "contracts that ended in 2026", whenever they began.
    pub(super) fn time_of_state(&self, conds: &[Cond], dataset: usize) -> Option<FieldRef> {
        let entity = self.resolver.ontology.datasets.get(dataset)?;
        let key = format!("time_field:{}", entity.name);
        if self.resolver.chosen.iter().any(|chosen| chosen.key == key) {
            return None;
        }
        let states: Vec<&str> = conds.iter().filter_map(|cond| self.state_of(cond, dataset)).collect();
        let is_theirs = |field: &&Field| {
            let is_date = field.datatype.is_calendar() && !field.hidden;
            is_date && states.iter().any(|state| dated::is_called(entity, field, &[*state]))
        };
        let mut dates = entity.fields.iter().filter(is_theirs);
        let date = dates.next().filter(|_| dates.next().is_none())?;
        let usual = entity.default_time_field.as_ref().is_some_and(|usual| usual.eq_ignore_ascii_case(&date.name));
        (!usual).then(|| FieldRef::new(&entity.name, &date.name))
    }

    /// The verb of a state that is said of the rows of a dataset: "ended" of "ended contracts".
    fn state_of(&self, cond: &Cond, dataset: usize) -> Option<&str> {
        let noun = match cond {
            Cond::Values { nouns, negated: false } if nouns.len() == 1 => *nouns.first()?,
            Cond::Flag { noun, negated: false } => *noun,
            _ => return None,
        };
        let known = self.sketch.nouns.get(noun).filter(|known| known.holder.is_none() && known.of.is_none())?;
        let of = self.resolver.dataset_of(&self.found.get(noun)?.as_ref()?.target)?;
        let entity = self.resolver.ontology.datasets.get(dataset).filter(|_| of == dataset)?;
        let names = [entity.noun(), in_words(&entity.name)];
        let names = names.iter().chain(&entity.ai.synonyms).flat_map(|name| words::split(name));
        let own: Vec<String> = names.map(|name| words::singular(&name)).collect();
        let mut said = known.norm.split(' ').filter(|word| !own.contains(&words::singular(word)));
        said.next().filter(|state| said.next().is_none() && words::is_past(state))
    }
}
