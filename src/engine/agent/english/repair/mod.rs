//! Where a question cannot be read as it stands: slips are put right, other words for it are tried, what may be meant is
//! asked back, and what cannot be answered is declined with a reason that helps.

pub(super) mod advice;
pub(super) mod future;
pub(super) mod left_out_words;
pub(super) mod other_orders;
pub(super) mod refuse;
pub(super) mod spelling;
pub(super) mod unclear;
pub(super) mod vague;
