//! dbt's semantic layer: the legacy form with measures, and the form of dbt 1.12 in which models hold columns.

use std::collections::BTreeMap;

use super::import::{Import, aggregate, ident, items, qualified, scalar, text};
use super::synonym;
use crate::engine::ontology::expression::{Aggregate, Scalar};
use crate::engine::ontology::read::{Node, datatype_of};
use crate::model::ontology::{AiContext, DataType, Entity, Field, FieldRole, Metric};
use crate::model::source::Dialect;

/// What the second half of the reading needs of the first.
#[derive(Default)]
struct Known {
    /// Entity → the dataset that it is the key of, with the column.
    keys: BTreeMap<String, (String, String)>,
    /// Foreign entities: path, entity, dataset, column.
    foreign: Vec<(String, String, String, String)>,
    /// Measure → its aggregate and its own time.
    measures: BTreeMap<String, (String, Option<String>)>,
    /// Measures that no metric has used yet, by path.
    unused: BTreeMap<String, String>,
}

pub(super) fn read(import: &mut Import, root: &Node) {
    let mut known = Known::default();
    for (path, node) in items(root, "semantic_models", "") {
        legacy_model(import, &mut known, node, &path);
    }
    for (path, node) in items(root, "models", "") {
        model(import, &mut known, node, &path);
    }
    for (path, entity, dataset, column) in std::mem::take(&mut known.foreign) {
        match known.keys.get(&entity) {
            Some((to, key)) if *to != dataset => {
                import.relate(format!("{dataset}_{entity}"), (&dataset, vec![column]), (to, vec![key.clone()]));
            }
            _ => import
                .note(&path, format!("the entity `{entity}` is the key of no other model; no relationship was made.")),
        }
    }
    for (path, node) in items(root, "models", "") {
        let dataset = text(node, "name");
        for (path, metric) in items(node, "metrics", &path) {
            self::metric(import, &mut known, metric, &path, Some(&dataset));
        }
    }
    for (path, node) in items(root, "metrics", "") {
        metric(import, &mut known, node, &path, None);
    }
    for (name, path) in known.unused {
        import.note(&path, format!("no metric uses the measure `{name}`; it was left out."));
    }
    import.rest(root, "", &["version", "semantic_models", "models", "metrics"]);
}

fn legacy_model(import: &mut Import, known: &mut Known, node: &Node, path: &str) {
    import.rest(
        node,
        path,
        &["name", "model", "description", "label", "defaults", "entities", "dimensions", "measures"],
    );
    let (name, model) = (text(node, "name"), text(node, "model"));
    // `ref('orders')`, or a table's name.
    let source = model.split(['\'', '"']).rev().nth(1).unwrap_or(&model).to_owned();
    let mut entity = Entity {
        source,
        description: text(node, "description"),
        ai: AiContext { synonyms: synonym(&name, &text(node, "label")).into_iter().collect(), ..AiContext::default() },
        default_time_field: node.get("defaults").map(|it| text(it, "agg_time_dimension")).filter(|it| !it.is_empty()),
        name,
        ..Entity::default()
    };
    for (path, part) in items(node, "entities", path) {
        let column = Some(text(part, "expr")).filter(|expr| !expr.is_empty()).unwrap_or_else(|| text(part, "name"));
        import.rest(part, &path, &["name", "type", "expr"]);
        self::entity(import, known, &mut entity, &path, &text(part, "name"), &text(part, "type"), column);
    }
    for (path, part) in items(node, "dimensions", path) {
        import.rest(part, &path, &["name", "type", "type_params", "expr", "description", "label"]);
        let grain = part.get("type_params").map(|it| text(it, "time_granularity")).unwrap_or_default();
        let expression = Some(text(part, "expr")).filter(|expr| !expr.is_empty());
        let field = dimension(part, text(part, "name"), expression, &text(part, "type"), &grain);
        push(import, &mut entity, &path, field);
    }
    for (path, part) in items(node, "measures", path) {
        measure(import, known, &entity, part, &path);
    }
    import.ontology.datasets.push(entity);
}

fn model(import: &mut Import, known: &mut Known, node: &Node, path: &str) {
    let name = text(node, "name");
    let semantic = node.get("semantic_model");
    let is_on = semantic
        .is_some_and(|it| it.truth() == Some(true) || it.get("enabled").is_none_or(|on| on.truth() != Some(false)));
    if !is_on {
        return import.note(path, format!("`{name}` has no semantic model and was left out."));
    }
    import.rest(node, path, &["name", "description", "semantic_model", "agg_time_dimension", "columns", "metrics"]);
    let mut entity = Entity {
        source: name.clone(),
        description: text(node, "description"),
        default_time_field: Some(text(node, "agg_time_dimension")).filter(|it| !it.is_empty()),
        name,
        ..Entity::default()
    };
    for (path, column) in items(node, "columns", path) {
        import.rest(column, &path, &["name", "description", "data_type", "entity", "dimension", "granularity"]);
        let name = text(column, "name");
        if let Some(part) = column.get("entity") {
            let of = Some(text(part, "name")).filter(|it| !it.is_empty()).unwrap_or_else(|| name.clone());
            self::entity(import, known, &mut entity, &path, &of, &text(part, "type"), name.clone());
        }
        if let Some(part) = column.get("dimension") {
            let kind = Some(text(part, "type")).filter(|it| !it.is_empty()).unwrap_or_else(|| scalar(part));
            let named = Some(text(part, "name")).filter(|it| !it.is_empty()).unwrap_or_else(|| name.clone());
            let mut field = dimension(part, named, Some(name), &kind, &text(column, "granularity"));
            let native = text(column, "data_type");
            if !native.is_empty() {
                (field.datatype, field.native_type) = (datatype_of(&native), Some(native));
            }
            if field.description.is_empty() {
                field.description = text(column, "description");
            }
            push(import, &mut entity, &path, field);
        }
    }
    import.ontology.datasets.push(entity);
}

fn entity(
    import: &mut Import,
    known: &mut Known,
    entity: &mut Entity,
    path: &str,
    name: &str,
    kind: &str,
    column: String,
) {
    match kind {
        "primary" => entity.primary_key = vec![column.clone()],
        "unique" => entity.unique_keys.push(vec![column.clone()]),
        "foreign" => known.foreign.push((path.to_owned(), name.to_owned(), entity.name.clone(), column.clone())),
        // Of a natural key there may be several rows, one for each time.
        other => import
            .note(path, format!("the kind `{other}` of the entity `{name}` has no equal; only its column was taken.")),
    }
    if matches!(kind, "primary" | "unique") {
        known.keys.entry(name.to_owned()).or_insert((entity.name.clone(), column.clone()));
    }
    let field = Field { name: column.clone(), expression: column, role: FieldRole::Key, ..Field::default() };
    push(import, entity, path, field);
}

fn dimension(node: &Node, name: String, expression: Option<String>, kind: &str, grain: &str) -> Field {
    let datatype = match (kind, grain) {
        ("time", "second" | "minute" | "hour" | "millisecond" | "microsecond" | "nanosecond") => DataType::DateTime,
        ("time", _) => DataType::Date,
        _ => DataType::Opaque,
    };
    Field {
        expression: expression.unwrap_or_else(|| name.clone()),
        datatype,
        is_time: kind == "time",
        label: text(node, "label"),
        description: text(node, "description"),
        role: FieldRole::Dimension,
        name,
        ..Field::default()
    }
}

/// A field whose expression can be read and whose name is new; an entity and a dimension may be one column.
fn push(import: &mut Import, entity: &mut Entity, path: &str, field: Field) {
    if let Err(problem) = Scalar::parse(&field.expression) {
        return import.note(path, format!("was left out: {problem}."));
    }
    if entity.field(&field.name).is_none() {
        entity.fields.push(field);
    } else if entity.field(&field.name).is_some_and(|known| known.expression != field.expression) {
        import.note(path, format!("was left out: `{}` has a field `{}` already.", entity.name, field.name));
    }
}

fn measure(import: &mut Import, known: &mut Known, entity: &Entity, node: &Node, path: &str) {
    let name = text(node, "name");
    import.rest(
        node,
        path,
        &[
            "name", "agg", "expr", "description", "label", "create_metric", "agg_time_dimension",
            "non_additive_dimension",
        ],
    );
    if node.get("non_additive_dimension").is_some() {
        return import
            .note(path, format!("`{name}` and what uses it were left out: `non_additive_dimension` has no equal."));
    }
    let expr = Some(text(node, "expr")).filter(|expr| !expr.is_empty()).unwrap_or_else(|| name.clone());
    let expression = match aggregate(&text(node, "agg"), &expr, entity) {
        Ok(expression) => expression,
        Err(problem) => return import.note(path, format!("`{name}` and what uses it were left out: {problem}.")),
    };
    let time = Some(text(node, "agg_time_dimension")).filter(|time| !time.is_empty());
    let time = time.map(|time| format!("{}.{time}", entity.name));
    if node.get("create_metric").and_then(Node::truth) == Some(true) {
        import.ontology.metrics.push(Metric {
            expression: expression.clone(),
            description: text(node, "description"),
            ai: AiContext {
                synonyms: synonym(&name, &text(node, "label")).into_iter().collect(),
                ..AiContext::default()
            },
            default_time_field: time.clone(),
            name: name.clone(),
            ..Metric::default()
        });
    } else {
        known.unused.insert(name.clone(), path.to_owned());
    }
    known.measures.insert(name, (expression, time));
}

fn metric(import: &mut Import, known: &mut Known, node: &Node, path: &str, dataset: Option<&str>) {
    match metric_of(import, known, node, path, dataset) {
        Ok(metric) => {
            // A measure that is a metric already and a metric of the same name are one thing.
            let metrics = &mut import.ontology.metrics;
            metrics.retain(|known| known.name != metric.name || known.expression != metric.expression);
            metrics.push(metric);
        }
        Err(problem) => import.note(path, format!("`{}` was left out: {problem}.", text(node, "name"))),
    }
}

fn metric_of(
    import: &mut Import,
    known: &mut Known,
    node: &Node,
    path: &str,
    dataset: Option<&str>,
) -> Result<Metric, String> {
    let name = text(node, "name");
    let nothing = Node::default();
    // The legacy form has the particulars in `type_params`, the other in the metric itself.
    let params = node.get("type_params").unwrap_or(node);
    let kind = text(node, "type");
    let particulars: &[&str] = match kind.as_str() {
        "simple" => &["measure", "agg", "expr", "agg_time_dimension", "percentile", "non_additive_dimension"],
        "ratio" => &["numerator", "denominator"],
        "derived" => &["expr", "metrics", "input_metrics"],
        other => return Err(format!("the type `{other}` has no equal")),
    };
    let common = ["name", "description", "label", "type", "type_params", "filter"];
    let all: Vec<&str> = common.iter().chain(particulars).copied().collect();
    import.rest(node, path, &all);
    if node.get("type_params").is_some() {
        import.rest(params, &format!("{path}.type_params"), &all);
    }
    let (mut filters, mut time) = (filters(import, known, node)?, None);
    let expression = match kind.as_str() {
        "simple" => match (params.get("measure"), dataset) {
            (Some(measure), _) => {
                let (of, more) = input(import, known, measure)?;
                filters.extend(more);
                known.unused.remove(&of);
                let (expression, own) = known.measures.get(&of).ok_or_else(|| format!("there is no measure `{of}`"))?;
                time.clone_from(own);
                expression.clone()
            }
            (None, Some(dataset)) => {
                if params.get("non_additive_dimension").is_some() {
                    return Err("`non_additive_dimension` has no equal".to_owned());
                }
                let entity = import.ontology.entity(dataset).ok_or("its model was left out")?;
                let own = Some(text(params, "agg_time_dimension")).filter(|time| !time.is_empty());
                time = own.map(|time| format!("{dataset}.{time}"));
                let expr = Some(text(params, "expr")).filter(|expr| !expr.is_empty()).unwrap_or_else(|| name.clone());
                aggregate(&text(params, "agg"), &expr, entity)?
            }
            (None, None) => return Err("it names no measure".to_owned()),
        },
        "ratio" => {
            let (top, of_top) = input(import, known, params.get("numerator").unwrap_or(&nothing))?;
            let (bottom, of_bottom) = input(import, known, params.get("denominator").unwrap_or(&nothing))?;
            if !(of_top.is_empty() && of_bottom.is_empty()) {
                return Err("filters on its parts have no equal".to_owned());
            }
            format!("{} / {}", ident(&top), ident(&bottom))
        }
        _ => derived(import, known, params)?,
    };
    if kind != "simple" && !filters.is_empty() {
        return Err("a filter on what is made from other metrics has no equal".to_owned());
    }
    Ok(Metric {
        expression,
        description: text(node, "description"),
        ai: AiContext { synonyms: synonym(&name, &text(node, "label")).into_iter().collect(), ..AiContext::default() },
        default_time_field: time,
        filters,
        name,
        ..Metric::default()
    })
}

/// A measure or metric that another uses: a name, or a name with a filter.
fn input(import: &Import, known: &Known, node: &Node) -> Result<(String, Vec<String>), String> {
    if node.map().is_none() {
        let name = scalar(node);
        return if name.is_empty() { Err("one of its parts is missing".to_owned()) } else { Ok((name, Vec::new())) };
    }
    let changes = ["offset_window", "offset_to_grain", "join_to_timespine", "fill_nulls_with"];
    if let Some(key) = changes.into_iter().find(|key| node.get(key).is_some()) {
        return Err(format!("`{key}` has no equal"));
    }
    Ok((text(node, "name"), filters(import, known, node)?))
}

/// Arithmetic over metrics, with other names for them within it.
fn derived(import: &Import, known: &Known, params: &Node) -> Result<String, String> {
    let mut aliases = BTreeMap::new();
    for (_, part) in items(params, "metrics", "").into_iter().chain(items(params, "input_metrics", "")) {
        let (name, filters) = input(import, known, part)?;
        if !filters.is_empty() {
            return Err("filters on its parts have no equal".to_owned());
        }
        let alias = Some(text(part, "alias")).filter(|alias| !alias.is_empty()).unwrap_or_else(|| name.clone());
        aliases.insert(alias, name);
    }
    let scalar = Scalar::parse(&text(params, "expr")).map_err(|problem| problem.to_string())?;
    let written = scalar.write(Dialect::DuckDb, &mut |_, name| {
        aliases.get(name).map(|metric| ident(metric)).ok_or_else(|| format!("`{name}` is none of its metrics"))
    })?;
    Aggregate::parse(&written).map_err(|problem| problem.to_string())?;
    Ok(written)
}

/// Conditions, in which `{{ Dimension('order__status') }}` is a field by its entity.
fn filters(import: &Import, known: &Known, node: &Node) -> Result<Vec<String>, String> {
    let Some(filter) = node.get("filter").filter(|filter| !filter.is_null()) else { return Ok(Vec::new()) };
    let texts = filter.list().map_or_else(|| vec![scalar(filter)], |list| list.iter().map(scalar).collect());
    let mut filters = Vec::new();
    for text in texts {
        let mut written = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("{{") {
            let (inner, after) = after.split_once("}}").ok_or("a `{{` of its filter is not closed")?;
            written.push_str(before);
            written.push_str(&field(import, known, inner.trim())?);
            rest = after;
        }
        written.push_str(rest);
        filters.push(qualified(&written, "").map_err(|problem| format!("its filter cannot be read: {problem}"))?);
    }
    Ok(filters)
}

/// `Dimension('order__status')`, or of a time without its grain `TimeDimension('order__day')`.
fn field(import: &Import, known: &Known, reference: &str) -> Result<String, String> {
    let unclear = || format!("`{{{{ {reference} }}}}` of its filter cannot be resolved");
    let inner = ["Dimension(", "TimeDimension(", "Entity("].iter().find_map(|head| reference.strip_prefix(head));
    let name = inner.and_then(|inner| inner.strip_suffix(')')).map(|inner| inner.trim().trim_matches(['\'', '"']));
    let (entity, field) = name.and_then(|name| name.split_once("__")).ok_or_else(unclear)?;
    let (dataset, _) = known.keys.get(entity).ok_or_else(unclear)?;
    import.ontology.field(dataset, field).ok_or_else(unclear)?;
    Ok(format!("{}.{}", ident(dataset), ident(field)))
}
