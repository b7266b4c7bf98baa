//! The order of the rows.

use super::*;

impl Builder<'_> {
    pub(in super::super) fn order(&mut self) -> Result<(), Fault> {
        let Some((by, descending)) = &self.sketch.order else { return Ok(()) };
        let order = match by {
            OrderBy::Measure => Order { by: self.by_number()?, descending: *descending },
            OrderBy::Judged(said) => self.judged(said, *descending)?,
            OrderBy::Noun(noun) => Order { by: self.by_noun(*noun)?, descending: *descending },
            OrderBy::Time => Order { by: self.by_time()?, descending: *descending },
        };
        // What is ranked stands in the order of its rank already.
        if let Some(rank) = self.plan.order.first() {
            if *rank == order {
                return Ok(());
            }
            return cannot("The first of one order cannot be shown in another one: ask for one order.");
        }
        self.plan.order.push(order);
        Ok(())
    }

    /// The last number that was asked for; of a list of rows the last that it shows.
    fn by_number(&mut self) -> Result<By, Fault> {
        let asked = self.sketch.measures.last().cloned();
        let value = asked.and_then(|quantity| self.measure(&quantity).ok()).map(|measure| measure.value);
        let known = self.plan.measures.iter().position(|measure| Some(&measure.value) == value.as_ref());
        if let Some(known) = known {
            return Ok(By::Measure(known));
        }
        if let Some(last) = self.plan.measures.len().checked_sub(1) {
            return Ok(By::Measure(last));
        }
        let ontology = self.resolver.ontology;
        let number = |dimension: &Dimension| {
            let field = ontology.field(&dimension.field.dataset, &dimension.field.field);
            field.is_some_and(|field| field.datatype.is_number() && field.role == FieldRole::Measure)
        };
        match self.plan.dimensions.iter().rposition(number) {
            Some(at) => Ok(By::Dimension(at)),
            None => cannot("There is no number to sort by."),
        }
    }

    /// "worst first": whether that is the most of the number or the least is for the ontology to say.
    fn judged(&mut self, said: &str, best: bool) -> Result<Order, Fault> {
        let by = self.by_number()?;
        let rank = Rank { judged: Some(best), ..Rank::new(best, None, 0, said.to_owned()) };
        Ok(Order { by, descending: best == self.more_is_better(by, &rank)? })
    }

    fn by_noun(&mut self, noun: NounAt) -> Result<By, Fault> {
        let Some(dimension) = self.dims_of(noun)?.into_iter().next() else {
            return cannot("There is nothing to sort by.");
        };
        // One more column would make more rows of the numbers.
        let shown = self.plan.dimensions.iter().any(|known| known.field == dimension.field);
        if !self.plan.measures.is_empty() && !shown && !self.is_of_group(&dimension.field) {
            let words = &self.sketch.nouns[noun].text;
            return cannot(format!("The numbers are not shown by “{words}”, and so cannot be sorted by it."));
        }
        Ok(By::Dimension(self.add_dimension(dimension)))
    }

    /// Whether a field has one value for each group: the town of the shops that numbers are by.
    fn is_of_group(&self, field: &FieldRef) -> bool {
        let Some(to) = self.resolver.position(&field.dataset) else { return false };
        self.plan.dimensions.iter().filter(|dimension| dimension.grain.is_none()).any(|dimension| {
            let Some(of) = self.resolver.position(&dimension.field.dataset) else { return false };
            let entity = &self.resolver.ontology.datasets[of];
            let named = entity
                .fields
                .iter()
                .position(|known| known.name == dimension.field.field)
                .is_some_and(|at| self.resolver.names(of, at));
            named && (of == to || self.resolver.graph.way(of, to, &field.via, Steps::ToOne).is_ok())
        })
    }

    fn by_time(&mut self) -> Result<By, Fault> {
        if let Some(at) = self.plan.dimensions.iter().position(|dimension| dimension.grain.is_some()) {
            return Ok(By::Dimension(at));
        }
        if !self.plan.measures.is_empty() {
            return cannot("There is no time to sort the numbers by: say by what they are sorted.");
        }
        // A time that is shown is the one that is spoken of.
        let ontology = self.resolver.ontology;
        let dimensions = &self.plan.dimensions;
        let mut shown = (0..dimensions.len()).filter(|at| dimensions[*at].field.is_calendar(ontology));
        if let (Some(at), None) = (shown.next(), shown.next()) {
            return Ok(By::Dimension(at));
        }
        let field = self.time_field()?;
        Ok(By::Dimension(self.add_dimension(Dimension::of(field))))
    }
}
