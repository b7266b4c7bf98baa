//! Code pages by their number, and by the character set of a font.

use std::collections::HashMap;

use encoding_rs::Encoding;

/// The encoding of a Windows code page.
pub(super) fn of_number(number: i64) -> Option<&'static Encoding> {
    let label = match number {
        65001 => "utf-8".to_owned(),
        10000 => "macintosh".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        // The pages of DOS that are near enough in their letters.
        437 | 850 | 819 => "windows-1252".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes())
}

/// The encoding of a font's character set; of none that says nothing.
fn of_charset(charset: i64) -> Option<&'static Encoding> {
    of_number(match charset {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// The table of fonts, as far as their encodings go.
#[derive(Default)]
pub(super) struct Fonts {
    current: Option<i64>,
    known: HashMap<i64, &'static Encoding>,
}

impl Fonts {
    /// The font that is described next.
    pub(super) fn name(&mut self, number: i64) {
        self.current = Some(number);
    }

    pub(super) fn charset(&mut self, charset: i64) {
        if let Some((font, encoding)) = self.current.zip(of_charset(charset)) {
            self.known.insert(font, encoding);
        }
    }

    pub(super) fn encoding(&self, font: i64) -> Option<&'static Encoding> {
        self.known.get(&font).copied()
    }
}
