//! What is said in a conversation: replies to questions back, questions that rest on the one before, and a person's own
//! words.

pub(super) mod about_answer;
pub(super) mod choose;
pub(super) mod follow;
pub(super) mod own_words;
pub(super) mod points_back;
pub(super) mod regroup;
pub(super) mod variations;
