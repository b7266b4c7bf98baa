//! The house keeps its order: imports only look down, circles become fewer, files and functions stay readable; and what
//! is written twice, for people and for the program, says the same.

mod circles;
mod imports;
mod sizes;
mod sources;

use std::fs;

use sources::root;

#[test]
fn the_example_of_settings_lists_every_variable_with_its_default_and_meaning() {
    let example = fs::read_to_string(root().join(".env.example")).unwrap();
    let mut expected = String::from("# Every setting, with its default. Export what differs.\n");
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
fn the_readme_connects_the_clients_that_the_console_does() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let head = "| client | how | where it asks from | how far tried |\n|---|---|---|---|\n";
    let (_, table) = readme.split_once(head).unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let from = |cloud| if cloud { "its maker’s cloud: needs a public https address" } else { "your machine" };
    let guides = dragoman::ops::connectivity::guides::GUIDES.iter();
    let row =
        guides.map(|it| format!("| {} | {} | {} | {} |", it.name, it.about, from(it.from_cloud), it.class.name()));
    assert_eq!(table, row.collect::<Vec<_>>().join("\n"), "the table of clients in README.md and the guides differ");
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
