//! The order within layers: barycentres, down and up, the best order kept.

use super::layers::Layers;

const SWEEPS: usize = 24;

pub(super) fn reduce_crossings(layers: &mut Layers) {
    let mut best = layers.rows.clone();
    let mut fewest = crossings(layers);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let depth = layers.rows.len();
        if sweep % 2 == 0 {
            for k in 1..depth {
                sort_layer(layers, k, k - 1, true);
            }
        } else {
            for k in (0..depth.saturating_sub(1)).rev() {
                sort_layer(layers, k, k + 1, false);
            }
        }
        let now = crossings(layers);
        if now < fewest {
            fewest = now;
            best.clone_from(&layers.rows);
        }
    }
    layers.rows = best;
}

fn positions(layers: &Layers, layer: usize) -> Vec<(usize, usize)> {
    let mut positions: Vec<(usize, usize)> = layers.rows[layer]
        .iter()
        .enumerate()
        .map(|(at, &item)| (item, at))
        .collect();
    positions.sort_unstable();
    positions
}

fn position(positions: &[(usize, usize)], item: usize) -> Option<usize> {
    positions
        .binary_search_by_key(&item, |&(i, _)| i)
        .ok()
        .map(|k| positions[k].1)
}

/// Sorts a layer by the mean position of each item's neighbours in the fixed layer.
fn sort_layer(layers: &mut Layers, layer: usize, fixed: usize, above: bool) {
    let fixed = positions(layers, fixed);
    let mut keyed: Vec<(f64, usize, usize)> = layers.rows[layer]
        .iter()
        .enumerate()
        .map(|(at, &item)| {
            let neighbours = if above {
                &layers.above[item]
            } else {
                &layers.below[item]
            };
            let places: Vec<usize> = neighbours
                .iter()
                .filter_map(|&n| position(&fixed, n))
                .collect();
            let key = if places.is_empty() {
                at as f64
            } else {
                places.iter().sum::<usize>() as f64 / places.len() as f64
            };
            (key, at, item)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    layers.rows[layer] = keyed.into_iter().map(|(_, _, item)| item).collect();
}

/// The number of crossings, by counting inversions layer by layer.
fn crossings(layers: &Layers) -> usize {
    let mut total = 0;
    for k in 1..layers.rows.len() {
        let below = positions(layers, k);
        let mut ends: Vec<usize> = Vec::new();
        for &item in &layers.rows[k - 1] {
            let mut row: Vec<usize> = layers.below[item]
                .iter()
                .filter_map(|&n| position(&below, n))
                .collect();
            row.sort_unstable();
            ends.extend(row);
        }
        total += inversions(&ends, layers.rows[k].len());
    }
    total
}

fn inversions(ends: &[usize], size: usize) -> usize {
    // A Fenwick tree of the ends seen so far.
    let mut tree = vec![0usize; size + 1];
    let mut total = 0;
    for (seen, &end) in ends.iter().enumerate() {
        let mut at = end + 1;
        let mut not_beyond = 0;
        while at > 0 {
            not_beyond += tree[at];
            at &= at - 1;
        }
        total += seen - not_beyond;
        let mut at = end + 1;
        while at <= size {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::inversions;

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&[0, 1, 2], 3), 0);
        assert_eq!(inversions(&[2, 1, 0], 3), 3);
        assert_eq!(inversions(&[1, 1, 0, 2, 0], 3), 5);
    }
}
