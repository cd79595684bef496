"""PyTorch, eager: nested `torch.autograd.grad`, as PINN codes usually do it."""

import itertools
import math

import numpy as np
import torch
from common import DEPTH, MODES, RATE, WIDTH, serve


def make(points, order, precision):
    torch.manual_seed(0)
    torch.set_default_dtype(getattr(torch, precision))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sizes = [2 + 2 * MODES, *[WIDTH] * DEPTH, 1]
    layers = []
    for a, b in itertools.pairwise(sizes):
        layer = torch.nn.Linear(a, b)
        torch.nn.init.xavier_normal_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        layers += [layer, torch.nn.Tanh()]
    network = torch.nn.Sequential(*layers[:-1]).to(device)
    rng = np.random.default_rng(0)
    dtype = torch.get_default_dtype()
    t = torch.tensor(rng.random((points, 1)), dtype=dtype, device=device, requires_grad=True)
    x = torch.tensor(2 * rng.random((points, 1)) - 1, dtype=dtype, device=device, requires_grad=True)
    k = math.pi * torch.arange(1, MODES + 1, device=device, dtype=dtype)
    parameters = list(network.parameters())

    def derivative(y, z):
        return torch.autograd.grad(y, z, torch.ones_like(y), create_graph=True)[0]

    def loss():
        features = torch.cat([t, torch.ones_like(t), torch.cos(k * x), torch.sin(k * x)], 1)
        u = torch.exp(-t) * x**2 * torch.cos(math.pi * x) + t * network(features)
        u_t, u_x = torch.autograd.grad(u, (t, x), torch.ones_like(u), create_graph=True)
        u_xx = derivative(u_x, x)
        r = u_t - 1e-3 * u_xx + 5 * (u**3 - u)
        if order == 4:
            r = r + 1e-7 * derivative(derivative(u_xx, x), x)
        return (r**2).mean()

    def steps(count):
        for _ in range(count):
            value = loss()
            gradient = torch.autograd.grad(value, parameters)
            with torch.no_grad():
                torch._foreach_add_(parameters, gradient, alpha=-RATE)
        return float(value)

    return steps


if __name__ == "__main__":
    serve(make)
