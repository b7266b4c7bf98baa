//! Which part of the program may name which: layers look down only, and what a layer speaks to stays in its room.

use super::sources::Program;

/// Layers from the ground up; a layer may use itself and those before it, less what is not named here.
pub const LAYERS: [(&str, &[&str]); 11] = [
    ("base", &[]),
    ("config", &["base"]),
    ("model", &["base"]),
    ("store", &["base", "model"]),
    ("identity", &["base", "config", "model", "store"]),
    ("engine", &["base", "config", "model", "store"]),
    ("gateway", &["base", "config", "model", "store", "identity", "engine"]),
    ("ops", &["base", "config", "model", "identity", "engine", "gateway"]),
    ("surface", &["base", "config", "model", "store", "identity", "gateway", "ops"]),
    ("app", &["base", "config", "model", "store", "identity", "engine", "gateway", "ops", "surface"]),
    ("cli", &["base", "config", "model", "store", "identity", "engine", "gateway", "ops", "surface", "app"]),
];

/// Places where one layer may look at one thing of another all the same, with the reason. The list only shrinks.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

#[test]
fn imports_only_look_down() {
    let program = Program::read();
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for (module, source) in program.modules.iter().filter(|(module, _)| !module.is_empty()) {
        let layer = module[0].as_str();
        let (_, allowed) = LAYERS.iter().find(|(known, _)| *known == layer).expect("every module is in a layer");
        for named in &source.paths {
            let Some(other) = named.path.first().map(String::as_str) else { continue };
            let known = LAYERS.iter().any(|(known, _)| *known == other);
            if !known || other == layer || allowed.contains(&other) {
                continue;
            }
            match EXCEPTIONS.iter().position(|(file, to, _)| *file == source.name && *to == other) {
                Some(exception) => used.push(exception),
                None => wrong.push(format!("{}:{}: {}", source.name, named.line, named.path.join("::"))),
            }
        }
    }
    assert!(wrong.is_empty(), "imports that look up:\n{}", wrong.join("\n"));
    for (at, (file, ..)) in EXCEPTIONS.iter().enumerate() {
        assert!(used.contains(&at), "the exception for {file} is no longer needed");
    }
}

#[test]
fn sql_of_the_store_and_of_the_protocols_stay_in_their_rooms() {
    for source in Program::read().files() {
        let (name, code) = (&source.name, source.lines.join("\n"));
        if !["src/store", "src/surface/health.rs"].iter().any(|room| name.starts_with(room)) {
            assert!(!code.contains("sqlx::query"), "{name} speaks SQL to the metadata");
        }
        if !name.starts_with("src/engine/sql") {
            assert!(!code.contains("duckdb::"), "{name} speaks to DuckDB");
        }
        if name.starts_with("src/model") {
            assert!(!code.contains("async fn") && !code.contains("axum"), "{name} is not plain");
        }
    }
}

/// The protocols do not know each other; who shares something has it on the floor below.
#[test]
fn only_the_page_of_routes_knows_every_protocol() {
    const PROTOCOLS: [&str; 6] = ["console", "docs", "login", "mcp", "oauth", "rest"];
    let mut wrong = Vec::new();
    for (module, source) in &Program::read().modules {
        let own = match module.as_slice() {
            [layer, own, ..] if layer == "surface" && own != "routes" => own.as_str(),
            [layer] if layer == "surface" => "mod",
            _ => continue,
        };
        for named in &source.paths {
            let [layer, other, ..] = named.path.as_slice() else { continue };
            if layer == "surface" && other != own && PROTOCOLS.contains(&other.as_str()) {
                wrong.push(format!("{}:{}: {}", source.name, named.line, named.path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "protocols that know each other:\n{}", wrong.join("\n"));
}
