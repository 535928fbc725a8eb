"""cross_mean.py READER OUT CROSS... - the mean of cross-encoders that began from the same one.

CROSS are files as cross_train.py writes them. Each run learns the same things and errs by itself: their mean tells answers
from what only sounds like them better than any of them does."""
import sys

import torch

from cross_train import DEVICE, CrossEncoder


def main(reader, out, *runs):
    models = [CrossEncoder(reader).to(DEVICE) for _ in runs]
    for m, path in zip(models, runs):
        m.load_state_dict(models[0].state_dict())  # the scale is written into the head, and one is theirs
        m.read(path)
    states = [m.state_dict() for m in models]
    models[0].load_state_dict({name: torch.stack([s[name] for s in states]).mean(0) for name in states[0]})
    models[0].write(out)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
