//! Which part of a page is its text: a `main` or `article` where there is one that holds much of it, otherwise the body,
//! less what is there to lead elsewhere.

use std::collections::HashSet;

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::{Html, Node};

use crate::engine::extract::write::squeezed;

/// What never shows as text.
const UNSEEN: &[&str] = &[
    "script", "style", "noscript", "template", "head", "svg", "iframe", "object", "canvas", "audio", "video", "select",
    "datalist", "input", "button", "dialog", "map",
];
/// What leads elsewhere, or is the same on every page.
const AROUND: &[&str] = &["nav", "aside", "footer", "menu"];
const AROUND_ROLES: &[&str] = &[
    "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alert", "menu", "menubar", "toolbar",
];
/// Words of classes and ids of such parts.
const AROUND_WORDS: &[&str] = &[
    "nav", "navbar", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "cookie", "cookies", "consent",
    "footer", "pagination", "share", "sharing", "social", "related", "advert", "ads", "ad", "banner", "newsletter",
    "subscribe", "popup", "modal", "skip", "toc-toggle", "promo", "masthead",
];
/// Elements that the text may be in.
const MAIN: &[&str] = &["main", "article"];

/// Part of the page's characters that a `main` or `article` has at least, in percent.
const MUCH: usize = 30;
/// A list or block whose characters are links to this part, in percent, leads elsewhere; and has so many links at least.
const LINKS: usize = 75;
const FEW_LINKS: usize = 4;

pub(super) struct Region<'p> {
    pub(super) root: NodeRef<'p, Node>,
    /// Elements below it that are no part.
    pub(super) left_out: HashSet<NodeId>,
}

/// What the page calls itself.
pub(super) fn title(page: &Html) -> Option<String> {
    let element = page.tree.root().descendants().find(|node| name(node) == "title")?;
    let text: String = element.descendants().filter_map(|node| Some(node.value().as_text()?.to_string())).collect();
    Some(squeezed(&text)).filter(|title| !title.is_empty())
}

/// All that shows.
pub(super) fn whole(page: &Html) -> Region<'_> {
    let root = page.tree.root();
    let left_out = root.descendants().filter(|node| is_unseen(node)).map(|node| node.id()).collect();
    Region { root, left_out }
}

/// What the page is about.
pub(super) fn main(page: &Html) -> Region<'_> {
    let Region { root, mut left_out } = whole(page);
    let sizes = sizes(root, &left_out);
    let size = |node: &NodeRef<'_, Node>| sizes.get(&node.id()).copied().unwrap_or_default();
    let all = size(&root).text.max(1);
    let candidates = root.descendants().filter(|node| MAIN.contains(&name(node)) || attribute(node, "role") == "main");
    // Several articles are a list of them: then what holds them all.
    let best = candidates.max_by_key(|node| (size(node).text, name(node) == "main"));
    let best = best.filter(|node| size(node).text * 100 >= all * MUCH);
    let root = best.unwrap_or(root);
    let within = size(&root).text.max(1);
    for node in root.descendants().skip(1) {
        let own = size(&node);
        // A wrong word on the block that holds all would leave nothing.
        if own.text * 2 < within && is_around(&node, own) {
            left_out.insert(node.id());
        }
    }
    Region { root, left_out }
}

/// Characters below a node, and those of them that are links.
#[derive(Clone, Copy, Default)]
struct Size {
    text: usize,
    linked: usize,
    links: usize,
}

fn sizes(root: NodeRef<'_, Node>, left_out: &HashSet<NodeId>) -> std::collections::HashMap<NodeId, Size> {
    let mut sizes = std::collections::HashMap::new();
    let mut open: Vec<Size> = vec![Size::default()];
    let (mut hidden, mut linked) = (0_usize, 0_usize);
    for edge in root.traverse() {
        match edge {
            Edge::Open(node) => {
                hidden += usize::from(left_out.contains(&node.id()));
                linked += usize::from(name(&node) == "a");
                open.push(Size::default());
                if let Some(text) = node.value().as_text().filter(|_| hidden == 0)
                    && let Some(size) = open.last_mut()
                {
                    size.text = text.chars().filter(|c| !c.is_whitespace()).count();
                    size.linked = if linked > 0 { size.text } else { 0 };
                }
            }
            Edge::Close(node) => {
                let own = open.pop().unwrap_or_default();
                hidden -= usize::from(left_out.contains(&node.id()));
                let is_link = name(&node) == "a";
                linked -= usize::from(is_link);
                if let Some(above) = open.last_mut() {
                    above.text += own.text;
                    above.linked += own.linked;
                    above.links += own.links + usize::from(is_link);
                }
                sizes.insert(node.id(), own);
            }
        }
    }
    sizes
}

fn is_unseen(node: &NodeRef<'_, Node>) -> bool {
    let Some(element) = node.value().as_element() else { return false };
    UNSEEN.contains(&element.name())
        || element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || element.attr("style").is_some_and(|style| style.replace(' ', "").contains("display:none"))
}

fn is_around(node: &NodeRef<'_, Node>, size: Size) -> bool {
    let Some(element) = node.value().as_element() else { return false };
    let role = element.attr("role").unwrap_or_default();
    if AROUND.contains(&element.name()) || AROUND_ROLES.contains(&role) {
        return true;
    }
    // The head of the page, not that of an article.
    if element.name() == "header" && node.parent().is_some_and(|above| name(&above) == "body") {
        return true;
    }
    let is_block = matches!(element.name(), "div" | "section" | "ul" | "ol" | "table" | "form" | "dl" | "p" | "header");
    let leads_elsewhere = size.links >= FEW_LINKS && size.linked * 100 >= size.text * LINKS;
    let words = || {
        let names = [element.attr("class"), element.attr("id")].into_iter().flatten();
        names.flat_map(|names| names.split(|c: char| !c.is_ascii_alphanumeric())).map(str::to_ascii_lowercase)
    };
    let is_named = is_block && words().any(|word| AROUND_WORDS.contains(&word.as_str()));
    is_block && (leads_elsewhere || (is_named && size.linked * 2 >= size.text))
}

fn name<'n>(node: &NodeRef<'n, Node>) -> &'n str {
    node.value().as_element().map_or("", |element| element.name())
}

fn attribute<'n>(node: &NodeRef<'n, Node>, name: &str) -> &'n str {
    node.value().as_element().and_then(|element| element.attr(name)).unwrap_or_default()
}
