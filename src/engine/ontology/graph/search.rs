//! The shortest ways through relationships, without walking through all of them.
//!
//! First the distance to the target is taken from every state that matters: the dataset, whether rows were shared on
//! the way (a step to one row, so that a later step to many meets rows of others), and how many such turns are left.
//! Then only steps that come nearer are walked, so that each walk is one of the answers.

use std::collections::VecDeque;

use super::{Graph, MAX_STEPS, Step, Steps, Way};

/// How often a way may go from shared rows down into others' rows.
const MAX_TURNS: usize = 2;

/// How many steps longer a way may be that arrives in another role.
const MAX_DETOUR: usize = 2;

/// More equally good ways than this are not told apart.
const MAX_WAYS: usize = 24;

/// Steps looked at for ways that must use named relationships.
const MAX_WORK: usize = 200_000;

const FAR: u8 = u8::MAX;

struct Search<'g> {
    graph: &'g Graph,
    target: usize,
    via: &'g [usize],
    steps: Steps,
    /// By state: the fewest steps to the target.
    distance: Vec<u8>,
    found: Vec<Way>,
    work: usize,
}

/// What has been walked.
struct Walk {
    way: Way,
    seen: Vec<usize>,
}

/// All of the best ways.
pub(super) fn ways(graph: &Graph, from: usize, to: usize, via: &[usize], steps: Steps) -> Vec<Way> {
    let mut search = Search { graph, target: to, via, steps, distance: Vec::new(), found: Vec::new(), work: 0 };
    // A way to one row is better than any other, however long.
    search.steps = Steps::ToOne;
    search.run(from, 0);
    if search.found.is_empty() && steps == Steps::Any {
        search.steps = Steps::Any;
        for turns in 0..=MAX_TURNS {
            search.run(from, turns);
            if !search.found.is_empty() {
                break;
            }
        }
        let many = |way: &Way| way.iter().filter(|step| step.to_many).count();
        let fewest = search.found.iter().map(many).min().unwrap_or_default();
        search.found.retain(|way| many(way) == fewest);
    }
    search.found
}

impl Search<'_> {
    fn state(dataset: usize, shared: bool, turns: usize) -> usize {
        (dataset * 2 + usize::from(shared)) * (MAX_TURNS + 1) + turns
    }

    /// From a state to the target, as far as it was measured.
    fn distance(&self, dataset: usize, shared: bool, turns: usize) -> u8 {
        self.distance.get(Self::state(dataset, shared, turns)).copied().unwrap_or(FAR)
    }

    /// The state after a step, if it may be taken with `turns` left.
    fn after(&self, shared: bool, turns: usize, step: &Step) -> Option<(bool, usize)> {
        match (self.steps, step.to_many) {
            (Steps::ToOne, true) => None,
            (_, false) => Some((shared || step.shares, turns)),
            (Steps::Any, true) if shared => turns.checked_sub(1).map(|turns| (false, turns)),
            (Steps::Any, true) => Some((false, turns)),
        }
    }

    /// Finds the shortest ways with at most this many turns.
    fn run(&mut self, from: usize, turns: usize) {
        self.measure(turns);
        let nearest = self.distance(from, false, turns);
        let round = from == self.target;
        let shortest = if round { 1 } else { usize::from(nearest) };
        let longest = if self.via.is_empty() { shortest } else { MAX_STEPS };
        for length in shortest..=longest.min(MAX_STEPS) {
            self.walk_all(from, turns, length);
            if !self.found.is_empty() || self.work > MAX_WORK {
                break;
            }
        }
        // What a row refers to itself is what is meant. Beyond that length tells nothing: a sale's nation can be its
        // supplier's or, one step further, its customer's.
        let length = self.found.first().map_or(0, Vec::len);
        if self.steps == Steps::ToOne && self.via.is_empty() && length > 1 {
            let arrives = |way: &Way| way.last().map(|step| step.relationship);
            for length in length + 1..=(length + MAX_DETOUR).min(MAX_STEPS) {
                let before = self.found.len();
                self.walk_all(from, turns, length);
                let (known, further) = self.found.split_at(before);
                let other = |way: &&Way| known.iter().all(|it| arrives(it) != arrives(way));
                let further: Vec<Way> = further.iter().filter(other).cloned().collect();
                self.found.truncate(before);
                self.found.extend(further);
            }
        }
    }

    fn walk_all(&mut self, from: usize, turns: usize, length: usize) {
        let round = from == self.target;
        let mut walk = Walk { way: Vec::new(), seen: if round { Vec::new() } else { vec![from] } };
        self.walk(from, false, turns, length, &mut walk);
    }

    /// Backwards from the target, in rounds.
    fn measure(&mut self, turns: usize) {
        let graph = self.graph;
        let states = self.graph.leaving.len() * 2 * (MAX_TURNS + 1);
        self.distance = vec![FAR; states];
        let mut queue = VecDeque::new();
        for left in 0..=turns {
            for shared in [false, true] {
                if let Some(distance) = self.distance.get_mut(Self::state(self.target, shared, left)) {
                    *distance = 0;
                }
                queue.push_back((self.target, shared, left));
            }
        }
        while let Some((dataset, shared, left)) = queue.pop_front() {
            let here = self.distance(dataset, shared, left);
            if usize::from(here) >= MAX_STEPS {
                continue;
            }
            for back in graph.leaving(dataset) {
                // The step that arrives here is the counterpart of one that leaves.
                let Some(step) = self.counterpart(back) else { continue };
                for (was_shared, had) in [(false, left), (true, left), (true, left + 1)] {
                    if had > turns || self.after(was_shared, had, &step) != Some((shared, left)) {
                        continue;
                    }
                    let distance = self.distance.get_mut(Self::state(step.from, was_shared, had));
                    if let Some(distance) = distance.filter(|distance| **distance == FAR) {
                        *distance = here + 1;
                        queue.push_back((step.from, was_shared, had));
                    }
                }
            }
        }
    }

    fn counterpart(&self, step: &Step) -> Option<Step> {
        let [there, back] = self.graph.edge(step).steps?;
        Some(if step.forward { back } else { there })
    }

    fn walk(&mut self, at: usize, shared: bool, turns: usize, left: usize, walk: &mut Walk) {
        if left == 0 {
            let uses_all = self.via.iter().all(|demanded| walk.way.iter().any(|step| step.relationship == *demanded));
            if at == self.target && uses_all {
                self.found.push(walk.way.clone());
            }
            return;
        }
        let graph = self.graph;
        for step in graph.leaving(at) {
            self.work += 1;
            if self.found.len() >= MAX_WAYS || self.work > MAX_WORK {
                return;
            }
            let Some((shared, turns)) = self.after(shared, turns, step) else { continue };
            let rest = usize::from(self.distance(step.to, shared, turns));
            let passes = step.to == self.target && left > 1;
            if rest > left - 1 || passes || walk.seen.contains(&step.to) {
                continue;
            }
            walk.seen.push(step.to);
            walk.way.push(*step);
            self.walk(step.to, shared, turns, left - 1, walk);
            walk.way.pop();
            walk.seen.pop();
        }
    }
}
