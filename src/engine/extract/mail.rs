//! Mails (RFC 5322, MIME) and boxes of them (mbox): who wrote to whom, when, about what, and the text; attachments that
//! can be read are documents of their own.

use std::borrow::Cow;

use mail_parser::{Address, Encoding, Message, MessageParser, MimeHeaders as _, PartType};

use serde_json::Value;

use super::budget::Budget;
use super::write::Text;
use super::{Extracted, Found, broken, decode, html};
use crate::model::error::Result;

/// Names and addresses of one line that filters know.
const PEOPLE: usize = 50;

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    // A mail is ASCII and what its parts say; what was saved anew as a whole is in the encoding of its mark.
    let saved_anew = decode::marked(bytes);
    let bytes = saved_anew.as_ref().map_or(bytes, |text| text.as_bytes());
    let mut message = MessageParser::default().parse(bytes).ok_or_else(|| broken("it has no header of a mail"))?;
    if let Some(text) = &saved_anew {
        as_saved(&mut message, text);
    }
    one(&message, name, budget, found)
}

/// Takes parts that stand in a mail as they are from its text: they say the encoding that they had before.
fn as_saved<'m>(message: &mut Message<'m>, text: &'m str) {
    for part in message.parts.iter_mut().filter(|part| part.encoding == Encoding::None) {
        let own = text.get(part.offset_body as usize..part.offset_end as usize);
        if let (PartType::Text(body) | PartType::Html(body), Some(own)) = (&mut part.body, own) {
            *body = Cow::Borrowed(own);
        }
    }
}

/// Each mail of a box, numbered from 1.
pub(super) fn read_box(bytes: &[u8], name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    for (index, mail) in mails(bytes).into_iter().enumerate() {
        budget.members(1)?;
        let name = format!("{name}/{}", index + 1);
        let unquoted = unquoted(mail);
        let read = read(&unquoted, &name, budget, found);
        found.unless_skipped(&name, read)?;
    }
    Ok(())
}

/// The mails between the lines that begin with `From ` (RFC 4155 appendix A).
fn mails(bytes: &[u8]) -> Vec<&[u8]> {
    let mut mails = Vec::new();
    let (mut start, mut at, mut after_blank) = (None, 0, true);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if after_blank && line.starts_with(b"From ") {
            mails.extend(start.and_then(|start| bytes.get(start..at)));
            start = Some(at + line.len());
        }
        after_blank = line.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        at += line.len();
    }
    mails.extend(start.and_then(|start| bytes.get(start..)));
    mails
}

/// Without the mark that lines got which began with `From `.
fn unquoted(mail: &[u8]) -> Vec<u8> {
    let lines = mail.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let marks = line.iter().take_while(|byte| **byte == b'>').count();
        let is_quoted = marks > 0 && line.get(marks..).is_some_and(|rest| rest.starts_with(b"From "));
        if is_quoted { line.get(1..).unwrap_or_default() } else { line }
    });
    lines.collect::<Vec<_>>().concat()
}

fn one(message: &Message<'_>, name: &str, budget: &Budget, found: &mut Found) -> Result<()> {
    let mut text = Text::new(budget);
    let subject = message.subject().map(str::trim).filter(|subject| !subject.is_empty());
    if let Some(subject) = subject {
        text.heading(1, subject)?;
    }
    let mut head = Vec::new();
    let people = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    for (label, people) in people.into_iter().filter_map(|(label, people)| Some((label, people?))) {
        head.push(format!("{label}: {}", addresses(people)));
    }
    head.extend(message.date().map(|date| format!("Date: {}", date.to_rfc3339())));
    text.paragraph(&head.join("\n"))?;
    body(message, &mut text)?;
    let mut facts = super::facts([("created", message.date().map(mail_parser::DateTime::to_rfc3339))]);
    let people = [("author", message.from()), ("to", message.to())];
    facts.extend(people.into_iter().filter_map(|(name, people)| Some((name.to_owned(), known_by(people?)))));
    if !text.is_blank() {
        found.documents.push(Extracted::new(name, subject.map(str::to_owned), text, facts));
    } else if message.attachment_count() == 0 {
        return Err(super::no_text());
    }
    let _deeper = budget.deeper()?;
    for (index, part) in message.attachments().enumerate() {
        budget.members(1)?;
        match &part.body {
            PartType::Message(inner) => {
                let name = format!("{name}/{}", index + 1);
                let read = one(inner, &name, budget, found);
                found.unless_skipped(&name, read)?;
            }
            PartType::Multipart(_) => {}
            _ => {
                let own = part.attachment_name().map_or_else(|| format!("attachment {}", index + 1), str::to_owned);
                let is_uu = part.content_transfer_encoding().is_some_and(is_uuencode);
                let unpacked = if is_uu { uudecoded(part.contents()) } else { None };
                super::within(unpacked.as_deref().unwrap_or(part.contents()), &format!("{name}/{own}"), budget, found)?;
            }
        }
    }
    Ok(())
}

/// Whether an encoding is that of before MIME, under the names that programs gave it.
fn is_uuencode(name: &str) -> bool {
    ["x-uuencode", "x-uue", "uuencode"].iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
}

/// What the lines from `begin` to `end` stand for (POSIX.1 `uuencode`); `None` where nothing begins.
fn uudecoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.find(|line| line.starts_with(b"begin "))?;
    let value = |sign: u8| sign.wrapping_sub(b' ') & 0x3f;
    let mut bytes = Vec::new();
    for line in lines.take_while(|line| *line != b"end") {
        let Some((length, signs)) = line.split_first() else { continue };
        let start = bytes.len();
        for four in signs.chunks(4) {
            let at = |place: usize| four.get(place).map_or(0, |sign| value(*sign));
            bytes.extend([at(0) << 2 | at(1) >> 4, at(1) << 4 | at(2) >> 2, at(2) << 6 | at(3)]);
        }
        bytes.truncate(start + usize::from(value(*length)));
    }
    Some(bytes)
}

/// The plain text where there is one, otherwise the marked-up one.
fn body(message: &Message<'_>, text: &mut Text<'_>) -> Result<()> {
    let mut written = Vec::new();
    for id in message.text_body.iter().chain(&message.html_body) {
        if written.contains(id) {
            continue;
        }
        written.push(*id);
        let is_other_form = !message.text_body.contains(id) && !message.text_body.is_empty();
        match message.parts.get(*id as usize).map(|part| &part.body) {
            Some(PartType::Text(plain)) if !is_other_form => {
                for paragraph in plain.replace("\r\n", "\n").split("\n\n") {
                    text.paragraph(paragraph)?;
                }
            }
            Some(PartType::Html(markup)) if !is_other_form => html::whole_text(markup, text)?,
            _ => {}
        }
    }
    Ok(())
}

/// The names and the addresses of people: filters ask for either.
fn known_by(people: &Address<'_>) -> Value {
    let both = people.iter().flat_map(|one| [&one.name, &one.address]).flatten();
    both.take(PEOPLE).map(|text| Value::from(text.as_ref())).collect()
}

fn addresses(people: &Address<'_>) -> String {
    let one = |address: &mail_parser::Addr<'_>| match (&address.name, &address.address) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(either), None) | (None, Some(either)) => either.to_string(),
        (None, None) => String::new(),
    };
    people.iter().map(one).filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::read;
    use crate::model::document::Markup;

    #[test]
    fn a_box_is_cut_between_its_mails_and_nowhere_else() {
        let mbox = b"From a@x Mon\nSubject: 1\n\nHello\n>From here on\nFrom there\n\nFrom b@x Tue\nSubject: 2\n\nBye\n";
        let cut = mails(mbox);
        assert_eq!(cut.len(), 2);
        assert_eq!(unquoted(cut[0]), b"Subject: 1\n\nHello\nFrom here on\nFrom there\n\n");
        assert_eq!(cut[1], b"Subject: 2\n\nBye\n");
        assert!(mails(b"no box").is_empty());
    }

    #[test]
    fn attachments_of_before_mime_are_what_they_stand_for() {
        let mail = b"From: a@b.c\nTo: d@e.f\nSubject: Hare\nContent-Type: multipart/mixed; boundary=X\n\n--X\n\n\
                     See it.\n--X\nContent-Type: text/plain; name=t.txt\nContent-Disposition: attachment; filename=t.txt\n\
                     Content-Transfer-Encoding: x-uuencode\n\nbegin 644 t.txt\n\
                     64VQO=R!B=70@<W1E861Y('=I;G,N\"@  \n`\nend\n\n--X--\n";
        let found = read(mail, "m.eml").unwrap();
        let texts: Vec<&str> = found.documents.iter().skip(1).map(|document| document.text.as_str()).collect();
        assert_eq!(texts, ["Slow but steady wins.\n"]);
        assert_eq!(uudecoded(b"no such lines"), None);
    }

    #[test]
    fn mails_in_many_encodings_are_mails() {
        let head = "From: a@b.c\nTo: d@e.f\nSubject: Saying\nContent-Type: text/plain; charset=";
        let korean = [head.as_bytes(), b"ks_c_5601-1987\nX-Note: caf\xc3\xa9 \xff\n\n\xb0\xa1\xb3\xaa\n"].concat();
        assert!(read(&korean, "k.eml").unwrap().documents[0].text.contains("가나"));
        let odd = b"From: a@b.c\nTo: d@e.f,\nunknown line\nSubject: Odd\n\nHi there\n";
        let read_odd = read(odd, "o.eml").unwrap();
        assert_eq!((read_odd.documents[0].title.as_str(), read_odd.documents[0].markup), ("Odd", Markup::Markdown));
        assert_eq!(read(odd, "o.txt").unwrap().documents[0].markup, Markup::Plain);
        let wide =
            format!("{head}iso-8859-1\n\nÇa va\n").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for wide in [wide.clone(), [b"\xff\xfe".to_vec(), wide].concat()] {
            let found = read(&wide, "w.eml").unwrap();
            assert_eq!(found.documents[0].title, "Saying");
            assert!(found.documents[0].text.contains("Ça va"), "{found:?}");
        }
    }
}
