//! Rows of a dataset by the rows of another that belong to them.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use crate::model::plan::Condition;

impl Reader<'_> {
    /// `customer has order via placed_by where (…)`, `customer has no order`.
    pub(super) fn has(&mut self) -> Read<Option<Condition>> {
        if self.path_length() != Some(1) || !self.is(1, &["has", "have", "with", "without", "had"]) {
            return Ok(None);
        }
        let of = self.dataset()?;
        let is_without = self.is(0, &["without"]);
        self.skip(1);
        let negated = self.eat(&["no", "not"]) || is_without;
        self.eat(&["any", "a", "an"]);
        let dataset = self.dataset()?;
        self.belonging(of, dataset, negated).map(Some)
    }

    /// The way and the conditions of `has` and `exists`.
    fn belonging(&mut self, of: String, dataset: String, negated: bool) -> Read<Condition> {
        let mut via = Vec::new();
        if self.eat(&["via"]) {
            let is_list = self.eat_sign("(");
            loop {
                let path = self.path()?;
                for part in &path.parts {
                    via.push(self.way(part, path.at)?);
                }
                let next = match self.kind(1) {
                    Some(Kind::Word(name) | Kind::Name(name)) => self.ontology.relationship(name).is_some(),
                    _ => false,
                };
                if !(self.is_sign(0, ",") && (is_list || next)) {
                    break;
                }
                self.skip(1);
            }
            if is_list {
                self.need_sign(")", "after the relationships")?;
            }
        }
        let filters = match self.eat(&["where"]) {
            true if self.is_sign(0, "(") && self.is_group_of_conditions() => {
                self.skip(1);
                let filters = self.conditions()?;
                self.need_sign(")", "after the conditions of `where (…`")?;
                filters
            }
            true => self.conditions()?,
            false => Vec::new(),
        };
        Ok(Condition::Exists { of, dataset, via, filters, negated })
    }

    /// `exists(order where …)`: of the dataset that the query is about.
    pub(super) fn exists(&mut self) -> Read<Condition> {
        let at = self.here();
        self.skip(1);
        self.need_sign("(", "after `exists`")?;
        if self.is(0, &["select"]) {
            return Err(
                self.wrong_here("`exists` has a dataset and no `select`: `exists(order where order.total > 10)`")
            );
        }
        let dataset = self.dataset()?;
        let of = match &self.around.each {
            Some(each) => Some(each.clone()),
            None => {
                let mut others = self.around.datasets.iter().filter(|name| **name != dataset);
                others.next().filter(|_| others.next().is_none()).cloned()
            }
        };
        let Some(of) = of else {
            let message = format!(
                "it is not clear whose {dataset} that is: write `other has {dataset}` with the other dataset's name"
            );
            return Err(Wrong::at(at, message));
        };
        let condition = self.belonging(of, dataset, false)?;
        self.need_sign(")", "after `exists(…`")?;
        Ok(condition)
    }
}
