//! Texts in a picture: safe, measured, cut and wrapped.

use crate::base::markup;
use crate::engine::render::markdown::one_line;

/// For an element's content or a quoted attribute. Nothing that XML cannot hold comes through.
pub(crate) fn escaped(text: &str) -> String {
    let held = text.chars().filter(|c| !matches!(c, '\u{FFFE}' | '\u{FFFF}'));
    markup::escaped(&held.map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

/// A label of the data as one line, with text that runs from right to left kept from turning what is around it.
pub(crate) fn label(text: &str) -> String {
    let line = one_line(text);
    match line.chars().any(runs_left) {
        true => format!("\u{2068}{line}\u{2069}"),
        false => line,
    }
}

fn runs_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// About how wide a text is at a size, rather too wide than too narrow.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |c: char| match c {
        '\u{2068}' | '\u{2069}' | '\u{300}'..='\u{36F}' => 0.0,
        'i' | 'j' | 'l' | 'I' | '\'' | '.' | ',' | ':' | ';' | '!' | '|' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' | '[' | ']' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 0.92,
        c if c.is_ascii_uppercase() => 0.70,
        c if (c as u32) >= 0x1100 => 1.05,
        _ => 0.58,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// As much of a text as fits, with "…" where something is left out.
pub(crate) fn fitted(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let isolated = text.starts_with('\u{2068}');
    let inner = text.trim_start_matches('\u{2068}').trim_end_matches('\u{2069}');
    let mut kept = String::new();
    for c in inner.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > room {
            kept.pop();
            break;
        }
    }
    let kept = format!("{}…", kept.trim_end());
    if isolated { format!("\u{2068}{kept}\u{2069}") } else { kept }
}

/// At most so many lines, the last of them cut.
pub(crate) fn wrapped(text: &str, room: f64, size: f64, lines: usize) -> Vec<String> {
    if width(text, size) <= room || lines < 2 {
        return vec![fitted(text, room, size)];
    }
    let mut out: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let full = out.len() == lines;
        let Some(line) = out.last_mut() else { break };
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if full || line.is_empty() || width(&longer, size) <= room {
            *line = longer;
        } else {
            out.push(word.to_owned());
        }
    }
    out.iter().map(|line| fitted(line, room, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_label_becomes_markup() {
        assert_eq!(escaped(r#"</text><script>"'&"#), "&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;");
        assert_eq!(escaped("a\u{0}b\u{1b}\u{FFFF}c\n"), "a b c ");
        assert_eq!(label("a\u{202E}b"), "ab");
        assert_eq!(label("שלום"), "\u{2068}שלום\u{2069}");
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        assert_eq!(fitted("short", 100.0, 10.0), "short");
        let cut = fitted("a rather long label", 60.0, 10.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 60.0, "{cut}");
        let lines = wrapped("two words", 34.0, 10.0, 2);
        assert_eq!(lines, ["two", "words"]);
        let lines = wrapped("one two three four", 30.0, 10.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'), "{lines:?}");
    }
}
