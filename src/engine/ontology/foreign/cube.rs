//! Cube's data models in YAML.

use std::collections::BTreeMap;

use super::import::{Import, aggregate, count_rows, ident, items, qualified, text};
use super::synonym;
use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::read::{Node, is_time};
use crate::model::ontology::{AiContext, DataType, Entity, Field, FieldRole, Metric, Segment};
use crate::model::source::Dialect;

pub(super) fn read(import: &mut Import, root: &Node) {
    import.rest(root, "", &["cubes"]);
    let cubes = items(root, "cubes", "");
    let names = metric_names(&cubes);
    for (path, node) in &cubes {
        cube(import, node, path, &names);
    }
    for (path, node) in &cubes {
        for (path, join) in items(node, "joins", path) {
            self::join(import, join, &path, &text(node, "name"));
        }
    }
}

/// Measures have names within their cube; metrics have them in the whole ontology. One that several cubes have gets its
/// cube's name before it.
fn metric_names(cubes: &[(String, &Node)]) -> BTreeMap<(String, String), String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let measures = |node: &Node| -> Vec<String> {
        items(node, "measures", "").iter().map(|(_, measure)| text(measure, "name")).collect()
    };
    for name in cubes.iter().flat_map(|(_, node)| measures(node)) {
        *counts.entry(name.to_lowercase()).or_default() += 1;
    }
    let mut names = BTreeMap::new();
    for (_, node) in cubes {
        let cube = text(node, "name");
        for measure in measures(node) {
            let is_shared = measure == "count" || counts.get(&measure.to_lowercase()).is_some_and(|count| *count > 1);
            let name = if is_shared { format!("{cube}_{measure}") } else { measure.clone() };
            names.insert((cube.clone(), measure), name);
        }
    }
    names
}

fn cube(import: &mut Import, node: &Node, path: &str, names: &BTreeMap<(String, String), String>) {
    let known =
        ["name", "sql_table", "sql", "title", "description", "public", "joins", "dimensions", "measures", "segments"];
    import.rest(node, path, &known);
    let (name, query) = (text(node, "name"), text(node, "sql"));
    let words: Vec<&str> = query.split_whitespace().collect();
    let whole = match words.as_slice() {
        [select, "*", from, table] if select.eq_ignore_ascii_case("select") && from.eq_ignore_ascii_case("from") => {
            table
        }
        _ => "",
    };
    let source = Some(text(node, "sql_table")).filter(|table| !table.is_empty()).unwrap_or_else(|| whole.to_owned());
    if source.is_empty() {
        let says = "reads a query and was left out with everything in it: save its result as a table first.";
        return import.note(path, says);
    }
    let mut entity = Entity {
        source,
        description: text(node, "description"),
        ai: AiContext { synonyms: synonym(&name, &text(node, "title")).into_iter().collect(), ..AiContext::default() },
        hidden: node.get("public").and_then(Node::truth) == Some(false),
        name: name.clone(),
        ..Entity::default()
    };
    for (path, dimension) in items(node, "dimensions", path) {
        self::dimension(import, &mut entity, dimension, &path);
    }
    for (path, measure) in items(node, "measures", path) {
        match self::measure(import, &entity, measure, &path, names) {
            Ok(metric) => import.ontology.metrics.push(metric),
            Err(problem) => import.note(&path, format!("was left out: {problem}.")),
        }
    }
    for (path, segment) in items(node, "segments", path) {
        import.rest(segment, &path, &["name", "sql", "title"]);
        let title = text(segment, "title");
        match own(&text(segment, "sql"), &name).and_then(|sql| qualified(&sql, &name)) {
            Ok(expression) => import.ontology.segments.push(Segment {
                synonyms: synonym(&text(segment, "name"), &title).into_iter().collect(),
                name: text(segment, "name"),
                expression,
                datasets: vec![name.clone()],
            }),
            Err(problem) => import.note(&path, format!("was left out: {problem}.")),
        }
    }
    import.ontology.datasets.push(entity);
}

fn dimension(import: &mut Import, entity: &mut Entity, node: &Node, path: &str) {
    import.rest(
        node,
        path,
        &["name", "sql", "type", "primary_key", "title", "description", "public", "sub_query", "case"],
    );
    let (name, kind) = (text(node, "name"), text(node, "type"));
    let datatype = match kind.as_str() {
        "string" => DataType::String,
        "number" => DataType::Decimal,
        "boolean" => DataType::Boolean,
        "time" => DataType::DateTime,
        _ => return import.note(path, format!("was left out: the type `{kind}` has no equal.")),
    };
    if let Some(key) = ["case", "sub_query"].into_iter().find(|key| node.get(key).is_some()) {
        return import.note(path, format!("was left out: `{key}` has no equal."));
    }
    let parsed = own(&text(node, "sql"), &entity.name)
        .and_then(|sql| Scalar::parse(&sql).map(|scalar| (sql, scalar)).map_err(|problem| problem.to_string()));
    let (sql, scalar) = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => return import.note(path, format!("was left out: {problem}.")),
    };
    let bare = scalar.as_name().map(|reference| reference.name.clone());
    if node.get("primary_key").and_then(Node::truth) == Some(true) {
        entity.primary_key.push(bare.clone().unwrap_or_else(|| name.clone()));
    }
    entity.fields.push(Field {
        expression: bare.map_or(sql, |name| ident(&name)),
        datatype,
        is_time: is_time(datatype),
        label: text(node, "title"),
        description: text(node, "description"),
        role: FieldRole::Dimension,
        hidden: node.get("public").and_then(Node::truth) == Some(false),
        name,
        ..Field::default()
    });
}

fn measure(
    import: &mut Import,
    entity: &Entity,
    node: &Node,
    path: &str,
    names: &BTreeMap<(String, String), String>,
) -> Result<Metric, String> {
    import.rest(
        node,
        path,
        &["name", "sql", "type", "title", "description", "filters", "format", "rolling_window", "multi_stage"],
    );
    if let Some(key) = ["rolling_window", "multi_stage"].into_iter().find(|key| node.get(key).is_some()) {
        return Err(format!("`{key}` has no equal"));
    }
    let (name, kind, sql) = (text(node, "name"), text(node, "type"), text(node, "sql"));
    let expression = match kind.as_str() {
        "number" => of_measures(&sql, &entity.name, names)?,
        "count" if sql.is_empty() => count_rows(entity)?,
        "count_distinct_approx" => return Err("an estimated count has no equal".to_owned()),
        function => aggregate(function, &own(&sql, &entity.name)?, entity)?,
    };
    let mut filters = Vec::new();
    for (_, filter) in items(node, "filters", path) {
        filters.push(qualified(&own(&text(filter, "sql"), &entity.name)?, &entity.name)?);
    }
    if kind == "number" && !filters.is_empty() {
        return Err("filters on what is made from other measures have no equal".to_owned());
    }
    let known = names.get(&(entity.name.clone(), name.clone())).cloned().unwrap_or_else(|| name.clone());
    let format = text(node, "format");
    let unit = match format.as_str() {
        "percent" => Some("%".to_owned()),
        "" => None,
        other => {
            import.note(&format!("{path}.format"), format!("`{other}` has no equal and was left out."));
            None
        }
    };
    let mut synonyms: Vec<String> = synonym(&known, &text(node, "title")).into_iter().collect();
    if known != name && name != "count" {
        synonyms.push(name);
    }
    Ok(Metric {
        name: known,
        expression,
        description: text(node, "description"),
        ai: AiContext { synonyms, ..AiContext::default() },
        unit,
        filters,
        ..Metric::default()
    })
}

/// Arithmetic over measures, `{revenue} / {orders.count}`, over the names of their metrics.
fn of_measures(sql: &str, cube: &str, names: &BTreeMap<(String, String), String>) -> Result<String, String> {
    let scalar = Scalar::parse(&own(sql, cube)?).map_err(|problem| problem.to_string())?;
    scalar.write(Dialect::DuckDb, &mut |owner, name| {
        let metric = names.get(&(owner.unwrap_or(cube).to_owned(), name.to_owned()));
        metric.map(|metric| ident(metric)).ok_or_else(|| format!("there is no measure `{name}`"))
    })
}

/// SQL without Cube's own references: `{CUBE}.x`, `{CUBE.x}`, `{cube}.x`, `{cube.x}` and `{x}`.
fn own(sql: &str, cube: &str) -> Result<String, String> {
    let mut written = String::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}').ok_or("a `{` is not closed")?;
        let inner = inner.trim().trim_start_matches('$');
        let parts: Vec<&str> = inner.split('.').map(str::trim).collect();
        let is_name = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !parts.iter().all(is_name) || parts.len() > 2 {
            return Err(format!("`{{{inner}}}` is no reference that can be read"));
        }
        let parts: Vec<&str> = parts.into_iter().map(|part| if part == "CUBE" { cube } else { part }).collect();
        written.push_str(before);
        written.push_str(&parts.join("."));
        rest = after;
    }
    written.push_str(rest);
    Ok(written)
}

fn join(import: &mut Import, node: &Node, path: &str, cube: &str) {
    import.rest(node, path, &["name", "relationship", "sql"]);
    let other = text(node, "name");
    let pairs = match pairs(&text(node, "sql"), cube, &other) {
        Ok(pairs) => pairs,
        Err(problem) => return import.note(path, format!("was left out: {problem}.")),
    };
    let (own, theirs): (Vec<String>, Vec<String>) = pairs.into_iter().unzip();
    let relationship = text(node, "relationship");
    let name = format!("{cube}_to_{other}");
    match relationship.as_str() {
        "many_to_one" | "one_to_one" | "belongs_to" | "belongsTo" | "has_one" | "hasOne" => {
            import.relate(name, (cube, own), (&other, theirs));
        }
        "one_to_many" | "has_many" | "hasMany" => import.relate(name, (&other, theirs), (cube, own)),
        other => import.note(path, format!("was left out: the relationship `{other}` is not known.")),
    }
}

/// Equal columns of two cubes.
fn pairs(sql: &str, cube: &str, other: &str) -> Result<Vec<(String, String)>, String> {
    let sql = own(sql, cube)?;
    let unclear = || format!("`{sql}` is no equality of columns");
    let mut pairs = Vec::new();
    let spaced = sql.split_whitespace().collect::<Vec<_>>().join(" ").replace(" and ", " AND ");
    for condition in spaced.split(" AND ") {
        let (left, right) = condition.split_once('=').ok_or_else(unclear)?;
        let side = |text: &str| -> Option<(String, String)> {
            let scalar = Scalar::parse(text.trim()).ok()?;
            let reference = scalar.as_name()?;
            Some((reference.dataset.clone()?, reference.name.clone()))
        };
        let (left, right) = (side(left).ok_or_else(unclear)?, side(right).ok_or_else(unclear)?);
        if left.0 == cube && right.0 == other {
            pairs.push((left.1, right.1));
        } else if left.0 == other && right.0 == cube {
            pairs.push((right.1, left.1));
        } else {
            return Err(unclear());
        }
    }
    Ok(pairs)
}
