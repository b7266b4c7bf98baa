use serde_json::json;

use super::super::read::read;
use super::*;

const RICH: &str = include_str!("../../../../tests/data/ossie/insurance.yaml");
const PUBLISHED: &str = include_str!("../../../../tests/data/ossie/tpcds_semantic_model.yaml");

#[test]
fn what_is_written_reads_as_the_same_ontology() {
    for text in [RICH, PUBLISHED] {
        let ontology = read(text).unwrap().ontology;
        for written in [flat_yaml(&ontology), flat_json(&ontology), legacy_json(&ontology)] {
            let again = read(&written).unwrap_or_else(|problems| panic!("{problems:?}\n{written}"));
            assert_eq!(again.ontology, ontology, "{written}");
            assert_eq!(again.warnings, []);
        }
    }
}

/// Texts that YAML takes for something else when they are not quoted.
#[test]
fn every_text_survives() {
    let mut ontology = read(RICH).unwrap().ontology;
    for text in [
        "yes", "No", "null", "~", "true", "1", "1.5", "1e3", "0x1F", "2024-01-31", "12:30:00", "a: b", "a #b", "- a",
        "[a]", "{a}", "&a", "*a", "!a", "%a", "@a", "`a`", "'a'", "\"a\"", "a\\b", "a\nb", "a\n\n  b", "a\tb", "ünï",
        "😀", "a\u{2028}b", "a\u{85}b", "?", "-", ":", "a:", "a,b", "=", "<<", "| a", "> a", "a\r\nb", "\u{feff}a",
    ] {
        ontology.ai.synonyms = vec![text.into()];
        ontology.description = text.into();
        ontology.datasets[0].fields[3].value_synonyms = [(text.to_owned(), vec![text.to_owned()])].into();
        // A next line is a control character to the reader, which refuses it in names as in texts.
        if text.contains('\u{85}') {
            assert!(read(&flat_yaml(&ontology)).is_err());
            continue;
        }
        for written in [flat_yaml(&ontology), flat_json(&ontology), legacy_json(&ontology)] {
            let again = read(&written).unwrap_or_else(|problems| panic!("{text:?}: {problems:?}\n{written}"));
            assert_eq!(again.ontology, ontology, "{written}");
        }
    }
}

/// The allowed keys of each kind of object, from the schema that stands beside the example.
fn closed(schema: &Value, definition: &Value, value: &Value, path: &str) {
    let definition = match definition["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap(),
        None => definition,
    };
    if let Some(allowed) = definition["enum"].as_array() {
        assert!(allowed.contains(value), "{path}: {value}");
    }
    if let Some(constant) = definition.get("const") {
        assert_eq!(constant, value, "{path}");
    }
    match definition["type"].as_str() {
        Some("object") => {
            let map = value.as_object().unwrap_or_else(|| panic!("{path}: {value}"));
            for (key, inner) in map {
                let property = &definition["properties"][key];
                assert!(!property.is_null() || definition["additionalProperties"] != json!(false), "{path}.{key}");
                closed(schema, property, inner, &format!("{path}.{key}"));
            }
            for key in definition["required"].as_array().into_iter().flatten() {
                assert!(map.contains_key(key.as_str().unwrap()), "{path}: {key}");
            }
        }
        Some("array") => {
            let items = value.as_array().unwrap_or_else(|| panic!("{path}: {value}"));
            assert!(items.len() as u64 >= definition["minItems"].as_u64().unwrap_or(0), "{path}");
            items.iter().for_each(|item| closed(schema, &definition["items"], item, &format!("{path}[]")));
        }
        Some("string") => assert!(value.is_string(), "{path}: {value}"),
        Some("boolean") => assert!(value.is_boolean(), "{path}: {value}"),
        _ => {}
    }
}

#[test]
fn what_is_written_is_valid_by_the_published_schemas() {
    let flat: Value =
        serde_json::from_str(include_str!("../../../../tests/data/ossie/ossie-schema-flat-2026-10.json")).unwrap();
    let wrapped: Value = serde_json::from_str(include_str!("../../../../tests/data/ossie/osi-schema.json")).unwrap();
    for text in [RICH, PUBLISHED] {
        let ontology = read(text).unwrap().ontology;
        closed(&flat, &flat, &serde_json::from_str(&flat_json(&ontology)).unwrap(), "$");
        // The schema of 0.1.1 differs from this one in the version, in the missing types, and in a list of vendors.
        let mut legacy: Value = serde_json::from_str(&legacy_json(&ontology)).unwrap();
        legacy["version"] = "0.2.0.dev0".into();
        closed(&wrapped, &wrapped, &legacy, "$");
        assert!(!legacy.to_string().contains("\"datatype\"") && !legacy.to_string().contains("\"DRAGOMAN\""));
    }
}

#[test]
fn a_small_document_looks_like_one_written_by_hand() {
    let text = "version: \"0.2.0.dev0\"
name: shop
description: |-
  Two
  lines
ai_context:
  synonyms: [store, \"a: b\"]
custom_extensions:
  - vendor_name: DRAGOMAN
    data: '{\"timezone\":\"Asia/Tokyo\"}'
datasets:
  - name: orders
    source: orders
    primary_key: [id]
    fields:
      - name: id
        expression:
          dialects:
            - dialect: ANSI_SQL
              expression: id
        datatype: Integer
        custom_extensions:
          - vendor_name: DRAGOMAN
            data: '{\"role\":\"key\"}'
";
    assert_eq!(flat_yaml(&read(text).unwrap().ontology), text);
}
