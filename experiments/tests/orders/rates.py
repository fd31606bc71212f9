# Rates of convergence that experiments/tests/program/orders.rs is held to, with mpmath 1.3 at 50 digits: of Gauss and Newton's
# method the greatest eigenvalue by size of (JᵀJ)⁻¹ S at the answer, S being the sum of r times the Hessian of r; of gradient
# descent with the best fixed step (κ − 1)/(κ + 1), κ being the condition of JᵀJ. Writes rates.csv.
from mpmath import mp, mpf, matrix, exp, sin, diff, eigsy, findroot, nstr
mp.dps = 50
rows = []

def gauss_newton(name, residuals, at):
    n = len(at)
    def partial(r, *by):
        order = tuple(sum(k == i for k in by) for i in range(n))
        return diff(lambda *p: r(*p), tuple(at), order)
    gram, second = matrix(n, n), matrix(n, n)
    for i in range(n):
        for j in range(n):
            gram[i, j] = sum(partial(r, i) * partial(r, j) for r in residuals)
            second[i, j] = sum(r(*at) * partial(r, i, j) for r in residuals)
    eigenvalues = mp.eig(gram ** -1 * second)[0]
    rows.append((name, "gauss-newton", max(abs(x) for x in eigenvalues)))

def curved(name, k, a, b, c):
    k, a, b, c = map(mpf, (k, a, b, c))
    far = lambda p, q: k * (1 + (a * (p - 1) ** 2 + b * (q - 1) ** 2) / 2 + c * (p - 1) * (q - 1))
    gauss_newton(name, [lambda p, q: p - 1, lambda p, q: q - 1, far], [mpf(1), mpf(1)])

def curve(name, model, times, values, near):
    times, values = map(mpf, times.split()), map(mpf, values.split())
    residuals = [lambda p, t=t, y=y: model(p * t) - y for t, y in zip(times, values)]
    answer = findroot(lambda p: sum(r(p) * diff(r, p) for r in residuals), near)
    print(name, nstr(answer, 20), nstr(sum(r(answer) ** 2 for r in residuals), 20))
    gauss_newton(name, residuals, [answer])

def quadratic(name, jacobian):
    j = matrix(jacobian)
    eigenvalues = eigsy(j.T * j)[0]
    condition = max(eigenvalues) / min(eigenvalues)
    print(name, nstr(min(eigenvalues) + max(eigenvalues), 20))
    rows.append((name, "gradient-descent", (condition - 1) / (condition + 1)))

curved("curved-1", "0.6", "1", "0.3", "0.2")
curved("curved-2", "0.5", "1", "-2", "0.5")
curved("curved-3", "0.7", "1.2", "0.2", "0.4")
curve("decay-1", lambda x: exp(-x), "0.5 1 1.5 2 3", "0.1 0.9 0.2 0.7 0.4", 0.45)
curve("decay-2", lambda x: exp(-x), "0.5 1 2 4", "1.2 0.2 0.9 -0.3", 0.46)
curve("wave", sin, "0.5 1 1.5 2 2.5", "0.9 0.2 1.4 0.1 0.9", 0.98)
quadratic("condition-4", [[3, 1], [1, 3]])
quadratic("condition-9", [[1, -1], [3, 3]])
with open(__file__.replace(".py", ".csv"), "w") as out:
    for name, solver, rate in rows:
        out.write(f"{name},{solver},{nstr(rate, 17)}\n")
