import numpy as np

from paritylab.models import Circle

n, b, tau = 7, 2, 1 / 49
bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
table, labels = np.asarray(Circle(n).table), 1 - 2 * bits[:, b]
tokens = np.stack([bits, 1 - bits], axis=-1)
places = np.broadcast_to(table, tokens.shape)
for name, parts in (("text", (tokens, places)), ("caption", (places, tokens))):
    embedded = np.concatenate(parts, axis=-1)
    scores = embedded[:, :, 2:] @ table[b] / tau
    attention = np.exp(scores - scores.max(axis=1, keepdims=True))
    attention /= attention.sum(axis=1, keepdims=True)
    answer = 1 - 2 * (attention * embedded[:, :, 0]).sum(axis=1)
    right = float(np.mean(np.sign(answer) == labels))
    print(name, "right on", right)
    assert (right == 1.0) == (name == "text")
