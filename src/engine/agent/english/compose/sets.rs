//! Conditions on sets: on the thing that a condition is said of, on what there must or must not be, on each of several
//! values, and on things that have a row for each of their parts.

use super::super::resolve::first_noun;
use super::spans::{united, within_any};
use super::*;
use crate::engine::ontology::graph::{Step, shared};

impl Builder<'_> {
    /// The dataset that a noun's condition is said to be about, and by which way, where it is not the one that the
    /// numbers are of.
    pub(super) fn holder(&self, noun: NounAt) -> Option<(usize, Vec<String>)> {
        let holder = self.sketch.nouns.get(noun)?.holder?;
        let found = self.found.get(holder)?.as_ref()?;
        let Target::Entity(d) = found.target else { return None };
        (d != self.anchor).then(|| (d, found.via.clone()))
    }

    /// "revenue on parts that were supplied from Lund": that some row of the owner is, or the one that each number is of?
    fn of_any_row(&self, cond: &Cond, owner: usize) -> Result<(), Fault> {
        let Cond::Values { nouns, .. } = cond else { return Ok(()) };
        let Some((text, found)) = nouns
            .first()
            .and_then(|noun| Some((&self.sketch.nouns.get(*noun)?.text, self.found.get(*noun)?.as_ref()?)))
        else {
            return Ok(());
        };
        let Some(to) = self.resolver.dataset_of(&found.target) else { return Ok(()) };
        let graph = self.resolver.graph;
        let many = graph.way(owner, to, &found.via, Steps::Any).is_ok_and(|way| way.iter().any(|step| step.to_many));
        let mut own = vec![self.anchor];
        let mut at = 0;
        while let Some(from) = own.get(at).copied() {
            let name = self.entity(from)?.name.as_str();
            for relationship in &self.resolver.ontology.relationships {
                let next =
                    self.resolver.position(&relationship.to).filter(|next| *next != owner && !own.contains(next));
                own.extend(next.filter(|_| relationship.from.eq_ignore_ascii_case(name)));
            }
            at += 1;
        }
        if !many || !own.contains(&to) {
            return Ok(());
        }
        let (one, row) = (self.resolver.entity_words(owner), self.resolver.entity_words(self.anchor));
        cannot(format!(
            "“{text}” may be said of the {row} or of any other row of its {one}: name the thing that it is said of."
        ))
    }

    /// A condition of the question: on the rows that the numbers are of, or on those of the thing that it is said of.
    /// "revenue from customers with claims" is all revenue from these customers, not that with claims.
    pub(super) fn held(&mut self, cond: &Cond) -> Result<Vec<Condition>, Fault> {
        let said = match cond {
            Cond::Exists { thing, .. } | Cond::Others { thing, .. } => Some(*thing),
            Cond::Measured { quantity, .. } => first_noun(quantity),
            Cond::Values { nouns, .. } => nouns.first().copied(),
            Cond::Window { field, .. } => *field,
            _ => None,
        };
        let Some((owner, via)) = said.and_then(|noun| self.holder(noun)) else {
            return self.condition(cond, self.anchor);
        };
        // "revenue from Swedish customers with Danish suppliers": each row has one of either.
        if let Some((thing, found)) = said.and_then(|noun| Some((noun, self.found.get(noun)?.as_ref()?)))
            && let Target::Entity(d) = found.target
            && d != self.anchor
            && let Ok(way) = self.resolver.graph.way(self.anchor, d, &found.via, Steps::ToOne)
            && !way.iter().any(|step| step.from == owner)
            && (self.sketch.beside.contains(&thing) || self.of_each_row(cond, thing, owner)?)
        {
            let (row, own) = (self.resolver.entity_words(self.anchor), self.resolver.entity_words(owner));
            let text = self.sketch.nouns[thing].text.clone();
            self.assumptions.push(format!("“{text}”: those of each {row}, not of any other {row} of the {own}."));
            return self.condition(cond, self.anchor);
        }
        let parts = matches!(cond, Cond::Values { .. } | Cond::Window { .. });
        self.of_any_row(cond, owner)?;
        let conditions = self.one_time(cond).and_then(|cond| self.condition(&cond, owner))?;
        let graph = self.resolver.graph;
        let of = self.entity(self.owning(self.anchor, owner, &via))?.name.clone();
        let dataset = self.entity(owner)?.name.clone();
        if let Ok(way) = graph.way(self.anchor, owner, &via, Steps::ToOne) {
            if graph.way(self.anchor, owner, &[], Steps::ToOne).ok().as_ref() != Some(&way) {
                let (one, other) = (self.resolver.entity_words(owner), self.resolver.entity_words(self.anchor));
                return cannot(format!(
                    "A {other} has several {one} rows, and a condition on one of them cannot be said here."
                ));
            }
            let conditions = if parts { self.of_owner(conditions, owner, &way, said)? } else { conditions };
            return Ok(conditions);
        }
        Ok(vec![Condition::Exists { of, dataset, via, filters: conditions, negated: false }])
    }

    /// Of which dataset a condition on rows of another is said: of what a row belongs to, where they only belong to the
    /// same. "Rentals with Ada Berg" are those of a film that has this actor.
    pub(super) fn owning(&self, from: usize, to: usize, via: &[String]) -> usize {
        let graph = self.resolver.graph;
        let leads = |from: usize, to: usize, via: &[String], steps: &[Step]| {
            graph.way(from, to, via, Steps::Any).is_ok_and(|way| way == steps)
        };
        let way = graph.way(from, to, via, Steps::Any).unwrap_or_default();
        let (up, down) = way.split_at(shared(&way).unwrap_or_default());
        match down.first().map(|step| step.from) {
            Some(owner) if leads(from, owner, &[], up) && leads(owner, to, via, down) => owner,
            _ => from,
        }
    }

    /// "revenue on parts that were supplied from Europe": the supplier of the row, or any that the part has? Asked,
    /// because each row has one of its own.
    fn of_each_row(&self, cond: &Cond, thing: NounAt, owner: usize) -> Result<bool, Fault> {
        let found = self.found(thing)?;
        let to = self.resolver.dataset_of(&found.target).unwrap_or(owner);
        let several = self.resolver.graph.way(owner, to, &found.via, Steps::ToOne).is_err();
        let restricted = matches!(cond, Cond::Exists { inner, negated: false, .. } if !inner.is_empty());
        // Who does something does it at any time; what was done to a thing may have been done for this row.
        let noun = &self.sketch.nouns[thing];
        let passive = matches!(noun.before.as_str(), "was" | "were" | "been" | "is" | "are" | "being");
        if !several || !restricted || !passive {
            return Ok(false);
        }
        let text = &self.sketch.nouns[thing].text;
        let key = format!("whose:{}", text.to_lowercase());
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            return Ok(chosen.value == "row");
        }
        let (row, own) = (self.resolver.entity_words(self.anchor), self.resolver.entity_words(owner));
        let options = vec![
            Choice { label: format!("that of each {row} itself"), value: "row".into() },
            Choice { label: format!("any that the {own} has"), value: "any".into() },
        ];
        let assumption = options[0].label.clone();
        let question = format!("Of what is “{text}” said?");
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    /// Conditions on fields as seen from an owner: of what each owner has one of, by the way through the owner; otherwise
    /// of one of its rows.
    fn of_owner(
        &self,
        conditions: Vec<Condition>,
        owner: usize,
        way: &[Step],
        noun: Option<NounAt>,
    ) -> Result<Vec<Condition>, Fault> {
        let graph = self.resolver.graph;
        let text = noun.map(|noun| self.sketch.nouns[noun].text.clone()).unwrap_or_default();
        let mut written = Vec::new();
        for mut condition in conditions {
            let (Condition::Compare { field, .. } | Condition::In { field, .. } | Condition::Within { field, .. }) =
                &mut condition
            else {
                written.push(condition);
                continue;
            };
            let to = self.resolver.position(&field.dataset).unwrap_or(owner);
            if let Ok(rest) = graph.way(owner, to, &field.via, Steps::ToOne) {
                let whole: Vec<Step> = way.iter().chain(&rest).copied().collect();
                let names: Vec<String> = whole
                    .iter()
                    .map(|step| self.resolver.ontology.relationships[step.relationship].name.clone())
                    .collect();
                let mut ways = [field.via.clone(), names].into_iter();
                let Some(via) =
                    ways.find(|via| graph.way(self.anchor, to, via, Steps::ToOne).is_ok_and(|way| way == whole))
                else {
                    return cannot(format!(
                        "By which way “{text}” belongs to the {} is not clear.",
                        self.resolver.entity_words(owner)
                    ));
                };
                field.via = via;
                written.push(condition);
                continue;
            }
            let of = self.entity(self.owning(owner, to, &field.via))?.name.clone();
            let dataset = field.dataset.clone();
            let via = std::mem::take(&mut field.via);
            written.push(Condition::Exists { of, dataset, via, filters: vec![condition], negated: false });
        }
        Ok(written)
    }

    /// "revenue from customers who bought jazz in 2023": the time may be that of either. Gives the condition without
    /// the time where it is the number's.
    fn one_time(&mut self, cond: &Cond) -> Result<Cond, Fault> {
        let Cond::Exists { thing, inner, negated } = cond else { return Ok(cond.clone()) };
        let free = |cond: &Cond| matches!(cond, Cond::Window { field: None, negated: false, .. });
        let Some(Cond::Window { windows, .. }) = inner.iter().find(|cond| free(cond)) else { return Ok(cond.clone()) };
        let [window] = windows.as_slice() else { return Ok(cond.clone()) };
        if self.sketch.measures.is_empty() || self.plan.time.is_some() {
            return Ok(cond.clone());
        }
        let field = match self.explicit_time() {
            Ok(field) => field,
            Err(Fault::Ask(ask)) => return Err(Fault::Ask(ask)),
            Err(Fault::Cannot(_)) => return Ok(cond.clone()),
        };
        let phrase = window.phrase.clone().unwrap_or_default();
        let key = format!("when:{}", phrase.to_lowercase());
        let text = &self.sketch.nouns[*thing].text;
        match self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key).map(|chosen| chosen.value.as_str()) {
            Some("condition") => Ok(cond.clone()),
            Some(_) => {
                self.plan.time = Some(TimeFilter { field, window: window.clone() });
                let inner = inner.iter().filter(|cond| !free(cond)).cloned().collect();
                Ok(Cond::Exists { thing: *thing, inner, negated: *negated })
            }
            None => {
                let options = vec![
                    Choice { label: format!("the time of “{text}”"), value: "condition".into() },
                    Choice { label: "the time of the number".into(), value: "number".into() },
                ];
                let question = format!("What does “{phrase}” say the time of?");
                let assumption = options[0].label.clone();
                Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
            }
        }
    }

    /// "both rock and jazz": the same conditions once for each of the values, which are of different rows. Asks where
    /// "rock and jazz" may mean any of them.
    pub(super) fn apart(&self, conds: &[Cond], negated: bool) -> Result<Option<Vec<Vec<Cond>>>, Fault> {
        let listed = |cond: &Cond| match cond {
            Cond::Values { nouns, negated: false } if nouns.len() > 1 => nouns.first().copied(),
            _ => None,
        };
        let Some((at, first)) = conds.iter().enumerate().find_map(|(at, cond)| Some((at, listed(cond)?))) else {
            return Ok(None);
        };
        let Cond::Values { nouns, .. } = &conds[at] else { return Ok(None) };
        if negated || !self.each_of(nouns, first)? {
            return Ok(None);
        }
        let mut all = Vec::new();
        for noun in nouns {
            let mut conds = conds.to_vec();
            conds[at] = Cond::Values { nouns: vec![*noun], negated: false };
            all.push(conds);
        }
        Ok(Some(all))
    }

    /// Whether each of several values is meant, not any of them.
    pub(super) fn each_of(&self, nouns: &[NounAt], first: NounAt) -> Result<bool, Fault> {
        if self.sketch.each.contains(&first) {
            return Ok(true);
        }
        if !self.sketch.joint.contains(&first) {
            return Ok(false);
        }
        let texts: Vec<&str> = nouns.iter().map(|noun| self.sketch.nouns[*noun].text.as_str()).collect();
        let texts = texts.join(" and ");
        let key = format!("and:{}", texts.to_lowercase());
        if let Some(chosen) = self.resolver.chosen.iter().rev().find(|chosen| chosen.key == key) {
            return Ok(chosen.value == "each");
        }
        let options = vec![
            Choice { label: "both of them".into(), value: "each".into() },
            Choice { label: "any of them".into(), value: "any".into() },
        ];
        let question = format!("Does “{texts}” mean both of them, or any of them?");
        let assumption = options[0].label.clone();
        Err(Fault::Ask(Box::new(Clarification { key, question, options, assumption })))
    }

    pub(super) fn exists(
        &mut self,
        thing: NounAt,
        inner: &[Cond],
        negated: bool,
        from: usize,
    ) -> Result<Vec<Condition>, Fault> {
        let found = self.found(thing)?.clone();
        let Target::Entity(d) = found.target else {
            return cannot(format!("“{}” is no dataset.", self.sketch.nouns[thing].text));
        };
        if let Some(each) = self.apart(inner, negated)? {
            let mut all = Vec::new();
            for inner in each {
                all.push(Condition::All(self.exists(thing, &inner, negated, from)?));
            }
            return Ok(all);
        }
        let mut filters = Vec::new();
        for cond in inner {
            filters.extend(self.in_clause(cond, inner, d)?);
        }
        // "customers with a film that is not returned" speaks of the rental between them, not of any rental.
        let way = self.resolver.graph.way(from, d, &found.via, Steps::Any).unwrap_or_default();
        let between = |name: &String| {
            self.resolver.position(name).is_some_and(|at| at != d && way.iter().any(|step| step.from == at))
        };
        let inside = |filter: &Condition| match filter {
            Condition::Exists { dataset, .. } => between(dataset),
            Condition::Measured { .. } => true,
            _ => false,
        };
        if filters.iter().any(inside) {
            let text = self.sketch.nouns[thing].text.clone();
            return cannot(format!("It is not clear which rows the conditions on “{text}” are about."));
        }
        if from == d {
            return cannot(format!("“{}” is what is asked for already.", self.sketch.nouns[thing].text));
        }
        if negated {
            self.of_one(from, "what there is not")?;
        }
        // "claims without payments in 2023", where only claims have a time: it is theirs.
        let own = self.entity(from)?.name.clone();
        let its_time = |filter: &Condition| matches!(filter, Condition::Within { field, .. } if field.dataset.eq_ignore_ascii_case(&own));
        let (times, filters): (Vec<_>, Vec<_>) = filters.into_iter().partition(|filter| negated && its_time(filter));
        let of = self.entity(from)?.name.clone();
        let dataset = self.entity(d)?.name.clone();
        let booked = inner.iter().any(|cond| matches!(cond, Cond::Booked(_))) || self.sketch.apart.contains(&thing);
        let exists = Condition::Exists { of, dataset, via: found.via, filters, negated };
        // Rows of two kinds are different rows.
        let exists = if booked && !negated { Condition::All(vec![exists]) } else { exists };
        Ok(std::iter::once(exists).chain(times).collect())
    }

    /// A condition of a clause. A time beside a state is that of the state: "with a contract that ended in 2026".
    fn in_clause(&mut self, cond: &Cond, clause: &[Cond], from: usize) -> Result<Vec<Condition>, Fault> {
        if let Cond::Window { field: None, windows, negated: false, either } = cond
            && (windows.len() == 1 || *either)
            && let Some(time) = self.time_of_state(clause, from)
        {
            self.says_time(&time);
            return Ok(vec![within_any(&time, &united(windows.clone()))]);
        }
        self.condition(cond, from)
    }

    /// The field that says who a row's thing is, where a dataset has a row for each thing and each of what it takes part
    /// in: its key is of two references, and it is called by one of them. Two of its rows may be the same person.
    pub(super) fn who(&self, dataset: usize) -> Option<&Field> {
        let entity = self.resolver.ontology.datasets.get(dataset)?;
        let label = entity.label_field.as_ref().and_then(|name| entity.field(name))?;
        let is = |column: &String| {
            column.eq_ignore_ascii_case(&label.name) || column.eq_ignore_ascii_case(&label.expression)
        };
        let refers = |column: &String| {
            self.resolver.ontology.relationships.iter().any(|relationship| {
                relationship.from.eq_ignore_ascii_case(&entity.name)
                    && matches!(relationship.from_columns.as_slice(), [own] if own.eq_ignore_ascii_case(column))
            })
        };
        let bridge = entity.primary_key.len() > 1 && entity.primary_key.iter().all(refers);
        (bridge && entity.primary_key.iter().any(is)).then_some(label)
    }

    /// Refuses what would be said of each row of a dataset with several rows for one thing.
    pub(super) fn of_one(&self, dataset: usize, what: &str) -> Result<(), Fault> {
        let Some(label) = self.who(dataset) else { return Ok(()) };
        let entity = self.entity(dataset)?;
        cannot(format!(
            "One {} can have several rows, one for each of what it takes part in, and {what} cannot be said of all of them \
             together: ask for the number by {}.",
            entity.noun(),
            label.words().to_lowercase()
        ))
    }
}
