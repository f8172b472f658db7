"""Times of a bidirectional `torch.nn.GRU`, as JSON; needs nothing but PyTorch.

python torch_gru.py '[[[tokens, batch, units], ...], rounds]'
"""

import json
import statistics
import sys
import time

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_step(tokens, batch, units, gradients):
    """A function that runs one step, the loss and all gradients or the loss alone."""
    gru = torch.nn.GRU(units, units, bidirectional=True, batch_first=True).to(DEVICE)
    x = torch.randn(batch, tokens, units, device=DEVICE, requires_grad=gradients)
    factors = torch.linspace(-1, 1, batch * tokens * 2 * units, device=DEVICE)
    factors = factors.reshape(batch, tokens, 2 * units)

    def step():
        with torch.set_grad_enabled(gradients):
            loss = (gru(x)[0] * factors).sum()
            if gradients:
                torch.autograd.grad(loss, [x, *gru.parameters()])
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        return loss.item()

    return step


def main():
    sizes, rounds = json.loads(sys.argv[1])
    rows = []
    for tokens, batch, units in sizes:
        for gradients in (True, False):
            step = make_step(tokens, batch, units, gradients)
            times = []
            for number in range(max(5, rounds * 100 // tokens) + 2):
                start = time.perf_counter()
                step()
                if number > 1:
                    times.append(1e3 * (time.perf_counter() - start))
            kind = "training step" if gradients else "forward"
            row = {"backend": "PyTorch", "pass": kind, "layer": "torch.nn.GRU", "mode": DEVICE}
            row.update(length=tokens, batch=batch, units=units)
            rows.append({**row, "ms": min(times), "median": statistics.median(times)})
    print(json.dumps({"torch": torch.__version__, "rows": rows}))


if __name__ == "__main__":
    main()
