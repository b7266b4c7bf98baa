//! Whether a plan answers the kind of question that was asked.

use super::*;

impl Builder<'_> {
    /// "When …" is answered by a time.
    pub(super) fn says_when(&self) -> Result<(), Fault> {
        if self.sketch.ask != Ask::When {
            return Ok(());
        }
        let ontology = self.resolver.ontology;
        let calendar = |field: &FieldRef| {
            ontology.field(&field.dataset, &field.field).is_some_and(|field| field.datatype.is_calendar())
        };
        let column =
            self.plan.dimensions.iter().any(|dimension| dimension.grain.is_some() || calendar(&dimension.field));
        let number = self.plan.measures.iter().any(|measure| match &measure.value {
            Value::Aggregate { field, .. } => calendar(field),
            Value::Metric(name) => ontology.metric(name).is_some_and(|metric| metric.datatype.is_calendar()),
            _ => false,
        });
        if column || number {
            return Ok(());
        }
        cannot("“When” asks for a time, and the question names none that is known here: ask for a date by its name.")
    }
}
