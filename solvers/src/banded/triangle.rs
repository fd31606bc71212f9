//! An upper triangle that is a band beside a few full columns.

/// Row k holds its diagonal entry and what follows it in the band, then the border's entries, then right-hand sides. Rows of the
/// border have zeros for the band. A row whose diagonal entry is zero is empty: its unknown is zero.
#[derive(Clone, Debug)]
pub(super) struct Triangle {
    size: usize,
    band: usize,
    width: usize,
    sides: usize,
    rows: Vec<f64>,
}

/// `c` and `s` with `c·b = s·a`, so that the rotation of (a, b) is (√(a² + b²), 0). Neither over- nor underflows.
fn rotation(a: f64, b: f64) -> (f64, f64) {
    if b.abs() > a.abs() {
        let part = a / b;
        let s = 1.0 / (1.0 + part * part).sqrt();
        (s * part, s)
    } else {
        let part = b / a;
        let c = 1.0 / (1.0 + part * part).sqrt();
        (c, c * part)
    }
}

fn rotate(a: &mut [f64], b: &mut [f64], (c, s): (f64, f64)) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (c * *a + s * *b, c * *b - s * *a);
    }
}

impl Triangle {
    /// An empty triangle of `size` unknowns, of which `band` are in the band, and with so many right-hand sides.
    pub fn new(size: usize, band: usize, width: usize, sides: usize) -> Triangle {
        let mut triangle = Triangle { size, band, width, sides, rows: Vec::new() };
        triangle.rows = vec![0.0; size * triangle.stride()];
        triangle
    }

    fn border(&self) -> usize {
        self.size - self.band
    }

    /// The length of a row.
    pub fn stride(&self) -> usize {
        self.width + self.border() + self.sides
    }

    /// Where a row that begins at place `lead` has the entry of `place`.
    pub fn slot(&self, lead: usize, place: usize) -> usize {
        if place < self.band { place - lead } else { self.width + place - self.band }
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.rows[k * self.stride()..][..self.stride()]
    }

    fn row_mut(&mut self, k: usize) -> &mut [f64] {
        let stride = self.stride();
        &mut self.rows[k * stride..][..stride]
    }

    pub fn diagonal(&self, k: usize) -> f64 {
        self.row(k)[self.slot(k, k)]
    }

    /// Row k's entries beyond the diagonal, with their places.
    fn beyond(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let own = if k < self.band { self.width.min(self.band - k) } else { 0 };
        let first = if k < self.band { 0 } else { k - self.band + 1 };
        let row = self.row(k);
        let band = row[..own].iter().enumerate().skip(1).map(move |(i, x)| (k + i, *x));
        let border = row[self.width..][..self.border()].iter().enumerate().skip(first);
        band.chain(border.map(|(i, x)| (self.band + i, *x)))
    }

    /// Rotates a row that begins at place `lead` into the triangle, and notes the rotations with the rows that they touch.
    pub fn absorb(&mut self, lead: usize, row: &mut [f64], mut note: impl FnMut(usize, f64, f64)) {
        let (width, border) = (self.width, self.border());
        for k in lead..self.band {
            if row[..width].iter().all(|x| *x == 0.0) {
                break;
            }
            if row[0] != 0.0 {
                let own = self.row_mut(k);
                let (c, s) = rotation(own[0], row[0]);
                rotate(own, row, (c, s));
                note(k, c, s);
            }
            row.copy_within(1..width, 0);
            row[width - 1] = 0.0;
        }
        for i in 0..border {
            let at = width + i;
            if row[at] != 0.0 {
                let k = self.band + i;
                let own = self.row_mut(k);
                let (c, s) = rotation(own[at], row[at]);
                rotate(&mut own[at..], &mut row[at..], (c, s));
                note(k, c, s);
                row[at] = 0.0;
            }
        }
    }

    /// Empties row k, and returns what follows its diagonal entry as a row that begins one place later.
    pub fn take(&mut self, k: usize) -> Vec<f64> {
        let (width, at) = (self.width, self.slot(k, k));
        let own = self.row_mut(k);
        own[at] = 0.0;
        let mut row = own.to_vec();
        own.fill(0.0);
        if at == 0 {
            row.copy_within(1..width, 0);
            row[width - 1] = 0.0;
        }
        row
    }

    /// The triangle of this one over `√λ` times the identity, with the right-hand side `−projected` over zeros.
    pub fn damped(&self, projected: &[f64], damping: f64) -> Triangle {
        let mut damped = Triangle::new(self.size, self.band, self.width, 1);
        let side = damped.stride() - 1;
        for k in 0..self.size {
            let mut row = vec![0.0; side + 1];
            row[..side].copy_from_slice(self.row(k));
            row[side] = -projected[k];
            damped.absorb(k, &mut row, |_, _, _| {});
            row.fill(0.0);
            row[self.slot(k, k)] = damping.sqrt();
            damped.absorb(k, &mut row, |_, _, _| {});
        }
        damped
    }

    /// The last right-hand side.
    pub fn last(&self) -> Vec<f64> {
        (0..self.size).map(|k| self.row(k).last().copied().unwrap_or(0.0)).collect()
    }

    /// `x` with `R x = y`.
    pub fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.size];
        for k in (0..self.size).rev() {
            let diagonal = self.diagonal(k);
            if diagonal != 0.0 {
                let known: f64 = self.beyond(k).map(|(place, entry)| entry * x[place]).sum();
                x[k] = (y[k] - known) / diagonal;
            }
        }
        x
    }

    /// `y` with `Rᵀ y = x`.
    pub fn solve_transposed(&self, x: &[f64]) -> Vec<f64> {
        let mut y = x.to_vec();
        for k in 0..self.size {
            let diagonal = self.diagonal(k);
            let own = if diagonal != 0.0 { y[k] / diagonal } else { 0.0 };
            y[k] = own;
            self.beyond(k).for_each(|(place, entry)| y[place] -= entry * own);
        }
        y
    }

    /// `R x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let row =
            |k: usize| self.diagonal(k) * x[k] + self.beyond(k).map(|(i, entry)| entry * x[i]).sum::<f64>();
        (0..self.size).map(row).collect()
    }

    /// `x` with `R x = 0` whose entry at the empty row k is 1, and 0 at the other empty ones.
    pub fn null(&self, k: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.size];
        x[k] = 1.0;
        for j in (0..k).rev() {
            let diagonal = self.diagonal(j);
            if diagonal != 0.0 {
                x[j] = -self.beyond(j).map(|(place, entry)| entry * x[place]).sum::<f64>() / diagonal;
            }
        }
        x
    }

    /// The Euclidean norms of the rows of `R⁻¹`: the square roots of the diagonal of `(RᵀR)⁻¹`; for full rank.
    ///
    /// Within the band by Takahashi's recurrence: with `R = Δ U`, the entries of `Z = (RᵀR)⁻¹` in the band follow from
    /// `Z = Δ⁻² U⁻ᵀ + (1 − U) Z`, from the last row up. A. M. Erisman & W. F. Tinney, Commun. ACM 18 (1975) 177–179.
    pub fn inverse_row_norms(&self) -> Vec<f64> {
        let (band, width, border) = (self.band, self.width, self.border());
        // row j holds Z[j][j], Z[j][j + 1] …
        let mut z = vec![0.0; band * width];
        for i in (0..band).rev() {
            let (row, own) = (self.row(i), width.min(band - i));
            let entry = |z: &[f64], a: usize, b: usize| z[a.min(b) * width + a.abs_diff(b)];
            for j in (i..i + own).rev() {
                let mut sum = if j == i { 1.0 / (row[0] * row[0]) } else { 0.0 };
                for k in 1..own {
                    sum -= row[k] / row[0] * entry(&z, i + k, j);
                }
                z[i * width + (j - i)] = sum;
            }
        }
        let mut squares: Vec<f64> = (0..band).map(|i| z[i * width]).collect();
        squares.resize(self.size, 0.0);
        // the border's columns of R⁻¹
        for i in 0..border {
            let mut unit = vec![0.0; self.size];
            unit[band + i] = 1.0;
            for (square, x) in squares.iter_mut().zip(self.solve(&unit)) {
                *square += x * x;
            }
        }
        squares.iter().map(|square| square.sqrt()).collect()
    }
}
