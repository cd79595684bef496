"""PyTorch: nested `torch.autograd.grad`, `torch.optim.Adam` with a decaying rate, then `torch.optim.LBFGS`.

Adam: rate 10⁻³, times 0.9 every 2,000 steps. L-BFGS: history 50, strong Wolfe line search. Fixed points.
With `--way compiled`, loss and gradient are traced with `make_fx` and compiled by inductor.
"""

import itertools

import torch
from common import Race
from torch.fx.experimental.proxy_tensor import make_fx

torch.set_default_dtype(torch.float64)
race = Race()


def main():
    task, options = race.task, race.options
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parameters = []
    for a, b in itertools.pairwise(race.sizes):
        weight = torch.empty(b, a, device=device)
        torch.nn.init.xavier_normal_(weight)
        parameters += [weight.requires_grad_(), torch.zeros(b, device=device, requires_grad=True)]
    t, x = (torch.tensor(p, device=device) for p in race.points())
    k = task.wave * torch.arange(1, options.modes + 1, device=device, dtype=torch.float64)

    def u(parameters, t, x):
        s = t / task.horizon
        hidden = task.inputs(torch, s, x, k)
        for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            hidden = torch.tanh(torch.nn.functional.linear(hidden, weight, bias))
        return task.trial(torch, s, x, torch.nn.functional.linear(hidden, *parameters[-2:]))

    def measure(parameters, t, x):
        parameters = [p.detach().requires_grad_() for p in parameters]
        t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
        value = u(parameters, t, x)
        ones = torch.ones_like(value)
        parts = [value, *torch.autograd.grad(value, (t, x), ones, create_graph=True)]
        for _ in range(task.order - 1):
            parts += torch.autograd.grad(parts[-1], x, ones, create_graph=True)
        loss = (task.residual(*parts) ** 2).mean()
        return loss, torch.autograd.grad(loss, parameters)

    if options.way == "compiled":
        measure = torch.compile(make_fx(measure)([p.detach() for p in parameters], t, x))

    def closure():
        loss, gradient = measure([p.detach() for p in parameters], t, x)
        for p, g in zip(parameters, gradient, strict=True):
            p.grad = g
        return loss.detach()

    def predict(t, x):
        with torch.no_grad():
            places = (torch.tensor(p, device=device) for p in (t, x))
            return u(parameters, *places).cpu().numpy()

    over = lambda: race.due() and race.check(predict)
    adam = torch.optim.Adam(parameters, lr=1e-3)
    decay = torch.optim.lr_scheduler.ExponentialLR(adam, 0.9 ** (1 / 2_000))
    for _ in range(options.adam_steps):
        closure()
        adam.step()
        decay.step()
        if over():
            return
    lbfgs = torch.optim.LBFGS(
        parameters,
        max_iter=10,
        history_size=50,
        line_search_fn="strong_wolfe",
        tolerance_grad=0.0,
        tolerance_change=0.0,
    )
    while not race.over:
        lbfgs.step(closure)
        over()


main()
