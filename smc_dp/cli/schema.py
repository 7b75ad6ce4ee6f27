"""Command `lab schema`: the published schemas of documents."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def print_schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one; without it, the names.")] = None,
) -> None:
    """Print the JSON Schema of a document. Documents are what sites exchange or keep, runs and audits.

    Without NAME, the names are listed. Studies, policies and bounds are TOML: the schema is that of their values.

    \b
    Examples:
      smc-dp lab schema
      smc-dp lab schema study > study.schema.json
      smc-dp lab schema release
    """
    from smc_dp.cli import schemas

    if name is None:
        print("\n".join(schemas.SCHEMAS))
        return
    print(json.dumps(schemas.json_schema(name), indent=2))
