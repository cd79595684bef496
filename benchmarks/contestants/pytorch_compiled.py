"""PyTorch, compiled: the fastest of several ways that works on the machine, named in the record.

`torch.compile` does not follow a backward pass through a backward pass, so the whole step of nested
`torch.autograd.grad` (derivatives, loss, gradient, update) is first traced into one graph with `make_fx`,
which inductor then compiles. On a GPU, ten steps are captured as one `torch.cuda.CUDAGraph`, of the
compiled step and of the eager one. `--order 4` works alike.

`torch.func` (`vmap` of `grad` of `grad`, under `torch.compile`) also works, takes longer to compile and is
slower; nested `torch.func.jvp` is refused by `torch.compile` (PyTorch 2.13). The environment variable
`TORCH_WAY` picks one way: `inductor`, `func` or `eager` (on a GPU, in a CUDA graph).
"""

import itertools
import math
import os
import time
import warnings

import numpy as np
import torch
from common import DEPTH, MODES, RATE, WIDTH, serve
from torch.func import grad, grad_and_value, vmap
from torch.fx.experimental.proxy_tensor import make_fx

BLOCK = 10


def make(points, order, precision):
    warnings.filterwarnings("ignore")
    torch.set_default_dtype(getattr(torch, precision))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ways = {"inductor": _inductor, "func": _func, "eager": _eager}
    default = ["inductor", "eager"] if device == "cuda" else ["inductor"]
    chosen = [os.environ["TORCH_WAY"]] if "TORCH_WAY" in os.environ else default
    found, failed = [], []
    for name in chosen:
        try:
            began = time.perf_counter()
            steps = _run(ways[name], points, order, device)
            steps(BLOCK)
            steps.first_s = time.perf_counter() - began
            began = time.perf_counter()
            steps(BLOCK)
            found.append((time.perf_counter() - began, name, steps))
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:200]}")
    if not found:
        raise SystemExit("no way to compile works here; " + "; ".join(failed))
    _, name, steps = min(found, key=lambda f: f[0])
    words = {"inductor": "make_fx and inductor", "func": "torch.func and inductor", "eager": "eager step"}
    steps.note = words[name] + (", ten steps in a CUDA graph" if device == "cuda" else "")
    if failed:
        steps.note += f" (does not work: {'; '.join(failed)})"
    return steps


def _run(way, points, order, device):
    """A function that runs a number of steps, in place on its own parameters."""
    torch.manual_seed(0)
    sizes = [2 + 2 * MODES, *[WIDTH] * DEPTH, 1]
    parameters = []
    for a, b in itertools.pairwise(sizes):
        weight = torch.empty(b, a, device=device)
        torch.nn.init.xavier_normal_(weight)
        parameters += [weight, torch.zeros(b, device=device)]
    rng = np.random.default_rng(0)
    dtype = torch.get_default_dtype()
    t = torch.tensor(rng.random((points, 1)), dtype=dtype, device=device)
    x = torch.tensor(2 * rng.random((points, 1)) - 1, dtype=dtype, device=device)
    measure = way(parameters, t, x, order)
    value = torch.zeros((), device=device)

    def step():
        loss, gradient = measure(parameters, t, x)
        torch._foreach_add_(parameters, list(gradient), alpha=-RATE)
        value.copy_(loss.detach())

    if device == "cpu":

        def steps(count):
            for _ in range(count):
                step()
            return float(value)

        return steps
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(BLOCK):
            step()

    def replay(count):
        for _ in range(-(-count // BLOCK)):
            graph.replay()
        return float(value)

    return replay


def _eager(parameters, t, x, order):
    """Loss and gradient by nested `torch.autograd.grad`."""
    k = _waves(t)

    def derivative(y, z):
        return torch.autograd.grad(y, z, torch.ones_like(y), create_graph=True)[0]

    def measure(parameters, t, x):
        parameters = [p.detach().requires_grad_() for p in parameters]
        t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
        hidden = torch.cat([t, torch.ones_like(t), torch.cos(k * x), torch.sin(k * x)], 1)
        for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            hidden = torch.tanh(torch.nn.functional.linear(hidden, weight, bias))
        output = torch.nn.functional.linear(hidden, *parameters[-2:])
        u = torch.exp(-t) * x**2 * torch.cos(math.pi * x) + t * output
        u_t, u_x = torch.autograd.grad(u, (t, x), torch.ones_like(u), create_graph=True)
        u_xx = derivative(u_x, x)
        r = u_t - 1e-3 * u_xx + 5 * (u**3 - u)
        if order == 4:
            r = r + 1e-7 * derivative(derivative(u_xx, x), x)
        loss = (r**2).mean()
        return loss, torch.autograd.grad(loss, parameters)

    return measure


def _inductor(parameters, t, x, order):
    """The same, traced into one graph and compiled."""
    return torch.compile(make_fx(_eager(parameters, t, x, order))(parameters, t, x))


def _func(parameters, t, x, order):
    """Loss and gradient by `torch.func`, a point at a time, mapped and compiled."""
    k = _waves(t)

    def u(parameters, t, x):
        hidden = torch.cat([torch.stack([t, torch.ones_like(t)]), torch.cos(k * x), torch.sin(k * x)])
        for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            hidden = torch.tanh(weight @ hidden + bias)
        output = (parameters[-2] @ hidden + parameters[-1])[0]
        return torch.exp(-t) * x**2 * torch.cos(math.pi * x) + t * output

    def residual(parameters, t, x):
        u_xx = grad(grad(u, 2), 2)
        value = u(parameters, t, x)
        r = grad(u, 1)(parameters, t, x) - 1e-3 * u_xx(parameters, t, x) + 5 * (value**3 - value)
        return r + 1e-7 * grad(grad(u_xx, 2), 2)(parameters, t, x) if order == 4 else r

    def loss(parameters, t, x):
        return (vmap(lambda t, x: residual(parameters, t, x))(t[:, 0], x[:, 0]) ** 2).mean()

    @torch.compile
    def measure(parameters, t, x):
        gradient, value = grad_and_value(loss)(parameters, t, x)
        return value, gradient

    return measure


def _waves(t):
    return math.pi * torch.arange(1, MODES + 1, device=t.device, dtype=t.dtype)


if __name__ == "__main__":
    serve(make)
