//! The glyphs of a page, each with its place. Drawing is interpreted as for a screen, and only text is kept.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::Dict;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, TransformExt as _, interpret_page,
};
use serde_json::json;

use super::{direction, fields};

use crate::model::error::{Code, Error, Result};

/// Glyphs of one page; a page of a newspaper has some ten thousand.
const GLYPHS: usize = 300_000;
/// The em of a font, in the units of its glyphs.
const EM: f64 = 1_000.0;
/// The weight from which letters are bold.
const BOLD: u32 = 600;
/// The size of letters where no others stand.
const PLAIN: f64 = 10.0;

/// A glyph, upright in its own direction of writing: `y` grows downwards.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) text: String,
    pub(super) x0: f64,
    pub(super) x1: f64,
    /// The baseline.
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) is_bold: bool,
}

/// The glyphs of a page in the order of its drawing, those that stand upright and those in each turned direction.
#[derive(Default)]
pub(super) struct Glyphs {
    pub(super) turned: [Vec<Placed>; 4],
    pub(super) height: f64,
}

/// What was met beside text, over all pages.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) images: usize,
    /// Glyphs whose letter is not known.
    pub(super) unnamed: usize,
}

/// The pages, one after the other.
pub(super) fn pages<'p>(pdf: &'p Pdf, seen: &'p mut Seen) -> impl Iterator<Item = Result<Glyphs>> + 'p {
    let cache = InterpreterCache::new();
    pdf.pages().iter().map(move |page| of_page(page, pdf, &cache, seen))
}

fn of_page<'a>(page: &Page<'a>, pdf: &'a Pdf, cache: &InterpreterCache<'a>, seen: &mut Seen) -> Result<Glyphs> {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let transform = page.initial_transform(true).to_kurbo();
    let mut context = Context::new(transform, bounds, cache, pdf.xref(), InterpreterSettings::default());
    let mut collector = Collector { bounds, ..Collector::default() };
    interpret_page(page, &mut context, &mut collector);
    collector.add_fields(fields::of_page(page), transform);
    if collector.count > GLYPHS {
        let message = format!("a page has more than {GLYPHS} letters.");
        return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "glyphs", "max": GLYPHS })));
    }
    seen.images += collector.images;
    seen.unnamed += collector.unnamed;
    let has_text = collector.glyphs.turned.iter().any(|glyphs| !glyphs.is_empty());
    // What is marked as no content is taken where nothing else is there.
    let glyphs = if has_text { collector.glyphs } else { collector.artifacts };
    Ok(Glyphs { height: f64::from(height), ..glyphs })
}

#[derive(Default)]
struct Collector {
    bounds: Rect,
    glyphs: Glyphs,
    artifacts: Glyphs,
    count: usize,
    images: usize,
    unnamed: usize,
    /// Open marked content, and whether each is an artifact: page numbers, rules, backgrounds.
    marked: Vec<bool>,
}

impl Collector {
    /// Adds what fields hold in which nothing is drawn.
    fn add_fields(&mut self, fields: Vec<(Rect, String)>, transform: Affine) {
        let Some(upright) = self.glyphs.turned.first_mut().filter(|_| !fields.is_empty()) else { return };
        let mut sizes: Vec<f64> = upright.iter().map(|glyph| glyph.size).collect();
        sizes.sort_by(f64::total_cmp);
        let usual = sizes.get(sizes.len() / 2).copied().unwrap_or(PLAIN);
        for (place, text) in fields {
            let place = transform.transform_rect_bbox(place);
            let is_drawn = |glyph: &Placed| {
                place.contains(Point::new(glyph.x0, glyph.y)) && glyph.text.contains(char::is_alphanumeric)
            };
            let size = usual.min(place.height());
            if size < 0.5 || !self.bounds.contains(place.center()) || upright.iter().any(is_drawn) {
                continue;
            }
            let x1 = (place.x0 + text.chars().count() as f64 * size / 2.0).min(place.x1);
            let y = place.center().y + size / 3.0;
            upright.push(Placed { text: direction::as_read(&text), x0: place.x0, x1, y, size, is_bold: false });
        }
    }

    fn add(&mut self, glyph: &Glyph<'_>, transform: Affine, is_bold: bool) {
        self.count += 1;
        if self.count > GLYPHS {
            return;
        }
        let advance = match glyph {
            Glyph::Outline(outline) => outline.advance_width().map_or(EM / 2.0, f64::from),
            Glyph::Type3(drawn) => drawn.advance_width().map_or(EM / 2.0, f64::from),
        };
        let text = match glyph.as_unicode() {
            Some(BfString::Char(c)) => c.to_string(),
            Some(BfString::String(text)) => text,
            None => {
                self.unnamed += 1;
                return;
            }
        };
        let (start, end, up) =
            (transform * Point::ZERO, transform * Point::new(advance, 0.0), transform * Point::new(0.0, EM));
        let size = (up - start).hypot();
        let is_on_page = self.bounds.inflate(size, size).contains(start);
        if !is_on_page || !(0.5..2_000.0).contains(&size) || !start.is_finite() || !end.is_finite() {
            return;
        }
        // The direction of writing, in quarters of a turn: what stands upright from there.
        let along = transform * Point::new(EM, 0.0) - start;
        let (turn, x0, x1, y) = match (along.x.abs() >= along.y.abs(), along.x >= 0.0, along.y >= 0.0) {
            (true, true, _) => (0, start.x, end.x, start.y),
            (true, false, _) => (2, -start.x, -end.x, -start.y),
            (false, _, true) => (1, start.y, end.y, -start.x),
            (false, _, false) => (3, -start.y, -end.y, start.x),
        };
        // As it is seen, also where one glyph is several letters.
        let text = direction::as_read(&text.chars().map(expanded).collect::<Vec<_>>().concat());
        let placed = Placed { text, x0: x0.min(x1), x1: x0.max(x1), y, size, is_bold };
        let of = if self.marked.contains(&true) { &mut self.artifacts } else { &mut self.glyphs };
        if let Some(glyphs) = of.turned.get_mut(turn) {
            glyphs.push(placed);
        }
    }
}

/// Ligatures are their letters.
fn expanded(c: char) -> String {
    let letters = match c {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        '\u{a0}' | '\t' | '\r' | '\n' => " ",
        '\u{0}'..='\u{1f}' => "",
        c => return c.to_string(),
    };
    letters.to_owned()
}

impl<'a> Device<'a> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        let is_bold = run.glyphs().first().is_some_and(|first| match &**first {
            Glyph::Outline(outline) => outline.font_data().is_some_and(|font| {
                let says =
                    |name: &String| name.to_lowercase().contains("bold") || name.to_lowercase().contains("black");
                font.weight.is_some_and(|weight| weight >= BOLD) || font.postscript_name.as_ref().is_some_and(says)
            }),
            Glyph::Type3(_) => false,
        });
        for glyph in run.glyphs() {
            self.add(glyph, props.transform * glyph.transform(), is_bold);
        }
    }

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.images += 1;
    }

    fn begin_marked_content(&mut self, tag: &[u8], _: Option<&Dict<'_>>) {
        self.marked.push(tag == b"Artifact");
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
