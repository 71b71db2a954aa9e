//! Ranks on a grid of any number of dimensions.

/// A grid; the last dimension of `sides` varies fastest with the rank, as in C's arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    sides: Vec<u32>,
}

impl Grid {
    /// A grid of these sides, none of which is 0.
    pub fn new(sides: &[u32]) -> Self {
        Self { sides: sides.to_vec() }
    }

    /// Number of ranks; the largest number if it does not fit.
    pub fn ranks(&self) -> u32 {
        self.sides.iter().fold(1, |product: u32, &side| product.saturating_mul(side))
    }

    /// The sides.
    pub fn sides(&self) -> &[u32] {
        &self.sides
    }

    /// The coordinates of a rank.
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut at: Vec<u32> = self.sides.iter().map(|_| 0).collect();
        for (place, &side) in at.iter_mut().zip(&self.sides).rev() {
            *place = rest % side;
            rest /= side;
        }
        at
    }

    /// The rank at some coordinates.
    pub fn rank(&self, at: &[u32]) -> u32 {
        at.iter().zip(&self.sides).fold(0, |rank, (place, side)| rank * side + place)
    }

    /// The neighbour of a rank one step up or down a dimension, the grid being a torus.
    pub fn around(&self, rank: u32, dimension: usize, up: bool) -> u32 {
        let mut at = self.coordinates(rank);
        let side = self.sides[dimension];
        at[dimension] = (at[dimension] + if up { 1 } else { side - 1 }) % side;
        self.rank(&at)
    }

    /// The neighbour of a rank at a distance in every dimension, if it is in the grid.
    pub fn beside(&self, rank: u32, distance: &[i32]) -> Option<u32> {
        let mut at = self.coordinates(rank);
        for ((place, side), step) in at.iter_mut().zip(&self.sides).zip(distance) {
            *place = place.checked_add_signed(*step).filter(|place| place < side)?;
        }
        Some(self.rank(&at))
    }

    /// The grid of a number of ranks in `dimensions` whose sides are as equal as they can be, the longest last.
    pub fn balanced(ranks: u32, dimensions: u32) -> Self {
        let mut sides = Vec::new();
        let mut rest = ranks;
        for left in (2..=dimensions).rev() {
            // The largest divisor that is not over the root of what is left.
            let side = (1..=rest).take_while(|side| side.saturating_pow(left) <= rest);
            let side = side.filter(|side| rest.is_multiple_of(*side)).last().unwrap_or(1);
            sides.push(side);
            rest /= side;
        }
        sides.push(rest);
        Self { sides }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_coordinates_agree() {
        let grid = Grid::new(&[3, 4, 5]);
        assert_eq!(grid.ranks(), 60);
        assert_eq!(grid.coordinates(23), [1, 0, 3]);
        assert!((0..60).all(|rank| grid.rank(&grid.coordinates(rank)) == rank));
    }

    #[test]
    fn a_torus_closes_and_a_box_ends() {
        let grid = Grid::new(&[3, 4]);
        assert_eq!((grid.around(0, 0, false), grid.around(0, 1, false), grid.around(11, 1, true)), (8, 3, 8));
        assert_eq!(
            (grid.beside(0, &[-1, 0]), grid.beside(0, &[1, 1]), grid.beside(11, &[0, 1])),
            (None, Some(5), None)
        );
    }

    #[test]
    fn balanced_grids_are_nearly_cubes() {
        let sides = |ranks, dimensions| Grid::balanced(ranks, dimensions).sides;
        assert_eq!(sides(4096, 4), [8, 8, 8, 8]);
        assert_eq!(sides(625, 4), [5, 5, 5, 5]);
        assert_eq!(sides(12, 2), [3, 4]);
        assert_eq!(sides(7, 3), [1, 1, 7]);
        assert_eq!(sides(8000, 3), [20, 20, 20]);
    }
}
