//! Requests whose parameters are not those of their method. The library reads such a request as one of a method that it
//! does not know; to the client it is a method that there is, called wrongly (JSON-RPC 2.0 §5.1).

use serde_json::Value;

use crate::model::error::Error;

/// What a parameter is.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Object,
}

/// Name, shape, and whether it may be left out.
type Param = (&'static str, Shape, bool);

/// The methods that are served here and take parameters. An `initialize` is read whole before the library sees it.
const SERVED: [(&str, &[Param]); 12] = [
    ("server/discover", &[("_meta", OBJECT, false)]),
    ("tools/call", &[("name", TEXT, false), ("arguments", OBJECT, true), STATE, RESPONSES]),
    ("prompts/get", &[("name", TEXT, false), ("arguments", OBJECT, true), STATE, RESPONSES]),
    ("resources/read", &[("uri", TEXT, false), STATE, RESPONSES]),
    ("completion/complete", &[("ref", OBJECT, false), ("argument", OBJECT, false), ("context", OBJECT, true)]),
    ("resources/subscribe", &[("uri", TEXT, false)]),
    ("resources/unsubscribe", &[("uri", TEXT, false)]),
    ("logging/setLevel", &[("level", TEXT, false)]),
    ("subscriptions/listen", &[("notifications", OBJECT, false)]),
    ("tasks/get", &[TASK]),
    ("tasks/update", &[TASK, ("inputResponses", OBJECT, false)]),
    ("tasks/cancel", &[TASK]),
];
/// Those of the era of sessions, and those of the newer one.
const OLDER: [&str; 3] = ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"];
const NEWER: [&str; 4] = ["subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"];
const TEXT: Shape = Shape::Text;
const OBJECT: Shape = Shape::Object;
const TASK: Param = ("taskId", TEXT, false);
const STATE: Param = ("requestState", TEXT, true);
const RESPONSES: Param = ("inputResponses", OBJECT, true);

/// Why a request of `method` could not be read; `None` for a method that there is not in its era.
pub(super) fn problem(method: &str, params: Option<&Value>, is_modern: bool) -> Option<Error> {
    let of_the_other = if is_modern { &OLDER[..] } else { &NEWER };
    if of_the_other.contains(&method) {
        return None;
    }
    let (_, known) = SERVED.iter().find(|(served, _)| *served == method)?;
    let wrong: Vec<&Param> = known.iter().filter(|param| !fits(param, params)).collect();
    // Where each has its type, something within one of them is wrong.
    let named: Vec<&Param> = if wrong.is_empty() { known.iter().collect() } else { wrong };
    let parts: Vec<String> = named
        .iter()
        .map(|(name, shape, optional)| {
            let shape = match shape {
                Shape::Text => "a text",
                Shape::Object => "an object as the protocol describes it",
            };
            format!("{name} is {shape}{}", if *optional { ", if given" } else { "" })
        })
        .collect();
    let field = named.first().map_or("params", |(name, ..)| *name);
    Some(Error::invalid(field, format!("The parameters are not those of {method}: {}.", parts.join("; "))))
}

fn fits((name, shape, optional): &Param, params: Option<&Value>) -> bool {
    match (params.and_then(|params| params.get(name)), shape) {
        (None | Some(Value::Null), _) => *optional,
        (Some(value), Shape::Text) => value.is_string(),
        (Some(value), Shape::Object) => value.is_object(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_named_and_what_is_right_is_not() {
        for (method, params, wrong, right) in [
            ("tools/call", json!({ "name": "x", "arguments": "y" }), "arguments is an object", "name is"),
            ("tools/call", json!({ "arguments": {} }), "name is a text", "arguments is"),
            ("tools/call", json!({ "name": 5 }), "name is a text", "arguments is"),
            ("resources/read", json!({ "uri": null }), "uri is a text", "requestState"),
            ("completion/complete", json!({ "ref": {}, "argument": {} }), "ref is an object", "uri"),
        ] {
            let error = problem(method, Some(&params), false).unwrap();
            assert!(error.message.contains(wrong) && !error.message.contains(right), "{method}: {}", error.message);
        }
        let without = problem("prompts/get", None, true).unwrap();
        assert_eq!((without.code.info().json_rpc, &without.details["field"]), (-32602, &json!("name")));
    }

    #[test]
    fn a_method_that_there_is_not_has_no_parameters() {
        for method in ["nothing", "initialize", "tasks/list", ""] {
            assert!(problem(method, None, false).is_none() && problem(method, None, true).is_none(), "{method}");
        }
    }

    #[test]
    fn a_method_of_the_other_era_is_not_there() {
        for method in OLDER {
            assert!(problem(method, None, true).is_none() && problem(method, None, false).is_some(), "{method}");
        }
        for method in NEWER {
            assert!(problem(method, None, false).is_none() && problem(method, None, true).is_some(), "{method}");
        }
    }
}
