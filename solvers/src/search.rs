//! argmin's particle swarm and simulated annealing: searches for where to begin, each polished by Levenberg–Marquardt.

use std::cell::RefCell;

use argmin::core::{
    CostFunction, Error, IterState, KV, PopulationState, Problem, Solver, State, TerminationReason,
};
use argmin::solver::particleswarm::{Particle, ParticleSwarm};
use argmin::solver::simulatedannealing::{Anneal, SimulatedAnnealing};

use crate::barrier::Barrier;
use crate::drive::{PlainIterate, drive_on};
use crate::ledger::Ledger;
use crate::options::Options;
use crate::random::Random;
use crate::starts::Region;
use crate::termination::Termination;
use crate::trust_region;

/// How far the region reaches from a start without bounds, in sizes of the parameter.
const SIZES: f64 = 2.0;
/// Particles of a swarm.
const PARTICLES: usize = 40;
/// Annealing begins anew from its first temperature after so many moves without a new best point.
const REANNEAL: u64 = 500;
/// A search is over when so many evaluations …
const PATIENCE: u64 = 2000;
/// … have not lowered the sum of squares by this part of it,
const IMPROVED: f64 = 0.1;
/// or when it has used up this part of the evaluations or iterations that were left: the others are for the polish.
const SHARE: f64 = 0.75;

/// What a search sees: places of a region.
struct Places<'a> {
    ledger: &'a Ledger<'a>,
    region: &'a Region<'a>,
    /// For the moves of annealing.
    random: RefCell<Random>,
}

/// The logarithm of the sum of squares, so that one temperature does for residuals of any size.
impl CostFunction for Places<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, place: &Vec<f64>) -> Result<f64, Error> {
        Barrier(self.ledger).cost(&self.region.point(place)).map(logarithm)
    }
}

fn logarithm(sum_of_squares: f64) -> f64 {
    core_math::log(sum_of_squares.max(f64::MIN_POSITIVE))
}

/// Moves by Cauchy's distribution: mostly near, now and then far.
impl Anneal for Places<'_> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;
    type Float = f64;

    fn anneal(&self, place: &Vec<f64>, temperature: f64) -> Result<Vec<f64>, Error> {
        let mut random = self.random.borrow_mut();
        let far = |part: f64| core_math::tan(std::f64::consts::PI * (part - 0.5));
        let width = temperature.sqrt();
        Ok(place.iter().map(|u| folded(u + width * far(random.part()))).collect())
    }
}

/// Back into −1 to 1, thrown back at both ends.
fn folded(u: f64) -> f64 {
    1.0 - ((u + 1.0).rem_euclid(4.0) - 2.0).abs()
}

/// A solver of argmin that searches by values alone.
trait Search<'a>: Solver<Places<'a>, Self::Walk> {
    /// Its state.
    type Walk: State;

    /// Its state after the first iteration, from a place with a cost.
    fn first(&mut self, on: &mut Problem<Places<'a>>, at: Vec<f64>, cost: f64) -> Result<Self::Walk, Error>;
}

type Swarm = ParticleSwarm<Vec<f64>, f64, Random>;

impl<'a> Search<'a> for Swarm {
    type Walk = PopulationState<Particle<Vec<f64>, f64>, f64>;

    fn first(&mut self, on: &mut Problem<Places<'a>>, at: Vec<f64>, cost: f64) -> Result<Self::Walk, Error> {
        let (swarm, _) = self.init(on, PopulationState::new())?;
        let still = vec![0.0; at.len()];
        // where all are worse than the start, they are drawn to it
        let worse = swarm.get_cost() > cost;
        Ok(if worse { swarm.individual(Particle::new(at, cost, still)).cost(cost) } else { swarm })
    }
}

type Annealing = SimulatedAnnealing<f64, Random>;

impl<'a> Search<'a> for Annealing {
    type Walk = IterState<Vec<f64>, (), (), (), (), f64>;

    fn first(&mut self, on: &mut Problem<Places<'a>>, at: Vec<f64>, cost: f64) -> Result<Self::Walk, Error> {
        let (begun, _) = self.init(on, IterState::new().param(at).cost(cost))?;
        Ok(self.next_iter(on, begun)?.0)
    }
}

/// A search of argmin's, then Levenberg–Marquardt from its best point with what is left of evaluations and iterations.
///
/// Needs residuals only, until it is polished. The Jacobian is looked at once before: the check of the claim must tell a
/// parameter that ran to where it has no effect from one that never had any. Points where the model is not finite are bad
/// points. The region is that of the bounds where a parameter has two, else twice the parameter's size (2 where that is
/// zero) on both sides of the start; only the polish leaves it. What is random comes from `Options::seed`: the same run every
/// time, but that argmin's annealing asks the platform's exp whether to accept a worse point, whose last bit may differ
/// elsewhere.
///
/// *Particle swarm*: 40 particles, argmin's weights. *Annealing*: on the logarithm of the sum of squares, so that one
/// temperature does for residuals of any size; the temperature falls from 1 as 1/k, moves are Cauchy's with its root as their
/// width, thrown back at the region's ends; it begins anew from its first temperature after 500 moves without a new best
/// point. Both are over after 2000 evaluations that did not lower the sum of squares by a tenth, or with three quarters of the
/// evaluations or iterations that are allowed. The trace holds their best point, one point an iteration (of a swarm, a
/// generation).
///
/// A search proves nothing: the claim is that of the polish, at the point where it ends.
///
/// References: Zambrano-Bigiarini, Clerc & Rojas, IEEE CEC (2013) 2337–2344; Szu & Hartley, Phys. Lett. A 122 (1987) 157–162.
struct Searching<S, W> {
    method: S,
    walk: Option<W>,
    /// The sum of squares, and the evaluations left, when it last fell.
    fell: (f64, u64),
    /// So many evaluations were left after the last iteration, and so many are for the polish.
    left: u64,
    kept: u64,
}

impl<'a, S: Search<'a>> Solver<Places<'a>, PlainIterate> for Searching<S, S::Walk> {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn init(
        &mut self,
        problem: &mut Problem<Places<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        let x = state.param.clone().unwrap_or_default();
        let at = problem.problem("residuals", |places| Ok(places.ledger.evaluate(&x)?))?;
        self.fell = (at.sum_of_squares, u64::MAX);
        Ok((state.cost(at.sum_of_squares), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Places<'a>>,
        state: PlainIterate,
    ) -> Result<(PlainIterate, Option<KV>), Error> {
        let mut walk = match self.walk.take() {
            Some(walk) => self.method.next_iter(problem, walk)?.0,
            None => {
                let x = state.param.clone().unwrap_or_default();
                let at = problem.problem("place", |places| Ok(places.region.place(&x)))?;
                self.method.first(problem, at, logarithm(state.get_cost()))?
            }
        };
        walk.update();
        self.walk = Some(walk);
        problem.problem("best", |places| {
            let (left, book) = (places.ledger.left(), places.ledger.book());
            let Some(best) = &book.best else { return Ok((state, None)) };
            if best.sum_of_squares <= self.fell.0 * (1.0 - IMPROVED) || self.fell.1 == u64::MAX {
                self.fell = (best.sum_of_squares, left);
            }
            // a swarm may have shrunk to one point, and asks for nothing new
            let at_rest = left == self.left || left.saturating_add(PATIENCE) <= self.fell.1;
            let over = best.is_zero() || left <= self.kept || at_rest;
            self.left = left;
            let state = state.param(best.x.clone()).cost(best.sum_of_squares);
            Ok(match (book.conclusion, over) {
                (Some(_), _) => (state.terminate_with(TerminationReason::SolverExit("refused".into())), None),
                (None, true) => (state.terminate_with(TerminationReason::SolverConverged), None),
                (None, false) => (state, None),
            })
        })
    }
}

/// Runs a search and polishes what it found.
fn search<'a, S: Search<'a>>(
    places: Places<'a>,
    method: S,
    start: &[f64],
    iterations: u64,
    options: &Options,
) -> Termination {
    let ledger = places.ledger;
    if let Err(interruption) = ledger.can_go_on(start) {
        return interruption.into();
    }
    let first = ledger.book().iterations();
    let part = |whole: u64| (SHARE * whole as f64) as u64;
    let kept = ledger.left().saturating_sub(part(ledger.left()));
    let solver = Searching { method, walk: None, fell: (f64::INFINITY, u64::MAX), left: u64::MAX, kept };
    let termination = drive_on(ledger, places, solver, start, part(iterations), |cost| cost);
    let best = ledger.book().best.clone().filter(|best| !ledger.is_concluded() && !best.is_zero());
    let Some(best) = best else { return termination };
    let left = iterations.saturating_sub(ledger.book().iterations() - first);
    trust_region::damped(ledger, &best.x, left, options)
}

/// Runs a particle swarm.
pub(crate) fn swarm(ledger: &Ledger<'_>, start: &[f64], iterations: u64, options: &Options) -> Termination {
    let region = Region::new(start, &options.bounds, SIZES);
    let random = Random::new(options.seed);
    let places = Places { ledger, region: &region, random: RefCell::new(random.clone()) };
    let ends = (vec![-1.0; start.len()], vec![1.0; start.len()]);
    let method = ParticleSwarm::new(ends, PARTICLES).with_rng_generator(random);
    search(places, method, start, iterations, options)
}

/// Runs simulated annealing.
pub(crate) fn annealing(
    ledger: &Ledger<'_>,
    start: &[f64],
    iterations: u64,
    options: &Options,
) -> Termination {
    let region = Region::new(start, &options.bounds, SIZES);
    let mut random = Random::new(options.seed);
    let acceptance = Random::new(random.bits());
    let places = Places { ledger, region: &region, random: RefCell::new(random) };
    match SimulatedAnnealing::new_with_rng(1.0, acceptance) {
        Ok(method) => search(places, method.with_reannealing_best(REANNEAL), start, iterations, options),
        Err(_) => Termination::LineSearchFailed,
    }
}
