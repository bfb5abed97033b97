//! Requirements by verdicts: observers, purposes and properties, each judged alone on the same runs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use iolite_exec::Summary;

use crate::html::escape;
use crate::page::verdict;
use crate::runs::RunData;

/// Rows of the matrix.
const MOST_ROWS: usize = 200;

/// Runs that are named in a cell.
const MOST_NAMED: usize = 5;

/// The matrix: a row a requirement, a column a verdict, in the cell how many runs and the first of them.
pub(crate) fn write(out: &mut String, runs: &[RunData], summary: &Summary) {
    if summary.goals.is_empty() {
        return;
    }
    let verdicts: BTreeSet<_> = summary.goals.values().flat_map(|v| v.keys()).collect();
    out.push_str(
        "<section aria-labelledby=\"goals\"><h2 id=\"goals\">Requirements</h2><div class=\"scroll\"><table class=\"matrix\"><thead><tr>\
         <th scope=\"col\">observer, purpose or property</th>",
    );
    for name in &verdicts {
        let _ = write!(out, "<th scope=\"col\">{}</th>", verdict(name.name()));
    }
    out.push_str("</tr></thead><tbody>");
    for (goal, counts) in summary.goals.iter().take(MOST_ROWS) {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(goal));
        for name in &verdicts {
            let count = counts.get(*name).copied().unwrap_or_default();
            if count == 0 {
                out.push_str("<td class=\"soft\">–</td>");
                continue;
            }
            let with = runs
                .iter()
                .filter(|run| run.goals.get(goal).is_some_and(|v| v == name.name()));
            let named: Vec<String> = with
                .take(MOST_NAMED)
                .map(|run| format!("<a href=\"#run-{0}\">{0}</a>", run.n))
                .collect();
            let dots = if count > named.len() as u64 {
                ", …"
            } else {
                ""
            };
            let _ = write!(
                out,
                "<td>{count} <span class=\"soft\">(run {}{dots})</span></td>",
                named.join(", ")
            );
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if summary.goals.len() > MOST_ROWS {
        let _ = write!(
            out,
            "<p class=\"soft\">… and {} more</p>",
            summary.goals.len() - MOST_ROWS
        );
    }
    out.push_str("</section>\n");
}
