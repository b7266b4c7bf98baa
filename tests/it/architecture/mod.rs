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
