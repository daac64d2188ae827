"""Words that this command line no longer has, each with the command that took its place."""

import typer

#: What became of a word.
MOVED = {"discover": "xorfind table", "xor": "xorfind bits", "apply": "xorfind apply"}


def add_to(app: typer.Typer) -> None:
    """Register the old words; they are hidden from the list and take whatever follows them."""
    anything = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    for word in MOVED:
        app.command(word, hidden=True, context_settings=anything)(_refuse)


def _refuse(context: typer.Context) -> None:
    word = str(context.info_name)
    raise ValueError(f"`paritylab {word}` is now `{MOVED[word]}`, with the same options")
