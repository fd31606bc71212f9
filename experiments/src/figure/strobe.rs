//! At which of its frames a scene is drawn.

use keyfit_ir::scene::last_frame;

use super::axis::{significant, time};
use super::trace::Period;

/// The times at which the light flashes.
pub(super) struct Strobe {
    pub times: Vec<f64>,
    /// Frames per second, frames in all, and of how many one is drawn; nothing where no frame rate is known.
    frames: Option<(f64, f64, f64)>,
}

impl Strobe {
    /// Every k-th frame and the last one, about a dozen in all.
    pub(super) fn new(period: Period, fps: Option<f64>) -> Strobe {
        const MOST: f64 = 16.0;
        let evenly = || Strobe { times: period.steps(12).collect(), frames: None };
        let Some(fps) = fps.filter(|fps| *fps > 0.0 && fps.is_finite()) else { return evenly() };
        let (first, last) = (-last_frame(-period.from(), fps), last_frame(period.to(), fps));
        let steps = last - first;
        if !(0.0..1e15).contains(&steps) {
            return evenly();
        }
        // if that can be had, the last frame is one of the k-th
        let even = |k: &f64| steps % k == 0.0;
        let mut few = (2..=1000).map(f64::from).filter(|k| steps / k <= MOST && steps / k >= MOST / 2.0);
        let every = match steps <= MOST {
            true => 1.0,
            false => few.find(even).unwrap_or((steps / (MOST - 4.0)).ceil()),
        };
        let mut times: Vec<f64> =
            (0..=MOST as u32).map(|k| first + f64::from(k) * every).take_while(|k| *k <= last).collect();
        if times.last().is_some_and(|k| *k < last) {
            times.push(last);
        }
        Strobe {
            times: times.into_iter().map(|k| k / fps).collect(),
            frames: Some((fps, steps + 1.0, every)),
        }
    }

    pub(super) fn words(&self, period: Period) -> String {
        let seconds = match period.from() {
            0.0 => format!("{} s", time(period.to())),
            from => format!("{} s to {} s", time(from), time(period.to())),
        };
        match self.frames {
            None => format!("{seconds}, drawn at {} times; the later, the more solid", self.times.len()),
            Some((fps, frames, every)) => {
                let every = match every {
                    1.0 => "each frame is drawn".into(),
                    k => format!("one in {} is drawn", significant(k, 6)),
                };
                let frames = significant(frames, 6);
                format!("{seconds}, {frames} frames at {} fps; {every}, the later, the more solid", time(fps))
            }
        }
    }
}
