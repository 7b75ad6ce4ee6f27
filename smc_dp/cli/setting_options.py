"""Options that are generated from the fields of `smc_dp.run.settings`: their declaration and their reading.

`python tests/make_options.py` writes them into `setting_options.json`, so help loads no model.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from smc_dp.cli.options import read_choice, read_count, read_integer, read_positive
from smc_dp.privacy.target import LEAST_DELTA


@dataclass(frozen=True, eq=False)
class SettingOption:
    """An option of some commands, and the setting that it says: the `key` of a section.

    `kind`: how the value is read, see `value_of`. `commands`: each command that has it, and whether its short help
    shows it. `sentences`: the help of single commands, where it is another one.
    """

    name: str
    option: str
    key: str
    kind: str
    commands: Mapping[str, bool]
    help: str
    section: str = ""
    metavar: str = ""
    variable: str = ""
    sentences: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, command: str) -> inspect.Parameter:
        """Return the parameter of this command that typer makes an option of."""
        said = typer.Option(
            self.option,
            metavar=self.metavar or None,
            help=self.sentences.get(command, self.help),
            hidden=not self.commands[command],
            envvar=self.variable or None,
        )
        kinds: dict[str, Any] = {"flag": bool, "texts": list[str] | None}
        annotation: Any = Annotated[kinds.get(self.kind, str | None), said]
        default = False if self.kind == "flag" else None
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    def value_of(self, text: Any) -> Any:
        """Return the value that was written; InputError, in the name of the option, for what is none."""
        readers: dict[str, Callable[[], Any]] = {
            "integer": lambda: read_integer(self.option, text),
            "count": lambda: read_count(self.option, text),
            "number": lambda: str(read_positive(self.option, text)),
            "probability": lambda: str(read_positive(self.option, text, LEAST_DELTA)),
            "choice": lambda: read_choice(self.option, text, tuple(self.metavar.split("|"))),
            "path": lambda: Path(text),
        }
        return readers[self.kind]() if self.kind in readers else text


SETTING_OPTIONS = tuple(
    SettingOption(**said) for said in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
)


def _show_all(context: typer.Context, is_requested: bool) -> None:
    if is_requested:
        parameters: Any = context.command.params
        hidden = [parameter for parameter in parameters if parameter.hidden]
        for parameter in hidden:
            parameter.hidden = False
        print(context.get_help())
        for parameter in hidden:
            parameter.hidden = True
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show all options and exit.")
]


def with_settings(command: str) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Give a function the options of settings that this command has.

    The function gets them as its first argument: a mapping of sections to what somebody said, read and not checked.
    """
    known = {option.name: option for option in SETTING_OPTIONS if command in option.commands}

    def decorate(function: Callable[..., int | None]) -> Callable[..., int | None]:
        @functools.wraps(function)
        def called(**given: Any) -> int | None:
            own = {name: value for name, value in given.items() if name not in known and name != "help_all"}
            said = {known[name]: given[name] for name in known if given.get(name) not in (None, False, [])}
            return function(_read(said), **own)

        first, *own = inspect.signature(function, eval_str=True).parameters.values()
        every = [
            *(p.replace(kind=p.KEYWORD_ONLY) for p in own),
            *(option.parameter(command) for option in known.values()),
        ]
        if not all(option.commands[command] for option in known.values()):
            every.append(inspect.Parameter("help_all", first.KEYWORD_ONLY, default=False, annotation=HelpAll))
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in every}
        return called

    return decorate


def _read(given: Mapping[SettingOption, Any]) -> dict[str, Any]:
    """Return the values by section and key; every option that cannot be read is reported at once."""
    from smc_dp.core.errors import FaultCollector

    collected, found = FaultCollector(), dict[str, Any]()
    for option, text in given.items():
        with collected.step():
            section = found.setdefault(option.section, {}) if option.section else found
            section[option.key] = option.value_of(text)
    collected.require()
    return found
