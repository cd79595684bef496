"""Classical solvers, for scale: a Fourier method with SciPy's BDF, and the reference solver of hcpinn.

`--way scipy`: 256 Fourier points, tolerance a hundredth of the accuracy asked for. `--way reference`:
hcpinn's reference, which refines until it is good to about 10⁻⁹ by its own estimate, which stands for its
error; nothing is taken from its cache.
"""

from common import Race

race = Race()


def scipy_fourier():
    import numpy as np
    from scipy.integrate import solve_ivp

    task, count = race.task, 256
    x = task.lower + (task.upper - task.lower) * np.arange(count) / count
    k = 1j * task.wave * np.arange(count // 2 + 1)
    k[-1] = 0

    def rate(t, u):
        waves = np.fft.rfft(u)
        derivatives = [np.fft.irfft(k**n * waves, count) for n in range(1, task.order + 1)]
        return -task.residual(u, 0.0, *derivatives)

    tolerance = race.options.target / 100
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

    return solve_reference(find_problem(race.options.problem), cache=False).error_estimate


if race.options.way == "reference":
    estimate = reference()
    race.report(race.seconds(), estimate)
else:
    values = scipy_fourier()
    race.check(lambda t, x: values)
