//! What the fields of a form hold: programs that fill forms often leave the drawing of it to the viewer
//! (ISO 32000-1, 12.7.3.3).

use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Rect, String as Bytes};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo;

/// Fields of one page, and fields within fields.
const FIELDS: usize = 1_000;
const DEPTH: usize = 16;
/// Flags of what does not show (12.5.3), and of a field for a password (12.7.4.3).
const UNSEEN: u32 = 1 << 1 | 1 << 5;
const PASSWORD: u32 = 1 << 13;

/// The texts and choices of a page's fields, each with its place in the page's own space.
pub(super) fn of_page(page: &Page<'_>) -> Vec<(kurbo::Rect, String)> {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return Vec::new() };
    annotations.iter::<Dict<'_>>().take(FIELDS).filter_map(|widget| of_widget(&widget)).collect()
}

fn of_widget<'a>(widget: &Dict<'a>) -> Option<(kurbo::Rect, String)> {
    if widget.get::<u32>(b"F").unwrap_or_default() & UNSEEN != 0 {
        return None;
    }
    let place = widget.get::<Rect>(b"Rect")?;
    let above = |field: &Dict<'a>| field.get::<Dict<'a>>(b"Parent");
    let fields: Vec<Dict<'a>> = std::iter::successors(Some(widget.clone()), above).take(DEPTH).collect();
    let kind = fields.iter().find_map(|field| field.get::<Name<'a>>(b"FT"))?;
    let flags = fields.iter().find_map(|field| field.get::<u32>(b"Ff")).unwrap_or_default();
    let is_shown = match &*kind {
        b"Tx" => flags & PASSWORD == 0,
        b"Ch" => true,
        _ => false,
    };
    let value = fields.iter().find_map(|field| field.get::<Bytes<'a>>(b"V"))?;
    let text = written(value.as_bytes());
    (is_shown && !text.is_empty()).then(|| (kurbo::Rect::new(place.x0, place.y0, place.x1, place.y1), text))
}

/// A text as the file says it outside of pages, as its title, in UTF-16 with a mark or in bytes.
pub(super) fn written(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0xef, 0xbb, 0xbf, ..] => {
            crate::engine::extract::decode::marked(bytes).unwrap_or_default().into_owned()
        }
        // PDFDocEncoding is near enough.
        bytes => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    };
    crate::engine::extract::write::squeezed(&text.replace('\0', ""))
}

#[cfg(test)]
mod tests {
    use crate::engine::extract::{Budget, pdf};

    #[test]
    fn what_was_filled_in_is_read_though_nothing_draws_it() {
        let form = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
                    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
                    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Annots[4 0 R 6 0 R 7 0 R]>>endobj\n\
                    4 0 obj<</Subtype/Widget/Rect[50 200 200 216]/Parent 5 0 R>>endobj\n\
                    5 0 obj<</FT/Tx/T(town)/V(Ghent)>>endobj\n\
                    6 0 obj<</Subtype/Widget/FT/Tx/Ff 8192/Rect[50 150 200 166]/V(secret)>>endobj\n\
                    7 0 obj<</Subtype/Widget/FT/Tx/F 2/Rect[50 100 200 116]/V(hidden)>>endobj\n\
                    trailer<</Root 1 0 R>>";
        let text = pdf::read(form.as_bytes(), "x.pdf", &Budget::new(0)).unwrap().text;
        assert_eq!(text.trim(), "Ghent");
    }
}
