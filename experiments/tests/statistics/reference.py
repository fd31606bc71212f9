# Numbers that the tests beside are held to, by numpy 2.4 and scipy 1.17, by brute force, and by definition from the runs in study/.
import itertools
import numpy as np
from scipy import optimize, special, stats
from exported import by_task, digits, problems, runs, solvers, starts, tau, to_digits, to_tau
out = []
def row(name, *xs):
    out.append(name + "," + ",".join(repr(float(x)) for x in xs))
for x, a, b in [(0.3, 2, 5), (0.5, 0.5, 0.5), (0.9, 30.5, 4.5), (0.01, 0.5, 120), (0.999, 200, 0.5)]:
    row("beta", x, a, b, special.betainc(a, b, x))
for p, a, b in [(0.025, 0.5, 6.5), (0.975, 6.5, 0.5), (0.025, 3.5, 3.5), (0.975, 60.5, 1.5), (0.025, 900.5, 200.5), (0.95, 0.5, 0.5)]:
    row("quantile", p, a, b, special.betaincinv(a, b, p))
for n in [1, 2, 3, 7, 30, 1000]:
    row("student", n, stats.t.ppf(0.975, n))
for k, n in [(0, 6), (3, 10), (40, 100), (499, 1000)]:
    row("heads", k, n, stats.binom.cdf(k, n, 0.5))
def brute(d):
    d = np.array([x for x in d if x != 0]); r = stats.rankdata(np.abs(d))
    up = r[d > 0].sum(); less = min(up, r.sum() - up)
    sums = np.array([np.dot(r, s) for s in itertools.product([0, 1], repeat=len(d))])
    return min(1, 2 * np.mean(sums <= less + 1e-9)), (2 * up - r.sum()) / r.sum()
rng = np.random.default_rng(11)
for n, ties in [(6, 0), (12, 0), (14, 1), (16, 2)]:
    d = rng.normal(0.5, 1, n)
    if ties: d = np.round(d * 2) / 2
    if ties == 2: d[:3] = np.inf
    p, e = brute(d)
    k = int((d > 0).sum()); m = int((d != 0).sum())
    if ties == 0: assert abs(p - stats.wilcoxon(d, method="exact").pvalue) < 1e-14
    row("paired", p, stats.binomtest(k, m).pvalue, e, *d)
d = rng.normal(0.1, 1, 260)
w = stats.wilcoxon(d, method="approx", correction=True)
row("paired", w.pvalue, stats.binomtest(int((d > 0).sum()), 260).pvalue, stats.rankdata(abs(d))[d > 0].sum() * 2 / (260 * 261 / 2) - 1, *d)
p = rng.uniform(0, 0.2, 7)
o = np.argsort(p); adj = np.empty(7); run = 0
for i, j in enumerate(o):
    run = max(run, min(1, p[j] * (7 - i))); adj[j] = run
row("holm", *p, *adj)
for n in [6, 9, 20, 51]:
    x = rng.exponential(1, n)
    F = lambda k: stats.binom.cdf(k, n, 0.5)
    g = lambda k: 1 - 2 * F(k - 1)
    k = max(k for k in range(1, n // 2 + 1) if g(k) >= 0.95)
    I = (g(k) - 0.95) / (g(k) - g(k + 1)); lam = (n - k) * I / (k + (n - 2 * k) * I)
    s = np.sort(x)
    row("median", np.median(x), (1 - lam) * s[k - 1] + lam * s[k], (1 - lam) * s[n - k] + lam * s[n - k - 1], *x)
for n in [2, 11]:
    x = rng.normal(3, 1, n); lo, hi = stats.t.interval(0.95, n - 1, x.mean(), stats.sem(x))
    row("mean", x.mean(), lo, hi, *x)
def share(h, m):
    K, M = len(h), m.sum(); p = h.sum() / M; mu = (h.sum() + 0.5) / (M + 1)
    J = max(8, int(np.ceil(np.sqrt(K))))
    rho = np.r_[0, 1 - (1 - (np.arange(J) + 0.5) / J) ** 2, 1]; prior = np.r_[0.2, np.full(J, 0.4 / J), 0.4]
    n = np.array([M**2 / (m * (1 + (m - 1) * r)).sum() for r in rho])
    def like(r):
        if r == 0: return np.prod([mu**a * (1 - mu) ** (b - a) for a, b in zip(h, m)])
        if r == 1: return np.prod([{0: 1 - mu, b: mu}.get(a, 0) for a, b in zip(h, m)])
        s = 1 / r - 1
        return np.prod([stats.betabinom.pmf(a, b, mu * s, (1 - mu) * s) / special.comb(b, a) for a, b in zip(h, m)])
    w = prior * np.array([like(r) for r in rho]) / (n + 1) ** 1.5; w /= w.sum()
    F = lambda x: (w * stats.beta.cdf(x, p * n + 0.5, (1 - p) * n + 0.5)).sum()
    ends = [optimize.brentq(lambda x: F(x) - q, 0, 1, xtol=1e-15, rtol=1e-15) for q in (0.025, 0.975)]
    row("share", p, *ends, *np.c_[h, m].ravel())
for K, m in [(20, 1), (6, 2), (12, 3), (40, 7), (90, 4), (9, 60)]:
    m = np.full(K, m); share(rng.binomial(m, rng.beta(1, 1, K)), m)
m = rng.integers(1, 9, 15); share(rng.binomial(m, rng.beta(0.3, 0.5, 15)), m)
share(np.array([5, 0, 5, 5, 0, 5, 5]), np.full(7, 5))
e = [0.5, 0.09]
for _ in range(7): e.append(e[-1] * 0.3 * np.exp(0.1 * rng.normal()))
def order(e):
    floor = max(10 * min(e), 1e-14); t = [x for x in e if floor <= x < 0.1]
    l = np.log(t); r = stats.linregress(l[:-1], l[1:]); q = stats.t.ppf(0.975, len(l) - 3)
    f = np.diff(l); lo, hi = stats.t.interval(0.95, len(f) - 1, f.mean(), stats.sem(f))
    return len(f), r.slope, r.slope - q * r.stderr, r.slope + q * r.stderr, np.exp(f.mean()), np.exp(lo), np.exp(hi)
row("order", *order(e), *e)
e = [0.8, 0.09, 0.03, 0.0011, 1.1e-6, 1.3e-12, 1e-14]
row("order", *order(e), *e)
c = rng.integers(5, 60, (12, 4)).astype(float); c[rng.random((12, 4)) < 0.25] = np.inf; c[3] = np.inf
ratio = c / np.where(np.isfinite(c.min(1)), c.min(1), 1)[:, None]
for x in [1, 1.5, 2, 5, 20]:
    row("profile", x, *[(ratio[:, s] <= x).mean() for s in range(4)])
row("costs", *c.ravel())
for t in tau:
    c = by_task(lambda run: to_tau(run, t) / (run.n + 1))
    for b in [10, 100, 1000, 10000]:
        row("data", t, b, *(c <= b).mean(0))
    for b in np.unique(c[np.isfinite(c)]):
        row("curve", t, b, *(c <= b).mean(0))
for d in digits:
    row("ecdf", d, *(by_task(lambda run: run.digits) >= d).mean(0))
    c = by_task(lambda run: to_digits(run, d)); least = c.min(1, keepdims=True)
    for r in [1, 2, 5, 10, 100]:
        row("performance", d, r, *((c <= r * least) & np.isfinite(c)).mean(0))
    all = by_task(lambda run: run.evaluations)
    for p, s in itertools.product(range(len(problems)), range(len(solvers))):
        mine = slice(p * starts, (p + 1) * starts)
        spent, successes = np.where(np.isfinite(c), c, all)[mine, s].sum(), np.isfinite(c[mine, s]).sum()
        row("expected", d, p, s, spent / successes if successes else np.inf)
open(__file__.replace(".py", ".csv"), "w").write("\n".join(out) + "\n")
