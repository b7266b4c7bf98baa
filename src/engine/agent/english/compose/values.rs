//! Fields that are held against values, texts and numbers.

use super::*;

impl Builder<'_> {
    pub(super) fn values(&mut self, nouns: &[NounAt], negated: bool, from: usize) -> Result<Vec<Condition>, Fault> {
        let mut lists: Vec<(FieldRef, Vec<Literal>, NounAt)> = Vec::new();
        for noun in nouns {
            let found = self.found(*noun)?.clone();
            let Target::Value(_, _, value) = &found.target else {
                return cannot(format!("“{}” is no value.", self.sketch.nouns[*noun].text));
            };
            let field = self.field_ref(*noun)?;
            let literal = Literal::Text(value.clone());
            match lists.iter_mut().find(|(known, _, _)| *known == field) {
                Some((_, values, _)) => {
                    if !values.contains(&literal) {
                        values.push(literal);
                    }
                }
                None => lists.push((field, vec![literal], *noun)),
            }
        }
        if lists.len() > 1 {
            let texts: Vec<&str> = nouns.iter().map(|noun| self.sketch.nouns[*noun].text.as_str()).collect();
            return cannot(format!("{} are values of different fields.", texts.join(", ")));
        }
        // "the phone of a supplier" is the supplier's, not that of others who have to do with it.
        let listed =
            self.sketch.measures.is_empty() && self.sketch.subject.is_none() && !self.sketch.columns.is_empty();
        if let (true, Some((field, _, noun))) = (listed, lists.first()) {
            let to = self.resolver.position(&field.dataset).unwrap_or(from);
            let apart = to != from && self.resolver.graph.way(to, from, &[], Steps::ToOne).is_err();
            if self.sketch.nouns[*noun].before == "of" && apart {
                let (column, value) = (self.resolver.entity_words(from), &self.sketch.nouns[*noun].text);
                return cannot(format!("“{value}” has no such field: what was found is of the {column}."));
            }
        }
        if let (Some((field, _, noun)), Some(first), false) = (lists.first(), nouns.first(), negated || nouns.len() < 2)
        {
            let to = self.found(*noun).ok().and_then(|found| self.resolver.dataset_of(&found.target));
            let one = to.is_some_and(|to| self.resolver.graph.way(from, to, &field.via, Steps::ToOne).is_ok());
            if one && self.sketch.each.contains(first) {
                let texts: Vec<&str> = nouns.iter().map(|noun| self.sketch.nouns[*noun].text.as_str()).collect();
                let row = self.resolver.entity_words(from);
                return cannot(format!("A {row} has one of them only: it cannot be both {}.", texts.join(" and ")));
            }
            if !one && self.each_of(nouns, *first)? {
                let mut all = Vec::new();
                for noun in nouns {
                    all.push(Condition::All(self.values(&[*noun], false, from)?));
                }
                return Ok(all);
            }
        }
        let mut conditions = Vec::new();
        for (mut field, values, noun) in lists {
            let to = self.found(noun).ok().and_then(|found| self.resolver.dataset_of(&found.target));
            // A row itself, not one of those that have to do with the same others.
            if to == Some(from) && self.resolver.graph.way(from, from, &field.via, Steps::ToOne).is_err() {
                field.via.clear();
            }
            let many = to.is_some_and(|to| {
                self.resolver
                    .graph
                    .way(from, to, &field.via, Steps::Any)
                    .is_ok_and(|way| way.iter().any(|step| step.to_many))
            });
            let single = match values.as_slice() {
                [one] => Condition::Compare {
                    field: field.clone(),
                    op: if negated && !many { Comparator::NotEqual } else { Comparator::Equal },
                    value: one.clone(),
                },
                _ => Condition::In { field: field.clone(), values, negated: negated && !many },
            };
            conditions.extend(self.within_reach(vec![single], Some(noun), negated && many, from));
        }
        Ok(conditions)
    }

    pub(super) fn compared(&self, noun: NounAt, op: Comparator, value: &Bound) -> Result<Condition, Fault> {
        let field = self.field_ref(noun)?;
        let own = self.resolver.ontology.field(&field.dataset, &field.field).cloned().unwrap_or_default();
        match value {
            Bound::Average => Ok(Condition::AgainstOverall { field, op, function: Aggregation::Avg }),
            Bound::Text(text) => {
                let number = own.datatype.is_number().then(|| text.parse::<f64>().ok().and_then(F64::new)).flatten();
                if own.datatype.is_number() && number.is_none() {
                    return cannot(format!("{} is a number, and “{text}” is none.", capital(&own.words())));
                }
                let value = number.map_or_else(|| Literal::Text(text.clone()), Literal::Number);
                Ok(Condition::Compare { field, op, value })
            }
            Bound::Number(number, unit) => {
                if !own.datatype.is_number() {
                    return cannot(format!(
                        "{} is no number, and cannot be held against {number}.",
                        capital(&own.words())
                    ));
                }
                let number = self.converted(*number, unit.as_deref(), &own)?;
                Ok(Condition::Compare { field, op, value: Literal::Number(finite(number)?) })
            }
        }
    }
}
