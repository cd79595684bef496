"""Classical solvers, for scale: a Fourier method with SciPy's BDF, and the reference solver of hcpinn.

`--way scipy`: as many Fourier points as the task says, tolerance a hundredth of `--accuracy`. `--way
reference`: hcpinn's reference, refined until it is good to `--accuracy` by its own estimate, with nothing
taken from its cache.
"""

from common import Race

race = Race()


def scipy_fourier():
    import numpy as np
    from scipy.integrate import solve_ivp

    task = race.task
    count = task.classical_points
    x = task.lower + (task.upper - task.lower) * np.arange(count) / count
    k = 1j * task.wave * np.arange(count // 2 + 1)
    k[-1] = 0

    def rate(t, u):
        waves = np.fft.rfft(u)
        derivatives = [np.fft.irfft(k**n * waves, count) for n in range(1, task.order + 1)]
        return -task.residual(u, 0.0, *derivatives)

    tolerance = race.options.accuracy / 100
    start = task.initial(np, x)
    found = solve_ivp(
        rate, (0, task.horizon), start, "BDF", t_eval=race.times, rtol=tolerance, atol=tolerance
    )
    waves = np.fft.rfft(found.y.T, axis=1) / count
    waves[:, 1:-1] *= 2
    phase = np.exp(np.outer(np.arange(count // 2 + 1) * 1j * task.wave, race.places - task.lower))
    return (waves @ phase).real


def reference():
    from hcpinn import find_problem, solve_reference

    grid = {"times": len(race.times), "points": len(race.places)}
    problem = find_problem(race.options.declaration)
    return solve_reference(problem, **grid, tolerance=race.options.accuracy, cache=False).values["u"]


values = reference() if race.options.way == "reference" else scipy_fourier()
race.check(lambda t, x: values)
