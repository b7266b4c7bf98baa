//! A page of ours with fields in one of its forms as they were typed before. It is read as our templates write: values of
//! attributes in double quotes, nothing within scripts, every element closed.

use std::collections::HashSet;
use std::ops::Range;

use askama::Template;
use serde::{Deserialize, Serialize};

use crate::base::markup::escaped;
use crate::model::error::{Error, Result};
use crate::surface::form::Params;

/// Fields that are never kept: passwords, codes, keys, and what proves something about a page.
const SECRET: [&str; 8] = ["again", "code", "credential", "csrf", "current", "password", "secret_access_key", "state"];
/// What a form was made from. It comes back with what was typed, so that what others changed meanwhile is seen.
const WAS: &str = "was";
/// The id of a form that has none of its own.
const ID: &str = "typed-before";

/// The fields of a form, without what is secret, and the path that they were sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Form {
    path: String,
    fields: Vec<(String, String)>,
}

impl Form {
    /// `None` where there is nothing to keep.
    pub(super) fn of(path: &str, params: &Params) -> Option<Self> {
        let fields = params.pairs().filter(|(name, _)| !SECRET.contains(name));
        // Browsers send breaks of lines in a way of their own.
        let fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value.replace("\r\n", "\n"))).collect();
        (!fields.is_empty()).then(|| Self { path: path.to_owned(), fields })
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.fields.iter().any(|(known, sent)| known == name && sent == value)
    }

    fn names(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known == name)
    }
}

#[derive(Template)]
#[template(path = "again.html", config = "src/surface/askama.toml")]
struct AgainPart<'a> {
    /// The id of the form on the page; `None` where there is none like it.
    form: Option<&'a str>,
    fields: &'a [(String, String)],
}

/// What takes the place of what stands there.
type Edit = (Range<usize>, String);

/// The page with the fields in its form, and a word on that at its beginning. Where the page has no such form, the word
/// shows them.
///
/// # Errors
/// `internal_error` when the word cannot be rendered.
pub(super) fn refilled(html: &str, form: &Form) -> Result<String> {
    let tags = tags(html);
    let found = find(&tags, form);
    let head = found.as_ref().and_then(|found| found.own.first());
    let id = head.map(|head| head.raw("id").unwrap_or(ID));
    let part = AgainPart { form: id, fields: &form.fields }.render().map_err(Error::internal)?;
    let main = tags.iter().find(|tag| tag.name == "main");
    let mut edits: Vec<Edit> = main.map(|main| (main.end..main.end, part)).into_iter().collect();
    if let Some(found) = &found {
        let hidden = found.around.iter().copied().chain(found.own.iter().filter(|tag| tag.name == "details"));
        edits.extend(hidden.map(|details| (details.range(), details.with("open", Some("")))));
        edits.extend(head.map(|head| (head.range(), head.with("id", id))));
        edits.extend(fill(found.own, form));
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(edited(html, &edits))
}

fn edited(html: &str, edits: &[Edit]) -> String {
    let (mut page, mut at) = (String::with_capacity(html.len() + 4096), 0);
    for (range, text) in edits {
        page.push_str(html.get(at..range.start).unwrap_or_default());
        page.push_str(text);
        at = range.end;
    }
    page.push_str(html.get(at..).unwrap_or_default());
    page
}

/// A form of a page.
struct Found<'t, 'h> {
    /// What has to be open for it to be seen.
    around: Vec<&'t Tag<'h>>,
    /// From its own tag to before the one that closes it.
    own: &'t [Tag<'h>],
}

/// The first form of a page that the fields are of.
fn find<'t, 'h>(tags: &'t [Tag<'h>], form: &Form) -> Option<Found<'t, 'h>> {
    let mut around = Vec::new();
    for (at, tag) in tags.iter().enumerate() {
        match tag.name {
            "details" => around.push(tag),
            "/details" => {
                around.pop();
            }
            "form" => {
                let rest = tags.get(at..).unwrap_or_default();
                let length = rest.iter().position(|tag| tag.name == "/form").unwrap_or(rest.len());
                let own = rest.get(..length).unwrap_or_default();
                if fits(own, form) {
                    return Some(Found { around, own });
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the fields are of this form: it is sent there, has all of them, and is about the same thing.
fn fits(own: &[Tag<'_>], form: &Form) -> bool {
    let action = own.first().and_then(|head| head.text("action")).unwrap_or_default();
    if action.split(['?', '#']).next() != Some(form.path.as_str()) {
        return false;
    }
    let is_same = |tag: &Tag<'_>| {
        let name = tag.text("name").unwrap_or_default();
        let may_differ = name == WAS || SECRET.contains(&name.as_str());
        may_differ || form.has(&name, &tag.text("value").unwrap_or_default())
    };
    let names: HashSet<String> = own.iter().filter_map(|tag| tag.text("name")).collect();
    own.iter().filter(|tag| tag.raw("type") == Some("hidden")).all(is_same)
        && form.fields.iter().all(|(name, _)| names.contains(name))
}

fn fill(own: &[Tag<'_>], form: &Form) -> Vec<Edit> {
    let mut left: Vec<&(String, String)> = form.fields.iter().collect();
    let (mut edits, mut list) = (Vec::new(), String::new());
    for (at, tag) in own.iter().enumerate() {
        let name = tag.text("name").unwrap_or_default();
        match tag.name {
            "input" => edits.extend(input(tag, &name, form, &mut left).map(|input| (tag.range(), input))),
            "textarea" => {
                let typed = next(&mut left, &name).zip(own.get(at + 1));
                // The first break of a line is not of the text.
                edits.extend(typed.map(|(typed, end)| (tag.end..end.start, format!("\n{}", escaped(typed)))));
            }
            "select" => list = name,
            "option" if form.names(&list) => {
                let is_chosen = tag.text("value").is_some_and(|value| form.has(&list, &value));
                edits.push((tag.range(), tag.with("selected", is_chosen.then_some(""))));
            }
            _ => {}
        }
    }
    edits
}

/// The tag of an input with what was typed; `None` for one that stays as it is.
fn input(tag: &Tag<'_>, name: &str, form: &Form, left: &mut Vec<&(String, String)>) -> Option<String> {
    match tag.raw("type").unwrap_or("text") {
        "checkbox" | "radio" => {
            let value = tag.text("value").unwrap_or_else(|| "on".to_owned());
            Some(tag.with("checked", form.has(name, &value).then_some("")))
        }
        "password" | "file" | "submit" => None,
        "hidden" if name != WAS => None,
        _ => Some(tag.with("value", Some(&escaped(next(left, name)?)))),
    }
}

/// The next value of this name: fields are sent in their order on the page.
fn next<'f>(left: &mut Vec<&'f (String, String)>, name: &str) -> Option<&'f str> {
    let at = left.iter().position(|(known, _)| known == name)?;
    let (_, value) = left.remove(at);
    Some(value)
}

/// A tag, opening or closing, and where it stands.
struct Tag<'h> {
    /// A closing one's begins with `/`.
    name: &'h str,
    start: usize,
    end: usize,
    /// As they are written.
    attributes: Vec<(&'h str, Option<&'h str>)>,
}

/// The tags of a page in their order.
fn tags(html: &str) -> Vec<Tag<'_>> {
    let starts = html.match_indices('<').map(|(start, _)| start);
    starts.filter_map(|start| Tag::read(html, start)).collect()
}

impl<'h> Tag<'h> {
    fn read(html: &'h str, start: usize) -> Option<Self> {
        let ends = |c: char| c.is_whitespace() || c == '>' || c == '=';
        let rest = html.get(start + 1..)?;
        let (name, rest) = rest.split_at(rest.find(ends)?);
        let (mut rest, mut attributes) = (rest.trim_start(), Vec::new());
        while !rest.starts_with('>') {
            let (attribute, after) = rest.split_at(rest.find(ends).filter(|length| *length > 0)?);
            let (value, after) = match after.strip_prefix("=\"") {
                Some(value) => value.split_once('"').map(|(value, after)| (Some(value), after))?,
                None => (None, after),
            };
            attributes.push((attribute, value));
            rest = after.trim_start();
        }
        Some(Self { name, start, end: html.len() - rest.len() + 1, attributes })
    }

    fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The value of an attribute as it is written; empty for one without a value.
    fn raw(&self, name: &str) -> Option<&'h str> {
        let (_, value) = self.attributes.iter().find(|(known, _)| *known == name)?;
        Some(value.unwrap_or_default())
    }

    /// As [`Tag::raw`], as it reads.
    fn text(&self, name: &str) -> Option<String> {
        let written = self.raw(name)?.to_owned();
        let signs = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
        Some(signs.into_iter().fold(written, |text, (from, to)| text.replace(from, to)))
    }

    /// The tag with another value of an attribute, written as it is to stand there; `None` takes it away.
    fn with(&self, name: &str, value: Option<&str>) -> String {
        let new = value.map(|value| (name, Some(value)));
        let is_new = self.raw(name).is_none();
        let others = self.attributes.iter().filter_map(|one| if one.0 == name { new } else { Some(*one) });
        let mut tag = format!("<{}", self.name);
        for (name, value) in others.chain(new.filter(|_| is_new)) {
            tag.push(' ');
            tag.push_str(name);
            if let Some(value) = value {
                tag.push_str(&format!("=\"{value}\""));
            }
        }
        tag.push('>');
        tag
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const PAGE: &str = r#"<!doctype html>
<main id="main" class="wide">
<form method="post" action="/w/a/members"><input type="hidden" name="csrf" value="1"><input type="hidden" name="do" value="role"><input type="hidden" name="user_id" value="x"><select name="role"><option value="viewer" selected>viewer</option><option value="admin">admin</option></select></form>
<details class="more"><summary>Add</summary>
<form method="post" action="/w/a/members#kept">
<input type="hidden" name="csrf" value="fresh"><input type="hidden" name="do" value="add"><input type="hidden" name="was" value="{&#34;n&#34;:2}">
<input id="n" name="name" type="text" value="" required><input name="password" type="password">
<input type="checkbox" name="scope" value="a" checked><input type="checkbox" name="scope" value="b">
<textarea name="text" rows="3">
old &#60;</textarea>
</form></details>
</main>"#;

    fn form(path: &str, fields: &[(&str, &str)]) -> Form {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        Form::of(path, &Params::parse(&query).unwrap()).unwrap()
    }

    #[test]
    fn what_was_typed_is_in_its_form_again_and_what_is_secret_is_not() {
        let fields = [
            ("csrf", "old"),
            ("do", "add"),
            ("was", r#"{"n":1}"#),
            ("name", "\"Ann\" <b>"),
            ("password", "hunter22"),
            ("scope", "b"),
            ("text", "one\r\ntwo</textarea>"),
        ];
        let form = form("/w/a/members", &fields);
        assert!(!form.names("password") && !form.names("csrf"), "{form:?}");
        let page = refilled(PAGE, &form).unwrap();
        for part in [
            r##"<a href="#typed-before">"##,
            r#"<details class="more" open="">"#,
            r#"action="/w/a/members#kept" id="typed-before">"#,
            r#"name="csrf" value="fresh""#,
            r#"name="was" value="{&quot;n&quot;:1}""#,
            r#"name="name" type="text" value="&quot;Ann&quot; &lt;b&gt;" required>"#,
            r#"<input name="password" type="password">"#,
            r#"value="a"><input type="checkbox" name="scope" value="b" checked="">"#,
            "<textarea name=\"text\" rows=\"3\">\none\ntwo&lt;/textarea&gt;</textarea>",
            r#"<option value="viewer" selected>viewer</option>"#,
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("hunter22") && !page.contains("old"), "{page}");
    }

    #[test]
    fn a_form_is_found_by_what_it_is_about() {
        let role = |of: &str| form("/w/a/members", &[("do", "role"), ("user_id", of), ("role", "admin")]);
        let page = refilled(PAGE, &role("x")).unwrap();
        let chosen = r#"<option value="viewer">viewer</option><option value="admin" selected="">admin</option>"#;
        assert!(page.contains(chosen) && !page.contains("open"), "{page}");
        for other in [role("y"), form("/w/b/members", &[("do", "role"), ("user_id", "x"), ("role", "<b>")])] {
            let page = refilled(PAGE, &other).unwrap();
            assert!(page.contains("does not have the form") && page.contains("<dt>role</dt>"), "{page}");
            assert!(!page.contains("<b>") && page.ends_with(PAGE.split_once("wide\">").unwrap().1), "{page}");
        }
    }

    #[test]
    fn no_field_that_hides_what_is_typed_or_takes_a_code_is_kept() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/surface/templates");
        let mut secret = Vec::new();
        for template in std::fs::read_dir(templates).unwrap() {
            let template = std::fs::read_to_string(template.unwrap().path()).unwrap();
            for input in template.split("<input ").skip(1).map(|rest| rest.split('>').next().unwrap()) {
                let name = input.split("name=\"").nth(1).map_or("", |rest| rest.split('"').next().unwrap());
                if input.contains("type=\"password\"") || input.contains("one-time-code") || name == "csrf" {
                    secret.push(name.to_owned());
                }
            }
        }
        assert!(secret.len() > 50, "{secret:?}");
        for name in secret {
            assert!(SECRET.contains(&name.as_str()), "{name}");
        }
    }
}
