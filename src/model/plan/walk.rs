//! The one walk over what plans hold inside each other: conditions hold conditions and measures, measures hold measures
//! and conditions. A new kind of either says here what is inside it, and every walk knows.

use super::{Condition, FieldRef, Measure, Plan, Value};

/// A condition or a measure, wherever in a plan it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node<'p> {
    Condition(&'p Condition),
    Measure(&'p Measure),
}

/// The same, to be changed.
#[derive(Debug, PartialEq)]
pub enum NodeMut<'p> {
    Condition(&'p mut Condition),
    Measure(&'p mut Measure),
}

impl Plan {
    /// All measures and conditions, also those inside others: the measures first, each before what is inside it.
    pub fn nodes(&self) -> Vec<Node<'_>> {
        let measures = self.measures.iter().map(Node::Measure);
        measures.chain(self.filters.iter().map(Node::Condition)).flat_map(Node::all).collect()
    }

    /// Shows each of [`Plan::nodes`], in their order, to be changed.
    pub fn walk_mut(&mut self, see: &mut impl FnMut(NodeMut<'_>)) {
        self.measures.iter_mut().for_each(|measure| NodeMut::Measure(measure).walk(see));
        self.filters.iter_mut().for_each(|condition| NodeMut::Condition(condition).walk(see));
    }
}

impl<'p> Node<'p> {
    /// Itself and all that is inside it.
    pub fn all(self) -> Vec<Self> {
        let mut found = vec![self];
        found.extend(self.children().into_iter().flat_map(Self::all));
        found
    }

    fn children(self) -> Vec<Self> {
        match self {
            Node::Condition(condition) => condition.children(),
            Node::Measure(measure) => measure.children(),
        }
    }
}

impl NodeMut<'_> {
    fn walk(self, see: &mut impl FnMut(NodeMut<'_>)) {
        let children = match self {
            NodeMut::Condition(condition) => {
                see(NodeMut::Condition(condition));
                condition.children_mut()
            }
            NodeMut::Measure(measure) => {
                see(NodeMut::Measure(measure));
                measure.children_mut()
            }
        };
        children.into_iter().for_each(|child| child.walk(see));
    }
}

impl Condition {
    /// What is directly inside it.
    pub fn children(&self) -> Vec<Node<'_>> {
        match self {
            Condition::Exists { filters: parts, .. } | Condition::Any(parts) | Condition::All(parts) => {
                parts.iter().map(Node::Condition).collect()
            }
            Condition::Not(inner) => vec![Node::Condition(inner)],
            Condition::Measured { measure, .. } => vec![Node::Measure(measure)],
            Condition::Compare { .. }
            | Condition::CompareFields { .. }
            | Condition::In { .. }
            | Condition::Like { .. }
            | Condition::IsNull { .. }
            | Condition::Within { .. }
            | Condition::OnDays { .. }
            | Condition::AtHours { .. }
            | Condition::Segment { .. }
            | Condition::AgainstOverall { .. } => Vec::new(),
        }
    }

    /// Itself, or those of which it says that they hold together.
    pub fn together(&self) -> Vec<&Condition> {
        match self {
            Condition::All(parts) => parts.iter().flat_map(Condition::together).collect(),
            one => vec![one],
        }
    }

    /// What is directly inside it, to be changed.
    pub fn children_mut(&mut self) -> Vec<NodeMut<'_>> {
        match self {
            Condition::Exists { filters: parts, .. } | Condition::Any(parts) | Condition::All(parts) => {
                parts.iter_mut().map(NodeMut::Condition).collect()
            }
            Condition::Not(inner) => vec![NodeMut::Condition(inner)],
            Condition::Measured { measure, .. } => vec![NodeMut::Measure(measure)],
            Condition::Compare { .. }
            | Condition::CompareFields { .. }
            | Condition::In { .. }
            | Condition::Like { .. }
            | Condition::IsNull { .. }
            | Condition::Within { .. }
            | Condition::OnDays { .. }
            | Condition::AtHours { .. }
            | Condition::Segment { .. }
            | Condition::AgainstOverall { .. } => Vec::new(),
        }
    }

    /// The fields that it names itself, not those of what is inside it.
    pub fn fields(&self) -> Vec<&FieldRef> {
        match self {
            Condition::Compare { field, .. }
            | Condition::In { field, .. }
            | Condition::Like { field, .. }
            | Condition::IsNull { field, .. }
            | Condition::Within { field, .. }
            | Condition::OnDays { field, .. }
            | Condition::AtHours { field, .. }
            | Condition::AgainstOverall { field, .. } => vec![field],
            Condition::CompareFields { left, right, .. } => vec![left, right],
            Condition::Segment { .. }
            | Condition::Exists { .. }
            | Condition::Measured { .. }
            | Condition::Any(_)
            | Condition::All(_)
            | Condition::Not(_) => Vec::new(),
        }
    }

    /// The fields that it names itself, to be changed.
    pub fn fields_mut(&mut self) -> Vec<&mut FieldRef> {
        match self {
            Condition::Compare { field, .. }
            | Condition::In { field, .. }
            | Condition::Like { field, .. }
            | Condition::IsNull { field, .. }
            | Condition::Within { field, .. }
            | Condition::OnDays { field, .. }
            | Condition::AtHours { field, .. }
            | Condition::AgainstOverall { field, .. } => vec![field],
            Condition::CompareFields { left, right, .. } => vec![left, right],
            Condition::Segment { .. }
            | Condition::Exists { .. }
            | Condition::Measured { .. }
            | Condition::Any(_)
            | Condition::All(_)
            | Condition::Not(_) => Vec::new(),
        }
    }
}

impl Measure {
    /// What is directly inside it: the measures that it is made from, and then its own conditions.
    pub fn children(&self) -> Vec<Node<'_>> {
        let made_from = self.value.measures().into_iter().map(Node::Measure);
        made_from.chain(self.filters.iter().map(Node::Condition)).collect()
    }

    /// What is directly inside it, to be changed.
    pub fn children_mut(&mut self) -> Vec<NodeMut<'_>> {
        let made_from = self.value.measures_mut().into_iter().map(NodeMut::Measure);
        made_from.chain(self.filters.iter_mut().map(NodeMut::Condition)).collect()
    }
}

impl Value {
    /// The measures that it is made from.
    pub fn measures(&self) -> Vec<&Measure> {
        match self {
            Value::Ratio { numerator: one, denominator: other } | Value::Difference(one, other) => vec![one, other],
            Value::Sum(parts) => parts.iter().collect(),
            Value::Over { measure, .. } => vec![measure],
            Value::Metric(_) | Value::Count(_) | Value::Aggregate { .. } | Value::Days { .. } | Value::Number(_) => {
                Vec::new()
            }
        }
    }

    fn measures_mut(&mut self) -> Vec<&mut Measure> {
        match self {
            Value::Ratio { numerator: one, denominator: other } | Value::Difference(one, other) => vec![one, other],
            Value::Sum(parts) => parts.iter_mut().collect(),
            Value::Over { measure, .. } => vec![measure],
            Value::Metric(_) | Value::Count(_) | Value::Aggregate { .. } | Value::Days { .. } | Value::Number(_) => {
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Comparator, Dimension, Literal, Pattern, Window};
    use super::*;
    use crate::model::ontology::Aggregation;

    /// Gives each thing inside a sample a name of its own.
    #[derive(Default)]
    struct Marks(usize);

    impl Marks {
        fn name(&mut self) -> String {
            self.0 += 1;
            format!("mark {}", self.0)
        }

        fn condition(&mut self) -> Condition {
            Condition::Segment { name: self.name(), negated: false }
        }

        fn conditions(&mut self) -> Vec<Condition> {
            vec![self.condition(), self.condition()]
        }

        fn measure(&mut self) -> Box<Measure> {
            Box::new(Measure { filters: self.conditions(), ..Measure::metric(self.name()) })
        }

        fn field(&mut self) -> FieldRef {
            FieldRef::new("d", self.name())
        }
    }

    /// A condition of each kind; the number is that of its kind, so that a new one is missed.
    fn kind(condition: &Condition) -> usize {
        match condition {
            Condition::Compare { .. } => 0,
            Condition::CompareFields { .. } => 1,
            Condition::In { .. } => 2,
            Condition::Like { .. } => 3,
            Condition::IsNull { .. } => 4,
            Condition::Within { .. } => 5,
            Condition::OnDays { .. } => 6,
            Condition::AtHours { .. } => 7,
            Condition::Segment { .. } => 8,
            Condition::Exists { .. } => 9,
            Condition::Measured { .. } => 10,
            Condition::AgainstOverall { .. } => 11,
            Condition::Any(_) => 12,
            Condition::All(_) => 13,
            Condition::Not(_) => 14,
        }
    }

    fn conditions(marks: &mut Marks) -> Vec<Condition> {
        let (op, value) = (Comparator::Equal, Literal::Bool(true));
        vec![
            Condition::Compare { field: marks.field(), op, value: value.clone() },
            Condition::CompareFields { left: marks.field(), op, right: marks.field() },
            Condition::In { field: marks.field(), values: vec![value.clone()], negated: false },
            Condition::Like { field: marks.field(), pattern: Pattern::Contains, text: "t".into(), negated: false },
            Condition::IsNull { field: marks.field(), negated: false },
            Condition::Within { field: marks.field(), window: Window::default(), negated: false },
            Condition::OnDays { field: marks.field(), days: vec![1], negated: false },
            Condition::AtHours { field: marks.field(), from: 1, to: 2, negated: false },
            marks.condition(),
            Condition::Exists {
                of: "d".into(),
                dataset: "e".into(),
                via: vec![],
                filters: marks.conditions(),
                negated: false,
            },
            Condition::Measured { of: "d".into(), measure: marks.measure(), op, value },
            Condition::AgainstOverall { field: marks.field(), op, function: Aggregation::Avg },
            Condition::Any(marks.conditions()),
            Condition::All(marks.conditions()),
            Condition::Not(Box::new(marks.condition())),
        ]
    }

    /// As for conditions.
    fn kind_of_value(value: &Value) -> usize {
        match value {
            Value::Metric(_) => 0,
            Value::Count(_) => 1,
            Value::Aggregate { .. } => 2,
            Value::Ratio { .. } => 3,
            Value::Days { .. } => 4,
            Value::Sum(_) => 5,
            Value::Difference(..) => 6,
            Value::Over { .. } => 7,
            Value::Number(_) => 8,
        }
    }

    fn measures(marks: &mut Marks) -> Vec<Measure> {
        let function = Aggregation::Avg;
        let plain = FieldRef::new("d", "plain");
        let values = [
            Value::Metric(marks.name()),
            Value::Count("d".into()),
            Value::Aggregate { function, field: plain.clone() },
            Value::Ratio { numerator: marks.measure(), denominator: marks.measure() },
            Value::Days { function, from: plain.clone(), to: plain.clone() },
            Value::Sum(vec![*marks.measure(), *marks.measure()]),
            Value::Difference(marks.measure(), marks.measure()),
            Value::Over { function, measure: marks.measure(), by: vec![Dimension::of(plain)] },
            Value::Number(1.into()),
        ];
        values.map(|value| Measure { filters: marks.conditions(), ..Measure::of(value) }).into()
    }

    fn marks_of_condition(condition: &Condition) -> Vec<String> {
        match condition {
            Condition::Segment { name, .. } => vec![name.clone()],
            other => other.fields().into_iter().map(|field| field.field.clone()).collect(),
        }
    }

    fn mark_of_measure(measure: &Measure) -> Option<String> {
        if let Value::Metric(name) = &measure.value { Some(name.clone()) } else { None }
    }

    #[test]
    fn everything_inside_of_every_kind_is_met_once() {
        let mut marks = Marks::default();
        let mut plan = Plan { measures: measures(&mut marks), filters: conditions(&mut marks), ..Plan::default() };
        let kinds: Vec<usize> = plan.filters.iter().map(kind).collect();
        assert_eq!(kinds, (0..=14).collect::<Vec<_>>());
        let kinds: Vec<usize> = plan.measures.iter().map(|measure| kind_of_value(&measure.value)).collect();
        assert_eq!(kinds, (0..=8).collect::<Vec<_>>());

        let mut seen: Vec<String> = Vec::new();
        for node in plan.nodes() {
            match node {
                Node::Condition(condition) => seen.extend(marks_of_condition(condition)),
                Node::Measure(measure) => seen.extend(mark_of_measure(measure)),
            }
        }
        let all: BTreeSet<String> = (1..=marks.0).map(|mark| format!("mark {mark}")).collect();
        assert_eq!(seen.iter().cloned().collect::<BTreeSet<_>>(), all);
        assert_eq!(seen.len(), all.len());

        let mut changed: Vec<String> = Vec::new();
        plan.walk_mut(&mut |node| match node {
            NodeMut::Condition(condition) => {
                changed.extend(marks_of_condition(condition));
                condition.fields_mut().into_iter().for_each(|field| field.dataset.push('+'));
            }
            NodeMut::Measure(measure) => changed.extend(mark_of_measure(measure)),
        });
        assert_eq!(changed, seen);
        let fields = plan.filters.iter().flat_map(Condition::fields).collect::<Vec<_>>();
        assert!(fields.len() == 10 && fields.iter().all(|field| field.dataset == "d+"));
    }

    #[test]
    fn measures_come_before_their_conditions_and_after_what_holds_them() {
        let mut marks = Marks::default();
        let (one, other) = (marks.measure(), marks.measure());
        let measure = Measure { filters: marks.conditions(), ..Measure::of(Value::Difference(one, other)) };
        let names: Vec<String> = Node::Measure(&measure)
            .all()
            .into_iter()
            .flat_map(|node| match node {
                Node::Condition(condition) => marks_of_condition(condition),
                Node::Measure(measure) => mark_of_measure(measure).into_iter().collect(),
            })
            .collect();
        assert_eq!(names, ["mark 3", "mark 1", "mark 2", "mark 6", "mark 4", "mark 5", "mark 7", "mark 8"]);
    }
}
