//! A chart as SVG: no scripts, no fonts and no pictures from elsewhere, readable by people who see few colours or
//! none, on light and on dark ground.

mod bars;
pub(super) mod canvas;
mod describe;
mod frame;
mod lines;
pub(super) mod paint;
mod pie;
mod points;
mod scale;
pub(super) mod text;

use crate::model::chart::{ChartSpec, ChartType, Layout};

use canvas::Canvas;
pub use paint::{Theme, dark_rules};
use text::{escaped, label};

/// Bytes of a picture at most. What has more loses the texts that are shown when something is pointed at.
const LARGEST: usize = 200_000;

/// Draws a chart that [`super::validate()`] has found whole. Equal charts are drawn as equal texts. In the picture every
/// painted element has a class `dg-f-…` (fill) or `dg-k-…` (stroke), for pages with a theme of their own.
pub fn svg(spec: &ChartSpec, theme: Theme) -> String {
    let picture = drawn(spec, theme, true);
    if picture.len() <= LARGEST { picture } else { drawn(spec, theme, false) }
}

fn drawn(spec: &ChartSpec, theme: Theme, tips: bool) -> String {
    let mut canvas = Canvas::new(theme == Theme::Dark, tips);
    let height = match spec.r#type {
        ChartType::Bar if spec.layout == Some(Layout::Horizontal) => bars::horizontal(spec, &mut canvas),
        ChartType::Bar => bars::vertical(spec, &mut canvas),
        ChartType::Line => lines::draw(spec, &mut canvas),
        ChartType::Pie => pie::draw(spec, &mut canvas),
        ChartType::Scatter => points::draw(spec, &mut canvas),
    };
    let title = escaped(&label(&spec.title));
    let summary = escaped(&describe::summary(spec));
    let (width, height) = (canvas::number(frame::WIDTH), canvas::number(height));
    let style = match theme {
        Theme::Auto => format!("<style>@media (prefers-color-scheme:dark){{{}}}</style>\n", dark_rules()),
        Theme::Light | Theme::Dark => String::new(),
    };
    let mut ground = Canvas::new(theme == Theme::Dark, false);
    ground.rect((0.0, 0.0), (frame::WIDTH, height.parse().unwrap_or_default()), paint::Paint::Ground, "");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{title}. {summary}\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">\n\
         <title>{title}</title>\n<desc>{summary}</desc>\n{style}{}{}</svg>\n",
        ground.into_body(),
        canvas.into_body()
    )
}

#[cfg(test)]
mod tests;
