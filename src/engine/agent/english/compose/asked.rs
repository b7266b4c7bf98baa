//! Whether a plan answers the kind of question that was asked.

use super::*;

impl Builder<'_> {
    /// "When …" is answered by a time.
    pub(super) fn says_when(&self) -> Result<(), Fault> {
        if self.sketch.ask == Ask::Who {
            return self.says_who();
        }
        if self.sketch.ask != Ask::When {
            return Ok(());
        }
        let ontology = self.resolver.ontology;
        let is_time = |dimension: &Dimension| dimension.grain.is_some() || dimension.field.is_calendar(ontology);
        let column = self.plan.dimensions.iter().any(is_time);
        let number = self.plan.measures.iter().any(|measure| match &measure.value {
            Value::Aggregate { field, .. } => field.is_calendar(ontology),
            Value::Metric(name) => ontology.metric(name).is_some_and(|metric| metric.datatype.is_calendar()),
            _ => false,
        });
        if column || number {
            return Ok(());
        }
        cannot("“When” asks for a time, and the question names none that is known here: ask for a date by its name.")
    }

    /// "Who …" is answered by those who have a name or a number: never by an amount or a time alone, or by what happened.
    fn says_who(&self) -> Result<(), Fault> {
        let ontology = self.resolver.ontology;
        // "who buys the most?": each of them is there once.
        let counts = self.plan.measures.iter().find_map(|measure| match &measure.value {
            Value::Count(dataset) => Some(dataset),
            _ => None,
        });
        if let Some(counted) = counts
            && self.plan.dimensions.iter().all(|dimension| dimension.field.dataset.eq_ignore_ascii_case(counted))
            && !self.plan.order.is_empty()
        {
            return cannot("“Who” had the most of what? Name what is counted or added up.");
        }
        let called = self.plan.dimensions.iter().any(|dimension| {
            let Some(field) = ontology.field(&dimension.field.dataset, &dimension.field.field) else { return false };
            let event =
                ontology.entity(&dimension.field.dataset).is_some_and(|entity| entity.default_time_field.is_some());
            let number = field.datatype.is_number() || field.role == FieldRole::Key;
            dimension.grain.is_none() && !field.datatype.is_calendar() && !(number && event) && {
                field.role == FieldRole::Key || !field.datatype.is_number()
            }
        });
        if called {
            return Ok(());
        }
        cannot("“Who” asks for people or companies, and the question names none that are known here: name them.")
    }
}
