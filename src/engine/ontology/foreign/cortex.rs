//! Snowflake's Cortex Analyst models and semantic views in YAML.

use super::import::{Import, items, qualified, qualified_aggregate, scalar, text, texts};
use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::read::{Node, datatype_of, is_time};
use crate::model::ontology::{Aggregation, AiContext, Entity, Field, FieldRole, Metric, Segment, VerifiedQuery};
use crate::model::source::Dialect;

pub(super) fn read(import: &mut Import, root: &Node) {
    import.ontology.name = text(root, "name");
    import.ontology.description = text(root, "description");
    import.ontology.ai.instructions = text(root, "custom_instructions");
    for (path, table) in items(root, "tables", "") {
        self::table(import, table, &path);
    }
    for (path, relationship) in items(root, "relationships", "") {
        self::relationship(import, relationship, &path);
    }
    for (path, metric) in items(root, "metrics", "") {
        self::metric(import, metric, &path, None);
    }
    for (path, query) in items(root, "verified_queries", "") {
        import.rest(query, &path, &["question", "sql", "verified_at", "use_as_onboarding_question"]);
        if query.get("use_as_onboarding_question").and_then(Node::truth) == Some(true) {
            import.ontology.ai.examples.push(text(query, "question"));
        }
        let (at, sql) = (text(query, "verified_at"), text(query, "sql"));
        import.ontology.verified_queries.push(VerifiedQuery {
            question: text(query, "question"),
            plan: None,
            sql: Some(sql).filter(|sql| !sql.is_empty()),
            verified_at: Some(at).filter(|at| !at.is_empty()),
        });
    }
    let known =
        ["name", "description", "custom_instructions", "tables", "relationships", "metrics", "verified_queries"];
    import.rest(root, "", &known);
}

fn table(import: &mut Import, node: &Node, path: &str) {
    let known = [
        "name", "description", "synonyms", "base_table", "primary_key", "dimensions", "time_dimensions", "facts",
        "measures", "metrics", "filters",
    ];
    import.rest(node, path, &known);
    let base = node.get("base_table").map(|base| text(base, "table")).unwrap_or_default();
    let mut entity = Entity {
        name: text(node, "name"),
        source: base.to_lowercase(),
        description: text(node, "description"),
        ai: AiContext { synonyms: texts(node, "synonyms"), ..AiContext::default() },
        primary_key: node.get("primary_key").map(|key| texts(key, "columns")).unwrap_or_default(),
        ..Entity::default()
    };
    if node.get("base_table").is_none_or(|base| base.get("table").is_none()) {
        return import.note(path, "has no table of its own and was left out with everything in it.");
    }
    for (part, kind) in [
        ("dimensions", FieldRole::Dimension),
        ("time_dimensions", FieldRole::Dimension),
        ("facts", FieldRole::Measure),
        ("measures", FieldRole::Measure),
    ] {
        for (path, node) in items(node, part, path) {
            field(import, &mut entity, node, &path, kind, part == "time_dimensions");
        }
    }
    let name = entity.name.clone();
    import.ontology.datasets.push(entity);
    for (path, metric) in items(node, "metrics", path) {
        self::metric(import, metric, &path, Some(&name));
    }
    for (path, filter) in items(node, "filters", path) {
        import.rest(filter, &path, &["name", "synonyms", "description", "expr"]);
        match qualified(&text(filter, "expr"), &name) {
            Ok(expression) => import.ontology.segments.push(Segment {
                name: text(filter, "name"),
                synonyms: texts(filter, "synonyms"),
                expression,
                datasets: vec![name.clone()],
            }),
            Err(problem) => import.note(&path, format!("was left out: {problem}.")),
        }
    }
}

fn field(import: &mut Import, entity: &mut Entity, node: &Node, path: &str, role: FieldRole, time: bool) {
    let known = [
        "name", "synonyms", "description", "expr", "data_type", "unique", "is_enum", "access_modifier",
        "default_aggregation", "sample_values",
    ];
    import.rest(node, path, &known);
    if node.get("sample_values").is_some() {
        import.note(&format!("{path}.sample_values"), "were left out: values are read from the data.");
    }
    let (name, native) = (text(node, "name"), text(node, "data_type"));
    let expression = Some(text(node, "expr")).filter(|expr| !expr.is_empty()).unwrap_or_else(|| name.clone());
    if let Err(problem) = Scalar::parse(&expression) {
        return import.note(path, format!("was left out: {problem}."));
    }
    let datatype = datatype_of(&native);
    let aggregation = text(node, "default_aggregation");
    let default_aggregation: Option<Aggregation> = serde_json::from_value(aggregation.as_str().into()).ok();
    if !aggregation.is_empty() && default_aggregation.is_none() {
        import.note(&format!("{path}.default_aggregation"), format!("`{aggregation}` has no equal and was left out."));
    }
    if node.get("unique").and_then(Node::truth) == Some(true) {
        entity.unique_keys.push(vec![name.clone()]);
    }
    entity.fields.push(Field {
        name,
        expression,
        datatype,
        is_time: time || is_time(datatype),
        description: text(node, "description"),
        ai: AiContext { synonyms: texts(node, "synonyms"), ..AiContext::default() },
        native_type: Some(native).filter(|native| !native.is_empty()),
        role,
        default_aggregation,
        is_enum: node.get("is_enum").and_then(Node::truth).unwrap_or_default(),
        hidden: text(node, "access_modifier") == "private_access",
        ..Field::default()
    });
}

fn relationship(import: &mut Import, node: &Node, path: &str) {
    import.rest(
        node,
        path,
        &["name", "left_table", "right_table", "relationship_columns", "join_type", "relationship_type"],
    );
    let side = |key: &str| -> Vec<String> {
        items(node, "relationship_columns", path).iter().map(|(_, pair)| text(pair, key)).collect()
    };
    let (left, right) = (text(node, "left_table"), text(node, "right_table"));
    import.relate(text(node, "name"), (&left, side("left_column")), (&right, side("right_column")));
    let name = text(node, "join_type");
    if !name.is_empty() && name != "left_outer" {
        let says = format!("`{name}` was left out: rows without a partner are always kept.");
        import.note(&format!("{path}.join_type"), says);
    }
}

/// A metric of a table, or of the whole model over those of tables.
fn metric(import: &mut Import, node: &Node, path: &str, dataset: Option<&str>) {
    import.rest(node, path, &["name", "synonyms", "description", "expr", "access_modifier"]);
    if text(node, "access_modifier") == "private_access" {
        import.note(&format!("{path}.access_modifier"), "has no equal: the metric can be asked for.");
    }
    let expr = text(node, "expr");
    // Without an aggregate it is made from metrics, named by table: those names are unique here.
    let of_metrics = Scalar::parse(&expr)
        .map(|scalar| scalar.write(Dialect::DuckDb, &mut |_, name| Ok::<_, String>(super::import::ident(name))));
    let expression = match of_metrics {
        Ok(written) => written,
        Err(_) => qualified_aggregate(&expr, dataset.unwrap_or_default()),
    };
    match expression {
        Ok(expression) => import.ontology.metrics.push(Metric {
            name: text(node, "name"),
            expression,
            description: text(node, "description"),
            ai: AiContext {
                synonyms: node.get("synonyms").and_then(Node::list).into_iter().flatten().map(scalar).collect(),
                ..AiContext::default()
            },
            ..Metric::default()
        }),
        Err(problem) => import.note(path, format!("was left out: {problem}.")),
    }
}
