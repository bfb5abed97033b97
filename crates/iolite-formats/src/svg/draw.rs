//! The drawing itself.

use std::fmt::{self, Write};

use iolite_lts::LabelKind;

use super::layers::{Edge, FONT, LINE, Layers, Line, lines_width, node_name, width};
use super::place::Layout;
use crate::drawing::{Drawing, Node, NodeId};

const RADIUS: f64 = 18.0;

pub(super) fn draw(
    drawing: &Drawing,
    layers: &Layers,
    layout: &Layout,
    out: &mut dyn Write,
) -> fmt::Result {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" font-family=\"sans-serif\" font-size=\"{FONT}\">",
        w = layout.width,
        h = layout.height
    )?;
    out.write_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 1 L9 5 L0 9 z\" fill=\"#444\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
    )?;
    out.write_str("<g fill=\"none\" stroke=\"#444\" stroke-width=\"1.2\">\n")?;
    for edge in &layers.edges {
        edge_path(drawing, layers, layout, edge, out)?;
    }
    for (k, item) in layers.items.iter().enumerate() {
        let Some(state) = item.state else { continue };
        let (x, y) = (layout.x[k], layout.y[k]);
        let half = half_width(drawing, state);
        if layers.loops.contains_key(&state) {
            let x = x + half - 2.0;
            writeln!(
                out,
                "<path data-edge=\"{k}-{k}\" d=\"M{x:.1} {a:.1} C{b:.1} {c:.1} {b:.1} {d:.1} {x:.1} {e:.1}\" marker-end=\"url(#arrow)\"{taken}/>",
                taken = taken(drawing, state, state),
                k = state.index(),
                a = y - 7.0,
                b = x + 26.0,
                c = y - 16.0,
                d = y + 16.0,
                e = y + 7.0
            )?;
        }
        if drawing.initial == Some(state) {
            writeln!(
                out,
                "<path d=\"M{:.1} {y:.1} L{:.1} {y:.1}\" marker-end=\"url(#arrow)\"/>",
                x - half - 26.0,
                x - half - 1.0
            )?;
        }
    }
    out.write_str("</g>\n")?;
    for edge in &layers.edges {
        let at = edge.path[edge.label];
        label(
            &edge.lines,
            edge.tooltip.as_deref(),
            layout.x[at],
            layout.y[at],
            out,
        )?;
    }
    for (k, item) in layers.items.iter().enumerate() {
        let Some(state) = item.state else { continue };
        let (x, y) = (layout.x[k], layout.y[k]);
        let half = half_width(drawing, state);
        if let Some(lines) = layers.loops.get(&state) {
            let middle = x + half + 24.0 + lines_width(lines) / 2.0;
            label(lines, None, middle, y, out)?;
        }
        let node = drawing.node(state);
        let shown = node_name(drawing, state);
        let mut told: Vec<&str> = node.tooltip.as_deref().into_iter().collect();
        if shown != node.name {
            told.insert(0, &node.name);
        }
        let tooltip = title(&told.join("\n"));
        writeln!(
            out,
            "<rect data-state=\"{}\"{} data-name=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{}\" fill=\"#{}\" {}>{tooltip}</rect>",
            state.index(),
            members(node),
            escape(&node.name),
            x - half,
            y - RADIUS,
            2.0 * half,
            2.0 * RADIUS,
            if node.is_box { 2.0 } else { RADIUS },
            node.meaning.fill(),
            frame(drawing, state)
        )?;
        if node.accepting {
            writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{}\" fill=\"none\" stroke=\"#333\"/>",
                x - half + 3.0,
                y - RADIUS + 3.0,
                2.0 * half - 6.0,
                2.0 * RADIUS - 6.0,
                RADIUS - 3.0
            )?;
        }
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            y + FONT * 0.36,
            escape(&shown)
        )?;
    }
    out.write_str("</svg>\n")
}

/// The numbers that the states of a folded node had before.
fn members(node: &Node) -> String {
    if node.members.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = node
        .members
        .iter()
        .map(|id| id.index().to_string())
        .collect();
    format!(" data-members=\"{}\"", numbers.join(" "))
}

/// How a step that the run took is drawn.
fn taken(drawing: &Drawing, source: NodeId, target: NodeId) -> &'static str {
    match &drawing.path {
        Some(path) if path.has_step(source, target) => {
            " data-taken=\"yes\" stroke=\"#7a1fa2\" stroke-width=\"2.8\""
        }
        _ => "",
    }
}

/// The border of a state: thick where the run was, thickest where it is.
fn frame(drawing: &Drawing, state: NodeId) -> &'static str {
    match &drawing.path {
        Some(path) if path.at == Some(state) => {
            "data-at=\"yes\" stroke=\"#7a1fa2\" stroke-width=\"4.5\""
        }
        Some(path) if path.has_node(state) => "stroke=\"#7a1fa2\" stroke-width=\"2.2\"",
        _ => "stroke=\"#333\" stroke-width=\"1.4\"",
    }
}

fn half_width(drawing: &Drawing, state: NodeId) -> f64 {
    (width(&node_name(drawing, state)) / 2.0 + 10.0).max(RADIUS)
}

/// A smooth curve through the places of an edge, cut where it meets the states.
fn edge_path(
    drawing: &Drawing,
    layers: &Layers,
    layout: &Layout,
    edge: &Edge,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut points: Vec<(f64, f64)> = edge
        .path
        .iter()
        .map(|&i| (layout.x[i], layout.y[i]))
        .collect();
    let last = points.len() - 1;
    let (top, bottom) = if edge.reversed {
        (edge.target, edge.source)
    } else {
        (edge.source, edge.target)
    };
    points[0] = border(points[0], points[1], half_width(drawing, top), true);
    points[last] = border(
        points[last],
        points[last - 1],
        half_width(drawing, bottom),
        false,
    );
    debug_assert!(layers.items[edge.path[0]].state == Some(top));
    let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let bend = (y1 - y0) * 0.45;
        path.push_str(&format!(
            " C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {y1:.1}",
            y0 + bend,
            y1 - bend
        ));
    }
    let marker = if edge.reversed { "start" } else { "end" };
    let (from, to) = (edge.source.index(), edge.target.index());
    writeln!(
        out,
        "<path data-edge=\"{from}-{to}\" d=\"{path}\" marker-{marker}=\"url(#arrow)\"{}/>",
        taken(drawing, edge.source, edge.target)
    )
}

/// Where an edge leaves the border of a state: spread sideways towards where it goes.
fn border(centre: (f64, f64), towards: (f64, f64), half: f64, down: bool) -> (f64, f64) {
    let room = (half - 8.0).max(0.0);
    let shift = ((towards.0 - centre.0) * 0.35).clamp(-room, room);
    // The ends of the state are round.
    let straight = (half - RADIUS).max(0.0);
    let beyond = (shift.abs() - straight).max(0.0);
    let rise = (RADIUS * RADIUS - beyond * beyond).max(0.0).sqrt();
    let y = if down {
        centre.1 + rise
    } else {
        centre.1 - rise
    };
    (centre.0 + shift, y)
}

fn label(
    lines: &[Line],
    tooltip: Option<&str>,
    x: f64,
    y: f64,
    out: &mut dyn Write,
) -> fmt::Result {
    let height = lines.len() as f64 * LINE;
    let width = lines_width(lines) + 4.0;
    writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"white\" fill-opacity=\"0.85\">{}</rect>",
        x - width / 2.0,
        y - height / 2.0,
        title(tooltip.unwrap_or_default())
    )?;
    for (k, line) in lines.iter().enumerate() {
        let colour = match line.kind {
            LabelKind::Input => "#0b5394",
            LabelKind::Output => "#a64d00",
            LabelKind::Internal | LabelKind::Delta => "#666",
            LabelKind::Undirected => "#222",
        };
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{colour}\" pointer-events=\"none\">{}</text>",
            y - height / 2.0 + (k as f64 + 0.78) * LINE,
            escape(&line.text)
        )?;
    }
    Ok(())
}

/// What is shown when something is pointed at; nothing for no text.
fn title(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<title>{}</title>", escape(text))
}

fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\n' => result.push('\n'),
            c if c.is_control() => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}
