//! Questions that go on from the one before: "and by carrier?", "only July", "what about 2014", "top 5 instead".

use crate::model::ontology::Ontology;
use crate::model::plan::{By, Comparator, Condition, FieldRef, Limit, Order, Plan, Value};

use super::super::compose::{Builder, Fault};
use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Sketch};

/// How many items at the beginning only say that the question goes on, and whether what it adds comes on top.
pub(in super::super) fn lead(items: &[Item]) -> Option<(usize, bool)> {
    const WORDS: &[&str] = &[
        "and", "what", "how", "about", "now", "only", "just", "also", "but", "then", "same", "the", "instead", "for",
        "show", "make", "it", "that", "ok", "please", "again", "additionally", "or", "as", "well", "thing", "question",
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
    let asks = match sketch.ask {
        Ask::Open | Ask::Which | Ask::Whether => true,
        Ask::When => !before.dimensions.iter().any(|column| column.field.is_calendar(ontology)),
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

/// Whether a question that goes on takes away from the answer before, so that what was asked for holds still: "only
/// urgent ones", "those without a phone".
pub(in super::super) fn narrows(items: &[Item]) -> bool {
    items.iter().any(|item| item.any(&["only", "just", "those", "these", "them", "without"]))
}

/// The plan before with what a fragment changes, on top of what is there or in its place.
pub(in super::super) fn merge(builder: &mut Builder, before: &Plan, more: bool, narrows: bool) -> Result<Plan, Fault> {
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
    let ontology = builder.resolver.ontology;
    for condition in new.filters {
        plan.filters.retain(|known| !replaces(known, &condition, narrows, ontology));
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

/// The fields that a condition is about, with those of segments.
fn fields(condition: &Condition, ontology: &Ontology) -> Vec<FieldRef> {
    match condition {
        Condition::CompareFields { .. } => Vec::new(),
        Condition::Exists { filters, .. } => filters.iter().flat_map(|inner| fields(inner, ontology)).collect(),
        Condition::Segment { name, .. } => fields_of_segment(name, ontology),
        other => other.fields().into_iter().cloned().collect(),
    }
}

fn fields_of_segment(name: &str, ontology: &Ontology) -> Vec<FieldRef> {
    let segment = ontology.segments.iter().find(|segment| segment.name.eq_ignore_ascii_case(name));
    let text = segment.map_or("", |segment| segment.expression.as_str());
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let known = |word: &str| {
        let (dataset, field) = word.split_once('.')?;
        let (entity, field) = (ontology.entity(dataset)?, ontology.field(dataset, field)?);
        Some(FieldRef { dataset: entity.name.clone(), field: field.name.clone(), via: Vec::new() })
    };
    words.filter_map(known).collect()
}

/// Whether a new condition stands for one of before: it is about the same field. Where the question only takes away
/// from the answer, both hold, unless they cannot.
fn replaces(known: &Condition, new: &Condition, narrows: bool, ontology: &Ontology) -> bool {
    if known == new {
        return true;
    }
    let (old, places) = (fields(known, ontology), fields(new, ontology));
    let same = |one: &FieldRef, other: &FieldRef| same_way(one, other) && one.field == other.field;
    let within = |some: &[FieldRef], all: &[FieldRef]| some.iter().all(|one| all.iter().any(|other| same(one, other)));
    if narrows || leaves_out(new) {
        return !old.is_empty()
            && within(&old, &places)
            && within(&places, &old)
            && (picks(known) && picks(new) || is_opposite(known, new));
    }
    old.iter().any(|old| places.iter().any(|new| same(old, new)))
}

/// Whether a condition says what a field is, so that it is nothing else.
fn picks(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { op, .. } => *op == Comparator::Equal,
        Condition::In { negated, .. } => !negated,
        Condition::Segment { .. } | Condition::IsNull { .. } => true,
        _ => false,
    }
}

fn leaves_out(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { op, .. } => *op == Comparator::NotEqual,
        Condition::In { negated, .. } | Condition::Like { negated, .. } => *negated,
        _ => false,
    }
}

/// Whether one of two conditions on a field leaves out what the other one asks for.
fn is_opposite(known: &Condition, new: &Condition) -> bool {
    match (known, new) {
        (Condition::Compare { op, value, .. }, Condition::Compare { op: other, value: others, .. }) => {
            value == others && *op == Comparator::Equal && *other == Comparator::NotEqual
        }
        _ => false,
    }
}

/// Whether two fields may be reached by the same way: where none is named, it is the usual one.
fn same_way(old: &FieldRef, new: &FieldRef) -> bool {
    old.dataset == new.dataset && (old.via == new.via || old.via.is_empty() || new.via.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ontology::read;
    use crate::model::plan::Literal;

    #[test]
    fn a_condition_stands_for_one_of_the_same_field() {
        let mut ontology = read::read(include_str!("../tests/bakery.yaml")).unwrap().ontology;
        let big = ontology.segments.iter().find(|segment| segment.name == "big sales").unwrap().clone();
        let small = crate::model::ontology::Segment { name: "small sales".into(), ..big };
        ontology.segments.push(small);
        let segment = |name: &str| Condition::Segment { name: name.into(), negated: false };
        let value = |field: &str, op, text: &str| {
            let value = Literal::Text(text.into());
            Condition::Compare { field: FieldRef::new("shop", field), op, value }
        };
        let is = |field: &str, text: &str| value(field, Comparator::Equal, text);
        let is_not = |field: &str, text: &str| value(field, Comparator::NotEqual, text);
        for (known, new, in_place, narrowing) in [
            (is("town", "Lund"), is("town", "Bergen"), true, true),
            (is("town", "Lund"), is("shop_name", "Harbour"), false, false),
            (is("town", "Lund"), is_not("town", "Lund"), true, true),
            (is_not("town", "Lund"), is_not("town", "Bergen"), false, false),
            (is_not("town", "Lund"), is("town", "Bergen"), true, false),
            (segment("big sales"), segment("small sales"), true, true),
            (segment("big sales"), segment("loyal customers"), false, false),
        ] {
            assert_eq!(replaces(&known, &new, false, &ontology), in_place, "{known:?} {new:?}");
            assert_eq!(replaces(&known, &new, true, &ontology), narrowing, "{known:?} {new:?}, narrowing");
        }
    }
}
