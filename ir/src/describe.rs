//! x
use crate::track::Track;
impl Track {
    /// text
    pub fn describe(&self) -> String {
        String::new()
    }
}
