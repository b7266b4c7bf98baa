//! The change from one time to the next, shown beside the numbers themselves.

use crate::engine::agent::english::time::TimePhrase;

use super::super::items::Kind;
use super::super::sketch::Stride;
use super::Parser;

impl Parser<'_> {
    /// "… and change beside month", as [`super::super::rewrite`] puts it.
    pub(super) fn change_beside(&mut self) -> bool {
        if !self.eat("and change beside") {
            return false;
        }
        let stride = match self.item(0).map(|item| &item.kind) {
            Some(Kind::Time(TimePhrase::Grain(grain))) => Stride::Of(*grain),
            _ => Stride::Any,
        };
        self.at += usize::from(stride != Stride::Any);
        self.sketch.change_beside = Some(stride);
        true
    }
}
