"""The half of `paritylab xor` for groups without labels and pairs with a latency."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paritylab.cli import console
from paritylab.cli.xor_files import Asked, compare, save as save_matrix, say_reading, write_json

if TYPE_CHECKING:
    import numpy as np

NOTHING_FOUND = 3


def share(
    file: str,
    names: Asked,
    threshold: float | None,
    budget: float,
    against: Path | None,
    emit: str | None,
    save: Path | None,
    json_file: str | None,
    figure: Path | None,
    out: Any,
) -> int:
    """Functions that groups share, from sets or from timings of pairs."""
    from paritylab.discovery.fields.emit import emit as code_of
    from paritylab.discovery.fields.groups import shared_functions
    from paritylab.discovery.fields.matrix import XorMatrix
    from paritylab.discovery.fields.text import function_lines

    published = None if against is None else XorMatrix.load(against)
    labels, within, across = (
        _timed(file, names, threshold, figure, out)
        if names.slow is not None
        else _sets(file, names)
    )
    found = shared_functions(labels, within, across, budget)
    print("\n".join(function_lines(found, "shared functions")), file=out)
    matrix = found.matrix if len(found.basis) else None
    compare(matrix, published, out)
    entry = None if matrix is None else matrix.to_json()
    write_json({"functions": len(found.basis), "matrix": entry}, file, json_file)
    if save is not None:
        save_matrix(matrix, save)
    if emit is not None:
        if matrix is None:
            raise ValueError("no function was found, so there is no code to print")
        print(code_of(matrix, emit, "functions"))
    return 0 if matrix is not None else NOTHING_FOUND


Differences = tuple[tuple[str, ...], "np.ndarray", "np.ndarray"]


def _sets(file: str, names: Asked) -> Differences:
    import numpy as np

    from paritylab.discovery.fields.affine import keys_of
    from paritylab.discovery.fields.groups import set_differences
    from paritylab.discovery.fields.slices import labels_of

    assert names.same is not None
    table = names.read(file)
    say_reading(table)
    if len(table.batches) > 1:
        raise ValueError("groups need frames of one length")
    (batch,) = table.batches
    selection = table.select(None, names.bits, names.ignore, [names.same])
    bits = selection.input_bits(batch)
    keys = keys_of(batch.taken(table.select(names.same).target_bits(batch)))
    groups = np.unique(keys, return_inverse=True)[1].ravel()
    return labels_of(bits), *set_differences(batch.taken(bits), groups)


def _timed(
    file: str, names: Asked, given: float | None, figure: Path | None, out: Any
) -> Differences:
    import numpy as np

    from paritylab.discovery.fields.slices import labels_of
    from paritylab.discovery.fields.timings import histogram_lines, threshold
    from paritylab.discovery.reading import open_table

    if file == "-":
        raise ValueError("--slow reads its table twice; give a file, not standard input")
    if not names.bits:
        raise ValueError("--slow needs --bits, such as --bits 'a^b[35:6]' for pairs a and b")
    with open_table(file) as opened:
        if names.slow not in opened.names:
            raise ValueError(f"no column {names.slow!r} for --slow")
        at = opened.names.index(names.slow)
        try:
            times = np.concatenate(
                [np.asarray(block.column(at), np.float64) for block in opened.blocks()]
            )
        except ValueError:
            raise ValueError(f"column {names.slow!r} must hold numbers to be timings") from None
    table = names.read(file)
    say_reading(table)
    (batch,) = table.batches
    cut = threshold(times, given)
    block = "█" if str(out.encoding or "utf-8").lower().startswith("utf") else "#"
    print("\n".join([f"{names.slow}:", *histogram_lines(times, cut, block)]), file=out)
    if figure is not None:
        _draw(times, cut, names.slow, figure)
    if not cut.separates:
        raise ValueError(
            "the timings show no valley between fast and slow, so nothing separates them; give "
            "--threshold, or measure with fewer disturbances"
        )
    bits = table.select(None, names.bits, names.ignore).input_bits(batch)
    rows = batch.taken(bits)
    # A function of the XOR of two addresses is the XOR of its values: name it after an address.
    labels = tuple(
        label.replace("^".join(bit.columns), "addr", 1)
        for bit, label in zip(bits, labels_of(bits), strict=True)
    )
    return labels, rows[cut.slow(times)], rows[cut.fast(times)]


def _draw(times: Any, cut: Any, label: str, figure: Path) -> None:
    from paritylab.claims import Histogram, Mark
    from paritylab.report.figures import save_figure

    near = times[times <= cut.top]
    marks = [Mark(cut.value, "threshold", "x")]
    save_figure(Histogram(near.tolist(), x=label, marks=marks).series(), figure)
    console.say(f"figure: {figure}")
