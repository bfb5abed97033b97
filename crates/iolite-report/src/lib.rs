//! What test runs came to, as one self-contained HTML file.
//!
//! Nothing is loaded when the page is opened, and nothing that a system under test wrote is executed: the
//! page's policy names its own script by hash and allows no other, and every text is escaped.

mod groups;
mod html;
mod page;
mod requirements;
mod response_times;
mod runs;
mod sha256;
mod shrunk;
mod values;

use iolite::{Campaign, Constants, CoveredModel, ValuesTried, Workspace};
use iolite_exec::Journal;
use iolite_formats::drawing::Drawing;

pub use page::page;
pub use shrunk::ShrunkRun;

/// What a page is made of.
pub struct Report<'a> {
    /// The runs.
    pub journal: &'a Journal,
    /// Where the journal is, for the commands that replay a run.
    pub place: String,
    /// Whether these need `--trust`.
    pub trust: bool,
    /// An earlier campaign, to see what changed, and what it is called.
    pub against: Option<(String, &'a Journal)>,
    /// Failing runs that were made shorter.
    pub shrunk: Vec<ShrunkRun>,
    /// What the model adds; none where it is not at hand.
    pub model: Option<ModelPart<'a>>,
}

/// What is known of the model, its picture, and what the runs covered of it.
pub struct ModelPart<'a> {
    campaign: &'a Campaign,
    drawing: Option<Drawing>,
    covered: Option<CoveredModel>,
    constants: Option<Constants>,
    /// What was tried of the data.
    values: Option<ValuesTried>,
    source: Option<String>,
}

/// Transitions that no run took and that are named.
const MOST_LEFT: usize = 500;

/// Steps whose values are looked at: with data, a step is solved and not looked up.
const MOST_VALUED: usize = 50_000;

/// Bytes of a model's text that are shown.
const MOST_SOURCE: usize = 200_000;

impl<'a> ModelPart<'a> {
    /// Walks the runs once more with the model.
    pub fn new(
        campaign: &'a Campaign,
        workspace: &Workspace,
        journal: &Journal,
    ) -> Result<Self, iolite::Error> {
        let learnt = campaign.learnt_from(&journal.events)?;
        let reference = campaign.judge().reference();
        let source = workspace.source(reference.path()).ok();
        let source = source.filter(|source| source.bytes().len() <= MOST_SOURCE);
        Ok(Self {
            drawing: campaign.drawing(workspace),
            covered: campaign.covered_model(&journal.events, MOST_LEFT),
            values: campaign.values_tried(&journal.events, MOST_VALUED)?,
            constants: campaign.judge().constants(&learnt),
            source: source.map(|source| String::from_utf8_lossy(source.bytes()).into_owned()),
            campaign,
        })
    }
}
