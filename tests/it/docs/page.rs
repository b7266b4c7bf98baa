//! A page of Markdown: its links, its headings, what it wants to be run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dragoman::surface::docs::anchor;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

pub struct Page {
    /// In the source.
    pub file: String,
    pub text: String,
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    pub language: String,
    pub text: String,
    /// Of the page, where it begins.
    pub line: usize,
}

impl Page {
    pub fn read(file: &Path) -> Self {
        Self { file: file.display().to_string(), text: fs::read_to_string(file).unwrap() }
    }

    fn events(&self) -> Parser<'_> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES)
    }

    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut is_inside = false;
        for (event, range) in self.events().into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    let line = self.text[..range.start].lines().count() + 1;
                    blocks.push(Block { language: language.to_string(), text: String::new(), line });
                    is_inside = true;
                }
                Event::End(TagEnd::CodeBlock) => is_inside = false,
                Event::Text(text) if is_inside => blocks.last_mut().unwrap().text.push_str(&text),
                _ => {}
            }
        }
        blocks
    }

    /// Of links and of pictures.
    pub fn links(&self) -> Vec<String> {
        self.events()
            .filter_map(|event| match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
                _ => None,
            })
            .collect()
    }

    /// Of the headings, as GitHub and the service make them.
    pub fn anchors(&self) -> Vec<String> {
        let (mut anchors, mut heading) = (Vec::new(), None::<String>);
        let mut given: BTreeMap<String, usize> = BTreeMap::new();
        for event in self.events() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|title| title.push_str(&text)),
                Event::End(TagEnd::Heading(_)) => {
                    let id = anchor(&heading.take().unwrap());
                    let count = given.entry(id.clone()).or_default();
                    anchors.push(if *count == 0 { id } else { format!("{id}-{count}") });
                    *count += 1;
                }
                _ => {}
            }
        }
        anchors
    }

    /// What stands in the rows of tables in “quotation marks”.
    pub fn quotations(&self) -> Vec<String> {
        let (mut all, mut in_table, mut cell) = (Vec::new(), false, String::new());
        for event in self.events() {
            match event {
                Event::Start(Tag::Table(_)) => in_table = true,
                Event::End(TagEnd::Table) => in_table = false,
                Event::Text(text) if in_table => cell.push_str(&text),
                Event::End(TagEnd::TableCell) => {
                    let quoted = cell.split('“').skip(1).map(|rest| rest.split('”').next().unwrap().to_owned());
                    all.extend(quoted);
                    cell.clear();
                }
                _ => {}
            }
        }
        all
    }
}
