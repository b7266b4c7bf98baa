//! The program's sources as the compiler takes them: module by module from `src/lib.rs`, without what stands under
//! `#[cfg(test)]`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// One file of the program.
pub struct Source {
    /// From the root of the repository: `src/store/mod.rs`.
    pub name: String,
    /// Its lines of production: neither comments nor tests. Blank ones count.
    pub lines: Vec<String>,
    /// What it names of the program.
    pub paths: Vec<Named>,
    /// Its functions that have a body.
    pub functions: Vec<Function>,
}

/// A function, and its lines of code from `fn` to the last brace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub lines: usize,
    pub name: String,
}

/// A path that begins in the program: `crate::store::Db`, `super::Db`, or `rows::read` for a module of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    pub line: usize,
    /// From the root of the crate: `["store", "Db"]`.
    pub path: Vec<String>,
}

/// The program, by module: `[]` is `src/lib.rs`, `["store"]` is `src/store/mod.rs`.
pub struct Program {
    pub modules: BTreeMap<Vec<String>, Source>,
    /// Files that hold only tests.
    pub tests: Vec<String>,
}

impl Program {
    /// Read once for all tests.
    pub fn read() -> &'static Self {
        static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
            let mut program = Program { modules: BTreeMap::new(), tests: Vec::new() };
            program.add(Vec::new(), Path::new("src/lib.rs"));
            program
        });
        &PROGRAM
    }

    fn add(&mut self, module: Vec<String>, file: &Path) {
        let (name, text) = read(file);
        let whole = parse(&name, &text);
        let (lines, syntax) = production(&name, &text, &whole);
        let own = modules(&syntax);
        for child in &own {
            self.add([module.as_slice(), std::slice::from_ref(child)].concat(), &file_of(file, child));
        }
        for child in modules(&whole).iter().filter(|child| !own.contains(child)) {
            self.add_tests(&file_of(file, child));
        }
        let mut names = Names { module: module.clone(), children: own, found: Vec::new() };
        names.visit_file(&syntax);
        let text: Vec<&str> = text.lines().collect();
        let mut functions = Functions { text: &text, found: Vec::new() };
        functions.visit_file(&syntax);
        let source = Source { name, lines, paths: names.found, functions: functions.found };
        self.modules.insert(module, source);
    }

    fn add_tests(&mut self, file: &Path) {
        let (name, text) = read(file);
        modules(&parse(&name, &text)).iter().for_each(|child| self.add_tests(&file_of(file, child)));
        self.tests.push(name);
    }

    /// The file that holds what a path names: that of the longest module on its way.
    pub fn holder(&self, path: &[String]) -> &Source {
        let longest = (0..=path.len()).rev().find_map(|length| self.modules.get(&path[..length]));
        longest.expect("the root holds everything")
    }

    pub fn files(&self) -> impl Iterator<Item = &Source> {
        self.modules.values()
    }
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> (String, String) {
    let name = file.display().to_string();
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{name}: {why}"));
    (name, text)
}

fn parse(name: &str, text: &str) -> syn::File {
    syn::parse_file(text).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// The modules that a file declares and that are files of their own.
fn modules(syntax: &syn::File) -> Vec<String> {
    let declared = syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(child) if child.content.is_none() => Some(child),
        _ => None,
    });
    let ours = declared.filter(|child| !child.attrs.iter().any(|attribute| attribute.path().is_ident("path")));
    ours.map(|child| child.ident.to_string()).collect()
}

/// `mod rows;` of `sql/mod.rs` is beside it, that of `sql.rs` in the folder `sql`.
fn file_of(parent: &Path, child: &str) -> PathBuf {
    let folder = match parent.file_stem() {
        Some(stem) if stem != "mod" && stem != "lib" => parent.with_extension(""),
        _ => parent.parent().unwrap().to_owned(),
    };
    let file = folder.join(format!("{child}.rs"));
    if root().join(&file).exists() { file } else { folder.join(child).join("mod.rs") }
}

/// Every file and every folder below a folder, from the root of the repository.
pub fn below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = Path::new(folder).join(entry.unwrap().file_name());
        if root().join(&path).is_dir() {
            found.extend(below(path.to_str().unwrap()));
        }
        found.push(path);
    }
    found
}

/// The lines of production, and their syntax. Lines and columns in it are those of the file.
fn production(name: &str, text: &str, whole: &syn::File) -> (Vec<String>, syn::File) {
    let mut tests = Tests { spans: Vec::new() };
    tests.visit_file(whole);
    let mut kept = text.as_bytes().to_vec();
    let mut cut = vec![false; text.lines().count() + 1];
    for span in tests.spans {
        let blank = |byte: &mut u8| *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        kept[span.byte_range()].iter_mut().for_each(blank);
        cut[span.start().line..=span.end().line].fill(true);
    }
    let kept = String::from_utf8(kept).unwrap();
    assert!(!kept.contains("cfg(test)"), "{name}: #[cfg(test)] stands where nobody looks for it");
    let lines = kept.lines().enumerate().filter(|(at, line)| !cut[at + 1] && !is_comment(line));
    (lines.map(|(_, line)| line.to_owned()).collect(), parse(name, &kept))
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Finds the items under `#[cfg(test)]`, each with its attributes and its documentation.
struct Tests {
    spans: Vec<proc_macro2::Span>,
}

fn for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |meta: &syn::Meta| matches!(meta, syn::Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test");
    attributes.iter().any(|attribute| is_test(&attribute.meta))
}

impl Visit<'_> for Tests {
    fn visit_item(&mut self, item: &syn::Item) {
        use syn::Item::{Const, Enum, Fn, Impl, Macro, Mod, Static, Struct, Trait, Type, Use};
        let attributes = match item {
            Const(item) => &item.attrs,
            Enum(item) => &item.attrs,
            Fn(item) => &item.attrs,
            Impl(item) => &item.attrs,
            Macro(item) => &item.attrs,
            Mod(item) => &item.attrs,
            Static(item) => &item.attrs,
            Struct(item) => &item.attrs,
            Trait(item) => &item.attrs,
            Type(item) => &item.attrs,
            Use(item) => &item.attrs,
            other => panic!("what is this? {:?}", other.span().start()),
        };
        if for_tests(attributes) {
            self.spans.push(item.span());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &syn::ImplItem) {
        match item {
            syn::ImplItem::Fn(function) if for_tests(&function.attrs) => self.spans.push(item.span()),
            syn::ImplItem::Const(constant) if for_tests(&constant.attrs) => self.spans.push(item.span()),
            _ => visit::visit_impl_item(self, item),
        }
    }
}

/// Collects what a file names of the program: in imports, in paths, and within macros.
struct Names {
    module: Vec<String>,
    /// Modules that the file declares.
    children: Vec<String>,
    found: Vec<Named>,
}

impl Names {
    fn name(&mut self, line: usize, path: &[String]) {
        let mut from = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            Some(first) if path.len() > 1 && self.children.iter().any(|child| child == first) => {
                self.found.push(Named { line, path: [self.module.as_slice(), path].concat() });
                return;
            }
            _ => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => assert!(from.pop().is_some(), "super of the root, line {line}"),
                _ => from.push(part.clone()),
            }
        }
        self.found.push(Named { line, path: from });
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let and = |last: &syn::Ident| [before, &[last.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&and(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.name(name.ident.span().start().line, &and(&name.ident)),
            syn::UseTree::Rename(name) => self.name(name.ident.span().start().line, &and(&name.ident)),
            syn::UseTree::Glob(glob) => self.name(glob.span().start().line, before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(before, item)),
        }
    }

    /// Paths in what a macro is given, which has no syntax of its own.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(part) => {
                    if colons != 2 {
                        self.name(line, &std::mem::take(&mut path));
                    }
                    line = part.span().start().line;
                    path.push(part.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.name(line, &std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.name(line, &path);
    }
}

impl Visit<'_> for Names {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.len() > 1 {
            self.name(path.span().start().line, &parts);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &syn::Macro) {
        self.tokens(item.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &syn::MetaList) {
        self.tokens(list.tokens.clone());
    }

    /// `pub(in crate::engine)` says who may look in, and looks nowhere.
    fn visit_visibility(&mut self, _: &syn::Visibility) {}

    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        let own = [self.module.as_slice(), &[item.ident.to_string()]].concat();
        let outer = std::mem::replace(&mut self.module, own);
        visit::visit_item_mod(self, item);
        self.module = outer;
    }
}

/// Collects functions.
struct Functions<'a> {
    text: &'a [&'a str],
    found: Vec<Function>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let lines = &self.text[signature.span().start().line - 1..body.span().end().line];
        let lines = lines.iter().filter(|line| !is_comment(line)).count();
        self.found.push(Function { lines, name: signature.ident.to_string() });
    }
}

impl Visit<'_> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn every_file_is_seen() {
    let program = Program::read();
    let seen: BTreeSet<&str> =
        program.files().map(|source| source.name.as_str()).chain(program.tests.iter().map(String::as_str)).collect();
    let all = below("src").into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let unseen: Vec<PathBuf> =
        all.filter(|path| path != Path::new("src/main.rs") && !seen.contains(path.to_str().unwrap())).collect();
    assert!(unseen.is_empty(), "no module declares them: {unseen:#?}");
}

#[test]
fn only_what_is_under_cfg_test_is_cut() {
    let text = "use a::b;\n#[cfg(test)]\nmod early;\n\n/// Kept.\nfn kept() {}\n\n/// Cut.\n#[cfg(test)]\n#[expect(x)]\nuse c::{\n    d,\n};\nimpl E {\n    #[cfg(test)]\n    fn f() {\n        g();\n    }\n    fn h() {}\n}\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\nfn last() {}\n";
    let (lines, syntax) = production("it", text, &parse("it", text));
    assert_eq!(lines, ["use a::b;", "", "fn kept() {}", "", "impl E {", "    fn h() {}", "}", "fn last() {}"]);
    assert_eq!(syntax.items.len(), 4);
}

#[test]
fn what_a_file_names_is_seen_wherever_it_stands() {
    let text = "use crate::a::{b, c::*, self as d};\nuse super::super::e;\nuse rows::Row;\npub(in crate::no) mod rows;\nfn f(x: crate::g::H<self::i::J>) { say!(\"{}\", super::k::l(1), (crate::m::n)); super::o(); rows::p(); q::r(); }\n#[serde(with = crate::s)]\nstruct T;\n";
    let module = ["x", "y"].map(String::from).to_vec();
    let mut names = Names { module, children: vec!["rows".into()], found: Vec::new() };
    names.visit_file(&parse("it", text));
    let mut found: Vec<String> = names.found.iter().map(|named| named.path.join("::")).collect();
    found.sort();
    let expected = "a a::b a::c e g::H m::n s x::k::l x::o x::y::i::J x::y::rows::Row x::y::rows::p";
    assert_eq!(found.join(" "), expected);
}
