//! What a chunk of a document is called, everywhere.

use std::fmt;
use std::str::FromStr;

use crate::base::id::Id;
use crate::model::document::Document;

/// The one name of a chunk: its document's id, `#`, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkId {
    pub document: Id<Document>,
    pub index: u32,
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.document, self.index)
    }
}

impl FromStr for ChunkId {
    type Err = ();

    /// With a colon for the `#` it is understood too: ids were written so once.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (document, index) = text.trim().rsplit_once(['#', ':']).ok_or(())?;
        let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        let index = index.parse().ok().filter(|_| is_number).ok_or(())?;
        Ok(Self { document: document.parse().map_err(|_| ())?, index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_chunks_are_read_as_such() {
        let id = "01936f2e-7c1a-7000-8000-000000000002";
        let chunk: ChunkId = format!("{id}#12").parse().unwrap();
        assert_eq!((chunk.document.to_string().as_str(), chunk.index), (id, 12));
        assert_eq!(chunk.to_string(), format!("{id}#12"));
        assert_eq!(format!(" {id}:12 ").parse(), Ok(chunk), "as it was written once");
        for bad in [
            id.to_owned(),
            format!("{id}#"),
            format!("{id}#+1"),
            format!("{id}#-1"),
            format!("{id}#99999999999"),
            "#0".into(),
            "x') UNION SELECT * FROM documents --#0".into(),
        ] {
            assert_eq!(bad.parse::<ChunkId>(), Err(()), "{bad}");
        }
    }
}
