//! The guide of a client as a page: the steps, what is seen on the way, and what mends what goes wrong, in the words of
//! [`crate::ops::connectivity::guides`].

use std::fmt::Write as _;

use crate::ops::connectivity::guide::{Configuration, Format, Guide, SetupStep};
use crate::ops::connectivity::place::Place;

/// Markdown, for a service at a place.
pub fn text(guide: &Guide, place: &Place) -> String {
    let setup = guide.filled(place);
    let mut out = format!("# Connect {}\n\n{}\n\n", setup.name, setup.about);
    let from = if setup.needs_public_address {
        "It asks from its maker's cloud: the service needs a public https address."
    } else {
        "It asks from your own machine."
    };
    let _ = write!(out, "{from} {}\n\n", guide.class.meaning());
    out.push_str(
        "In the console (*Connect* in your workspace) the same guide has your workspace's own address, makes the token \
         where one is needed, shows how far the client has come, and tests the way.\n\n## Steps\n\n",
    );
    for (number, step) in setup.steps.iter().enumerate() {
        self::step(&mut out, number + 1, step);
    }
    out.push_str("## What is seen on the way\n\n| the client | when that does not come |\n|---|---|\n");
    for checkpoint in &setup.checkpoints {
        let _ = writeln!(out, "| {} | {} |", cell(checkpoint.title), cell(checkpoint.mend));
    }
    out.push_str("\n## If something goes wrong\n\n| you see | what to do |\n|---|---|\n");
    for trouble in &setup.troubleshooting {
        let _ = writeln!(out, "| {} | {} |", cell(&trouble.symptom), cell(&trouble.mend));
    }
    out.push_str("\nMore, by what you see: [Troubleshooting](../troubleshooting.md).\n");
    out
}

fn step(out: &mut String, number: usize, step: &SetupStep) {
    let _ = write!(out, "{number}. {}\n\n", plain(&step.text));
    if let Some(link) = &step.link {
        let href = if link.href.starts_with("https://") {
            format!("[{}]({})", link.label, link.href)
        } else {
            format!("{}: `{}`", link.label, link.href)
        };
        let _ = write!(out, "   {href}\n\n");
    }
    if let Some(piece) = &step.configuration {
        configuration(out, piece);
    }
    if !step.then.is_empty() {
        let _ = write!(out, "   → {}\n\n", plain(&step.then));
    }
}

/// Commands of these pages are for the reader's machine and their client: no test of the documentation runs them.
fn configuration(out: &mut String, piece: &Configuration) {
    if !piece.file.is_empty() {
        let _ = write!(out, "   {}:\n\n", plain(&piece.file));
    }
    let language = match piece.format {
        Format::Text => "text",
        Format::Json => "json",
        Format::Sh => "console",
        Format::Python => "python",
    };
    let _ = writeln!(out, "   ```{language}");
    for line in piece.content.lines() {
        let _ = writeln!(out, "{}", format!("   {line}").trim_end());
    }
    out.push_str("   ```\n\n");
}

/// Words that Markdown would take for its own.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '<' | '[' | ']' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}
