//! Questions that go on from the one before: "and by carrier?", "only July", "what about 2014", "top 5 instead".

use crate::model::ontology::Ontology;
use crate::model::plan::{By, Condition, Dimension, FieldRef, Limit, Order, Plan, Value};

use super::super::compose::{Builder, Fault};
use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Sketch};

/// How many items at the beginning only say that the question goes on, and whether what it adds comes on top.
pub(in super::super) fn lead(items: &[Item]) -> Option<(usize, bool)> {
    const WORDS: &[&str] = &[
        "and",
        "what",
        "how",
        "about",
        "now",
        "only",
        "just",
        "also",
        "but",
        "then",
        "same",
        "the",
        "instead",
        "for",
        "show",
        "make",
        "it",
        "that",
        "ok",
        "please",
        "again",
        "additionally",
        "or",
        "as",
        "well",
        "thing",
        "question",
        "with",
    ];
    let word =
        |at: usize| items.get(at).filter(|item| matches!(item.kind, Kind::Word)).map_or("", |item| item.norm.as_str());
    let more = matches!(word(0), "also" | "additionally") || word(0) == "and" && word(1) == "also";
    let starts = matches!(
        word(0),
        "and"
            | "now"
            | "only"
            | "just"
            | "also"
            | "but"
            | "same"
            | "instead"
            | "additionally"
            | "or"
            | "sorted"
            | "ordered"
            | "ranked"
    ) || matches!(
        (word(0), word(1)),
        ("what" | "how", "about") | ("the", "same") | ("make", "it") | ("ok", "and" | "now")
    ) || items.last().is_some_and(|item| item.is("instead") || item.is("too"));
    if !starts {
        return None;
    }
    let mut at = 0;
    while WORDS.contains(&word(at)) && !items.get(at).is_some_and(|item| item.is_named() || item.has_value()) {
        // "how many" and "what is" begin a question of their own.
        if matches!(word(at), "how" | "what") && word(at + 1) != "about" {
            break;
        }
        if matches!(word(at), "for" | "with") && matches!(word(at + 1), "each" | "every") {
            break;
        }
        at += 1;
    }
    Some((at, more))
}

/// Whether a sketch asks for nothing by itself.
pub(in super::super) fn is_fragment(sketch: &Sketch) -> bool {
    sketch.measures.is_empty()
        && sketch.subject.is_none()
        && sketch.columns.is_empty()
        && sketch.rank.as_ref().is_none_or(|rank| rank.by.is_none() && rank.field.is_none())
}

/// Whether a question that goes on says nothing that the answer before does not show: what it asks for is not
/// understood.
pub(in super::super) fn adds_nothing(sketch: &Sketch, before: &Plan, ontology: &Ontology) -> bool {
    let is_time = |column: &Dimension| {
        let field = ontology.field(&column.field.dataset, &column.field.field);
        field.is_some_and(|field| field.datatype.is_calendar())
    };
    let asks = match sketch.ask {
        Ask::Open | Ask::Which | Ask::Whether => true,
        Ask::When => !before.dimensions.iter().any(is_time),
        // The answer is shown again; whether it names anybody is looked at in all questions.
        Ask::List | Ask::Who => false,
    };
    asks && *sketch == Sketch { ask: sketch.ask, ..Sketch::default() }
}

/// In a question that goes on, a dataset or field that stands alone is what is grouped by or counted now.
pub(in super::super) fn settle(sketch: &mut Sketch) {
    if let Some(subject) = sketch.subject.take() {
        let flag = |cond: &super::super::sketch::Cond| matches!(cond, super::super::sketch::Cond::Flag { noun, .. } if sketch.nouns[*noun].items == sketch.nouns[subject].items);
        if sketch.conds.iter().any(flag) {
            return;
        }
        if sketch.measures.is_empty() {
            sketch.nouns[subject].want = super::super::sketch::Want::Counted;
            sketch.measures.push(super::super::sketch::Quantity::Count(subject));
        }
    }
}

/// The dataset that a plan is about.
pub(in super::super) fn anchor(
    plan: &Plan,
    ontology: &Ontology,
    metric: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    let position = |name: &str| ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name));
    let first = plan.measures.first().and_then(|measure| inner(&measure.value));
    match first {
        Some(Value::Count(dataset)) => position(dataset),
        Some(Value::Aggregate { field, .. }) => position(&field.dataset),
        Some(Value::Metric(name)) => {
            ontology.metrics.iter().position(|known| known.name.eq_ignore_ascii_case(name)).and_then(metric)
        }
        _ => plan.subject.as_ref().and_then(|subject| position(subject)),
    }
}

fn inner(value: &Value) -> Option<&Value> {
    match value {
        Value::Ratio { numerator, .. } => inner(&numerator.value),
        Value::Sum(parts) => parts.first().and_then(|part| inner(&part.value)),
        Value::Difference(first, _) => inner(&first.value),
        Value::Over { measure, .. } => inner(&measure.value),
        Value::Number(_) => None,
        plain => Some(plain),
    }
}

/// The plan before with what a fragment changes.
pub(in super::super) fn merge(builder: &mut Builder, before: &Plan, more: bool) -> Result<Plan, Fault> {
    let sketch = builder.sketch;
    if sorts_alone(sketch) {
        return sorted(builder, before);
    }
    let mut plan = before.clone();
    builder.plan = Plan { subject: before.subject.clone(), measures: before.measures.clone(), ..Plan::default() };
    if sketch.display.is_some() && sketch.groups.is_empty() {
        // A share or a course is one of what was shown before.
        builder.plan.dimensions.clone_from(&before.dimensions);
        builder.plan.time.clone_from(&before.time);
    }
    let known = builder.plan.measures.len();
    builder.fragment()?;
    let new = std::mem::take(&mut builder.plan);
    if !sketch.measures.is_empty() {
        plan.measures = new.measures[known..].to_vec();
        plan.having.clear();
        // "top 3 shops by refunds", "same for returns": the one number stands for the other, and so does what is counted.
        let one = before.measures.len() == 1 && plan.measures.len() == 1;
        plan.order.retain(|order| matches!(order.by, By::Dimension(_)) || one && order.by == By::Measure(0));
        let counts = |measure: &crate::model::plan::Measure| match &measure.value {
            Value::Count(_) => true,
            Value::Metric(name) => builder
                .resolver
                .ontology
                .metric(name)
                .is_some_and(|metric| metric.expression.trim().to_lowercase().starts_with("count(")),
            _ => false,
        };
        if one && before.measures.iter().chain(&plan.measures).all(counts) {
            plan.filters.retain(|known| !matches!(known, Condition::Segment { negated: false, .. }));
        }
    } else if new.measures.len() > known {
        plan.measures = new.measures.clone();
    }
    if !new.dimensions.is_empty() {
        if more {
            plan.dimensions.extend(new.dimensions);
        } else {
            plan.dimensions = new.dimensions;
            plan.order.retain(|order| matches!(order.by, By::Measure(_)));
            plan.limit = plan.limit.map(|limit| Limit { per: Vec::new(), ..limit });
        }
    }
    if new.time.is_some() {
        let field = new
            .time
            .as_ref()
            .and_then(|time| time.field.clone())
            .or_else(|| before.time.as_ref().and_then(|time| time.field.clone()));
        plan.time = new.time.map(|time| crate::model::plan::TimeFilter { field, ..time });
        plan.comparison = None;
        plan.filters.retain(|known| !super::super::compose::is_time(known));
    }
    if new.filters.iter().any(super::super::compose::is_time) {
        plan.filters.retain(|known| !super::super::compose::is_time(known));
        plan.time = None;
        plan.comparison = None;
    }
    for condition in new.filters {
        let places = fields(&condition);
        plan.filters.retain(|known| !replaces(&places, known, &condition));
        plan.filters.push(condition);
    }
    plan.having.extend(new.having);
    if new.comparison.is_some() {
        plan.comparison = new.comparison;
    }
    if let Some(rank) = &sketch.rank {
        let by = plan.order.first().map_or(By::Measure(0), |order| order.by);
        if plan.measures.is_empty() && plan.order.is_empty() {
            return Err(Fault::Cannot(format!("“{}” by what? The question before names no number.", rank.text)));
        }
        let descending = match rank.judged {
            Some(best) => {
                builder.plan.measures.clone_from(&plan.measures);
                best == builder.more_is_better(by, rank)?
            }
            None => rank.descending,
        };
        plan.order = vec![Order { by, descending }];
        plan.limit = Some(Limit { rows: rank.rows, per: Vec::new(), with_ties: rank.single, skip: rank.skip });
    }
    if !new.order.is_empty() && sketch.rank.is_none() {
        plan.order = new.order;
    }
    if let Some(shown) = new.measures.first().and_then(|measure| measure.shown_as.clone()) {
        if !plan.having.is_empty() {
            let reason = "The answer before has a bound on its numbers: ask for their shares in a whole question.";
            return Err(Fault::Cannot(reason.into()));
        }
        for measure in &mut plan.measures {
            measure.shown_as = Some(shown.clone());
        }
    }
    Ok(plan)
}

/// Whether a sketch says nothing but an order.
fn sorts_alone(sketch: &Sketch) -> bool {
    sketch.order.is_some()
        && sketch.groups.is_empty()
        && sketch.columns.is_empty()
        && sketch.conds.is_empty()
        && sketch.rank.is_none()
        && sketch.display.is_none()
        && sketch.compare.is_none()
        && sketch.measures.len() < 2
}

/// "sort it by price", "longest first": the rows of before in another order.
fn sorted(builder: &mut Builder, before: &Plan) -> Result<Plan, Fault> {
    if before.limit.is_some() {
        let reason = "The first of one order cannot be shown in another one: say the whole question again.";
        return Err(Fault::Cannot(reason.into()));
    }
    builder.plan = Plan { order: Vec::new(), ..before.clone() };
    let sketch = builder.sketch;
    match (sketch.measures.first(), &sketch.order) {
        (Some(quantity), Some((_, descending))) => {
            let measure = builder.measure(quantity)?;
            let known = builder.plan.measures.iter().position(|known| known.value == measure.value);
            let Some(at) = known.filter(|_| !before.is_listing()) else {
                let reason = "The answer before does not show that number: say the whole question again.";
                return Err(Fault::Cannot(reason.into()));
            };
            builder.plan.order.push(Order { by: By::Measure(at), descending: *descending });
        }
        _ => builder.order()?,
    }
    Ok(std::mem::take(&mut builder.plan))
}

/// The fields that a condition is about, with the datasets and segments.
fn fields(condition: &Condition) -> Vec<FieldRef> {
    match condition {
        Condition::CompareFields { .. } => Vec::new(),
        Condition::Exists { filters, .. } => filters.iter().flat_map(fields).collect(),
        other => other.fields().into_iter().cloned().collect(),
    }
}

/// Whether a new condition stands for one of before: it is about the same field, or a value of the same dataset.
fn replaces(places: &[FieldRef], known: &Condition, new: &Condition) -> bool {
    if let (Condition::Segment { .. }, Condition::Segment { .. }) = (known, new) {
        return true;
    }
    let flag = |condition: &Condition| {
        matches!(
            condition,
            Condition::Segment { .. } | Condition::Compare { value: crate::model::plan::Literal::Bool(_), .. }
        )
    };
    if flag(known) && flag(new) {
        return true;
    }
    let old = fields(known);
    let value = |condition: &Condition| {
        matches!(
            condition,
            Condition::Compare { value: crate::model::plan::Literal::Text(_), .. }
                | Condition::In { .. }
                | Condition::Exists { .. }
        )
    };
    old.iter().any(|old| places.iter().any(|new| same_way(old, new) && new.field == old.field))
        || value(known) && value(new) && old.iter().any(|old| places.iter().any(|new| same_way(old, new)))
}

/// Whether two fields may be reached by the same way: where none is named, it is the usual one.
fn same_way(old: &FieldRef, new: &FieldRef) -> bool {
    old.dataset == new.dataset && (old.via == new.via || old.via.is_empty() || new.via.is_empty())
}
