"""Commands of long-term identities."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli.options import deferred

if TYPE_CHECKING:
    from protocols.crypto.identity import Identity

identities_group = typer.Typer(rich_markup_mode=None)


def _describe_group() -> None:
    """Make or show long-term identities of parties and of the curator.

    Without them every run makes new ones. Its transcript then does not show who the signers are.
    """


def new_identities(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[DIR] NAME...",
            help="One name, as in `identities new north`; or a new folder and the names of all parties, as in "
            "`identities new ids north south`.",
        ),
    ],
) -> None:
    """Make the key pair of one participant here. Or make those of all parties and of the curator in a new folder.

    Each participant gets NAME.key, which is SECRET and stays at its site, and NAME.pub, one line to hand over. A folder
    also gets identities.json, with all public keys, for audits.

    \b
    Examples:
      smc-dp identities new north
      smc-dp identities new identities north south
      smc-dp run --party north=n.csv --party south=s.csv --bounds bounds.toml --identities identities
      smc-dp audit runs/first --identities identities/identities.json
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp.core.errors import InputError
    from smc_dp.run import identities as stored

    if len(names) == 1:
        key, handed_over, public = stored.create_identity(Path(), names[0], Stream.from_system())
        _show({names[0]: public})
        print(f"Public: {handed_over}. SECRET: {key}.")
        return
    folder, parties = Path(names[0]), names[1:]
    if len(parties) == 1:
        raise InputError("identities.one_party", folder=str(folder), party=parties[0])
    _show(stored.create_identities(folder, parties, Stream.from_system()))
    print(f"Public: {folder / stored.PUBLIC_FILE}. SECRET: the files *.key beside it.")


def show_identities(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of identities.")]) -> None:
    """Show the names and public keys in a folder. Each must have its secret key.

    \b
    Example:
      smc-dp identities show identities
    """
    from smc_dp.run import identities as stored

    _warn(folder)
    _show({name: identity.public for name, identity in stored.load_identities(folder).items()})


identities_group.callback()(_describe_group)
identities_group.command("new")(deferred(new_identities))
identities_group.command("show")(deferred(show_identities))


def load_with_warning(folder: Path, participants: Sequence[str]) -> dict[str, Identity]:
    """Load the identities of a run; warn on standard error of each secret key that others can read."""
    from smc_dp.run import identities as stored

    found = stored.load_run_identities(folder, participants)
    _warn(folder)
    return found


def _show(public: dict[str, bytes]) -> None:
    from smc_dp.core.errors import plain_name

    width = max(len(plain_name(name)) for name in public)
    for name, key in public.items():
        print(f"{plain_name(name):<{width}}  {key.hex()}")


def _warn(folder: Path) -> None:
    from smc_dp.run import identities as stored

    warn_exposed(stored.list_key_files(folder))


def warn_exposed(keys: Iterable[Path]) -> None:
    """Print a line on standard error for each secret key that others may read."""
    from smc_dp.run import identities as stored

    for path in stored.find_exposed(keys):
        print(f"warning: {path}: other users can read this secret key. Run: chmod 600 {path}", file=sys.stderr)
