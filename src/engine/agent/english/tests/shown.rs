//! Plans in one short line.

use crate::model::plan::*;
use crate::model::reading::Outcome;

pub(crate) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Plan(reading) => plan(&reading.plan),
        Outcome::Clarify(questions) => format!(
            "ask {}: {}",
            questions[0].key,
            questions[0].options.iter().map(|o| o.value.as_str()).collect::<Vec<_>>().join(" | ")
        ),
        Outcome::Cannot(cannot) => format!("cannot {}", cannot.unknown.join(", ")).trim_end().to_owned(),
    }
}

fn field(field: &FieldRef) -> String {
    let via = field.via.iter().map(|via| format!("@{via}")).collect::<String>();
    format!("{}.{}{via}", field.dataset, field.field)
}

fn dimension(dimension: &Dimension) -> String {
    let grain = dimension.grain.map(|grain| format!(":{grain:?}")).unwrap_or_default();
    let bucket = dimension.bucket.map(|width| format!(":{width}")).unwrap_or_default();
    format!("{}{grain}{bucket}", field(&dimension.field))
}

fn list<T>(all: &[T], one: impl Fn(&T) -> String) -> String {
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn measure(all: &Measure) -> String {
    let value = match &all.value {
        Value::Metric(name) => name.clone(),
        Value::Count(dataset) => format!("count {dataset}"),
        Value::Aggregate { function, field: of } => format!("{function:?} {}", field(of)).to_lowercase(),
        Value::Days { function, from, to } => {
            format!("{function:?} days {} to {}", field(from), field(to)).to_lowercase()
        }
        Value::Ratio { numerator, denominator } => format!("({} / {})", measure(numerator), measure(denominator)),
        Value::Sum(parts) => format!("({})", parts.iter().map(measure).collect::<Vec<_>>().join(" + ")),
        Value::Difference(first, second) => format!("({} - {})", measure(first), measure(second)),
        Value::Over { function, measure: inner, by } => {
            format!("{function:?} of ({}) over {}", measure(inner), list(by, dimension)).to_lowercase()
        }
        Value::Number(number) => number.to_string(),
    };
    let filters = if all.filters.is_empty() { String::new() } else { format!(" [{}]", list(&all.filters, condition)) };
    let shown = all.shown_as.as_ref().map(|shown| format!(" as {shown:?}")).unwrap_or_default();
    format!("{value}{filters}{shown}")
}

fn op(op: Comparator) -> &'static str {
    match op {
        Comparator::Equal => "=",
        Comparator::NotEqual => "!=",
        Comparator::Less => "<",
        Comparator::AtMost => "<=",
        Comparator::Greater => ">",
        Comparator::AtLeast => ">=",
    }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) => format!("'{text}'"),
    }
}

fn window(window: &Window) -> String {
    format!("{}..{}", window.start.clone().unwrap_or_default(), window.end.clone().unwrap_or_default())
}

fn condition(one: &Condition) -> String {
    let not = |negated: bool| if negated { "not " } else { "" };
    match one {
        Condition::Compare { field: f, op: o, value } => format!("{} {} {}", field(f), op(*o), literal(value)),
        Condition::CompareFields { left, op: o, right } => format!("{} {} {}", field(left), op(*o), field(right)),
        Condition::In { field: f, values, negated } => {
            format!("{} {}in {}", field(f), not(*negated), values.iter().map(literal).collect::<Vec<_>>().join("/"))
        }
        Condition::Like { field: f, pattern, text, negated } => {
            format!("{} {}{pattern:?} '{text}'", field(f), not(*negated))
        }
        Condition::IsNull { field: f, negated } => format!("{} is {}null", field(f), not(*negated)),
        Condition::Within { field: f, window: w, negated } => {
            format!("{} {}within {}", field(f), not(*negated), window(w))
        }
        Condition::OnDays { field: f, days, negated } => format!("{} {}on {days:?}", field(f), not(*negated)),
        Condition::AtHours { field: f, from, to, negated } => format!("{} {}at {from}-{to}", field(f), not(*negated)),
        Condition::Segment { name, negated } => format!("{}{name}", not(*negated)),
        Condition::Exists { of, dataset, filters, negated, .. } => {
            format!("{of} has {}{dataset}({})", if *negated { "no " } else { "" }, list(filters, condition))
        }
        Condition::Measured { of, measure: m, op: o, value } => {
            format!("{of}: {} {} {}", measure(m), op(*o), literal(value))
        }
        Condition::AgainstOverall { field: f, op: o, function } => {
            format!("{} {} overall {function:?}", field(f), op(*o))
        }
        Condition::Any(all) => format!("any({})", list(all, condition)),
        Condition::All(all) => format!("all({})", list(all, condition)),
        Condition::Not(inner) => format!("not({})", condition(inner)),
    }
}

pub(crate) fn plan(plan: &Plan) -> String {
    let mut parts = Vec::new();
    if plan.measures.is_empty() {
        let distinct = if plan.distinct { "distinct " } else { "" };
        parts.push(format!(
            "{distinct}list {}: {}",
            plan.subject.clone().unwrap_or_default(),
            list(&plan.dimensions, dimension)
        ));
    } else {
        parts.push(list(&plan.measures, measure));
        if !plan.dimensions.is_empty() {
            parts.push(format!("by {}", list(&plan.dimensions, dimension)));
        }
    }
    if !plan.filters.is_empty() {
        parts.push(format!("where {}", list(&plan.filters, condition)));
    }
    if let Some(time) = &plan.time {
        let of = time.field.as_ref().map(|f| format!("{} ", field(f))).unwrap_or_default();
        parts.push(format!("time {of}{}", window(&time.window)));
    }
    if let Some(comparison) = &plan.comparison {
        parts.push(format!("beside {}", window(&comparison.with)));
    }
    for having in &plan.having {
        let value = match having.value {
            Bound::Number(number) => number.to_string(),
            Bound::Overall(function) => format!("overall {function:?}"),
        };
        parts.push(format!("having m{} {} {value}", having.measure, op(having.op)));
    }
    for order in &plan.order {
        let by = match order.by {
            By::Dimension(at) => format!("d{at}"),
            By::Measure(at) => format!("m{at}"),
            By::Difference(at) => format!("difference {at}"),
            By::Change(at) => format!("change {at}"),
        };
        parts.push(format!("order {by}{}", if order.descending { " desc" } else { "" }));
    }
    if let Some(limit) = &plan.limit {
        let per = if limit.per.is_empty() { String::new() } else { format!(" per {:?}", limit.per) };
        let skip = if limit.skip == 0 { String::new() } else { format!(" after {}", limit.skip) };
        parts.push(format!("first {}{skip}{per}{}", limit.rows, if limit.with_ties { " with ties" } else { "" }));
    }
    parts.join("; ")
}
