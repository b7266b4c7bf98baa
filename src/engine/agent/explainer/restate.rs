//! A plan as one sentence: what will be, or was, computed.

use super::window::describe;
use crate::model::ontology::{DataType, Ontology};
use crate::model::plan::{Bound, By, Condition, Grain, Having, Limit, Measure, Order, Plan, Shown, Value};

use super::names::{aggregation, field, group, is_own_time, listed, noun, nouns};
use super::phrases::{all, comparator, measure, value};
use crate::engine::render::nouns::capital;
use crate::engine::render::nouns::plural;

/// "Number of flights by carrier, 1 Jan – 31 Mar 2013, where origin is JFK, top 5". Says everything that the plan
/// says, and nothing that it does not: what is not in the sentence does not change the numbers. Plain text.
pub fn restate(plan: &Plan, ontology: &Ontology) -> String {
    let mut parts = vec![what(plan, ontology)];
    parts.extend(when(plan, ontology));
    if let Some(comparison) = &plan.comparison {
        let aligned = comparison.align.map(|grain| format!(", {0} by {0}", grain.words())).unwrap_or_default();
        parts.push(format!("compared with {}{aligned}", describe(&comparison.with)));
    }
    if let Some(whole) = whole(plan, ontology) {
        parts.push(whole);
    } else if !plan.filters.is_empty() {
        parts.push(format!("where {}", all(&plan.filters, ontology)));
    }
    parts.extend(plan.having.iter().map(|having| bound(having, plan, ontology)));
    parts.extend(rank(plan, ontology));
    capital(&parts.join(", "))
}

fn what(plan: &Plan, ontology: &Ontology) -> String {
    let dimensions: Vec<String> = plan.dimensions.iter().map(|each| group(each, plan, ontology)).collect();
    let columns = listed(&dimensions, "and");
    if plan.is_listing() {
        let of = plan.subject.as_deref().or(plan.dimensions.first().map(|first| first.field.dataset.as_str()));
        let rows = of.map_or_else(|| "rows".into(), |dataset| nouns(dataset, ontology));
        return match (plan.distinct, columns.is_empty()) {
            (true, false) => format!("distinct {columns} of {rows}"),
            (true, true) => format!("distinct {rows}"),
            (false, false) if plural(&columns) == rows => format!("list of {rows}"),
            (false, false) => format!("list of {rows}: {columns}"),
            (false, true) => format!("list of {rows}"),
        };
    }
    let along = plan.dimensions.iter().find_map(|each| each.grain);
    let names: Vec<String> = plan.measures.iter().map(|each| shown(each, along, &dimensions, ontology)).collect();
    let mut text = listed(&names, "and");
    if !columns.is_empty() {
        text.push_str(&format!(" by {columns}"));
    }
    if let Some(subject) = &plan.subject {
        text.push_str(&format!(", for every {} (also without any)", noun(subject, ontology)));
    }
    text
}

/// A measure with what is shown instead of it.
fn shown(of: &Measure, along: Option<Grain>, dimensions: &[String], ontology: &Ontology) -> String {
    let name = measure(of, ontology);
    let step = along.map_or("row", Grain::words);
    match &of.shown_as {
        None => name,
        Some(Shown::Share { within }) => {
            let groups: Vec<String> = within.iter().filter_map(|at| dimensions.get(*at).cloned()).collect();
            match groups.is_empty() {
                true => format!("{name} as share of the total"),
                false => format!("{name} as share of the total of each {}", listed(&groups, "and")),
            }
        }
        Some(Shown::Cumulative) => format!("running total of {name}"),
        Some(Shown::Change) => format!("change in {name} from {step} to {step}"),
        Some(Shown::ChangePercent) => format!("percentage change in {name} from {step} to {step}"),
        Some(Shown::MovingAverage { rows }) => {
            format!("moving average of {name} over {rows} {}", if *rows == 1 { step.into() } else { plural(step) })
        }
    }
}

/// What a share is of: "among flights where origin is JFK". `None` when the plan asks for other numbers, too.
fn whole(plan: &Plan, ontology: &Ontology) -> Option<String> {
    let mut of: Option<&Measure> = None;
    for measure in &plan.measures {
        let Value::Ratio { numerator, denominator } = &measure.value else { return None };
        let same = of.is_none_or(|of| of == &**denominator);
        if !numerator.is_part_of(denominator) || !denominator.filters.is_empty() || !same {
            return None;
        }
        of = Some(denominator);
    }
    let rows = match &of?.value {
        Value::Count(dataset) => nouns(dataset, ontology),
        other => value(other, ontology),
    };
    let each: Vec<String> = plan.dimensions.iter().map(|each| group(each, plan, ontology)).collect();
    let each = if each.is_empty() { String::new() } else { format!(" of each {}", listed(&each, "and")) };
    Some(match (plan.filters.is_empty(), each.is_empty()) {
        (true, true) => format!("among all {rows}"),
        (true, false) => format!("among {rows}{each}"),
        (false, _) => format!("among {rows}{each} where {}", all(&plan.filters, ontology)),
    })
}

/// The window of the answer. An answer that no time applies to says nothing of it.
fn when(plan: &Plan, ontology: &Ontology) -> Option<String> {
    let Some(time) = &plan.time else {
        let within = |filter: &Condition| matches!(filter, Condition::Within { .. });
        let in_filters = plan.filters.iter().any(|filter| match filter {
            Condition::Any(parts) => parts.iter().all(within),
            filter => within(filter),
        });
        return (!plan.is_listing() && !in_filters && has_time(plan, ontology)).then(|| "all time".into());
    };
    let window = describe(&time.window);
    match time.field.as_ref().filter(|at| !is_own_time(at, plan, ontology)) {
        Some(at) => Some(format!("{window} by {}", field(at, ontology))),
        None => Some(window),
    }
}

/// Whether anything that the plan measures has a time. Of a metric it is taken to be so.
fn has_time(plan: &Plan, ontology: &Ontology) -> bool {
    let dated = |dataset: &str| {
        let is_time = |entity: &crate::model::ontology::Entity| {
            entity.default_time_field.is_some()
                || entity.fields.iter().any(|field| field.is_time || field.datatype.is_calendar())
        };
        ontology.entity(dataset).is_some_and(is_time)
    };
    fn any(of: &Measure, dated: &dyn Fn(&str) -> bool) -> bool {
        match &of.value {
            Value::Metric(_) => true,
            Value::Count(dataset) => dated(dataset),
            Value::Aggregate { field, .. } => dated(&field.dataset),
            Value::Days { .. } => true,
            Value::Ratio { .. } | Value::Difference(..) | Value::Sum(_) | Value::Over { .. } | Value::Number(_) => {
                of.value.measures().into_iter().any(|part| any(part, dated))
            }
        }
    }
    plan.measures.iter().any(|of| any(of, &dated))
}

/// A condition on finished numbers: "only those whose revenue is over 100".
pub fn bound(having: &Having, plan: &Plan, ontology: &Ontology) -> String {
    let name = column(By::Measure(having.measure), plan, ontology);
    let words = comparator(having.op, DataType::Float);
    match &having.value {
        Bound::Number(number) => format!("only those whose {name} {words} {number}"),
        Bound::Overall(function) => {
            format!("only those whose {name} {words} the {} of all", aggregation(*function, DataType::Float))
        }
    }
}

fn column(by: By, plan: &Plan, ontology: &Ontology) -> String {
    let of = |at: usize| plan.measures.get(at).map_or_else(|| "number".into(), |of| measure(of, ontology));
    match by {
        By::Dimension(at) => plan.dimensions.get(at).map_or_else(|| "column".into(), |of| group(of, plan, ontology)),
        By::Measure(at) => of(at),
        By::Difference(at) => format!("difference of {}", of(at)),
        By::Change(at) => format!("change of {}", of(at)),
    }
}

/// Order and limit: "top 5", "bottom 3 for each airport", "highest first".
fn rank(plan: &Plan, ontology: &Ontology) -> Option<String> {
    match (&plan.limit, plan.order.as_slice()) {
        (None, []) => None,
        (None, [Order { by: By::Dimension(0), descending: false }]) if along_time(plan) => None,
        (None, order) => Some(sorted(order, plan, ontology)),
        (Some(limit), []) => Some(format!("{}{}", first(limit, "first"), among(limit, plan, ontology))),
        (Some(limit), order) => Some(limited(limit, order, plan, ontology)),
    }
}

fn along_time(plan: &Plan) -> bool {
    plan.dimensions.first().is_some_and(|first| first.grain.is_some())
}

fn is_time(by: By, plan: &Plan, ontology: &Ontology) -> bool {
    let By::Dimension(at) = by else { return false };
    let dimension = plan.dimensions.get(at);
    dimension.is_some_and(|of| of.grain.map_or_else(|| of.field.is_calendar(ontology), |grain| !grain.is_cycle()))
}

fn is_number(by: By, plan: &Plan, ontology: &Ontology) -> bool {
    let By::Dimension(at) = by else { return true };
    let field = plan.dimensions.get(at).and_then(|of| ontology.field(&of.field.dataset, &of.field.field));
    field.is_some_and(|field| field.datatype.is_number())
}

fn sorted(order: &[Order], plan: &Plan, ontology: &Ontology) -> String {
    let keys: Vec<String> = order
        .iter()
        .map(|key| {
            let name = column(key.by, plan, ontology);
            match (key.by, key.descending) {
                (By::Dimension(_), false) if is_time(key.by, plan, ontology) => format!("earliest {name} first"),
                (By::Dimension(_), true) if is_time(key.by, plan, ontology) => format!("latest {name} first"),
                (_, false) if !is_number(key.by, plan, ontology) => format!("sorted by {name}"),
                (_, true) if !is_number(key.by, plan, ontology) => format!("sorted by {name} from the end"),
                (By::Measure(0), false) if plan.measures.len() == 1 => "lowest first".into(),
                (By::Measure(0), true) if plan.measures.len() == 1 => "highest first".into(),
                (_, false) => format!("lowest {name} first"),
                (_, true) => format!("highest {name} first"),
            }
        })
        .collect();
    keys.join(", then ")
}

fn limited(limit: &Limit, order: &[Order], plan: &Plan, ontology: &Ontology) -> String {
    let Some((key, rest)) = order.split_first() else { return first(limit, "first") };
    let name = column(key.by, plan, ontology);
    let (word, by) = match (key.by, key.descending) {
        (By::Dimension(_), false) if is_time(key.by, plan, ontology) => ("earliest", Some(name)),
        (By::Dimension(_), true) if is_time(key.by, plan, ontology) => ("latest", Some(name)),
        (_, false) if !is_number(key.by, plan, ontology) => ("first", Some(name)),
        (_, true) if !is_number(key.by, plan, ontology) => ("last", Some(name)),
        (By::Measure(0), true) if plan.measures.len() == 1 => ("top", None),
        (By::Measure(0), false) if plan.measures.len() == 1 => ("bottom", None),
        (_, true) => ("top", Some(name)),
        (_, false) => ("bottom", Some(name)),
    };
    let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
    let then = match rest.is_empty() {
        true => String::new(),
        false => format!(", then {}", sorted(rest, plan, ontology)),
    };
    format!("{}{by}{}{then}", first(limit, word), among(limit, plan, ontology))
}

/// How many from where: "top 5", "number 2 from the top", "top 6 to 10".
fn first(limit: &Limit, word: &str) -> String {
    match (limit.skip, limit.rows) {
        (0, rows) => format!("{word} {rows}"),
        (skip, 1) => format!("{word} number {}", u64::from(skip) + 1),
        (skip, rows) => format!("{word} {} to {}", u64::from(skip) + 1, u64::from(skip) + u64::from(rows)),
    }
}

fn among(limit: &Limit, plan: &Plan, ontology: &Ontology) -> String {
    let per: Vec<String> =
        limit.per.iter().filter_map(|at| plan.dimensions.get(*at)).map(|of| group(of, plan, ontology)).collect();
    let each = if per.is_empty() { String::new() } else { format!(" for each {}", listed(&per, "and")) };
    let ties = if limit.with_ties { " with ties" } else { "" };
    format!("{each}{ties}")
}
