"""Command line: the list of commands, and `main`, which turns every error into an exit code.

Typer reads the options, and `main` then does the work, so that an error in either becomes one plain line on standard
error and exit code 2. A command imports what it needs when it works: to ask for help loads nothing.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType, MappingProxyType
from typing import Annotated, Any

import typer
import typer.core
from typing_extensions import override

from protocols.errors import FaultError, ProtocolError, StoppedError
from smc_dp.cli import (
    audit,
    bounds,
    export,
    identities,
    lab,
    ledger,
    personalise,
    plan,
    predict,
    run,
    show,
    site,
    study,
    verbose,
)
from smc_dp.cli.options import Invocation, deferred, options_in_backquotes, options_in_message
from smc_dp.core.errors import Fault, InputError, LinesFault, one_line

_PATHS = frozenset({"data_dir", "file", "folder", "ledgers", "path", "run_folder", "views"})  # fields of faults
_LONGEST_SUMMARY = 200  # letters: the summary of a command is never cut short
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "On one machine": ("bounds", "plan", "run", "predict", "personalise", "show", "publish", "export", "audit"),
        "Between organisations": ("identities", "study", "join", "serve", "status", "ledger"),
        "Research": ("lab",),
    }
)
"""Commands in the groups and the order of `smc-dp --help`."""


class _GroupedCommands(typer.core.TyperGroup):
    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(_LONGEST_SUMMARY)) for name in names])


app = typer.Typer(
    cls=_GroupedCommands,
    help="Compute a differentially private result together (a model, or a Table 1), without showing anyone your data.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        print(f"smc-dp {version('smc-dp')}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    more: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Log the progress of a command to standard error; give it twice to log every message. Write it before "
            "the command.",
        ),
    ] = 0,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.ensure_object(ExitStack).enter_context(verbose.logging_to_stderr(more))


_INTERRUPTED, _TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
_UsageError: Any = typer.BadParameter.__base__  # typer carries its own copy of click, or uses click: either way

app.command("run")(deferred(run.train_together))
app.command("predict")(deferred(predict.classify_rows))
app.command("personalise")(deferred(personalise.personalise_model))
app.command("show")(deferred(show.show_run))
app.command("publish")(deferred(show.copy_published))
app.command("export")(deferred(export.export_model))
app.command("plan")(deferred(plan.plan_learning))
app.command("audit")(deferred(audit.audit_folder))
app.add_typer(bounds.bounds_group, name="bounds")
app.add_typer(ledger.ledger_group, name="ledger")
app.add_typer(identities.identities_group, name="identities")
app.add_typer(study.study_group, name="study")
app.command("join")(deferred(site.join_study))
app.command("serve")(deferred(site.serve_study))
app.command("status")(deferred(site.study_status))
study.study_group.command("abandon")(deferred(site.give_up_study))
app.add_typer(lab.lab_group, name="lab")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Exit code: 0; 1, something failed or could not go on; 2, wrong options or files; 130, Ctrl-C; 143, SIGTERM.
    """
    try:
        code = _carry_out(argv)
        sys.stdout.flush()  # here, and not at the end of the process, where nobody can catch it
        return code
    except BrokenPipeError:
        _discard_output()
        return 0


def _discard_output() -> None:
    """Send what is still printed nowhere: the reader of our output has seen enough, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    names: Mapping[str, str] = {}
    as_json = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal has no letters for must not end it all
            stream.reconfigure(errors="backslashreplace")
    try:
        with _terminable(), verbose.local_warnings(), ExitStack() as open_until_the_end:
            invoked = app(args=arguments, prog_name="smc-dp", standalone_mode=False, obj=open_until_the_end)
            if invoked == _INTERRUPTED:  # what typer makes of Ctrl-C while it reads the options
                raise KeyboardInterrupt
            if not isinstance(invoked, Invocation):  # after --help
                return 0
            names, as_json = invoked.names(), bool(invoked.given.get("as_json"))
            return invoked()
    except _UsageError as error:
        return _fail(_of_wrong_use(error))
    except InputError as error:
        return _refuse(error, names, 2, options_in_message, as_json=as_json)
    except BrokenPipeError:
        raise
    except StoppedError as error:  # nothing was asked for wrongly
        return _refuse(error, names, 1, options_in_backquotes, as_json=as_json)
    except ProtocolError as error:
        return _refuse(error, {}, 2, options_in_backquotes, as_json=as_json)
    except OSError as error:
        return _fail(_said(_of_system(error), error))
    except KeyboardInterrupt as error:
        print(_said("interrupted", error), file=sys.stderr)
        return _INTERRUPTED
    except SystemExit as error:
        if error.code == _TERMINATED:
            print(_said("terminated", error), file=sys.stderr)
        raise


@contextmanager
def _terminable() -> Iterator[None]:
    """End the program at SIGTERM as at Ctrl-C, so that worker processes end too."""
    if threading.current_thread() is not threading.main_thread():  # the only one that may set it
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)


def _refuse(
    error: FaultError,
    names: Mapping[str, str],
    code: int,
    in_options: Callable[[str, Mapping[str, str]], str],
    *,
    as_json: bool,
) -> int:
    """Print every fault on a line of its own, in the names of options, and with `as_json` all of them as one object."""

    def renamed(fault: Fault) -> str:
        paths = {str(value) for name, value in fault.fields.items() if name in _PATHS}
        # A folder may have the name of a parameter, which is no option then.
        sentence = fault.sentence if isinstance(fault, LinesFault) else str(fault)
        return in_options(sentence, {name: option for name, option in names.items() if name not in paths})

    every = error.faults or (error.fault,)
    where = "" if error.fault in every else error.fault.place
    lines = [f"{where}{renamed(fault)}" for fault in every]
    to_copy = [fault.lines if isinstance(fault, LinesFault) else () for fault in every]
    if as_json:
        faults = [{**(one := fault.within(where)).as_dict(), "message": renamed(one)} for fault in every]
        try:
            print(json.dumps({"error": faults[0], "faults": faults}), flush=True)
        except BrokenPipeError:  # the lines on standard error and the exit code still count
            _discard_output()
    last = max((i for i, below in enumerate(to_copy) if not below), default=-1)
    lines[last] = _said(lines[last], error)
    for line, below in zip(lines, to_copy, strict=True):
        _fail(line, below=below)
    return code


def _of_wrong_use(error: Any) -> str:
    """Return the message of a wrong use, with the commands of the group, or the help of the option, that was wanted."""
    context, message = error.ctx, error.format_message()
    missing = getattr(error, "param", None)
    if missing is not None and getattr(missing, "help", None) and message.startswith("Missing"):
        option = missing.opts[0] if missing.param_type_name == "option" else ""
        wanted = f"{option} {missing.metavar or ''}".strip()
        return f"{message.removesuffix('.')}. Give {wanted}: {missing.help.removeprefix('SECRET: ')}"
    if context is None or not isinstance(context.command, typer.core.TyperGroup):
        is_unknown = context is not None and message.startswith("No such option")
        end = "" if message.endswith((".", "?")) else "."
        return f"{message}{end} All options: `{context.command_path} --help`" if is_unknown else str(message)
    commands = ", ".join(context.command.commands)
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} The commands of {context.command_path}: {commands}."


def _of_system(error: OSError) -> str:
    """Return the file, if the error names one, and what the system says."""
    return f"{error.filename}: {error.strerror}" if error.filename is not None and error.strerror else str(error)


def _said(message: str, error: BaseException) -> str:
    """Return the message with the notes of the error, such as what it cost."""
    return "; ".join([message, *getattr(error, "__notes__", ())])


def _fail(message: str, code: int = 2, below: Sequence[str] = ()) -> int:
    """Print a message on one line, which nothing in it can end, and `below` it, indented, lines to copy."""
    print(f"error: {one_line(message)}", *below, sep="\n  ", file=sys.stderr)
    return code
