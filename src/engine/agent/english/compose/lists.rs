//! Lists of rows, and what is counted in groups.

use super::*;

impl Builder<'_> {
    /// Groups that a row may be in several of leave out the rows that are in none.
    pub(super) fn shared_rows(&mut self) {
        if self.plan.measures.is_empty() {
            return;
        }
        let mut there: Vec<Condition> = Vec::new();
        for dimension in &self.plan.dimensions {
            let Some(to) = self.resolver.position(&dimension.field.dataset) else { continue };
            let one = self.resolver.graph.way(self.anchor, to, &dimension.field.via, Steps::ToOne).is_ok();
            let known = there.iter().any(
                |known| matches!(known, Condition::IsNull { field, .. } if field.dataset == dimension.field.dataset),
            );
            if to != self.anchor && !one && !known && dimension.grain.is_none() {
                there.push(Condition::IsNull { field: dimension.field.clone(), negated: true });
            }
        }
        self.plan.filters.extend(there);
    }

    /// Says which way was taken to what is grouped by, or must be there, where others lead there too.
    pub(super) fn other_ways(&mut self) {
        let mut said = Vec::new();
        for (noun, found) in self.sketch.nouns.iter().zip(self.found) {
            let Some(found) = found.as_ref().filter(|found| found.via.is_empty() || noun.want == Want::Thing) else {
                continue;
            };
            let (Target::Entity(to) | Target::Field(to, _)) = found.target else { continue };
            let asked = matches!(noun.want, Want::Group) || noun.want == Want::Thing && noun.holder.is_some();
            if !asked || noun.of.is_some() || !noun.roles.is_empty() {
                continue;
            }
            let holder = noun.holder.and_then(|holder| self.found.get(holder)?.as_ref());
            let from = holder.and_then(|found| self.resolver.dataset_of(&found.target)).unwrap_or(self.anchor);
            if let Some((taken, others)) = self.resolver.competing(from, to, &found.via) {
                said.push(format!("“{}” goes by {taken}; it could also go by {others}.", noun.text));
            }
        }
        for (at, found) in self.found.iter().enumerate() {
            let Some(found) = found.as_ref().filter(|_| self.sketch.nouns[at].inside.is_none()) else { continue };
            for other in self.resolver.qualified(at, self.anchor, found) {
                let text = &self.sketch.nouns[at].text;
                said.push(format!("“{text}”: the {} is taken, not the {other}.", self.resolver.words(found)));
            }
        }
        said.retain(|line| !self.assumptions.contains(line));
        self.assumptions.extend(said);
    }

    /// "orders by priority": how many of each.
    pub(super) fn counts_groups(&self) -> bool {
        let sketch = self.sketch;
        let free =
            sketch.ask == Ask::Open && sketch.measures.is_empty() && sketch.rank.is_none() && sketch.columns.is_empty();
        let Some(anchor) = self.resolver.ontology.datasets.get(self.anchor) else { return false };
        let own = |group: &Group| {
            group.noun.and_then(|noun| self.found.get(noun)?.as_ref()).is_some_and(|found| match found.target {
                Target::Field(d, f) => {
                    let field = &self.resolver.ontology.datasets[d].fields[f];
                    let label =
                        anchor.label_field.as_ref().is_some_and(|label| label.eq_ignore_ascii_case(&field.name));
                    let column = |key: &String| {
                        key.eq_ignore_ascii_case(&field.name) || key.eq_ignore_ascii_case(&field.expression)
                    };
                    let key = anchor.primary_key.len() == 1 && anchor.primary_key.iter().all(column);
                    d == self.anchor && (key || label)
                }
                _ => false,
            })
        };
        free && sketch.subject.is_some() && !sketch.groups.is_empty() && !sketch.groups.iter().any(own)
    }

    /// "online vs phone sales": how many of each kind, where the values are not what single rows are called.
    pub(super) fn sets_kinds_apart(&self) -> bool {
        let sketch = self.sketch;
        let bare = sketch.comparing && sketch.ask == Ask::Open && sketch.rank.is_none() && sketch.columns.is_empty();
        let kind = |noun: &NounAt| match self.found(*noun).map(|found| &found.target) {
            Ok(Target::Value(d, f, _)) => *d != self.anchor || !self.resolver.names(*d, *f),
            _ => false,
        };
        bare && self.plan.measures.is_empty()
            && sketch.conds.iter().any(|cond| match cond {
                Cond::Values { nouns, negated: false } => nouns.len() > 1 && nouns.iter().all(kind),
                _ => false,
            })
    }

    /// Columns of a list.
    pub(super) fn columns(&mut self) -> Result<(), Fault> {
        if !self.plan.measures.is_empty() {
            return Ok(());
        }
        let sketch = self.sketch;
        self.plan.subject = Some(self.entity(self.anchor)?.name.clone());
        let ranked = sketch.rank.is_some();
        let mut columns = sketch.columns.clone();
        if let Some(OrderBy::Noun(_)) = &sketch.order.as_ref().map(|(by, _)| by) {
            columns.dedup();
        }
        let owned = !columns.is_empty()
            && columns
                .iter()
                .all(|column| sketch.nouns[*column].of.is_some() && sketch.nouns[*column].of == sketch.subject);
        // "phone numbers of the customers in Lund": with whose they are, but for one that is named itself.
        let owned = owned && self.is_named(sketch.subject) || sketch.only_columns;
        if let Some(subject) = sketch.subject {
            if !owned && sketch.groups.is_empty() && !ranked {
                let mut dimensions = self.dims_of(subject)?;
                if !columns.is_empty()
                    && matches!(sketch.ask, Ask::Open)
                    && columns.iter().any(|column| sketch.nouns[*column].of.is_some())
                    && self.is_named(Some(subject))
                {
                    dimensions.clear();
                }
                for dimension in dimensions {
                    self.add_dimension(dimension);
                }
            }
            if ranked && sketch.groups.is_empty() {
                self.subject_dims()?;
            }
        }
        for column in columns {
            for dimension in self.dims_of(column)? {
                self.add_dimension(dimension);
            }
        }
        let said = matches!(sketch.ask, Ask::List | Ask::Which | Ask::Open)
            && sketch.conds.iter().any(|cond| !matches!(cond, Cond::Window { field: None, .. }));
        if self.plan.dimensions.is_empty() && sketch.subject.is_none() && said {
            for dimension in self.label(self.anchor, &[])?.into_iter().map(Dimension::of) {
                self.add_dimension(dimension);
            }
            self.assumptions.push(format!("A list of {} rows is meant.", self.resolver.entity_words(self.anchor)));
        }
        if matches!(sketch.ask, Ask::Who) && sketch.subject.is_none() && sketch.columns.is_empty() {
            return cannot("It is not clear who is meant: name them, such as “which customers”.");
        }
        let to_many = self.plan.dimensions.iter().any(|dimension| {
            let to = self.resolver.position(&dimension.field.dataset);
            to.is_some_and(|to| {
                to != self.anchor
                    && self.resolver.graph.way(self.anchor, to, &dimension.field.via, Steps::ToOne).is_err()
            })
        });
        self.joined_things()?;
        // Where one must exist and is shown, rows without one are not meant.
        let there: Vec<FieldRef> = self
            .plan
            .filters
            .iter()
            .filter_map(|filter| match filter {
                Condition::Exists { dataset, negated: false, .. } => self
                    .plan
                    .dimensions
                    .iter()
                    .map(|dimension| &dimension.field)
                    .find(|field| field.dataset.eq_ignore_ascii_case(dataset)),
                _ => None,
            })
            .cloned()
            .collect();
        self.plan.filters.extend(there.into_iter().map(|field| Condition::IsNull { field, negated: true }));
        let alone = sketch.subject.is_none() || sketch.only_columns;
        self.plan.distinct = (alone || to_many || self.who(self.anchor).is_some()) && !ranked;
        Ok(())
    }

    /// Whether a condition says which row of the listed dataset is meant, by its label or key.
    fn is_named(&self, subject: Option<NounAt>) -> bool {
        let dataset =
            subject.and_then(|noun| self.found(noun).ok()).and_then(|found| self.resolver.dataset_of(&found.target));
        let Some(dataset) = dataset else { return true };
        let entity = &self.resolver.ontology.datasets[dataset];
        self.plan.filters.iter().any(|filter| match filter {
            Condition::Compare { field, op: Comparator::Equal, .. } => {
                field.dataset.eq_ignore_ascii_case(&entity.name)
                    && entity
                        .fields
                        .iter()
                        .position(|known| known.name == field.field)
                        .is_some_and(|field| self.resolver.names(dataset, field))
            }
            _ => false,
        })
    }

    /// "agents and the policies that had a claim, and its catastrophe": of several things together, what must exist is
    /// one of those that belong together, and is shown with them.
    pub(super) fn joined_things(&mut self) -> Result<(), Fault> {
        let things: Vec<NounAt> = self
            .sketch
            .columns
            .iter()
            .copied()
            .filter(|column| matches!(self.found(*column), Ok(Found { target: Target::Entity(_), .. })))
            .collect();
        let existing: Vec<NounAt> = self
            .sketch
            .conds
            .iter()
            .filter_map(|cond| match cond {
                Cond::Exists { thing, inner, negated: false } if inner.is_empty() => Some(*thing),
                _ => None,
            })
            .collect();
        if things.is_empty() || existing.is_empty() {
            return Ok(());
        }
        for thing in things.into_iter().chain(existing) {
            for (at, dimension) in self.dims_of(thing)?.into_iter().enumerate() {
                let field = dimension.field.clone();
                self.add_dimension(dimension);
                if at == 0 {
                    self.plan.filters.push(Condition::IsNull { field, negated: true });
                }
            }
        }
        Ok(())
    }

    /// Whether a dataset belongs to rows that must be there: films to rentals, in "who rented films".
    fn near_existing(&self, to: usize) -> bool {
        self.plan.filters.iter().any(|filter| match filter {
            Condition::Exists { dataset, .. } => {
                let from = self.resolver.position(dataset).unwrap_or(to);
                self.resolver.graph.way(from, to, &[], Steps::Any).is_ok_and(|way| way.len() <= 2)
            }
            _ => false,
        })
    }

    /// Datasets that are only mentioned must not say more than the plan does.
    pub(super) fn mentions(&self) -> Result<(), Fault> {
        for mention in &self.sketch.mentions {
            let found = self.found(*mention)?;
            let Some(to) = self.resolver.dataset_of(&found.target) else { continue };
            let shown = self
                .plan
                .dimensions
                .iter()
                .any(|dimension| self.resolver.position(&dimension.field.dataset) == Some(to));
            let one =
                self.resolver.graph.way(self.anchor, to, &found.via, Steps::ToOne).is_ok() || self.counted_across(to);
            let filtered = format!("{:?}", self.plan.filters)
                .to_lowercase()
                .contains(&format!("\"{}\"", self.entity(to)?.name.to_lowercase()));
            let between = self.sketch.nouns.iter().zip(self.found).any(|(noun, other)| {
                let Some(other) = other.as_ref().filter(|_| noun.want == super::super::sketch::Want::Value) else {
                    return false;
                };
                let end = self.resolver.dataset_of(&other.target).unwrap_or(to);
                self.resolver
                    .graph
                    .way(self.anchor, end, &other.via, Steps::Any)
                    .is_ok_and(|way| way.iter().any(|step| step.from == to))
            });
            if to != self.anchor && !shown && !one && !filtered && !between && !self.near_existing(to) {
                return cannot(format!(
                    "It is not clear what “{}” has to do with the rest of the question.",
                    self.sketch.nouns[*mention].text
                ));
            }
        }
        Ok(())
    }
}
