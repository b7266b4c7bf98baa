//! Circles: files of one folder that each need the other, directly or by way of others, so that none of them can be
//! read, tested or moved alone. A folder counts as one file among its neighbours; the file that a folder is known by
//! (`mod.rs`) is left out, since its files may use what it says of all of them. A file that has a folder of its own beside
//! it (`plan.rs` and `plan/`) is one of the files in there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sources::{Named, Program, Source};

/// Those that there are: the folder, and who stands in the circle. The list only shrinks.
const KNOWN: &[(&str, &str)] = &[
    ("src/base/throttle", "accounts failures throttle.rs"),
    ("src/cli/admin", "admin.rs audit client source workspace"),
    ("src/engine/agent/english", "compose resolve"),
    ("src/engine/agent/english", "dialogue rewrite"),
    ("src/engine/agent/english/rewrite", "growth rephrase"),
    ("src/engine/agent/english/text", "number token"),
    ("src/engine/agent/english/time", "compare phrase point"),
    ("src/engine/agent/english/time", "words written"),
    ("src/engine/agent/plan/validate", "names validate.rs"),
    ("src/engine/agent/prepared", "figures prepared.rs tried values"),
    ("src/engine/extract/detect", "detect.rs lines marks"),
    ("src/engine/ontology/graph", "graph.rs search"),
    ("src/engine/ontology/library", "compare library.rs save tables"),
    ("src/engine/search/cluster", "cluster.rs draft"),
    ("src/model/ontology", "ontology.rs reference"),
    ("src/model/plan", "plan.rs walk"),
    ("src/store/audit", "audit.rs cuts"),
];

/// Who names whom, by folder.
type Neighbours = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// For each folder on the way of two files that part in it, the one that names and the one that is named.
fn neighbours(program: &Program) -> Neighbours {
    let mut found = Neighbours::new();
    for source in program.files() {
        let from = steps(&source.name);
        for named in &source.paths {
            let to = steps(&program.holder(&named.path).name);
            let at = from.iter().zip(&to).take_while(|(here, there)| here == there).count();
            let (one, other) = (stands(&from, at), stands(&to, at));
            if one == other || [&one, &other].iter().any(|step| ["mod", "lib"].contains(&step.as_str())) {
                continue;
            }
            let folder = from[..at].join("/");
            found.entry(folder).or_default().entry(one).or_default().insert(other);
        }
    }
    found
}

/// `src/engine/sql.rs` and `src/engine/sql/mod.rs` are both `src`, `engine`, `sql`, and the latter `mod`.
fn steps(name: &str) -> Vec<String> {
    Path::new(name).with_extension("").iter().map(|step| step.to_str().unwrap().to_owned()).collect()
}

/// As what a file stands in the folder of its first steps: `b` in `a` for `a/b.rs` and `a/b/c.rs`, `a.rs` for the folder's
/// own file.
fn stands(steps: &[String], folder: usize) -> String {
    steps.get(folder).cloned().unwrap_or_else(|| format!("{}.rs", steps[folder - 1]))
}

/// Everything that is reached from one, itself only by way of another.
fn reached<'a>(from: &'a str, named: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(one) = next.pop() {
        let others = named.get(one).into_iter().flatten().map(String::as_str);
        next.extend(others.filter(|other| found.insert(*other)));
    }
    found
}

/// The circles of a folder: sets of those that reach each other.
fn circles(named: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<&str>> {
    let mut found = BTreeSet::new();
    for one in named.keys() {
        let others = reached(one, named).into_iter();
        let circle: Vec<&str> = others.filter(|other| reached(other, named).contains(one.as_str())).collect();
        found.insert(circle);
    }
    found.retain(|circle| circle.len() > 1);
    found
}

/// All circles, by folder; the names in one are parted by spaces.
pub fn all(program: &Program) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (folder, named) in neighbours(program) {
        all.extend(circles(&named).into_iter().map(|circle| (folder.clone(), circle.join(" "))));
    }
    all
}

#[test]
fn no_circle_is_new_and_none_of_the_list_is_gone() {
    let found = all(Program::read());
    let within = |circle: &str, known: &str| circle.split(' ').all(|one| known.split(' ').any(|other| one == other));
    let is_known = |(folder, circle): &&(String, String)| {
        KNOWN.iter().any(|(place, known)| place == folder && within(circle, known))
    };
    let new: Vec<_> = found.iter().filter(|circle| !is_known(circle)).collect();
    let gone =
        |(folder, known): &&(&str, &str)| !found.iter().any(|(place, circle)| place == folder && circle == known);
    let gone: Vec<_> = KNOWN.iter().filter(gone).collect();
    let all: String = found.iter().map(|circle| format!("    {circle:?},\n")).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new circles: {new:#?}\nthese are gone, or smaller, and the list should say so: {gone:#?}\nthere are:\n{all}"
    );
}

#[test]
fn a_circle_is_found_whatever_its_length() {
    let named = |pairs: &[(&str, &str)]| {
        let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            named.entry((*from).into()).or_default().insert((*to).into());
        }
        named
    };
    let two = named(&[("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "c"), ("f", "a"), ("e", "g")]);
    assert_eq!(circles(&two), BTreeSet::from([vec!["a", "b"], vec!["c", "d", "e"]]));
    assert!(circles(&named(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
}

#[test]
fn a_file_and_those_in_its_folder_can_be_a_circle_and_the_front_of_a_folder_is_in_none() {
    let parts = |path: &str| path.split("::").map(String::from).collect::<Vec<_>>();
    let file = |module: &str, name: &str, named: &str| {
        let paths = vec![Named { line: 1, path: parts(named) }];
        (parts(module), Source { name: name.into(), lines: Vec::new(), paths, functions: Vec::new() })
    };
    let modules = BTreeMap::from([
        file("a", "src/a.rs", "a::b::one"),
        file("a::b", "src/a/b.rs", "a::two"),
        file("a::c", "src/a/c/mod.rs", "a::two"),
        file("d", "src/d/mod.rs", "d::e::one"),
        file("d::e", "src/d/e.rs", "d::two"),
    ]);
    let circles = all(&Program { modules, tests: Vec::new() });
    assert_eq!(circles, [("src/a".to_owned(), "a.rs b".to_owned())]);
}
