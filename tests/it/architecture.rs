//! The house keeps its order: imports only look down, files stay readable, the list of settings is whole.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the ground up; a layer may use itself and those before it, less what `forbidden` takes away.
const LAYERS: [(&str, &[&str]); 11] = [
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
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("src/surface/mcp/handler.rs", "engine", "progress is rendered per surface, and its type is the job's")];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    sources(&root().join("src"), &mut paths);
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The code without comments and without its tests.
fn production(text: &str) -> Vec<&str> {
    let end = text.find("\n#[cfg(test)]").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect()
}

#[test]
fn imports_only_look_down() {
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for (name, text) in all() {
        let layer = name.trim_start_matches("src/").split(['/', '.']).next().unwrap();
        let Some((_, allowed)) = LAYERS.iter().find(|(known, _)| *known == layer) else {
            assert!(["lib", "main"].contains(&layer), "{name} belongs to no layer");
            continue;
        };
        for line in production(&text) {
            for part in line.split("crate::").skip(1) {
                let other: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let known = LAYERS.iter().any(|(known, _)| *known == other);
                if !known || other == layer || allowed.contains(&other.as_str()) {
                    continue;
                }
                match EXCEPTIONS.iter().position(|(file, to, _)| *file == name && *to == other) {
                    Some(exception) => used.push(exception),
                    None => wrong.push(format!("{name}: {}", line.trim())),
                }
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
    for (name, text) in all() {
        let code = production(&text).join("\n");
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

#[test]
fn files_stay_readable() {
    let mut sizes: Vec<(usize, String)> =
        all().into_iter().map(|(name, text)| (production(&text).len(), name)).collect();
    sizes.retain(|(_, name)| !name.ends_with("tests.rs"));
    sizes.sort();
    let (largest, name) = sizes.last().unwrap();
    assert!(*largest <= 500, "{name} has {largest} lines of production code");
    let (p90, name) = &sizes[sizes.len() * 9 / 10];
    assert!(*p90 <= 300, "a tenth of the files is longer than {name} with {p90} lines");
    let (median, _) = &sizes[sizes.len() / 2];
    assert!(*median <= 120, "the median file has {median} lines");
}

#[test]
fn the_example_of_settings_lists_every_variable_with_its_default_and_meaning() {
    let example = fs::read_to_string(root().join(".env.example")).unwrap();
    let mut expected = String::from("# Every setting, with its default. Copy to .env, or export what differs.\n");
    for variable in dragoman::config::VARIABLES {
        expected.push_str(&format!("\n# {}\n#{}={}\n", variable.meaning, variable.name, variable.default));
    }
    assert_eq!(example, expected, ".env.example and config::VARIABLES differ");
}

#[test]
fn the_readme_has_every_setting_with_its_default_and_meaning() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, table) = readme.split_once("| variable | default | meaning |\n|---|---|---|\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let row = |v: &dragoman::config::Variable| format!("| `{}` | {} | {} |", v.name, code(v.default), v.meaning);
    let expected: Vec<String> = dragoman::config::VARIABLES.iter().map(row).collect();
    assert_eq!(table, expected.join("\n"), "the table of settings in README.md and config::VARIABLES differ");
}

#[test]
fn the_committed_openapi_documents_are_what_is_served() {
    use dragoman::gateway::operation::Surface;
    use dragoman::surface::rest::openapi;
    for (file, surface) in [("ext.v1.json", Surface::Tool), ("manage.v1.json", Surface::Manage)] {
        let path = root().join("openapi").join(file);
        let served = serde_json::to_string_pretty(&openapi::document(surface)).unwrap() + "\n";
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            fs::write(&path, &served).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == served, "openapi/{file} is not what is served; run the tests with UPDATE_OPENAPI=1");
    }
}
