//! A plan as a query: in one way of writing, which is read as the same plan.

use jiff::civil::DateTime;

use super::cursor::{Around, Reader};
use super::words::{self, function_name, name, sign_of};
use super::write_times::{compared_with, window};
use super::write_values::{Writer, dimension};
use crate::model::ontology::Ontology;
use crate::model::plan::{Bound, By, Condition, Dimension, Having, Limit, Measure, Order, Plan};
use crate::model::query::Query;
use crate::model::source::quoted;

/// Conditions that all hold, as a filter of a measure has them.
pub(crate) fn conditions(all: &[Condition], ontology: &Ontology) -> String {
    let dimension_name = |at: usize| format!("#{}", at + 1);
    Writer { ontology, dimension_name: &dimension_name }.conditions(all)
}

/// The query that is read as this plan, at any time at which the plan's moving times are as they are in it. Names keep
/// the plan's way of writing. An empty phrase of a window is none, and a moving window without moments does not move.
pub(crate) fn write(plan: &Plan, ontology: &Ontology) -> Query {
    let around = Around {
        each: plan.subject.clone(),
        dimensions: plan.dimensions.clone(),
        measures: plan.measures.clone(),
        compares: plan.comparison.is_some(),
        ..Around::default()
    };
    let columns = Columns { ontology, around: &around };
    let dimension_name = |at: usize| columns.dimension(at);
    let writer = Writer { ontology, dimension_name: &dimension_name };
    let texts = |dimensions: &[Dimension]| dimensions.iter().map(dimension).collect::<Vec<_>>();
    let is_list = plan.measures.is_empty();
    let segments = trailing_segments(&plan.filters);
    let (filters, named) = plan.filters.split_at(plan.filters.len() - segments);
    let limit = plan.limit.as_ref();
    Query {
        measures: plan.measures.iter().map(|measure| writer.measure(measure)).collect(),
        dimensions: if is_list { Vec::new() } else { texts(&plan.dimensions) },
        list: if is_list { texts(&plan.dimensions) } else { Vec::new() },
        each: plan.subject.as_deref().map(name),
        filters: filters.iter().map(|condition| writer.condition(condition)).collect(),
        segments: named.iter().map(|condition| writer.condition(condition)).collect(),
        time: plan.time.as_ref().map(|time| {
            let window = window(&time.window, ontology);
            time.field.as_ref().map_or(window.clone(), |field| format!("{} during {window}", words::field_name(field)))
        }),
        compare_to: plan.comparison.as_ref().map(|comparison| compared_with(comparison, ontology)),
        having: plan.having.iter().map(|having| columns.having(having)).collect(),
        order: plan.order.iter().map(|order| columns.order(order)).collect(),
        limit: limit.map(|limit| limit.rows),
        per: limit.iter().flat_map(|limit| &limit.per).map(|at| columns.dimension(*at)).collect(),
        offset: limit.map_or(0, |Limit { skip, .. }| *skip),
        with_ties: limit.is_some_and(|limit| limit.with_ties),
        distinct: plan.distinct,
    }
}

/// Conditions at the end that are nothing but names: those before others keep their place among them.
fn trailing_segments(filters: &[Condition]) -> usize {
    filters.iter().rev().take_while(|condition| matches!(condition, Condition::Segment { .. })).count()
}

/// The columns of the answer by the words that only they have.
struct Columns<'a> {
    ontology: &'a Ontology,
    around: &'a Around,
}

impl Columns<'_> {
    fn order(&self, order: &Order) -> String {
        let by = match order.by {
            By::Dimension(at) => self.column(at, By::Dimension(at)),
            By::Measure(at) => self.measure(at),
            By::Difference(at) => self.change("difference", at, order.by),
            By::Change(at) => self.change("change", at, order.by),
        };
        if order.descending { format!("{by} desc") } else { by }
    }

    fn having(&self, having: &Having) -> String {
        let measure = self.measure(having.measure);
        let bound = match having.value {
            Bound::Number(number) => words::number(number),
            Bound::Overall(function) => format!("{}({measure})", function_name(function)),
        };
        format!("{measure} {} {bound}", sign_of(having.op))
    }

    fn dimension(&self, at: usize) -> String {
        self.column(at, By::Dimension(at))
    }

    fn measure(&self, at: usize) -> String {
        self.column(self.around.dimensions.len() + at, By::Measure(at))
    }

    /// A column of the comparison, unless a measure is written so.
    fn change(&self, function: &str, at: usize, by: By) -> String {
        let text = format!("{function}({})", self.measure(at));
        if self.is(&text, by) { text } else { format!("{function}(#{})", self.around.dimensions.len() + at + 1) }
    }

    /// By its heading, by its text, or by its number where neither is its own.
    fn column(&self, number: usize, by: By) -> String {
        // Numbers tell nothing of what shares are within; they need no other names.
        let numbered = |at: usize| format!("#{}", at + 1);
        let writer = Writer { ontology: self.ontology, dimension_name: &numbered };
        let (label, text) = match by {
            By::Dimension(at) => self
                .around
                .dimensions
                .get(at)
                .map(|it| (it.label.clone(), dimension(&Dimension { label: None, ..it.clone() }))),
            By::Measure(at) | By::Difference(at) | By::Change(at) => self
                .around
                .measures
                .get(at)
                .map(|it| (it.label.clone(), writer.operand(&Measure { label: None, ..it.clone() }))),
        }
        .unwrap_or_default();
        let candidates = label.map(|label| quoted(&label)).into_iter().chain([text]);
        // A number would be that of a column.
        let is_number = |text: &String| text.starts_with(|c: char| c.is_ascii_digit());
        let found = candidates.into_iter().find(|text| !is_number(text) && self.is(text, by));
        found.unwrap_or_else(|| numbered(number))
    }

    /// Whether a text is read as that column and no other.
    fn is(&self, text: &str, by: By) -> bool {
        let reader = Reader::new(text, (self.ontology, DateTime::default(), self.around));
        let found = reader.and_then(|mut reader| {
            let found = reader.orders()?;
            Ok((found, reader.is_end() && reader.wrong.is_empty()))
        });
        matches!(found, Ok((orders, true)) if matches!(orders.as_slice(), [Order { by: found, descending: false }] if *found == by))
    }
}
