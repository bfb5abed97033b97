//! Coordinates: layers get heights, and items move sideways towards their neighbours.

use super::layers::Layers;

/// Room between two items of a layer, and between two layers.
const GAP: f64 = 14.0;
const LAYER_GAP: f64 = 18.0;
const SWEEPS: usize = 16;

pub(super) struct Layout {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) fn place(layers: &Layers) -> Layout {
    let count = layers.items.len();
    let mut y = vec![0.0; count];
    let mut top = 20.0;
    for layer in &layers.rows {
        let height = layer
            .iter()
            .map(|&i| layers.items[i].height)
            .fold(0.0, f64::max);
        for &item in layer {
            y[item] = top + height / 2.0;
        }
        top += height + LAYER_GAP;
    }
    let mut x = vec![0.0; count];
    for layer in &layers.rows {
        let mut at = 0.0;
        for &item in layer {
            at += layers.items[item].left;
            x[item] = at;
            at += layers.items[item].right + GAP;
        }
        // Layers start out centred on one another.
        for &item in layer {
            x[item] -= at / 2.0;
        }
    }
    let depth = layers.rows.len();
    for sweep in 0..SWEEPS {
        let order: Vec<usize> = if sweep % 2 == 0 {
            (0..depth).collect()
        } else {
            (0..depth).rev().collect()
        };
        for k in order {
            let settle = sweep + 2 >= SWEEPS;
            move_layer(layers, &layers.rows[k], &mut x, sweep % 2 == 0, settle);
        }
    }
    let mut left = f64::INFINITY;
    let mut right = f64::NEG_INFINITY;
    for (k, item) in layers.items.iter().enumerate() {
        left = left.min(x[k] - item.left);
        right = right.max(x[k] + item.right);
    }
    for value in &mut x {
        *value += 20.0 - left;
    }
    Layout {
        x,
        y,
        width: right - left + 40.0,
        height: top + 10.0,
    }
}

/// Moves the items of a layer as near as possible to their neighbours, in their order and with room
/// between them: least squares under order constraints, by pooling neighbours that collide.
fn move_layer(layers: &Layers, layer: &[usize], x: &mut [f64], down: bool, both: bool) {
    struct Block {
        /// Where the first item of the block wants to be, on average.
        at: f64,
        weight: f64,
        items: usize,
    }
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    let mut blocks: Vec<Block> = Vec::new();
    for (k, &item) in layer.iter().enumerate() {
        if k > 0 {
            offset += layers.items[layer[k - 1]].right + GAP + layers.items[item].left;
        }
        offsets.push(offset);
        let (mut sum, mut weight) = (0.0, 0.0);
        let mut pull = |neighbours: &[usize]| {
            for &n in neighbours {
                // Long edges are kept straight above all.
                let straight =
                    layers.items[item].state.is_none() && layers.items[n].state.is_none();
                let w = if straight { 8.0 } else { 1.0 };
                sum += w * x[n];
                weight += w;
            }
        };
        if both || down || layers.below[item].is_empty() {
            pull(&layers.above[item]);
        }
        if both || !down || layers.above[item].is_empty() {
            pull(&layers.below[item]);
        }
        let (wish, weight) = if weight > 0.0 {
            (sum / weight, weight)
        } else {
            (x[item], 0.1)
        };
        blocks.push(Block {
            at: wish - offset,
            weight,
            items: 1,
        });
        while blocks.len() > 1 && blocks[blocks.len() - 2].at > blocks[blocks.len() - 1].at {
            let Some(last) = blocks.pop() else { break };
            let Some(before) = blocks.last_mut() else {
                break;
            };
            let weight = before.weight + last.weight;
            before.at = (before.at * before.weight + last.at * last.weight) / weight;
            before.weight = weight;
            before.items += last.items;
        }
    }
    let mut k = 0;
    for block in blocks {
        for _ in 0..block.items {
            x[layer[k]] = block.at + offsets[k];
            k += 1;
        }
    }
}
