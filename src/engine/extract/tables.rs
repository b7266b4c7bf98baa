//! Tables as they are met in markup, one within the other. An inner one becomes text of the cell that holds it.

/// Cells that one cell may stand for.
const SPAN: usize = 64;

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    /// Cells beside the newest that it takes too.
    beside: usize,
}

#[derive(Default)]
pub(super) struct Tables(Vec<Table>);

impl Tables {
    pub(super) fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn open(&mut self) {
        self.0.push(Table::default());
    }

    pub(super) fn row(&mut self) {
        if let Some(table) = self.0.last_mut() {
            table.end_row();
        }
    }

    pub(super) fn cell(&mut self) {
        if let Some(table) = self.0.last_mut() {
            table.end_cell();
            table.row.push(String::new());
        }
    }

    /// The newest cell is so many wide.
    pub(super) fn span(&mut self, cells: usize) {
        if let Some(table) = self.0.last_mut() {
            table.beside = cells.clamp(1, SPAN) - 1;
        }
    }

    /// Adds a line to the newest cell.
    pub(super) fn add(&mut self, text: &str) {
        let text = text.trim();
        let Some(cell) = self.0.last_mut().and_then(|table| table.row.last_mut()).filter(|_| !text.is_empty()) else {
            return;
        };
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(text);
    }

    /// The rows of the outermost table, when that is what ends.
    pub(super) fn close(&mut self) -> Option<Vec<Vec<String>>> {
        let mut table = self.0.pop()?;
        table.end_row();
        if !self.is_open() {
            return Some(table.rows);
        }
        for row in table.rows {
            self.add(&row.join(" "));
        }
        None
    }
}

impl Table {
    fn end_cell(&mut self) {
        let beside = std::mem::take(&mut self.beside);
        self.row.extend(std::iter::repeat_n(String::new(), beside));
    }

    fn end_row(&mut self) {
        self.end_cell();
        let row = std::mem::take(&mut self.row);
        if !row.is_empty() {
            self.rows.push(row);
        }
    }
}
