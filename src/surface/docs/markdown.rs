//! Markdown to HTML: what our own pages use of CommonMark and of GitHub's tables. Whatever is HTML in the text, comments
//! too, is left out; addresses are those of these pages, of the web over https, and no others.

use std::collections::HashMap;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::base::markup::{escaped, push_escaped};

/// A page, ready to be shown.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// Of the first heading.
    pub title: String,
    /// The first paragraph, as plain text.
    pub about: String,
    pub html: String,
    /// Headings of the second level.
    pub parts: Vec<Part>,
}

/// A heading, and its anchor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub id: String,
    pub title: String,
}

/// The page of a text. `address` says where a link leads that stands in the text: `None` for one that is followed only
/// in the source, whose words are shown without it.
pub(super) fn render(text: &str, address: impl Fn(&str) -> Option<String>) -> Rendered {
    let mut page = Page { out: Rendered::default(), address, anchors: HashMap::new(), open: Vec::new(), cell: None };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.event(event);
    }
    page.out
}

/// The anchor of a heading, as GitHub makes it.
pub fn anchor(title: &str) -> String {
    let small = title.to_lowercase();
    let kept = small.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}

/// Where the cells of a table are.
struct Cells {
    alignments: Vec<Alignment>,
    column: usize,
    is_head: bool,
}

struct Page<F> {
    out: Rendered,
    address: F,
    /// How often each anchor was given.
    anchors: HashMap<String, usize>,
    /// Texts that are known only when they end, of headings and paragraphs, and where the HTML of each began.
    open: Vec<(String, usize)>,
    cell: Option<Cells>,
}

impl<F: Fn(&str) -> Option<String>> Page<F> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.put("<code>");
                self.text(&text);
                self.put("</code>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.put("<br>"),
            Event::Rule => self.put("<hr>\n"),
            // HTML, and what these pages have none of.
            _ => {}
        }
    }

    fn put(&mut self, html: &str) {
        self.out.html.push_str(html);
    }

    fn text(&mut self, text: &str) {
        for (kept, _) in &mut self.open {
            kept.push_str(text);
        }
        push_escaped(&mut self.out.html, text);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                self.keep();
                self.put("<p>");
            }
            Tag::Heading { .. } => self.keep(),
            Tag::BlockQuote(_) => self.put("<blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let named = match &kind {
                    CodeBlockKind::Fenced(language) if !language.is_empty() => {
                        format!(" data-language=\"{}\"", escaped(language))
                    }
                    CodeBlockKind::Fenced(_) | CodeBlockKind::Indented => String::new(),
                };
                // Who has no mouse scrolls what has the focus.
                self.put(&format!("<pre tabindex=\"0\"{named}><code>"));
            }
            Tag::List(None) => self.put("<ul>\n"),
            Tag::List(Some(1)) => self.put("<ol>\n"),
            Tag::List(Some(first)) => self.put(&format!("<ol start=\"{first}\">\n")),
            Tag::Item => self.put("<li>"),
            Tag::Table(alignments) => {
                let of = self.out.parts.last().map_or(self.out.title.as_str(), |part| part.title.as_str());
                let of = escaped(of);
                self.cell = Some(Cells { alignments, column: 0, is_head: false });
                self.put(&format!(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table: {of}\"><table>\n"
                ));
            }
            Tag::TableHead => {
                self.row(true);
                self.put("<thead><tr>");
            }
            Tag::TableRow => {
                self.row(false);
                self.put("<tr>");
            }
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis => self.put("<em>"),
            Tag::Strong => self.put("<strong>"),
            Tag::Link { dest_url, .. } => match (self.address)(&dest_url) {
                Some(to) => self.put(&format!("<a href=\"{}\">", escaped(&to))),
                None => self.put("<span>"),
            },
            Tag::Image { dest_url, .. } => {
                let from = (self.address)(&dest_url).unwrap_or_default();
                self.put(&format!("<img src=\"{}\" alt=\"", escaped(&from)));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                let text = self.kept().0;
                if self.out.about.is_empty() && !self.out.title.is_empty() {
                    self.out.about = text.replace('\n', " ");
                }
                self.put("</p>\n");
            }
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::BlockQuote(_) => self.put("</blockquote>\n"),
            TagEnd::CodeBlock => self.put("</code></pre>\n"),
            TagEnd::List(true) => self.put("</ol>\n"),
            TagEnd::List(false) => self.put("</ul>\n"),
            TagEnd::Item => self.put("</li>\n"),
            TagEnd::Table => {
                self.cell = None;
                self.put("</tbody>\n</table></div>\n");
            }
            TagEnd::TableHead => self.put("</tr></thead>\n<tbody>\n"),
            TagEnd::TableRow => self.put("</tr>\n"),
            TagEnd::TableCell => {
                let is_head = self.cell.as_ref().is_some_and(|cells| cells.is_head);
                self.put(if is_head { "</th>" } else { "</td>" });
            }
            TagEnd::Emphasis => self.put("</em>"),
            TagEnd::Strong => self.put("</strong>"),
            // A link that leads nowhere here was begun as plain words.
            TagEnd::Link => {
                let is_link = self.out.html.rfind("<a ") > self.out.html.rfind("<span>");
                self.put(if is_link { "</a>" } else { "</span>" });
            }
            TagEnd::Image => self.put("\">"),
            _ => {}
        }
    }

    fn keep(&mut self) {
        self.open.push((String::new(), self.out.html.len()));
    }

    fn kept(&mut self) -> (String, usize) {
        self.open.pop().unwrap_or_default()
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let (title, from) = self.kept();
        let inner = self.out.html.split_off(from);
        if level == HeadingLevel::H1 {
            self.put(&format!("<h1>{inner}</h1>\n"));
            self.out.title = title;
            return;
        }
        let id = self.anchor(&title);
        let link = format!("<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to: {}\">#</a>", escaped(&title));
        self.put(&format!("<{level} id=\"{id}\">{inner} {link}</{level}>\n"));
        if level == HeadingLevel::H2 {
            self.out.parts.push(Part { id, title });
        }
    }

    /// A second heading of the same words has a number behind its anchor.
    fn anchor(&mut self, title: &str) -> String {
        let id = anchor(title);
        let given = self.anchors.entry(id.clone()).or_default();
        *given += 1;
        if *given == 1 { id } else { format!("{id}-{}", *given - 1) }
    }

    fn row(&mut self, is_head: bool) {
        if let Some(cells) = &mut self.cell {
            cells.is_head = is_head;
            cells.column = 0;
        }
    }

    fn start_cell(&mut self) {
        let Some(cells) = &mut self.cell else { return };
        let is_number = cells.alignments.get(cells.column) == Some(&Alignment::Right);
        cells.column += 1;
        let class = if is_number { " class=\"number\"" } else { "" };
        let cell = if cells.is_head { format!("<th scope=\"col\"{class}>") } else { format!("<td{class}>") };
        self.put(&cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        render(text, |to| to.strip_prefix("ok:").map(str::to_owned)).html
    }

    #[test]
    fn a_page_says_what_it_is_called_what_it_is_about_and_what_is_in_it() {
        let page = render(
            "# A *page*\n\nOne line,\nand one more.\n\n## First `part`\n\nx\n\n### Below\n\n## First part\n",
            |_| None,
        );
        assert_eq!((page.title.as_str(), page.about.as_str()), ("A page", "One line, and one more."));
        let parts: Vec<_> = page.parts.iter().map(|part| (part.id.as_str(), part.title.as_str())).collect();
        assert_eq!(parts, [("first-part", "First part"), ("first-part-1", "First part")]);
        assert!(
            page.html
                .contains("<h2 id=\"first-part\">First <code>part</code> <a class=\"anchor\" href=\"#first-part\"")
        );
        assert!(page.html.contains("<h3 id=\"below\">"), "{}", page.html);
    }

    #[test]
    fn html_in_a_text_is_never_html_on_the_page() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<!-- said to nobody -->",
            "<style>*{}</style>\n",
        ] {
            let page = html(text);
            for part in ["<script", "<img", "onerror", "<!--", "<style"] {
                assert!(!page.contains(part), "{text}: {page}");
            }
        }
        assert_eq!(html("`<b>` & \"x\""), "<p><code>&lt;b&gt;</code> &amp; &quot;x&quot;</p>\n");
        assert!(html("```\n<script>\n```").contains("<code>&lt;script&gt;\n</code>"));
    }

    #[test]
    fn a_link_leads_where_it_may_and_else_its_words_are_left() {
        assert_eq!(
            html("[a](ok:/docs/x) and [b](javascript:alert)"),
            "<p><a href=\"/docs/x\">a</a> and <span>b</span></p>\n"
        );
        assert_eq!(html("[*a*](ok:/x?a=\"b\")"), "<p><a href=\"/x?a=&quot;b&quot;\"><em>a</em></a></p>\n");
        assert_eq!(html("![It says \"x\"](ok:/p.png)"), "<p><img src=\"/p.png\" alt=\"It says &quot;x&quot;\"></p>\n");
    }

    #[test]
    fn tables_and_lists_are_what_a_reader_of_screens_expects() {
        let page = html("## T\n\n| a | b |\n|---|--:|\n| `x` | 1 |\n");
        for part in [
            "aria-label=\"Table: T\"",
            "<th scope=\"col\" class=\"number\">b</th>",
            "<td><code>x</code></td><td class=\"number\">1</td>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(html("- a\n- b\n"), "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
        assert!(html("3. a\n").starts_with("<ol start=\"3\">"));
        assert_eq!(html("- a\n\n  - b\n").matches("</ul>").count(), 2);
    }

    #[test]
    fn anchors_are_those_of_github() {
        for (title, expected) in [
            ("Back up, restore", "back-up-restore"),
            ("`429 rate_limited`", "429-rate_limited"),
            ("Größe & Zahl", "größe--zahl"),
        ] {
            assert_eq!(anchor(title), expected);
        }
    }
}
