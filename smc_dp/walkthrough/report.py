"""Report a walkthrough: who takes part, how to read it, step after step, and what is claimed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from protocols.programs import Protocol
from protocols.runtime.citations import NOTES, read_note
from protocols.runtime.message import Message
from smc_dp.core.version import __version__
from smc_dp.leakage.matrix_text import join_names
from smc_dp.pages.blocks import (
    Banner,
    Bullets,
    FactList,
    Page,
    PageBlock,
    PageTable,
    Prose,
    Quotation,
    Section,
    Walkthrough,
)
from smc_dp.walkthrough import knowledge_blocks, sequence_diagram, values
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace
from smc_dp.walkthrough.observed_session import ObservedSession
from smc_dp.walkthrough.walkthrough_steps import WalkthroughStep, leaving_steps, steps_of

DRY_RUN_NOTICE = (
    "A dry run: a real session of the program, with made-up numbers and noise. Anybody can compute its randomness, so "
    "it protects nothing."
)

HOW_TO_READ = (
    "A section is one step in which messages are sent. It has the number that the step has in the quoted text, if it "
    "has one there. A step without messages has no section of its own: its text stands with the step before or after "
    "it. A step of the set-up or of a building block (comparison, transfer) has its name, and a number of its own.",
    "A section begins with the messages, as a list and as a picture. The picture has a lane for each participant and "
    "an arrow for each message. Everybody can read what a dashed arrow sends.",
    "Then come the text of the paper or of the notes, word for word, and remarks on where the program differs. Each "
    "stands at the first step that it is about. The notes of the protocol, NOTES.md, say more.",
    "Each kind of message has a table of its values in this session. Long numbers and vectors are cut. A homomorphic "
    "ciphertext stands in square brackets. The number after it is its content, which only the named holders of the "
    "key can read. A field that is called public needs no secrecy, even if it is sent to one participant only.",
    "A step ends with what is known after it: which secrets of others a participant can work out, alone or in a "
    "coalition (a group whose members share all that they saw). It is shown only where it has changed. It holds for "
    "all secret permutations and all orders of the sizes, not only for the numbers of this session.",
    "The result, or release, is what the protocol publishes or gives to its users at the end.",
)
DEPARTS = "Where the program departs from it, and why"
BESIDE = "What the notes add"
SAME_TEXT = "The text at the step {number} before is about this step, too."
AGAIN = "The same kinds of messages as in step {number} ({stage}), with new values. The text there is about both."
IS_WRONG = "What is wrong with it as published, and what fixes it"
FIXED_NOTES = (
    'These are the notes of the fixed program, which they call "here". The steps of this page are as published.'
)
ATTACKS_FOLLOW = (
    "After the steps come attacks, in sessions of their own. A section says so if its attack takes too long to be "
    "tried for this page. The others are tried where they succeed: on the protocol as it was published or with a "
    "rule left out, or on this protocol where the weakness has no fix. For comparison they are tried where they "
    "should fail: on the protocol with the fix (hardened), on another method, or with nothing to find."
)
SEMI_HONEST = (
    "The claim is about participants who all follow the protocol, even if they are curious (semi-honest). It says "
    "nothing about malicious ones. The limitations say what these can do."
)
HOW_KNOWN = (
    "The knowledge after each step is computed. The program's own code of each participant runs on symbols in place of "
    "numbers, with the messages up to that step. The computation assumes that everybody follows the protocol, and that "
    "nobody can decrypt a message without its key. It is a check, not a proof."
)


def walkthrough_page(observed: ObservedSession, trace: KnowledgeTrace, more: Sequence[Section] = ()) -> Page:
    """Return the page of a session, beside the knowledge trace of its protocol. `more`: sections after the steps."""
    protocol, steps = trace.protocol, steps_of(observed, trace)
    left = leaving_steps(observed, steps)
    modules = dict.fromkeys(role.__module__ for role in protocol.program.roles.values())
    what = tuple(Prose(_first(sys.modules[module].__doc__)) for module in modules)
    worlds = (
        f", {trace.worlds} cases (each combination of secret permutations and order of the sizes)"
        if trace.worlds > 1
        else ""
    )
    many = len(trace.settings) > 1
    name = protocol.program.name
    worst = (
        f" With other parameters a coalition can know more. `smc-dp lab matrix {name}` computes its knowledge for "
        f"{len(trace.settings)} sets of parameters, of which this is the first, and shows the worst."
        if many
        else ""
    )
    parameters = observed.session.parameters
    named = {*parameters.as_dict(), *(one.name for one in fields(parameters))}  # a dict may leave out a usual value
    meanings = tuple((letters, text) for letters, text in protocol.symbols.items() if letters not in named)
    symbols = (Section("Letters and words", (FactList(meanings),)),) if meanings else ()
    known = f"It is shown for {len(trace.parties)} parties{worlds} and the parameters above.{worst}"
    made = (
        f"Made by smc-dp {__version__}, command lab walkthrough.",
        "Quotations are from the papers named beside them, and from NOTES.md of the protocols.",
    )
    pages = tuple(_step(observed, trace, steps[: at + 1], left) for at in range(len(steps)))
    sections = (
        Section("What this is", what),
        Section("Who takes part", tuple(_participants(observed, trace.protocol))),
        Section(
            "How to read this page",
            (Bullets(HOW_TO_READ), Prose(f"{HOW_KNOWN} {known}"), Prose(ATTACKS_FOLLOW), *symbols),
        ),
        Section("Before the first message", (knowledge_blocks.knowledge_before(trace),)),
        Section("Step by step", (Walkthrough(f"{protocol.program.name}, step by step", pages),)),
        *more,
        Section("What is claimed, and what is not", tuple(_claim(protocol, observed)), new_sheet=True),
    )
    title = f"{protocol.program.name}, step by step"
    return Page(title, sections, (Banner(DRY_RUN_NOTICE, "insecure"),), made)


def _step(
    observed: ObservedSession, trace: KnowledgeTrace, steps: Sequence[WalkthroughStep], left: Mapping[str, int]
) -> Section:
    """Return the last of these steps; what the others show is not shown again."""
    *earlier, step = steps
    title = f"Step {step.number} ({step.stage}): {', '.join(step.kinds)}"
    dropped_out, leaves = (
        [name for name, when in left.items() if is_so(when)] for is_so in (len(earlier).__gt__, len(earlier).__eq__)
    )
    drawn = sequence_diagram.draw_messages(
        f"Messages of step {step.number}", step.messages, observed.session, dropped_out, leaves
    )
    same = next((other for other in earlier if (other.number, other.kinds) == (step.number, step.kinds)), None)
    if same is not None:
        said: tuple[PageBlock, ...] = (Prose(AGAIN.format(number=same.number, stage=same.stage)),)
    else:
        said = tuple(_said(trace.protocol, step.number, earlier))
    messages = _message_sections(observed, step, again=same is not None)
    return Section(title, (drawn, *said, *messages, knowledge_blocks.knowledge_after(trace, step.known)))


def _said(protocol: Protocol, number: str, earlier: Sequence[WalkthroughStep]) -> Iterator[PageBlock]:
    """Yield what the paper or the notes say of a step, and why the program departs from it."""
    quoted = protocol.sentences.get(number)
    if quoted is None:
        yield Prose("Nothing is quoted for this step.")
        return
    before = [(step.number, said) for step in earlier if (said := protocol.sentences.get(step.number))]
    seen = {label for _, said in before for label in said.notes}
    notes = tuple(read_note(quoted.package, label) for label in quoted.notes if label not in seen)
    if first := next((at for at, said in before if said.text == quoted.text), ""):
        yield Prose(SAME_TEXT.format(number=first))
    elif not any(quoted.text in note for note in notes):
        yield Section("Word for word", (Quotation(quoted.text, quoted.source),))
    if notes:
        departs = DEPARTS if protocol.claim else IS_WRONG
        why = BESIDE if quoted.source.startswith(NOTES) else departs  # a program departs from no notes of its own
        yield Section(why, (*((Prose(FIXED_NOTES),) if why == IS_WRONG else ()), Bullets(notes)))


def _message_sections(observed: ObservedSession, step: WalkthroughStep, *, again: bool) -> Sequence[Section]:
    """Return the values of each kind of message, and what the kind is, unless an earlier step of it was shown."""
    found = []
    for name in step.kinds:
        messages = [message for message in step.messages if message.kind.__name__ == name]
        kind = messages[0].kind
        fields = _alike((slot.name, f"{slot.protection.description}.") for slot in kind.slots)
        about = () if again else (Prose(_about(kind)), *((FactList(fields),) if fields else ()))
        found.append(Section(name, (*about, values.message_table(kind, messages, observed))))
    return found


def _participants(observed: ObservedSession, protocol: Protocol) -> Iterator[PageBlock]:
    session, roles = observed.session, protocol.program.roles
    parts = {name: _role(roles[session.kind(name)].__doc__) for name in session.names}
    parts |= {name: f"{parts[name]} It drops out during the session." for name in observed.dropped_out}
    yield FactList(_alike(parts.items()))
    yield values.input_table(observed)
    agreed = (
        (name, values.format_sums(x) if name == "sums" else values.format_parameter(x), protocol.symbols.get(name, ""))
        for name, x in session.parameters.as_dict().items()
        if name != "parties"
    )
    rows = tuple(row for row in agreed if row[1])
    yield PageTable("What all agreed on beforehand", ("parameter", "value", "meaning"), rows)


def _alike(texts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return names with their texts; names of the same text stand together."""
    found: dict[str, list[str]] = {}
    for name, text in texts:
        found.setdefault(text, []).append(name)
    return tuple((join_names(names), text) for text, names in found.items())


def _claim(protocol: Protocol, observed: ObservedSession) -> Iterator[PageBlock]:
    claim, p = protocol.claim, observed.session.parameters
    if claim is None:
        yield Banner("Nothing is claimed for this protocol. It is here to show its flaws.", "insecure")
        return
    if claim.keeps is None or claim.keeps(p):
        yield Prose(SEMI_HONEST)
    yield Prose(
        f"A coalition of the list below is allowed to know {claim.simulated_from}. From this and the coalition's own "
        "inputs alone, an algorithm (the simulator) makes messages that look like those that the coalition sees. So "
        "the real messages tell the coalition nothing else. The list:"
    )
    yield Bullets(tuple(claim.simulators))
    if assumed := claim.assumed(p) if claim.assumed else claim.assumptions:
        yield Prose(f"The claim assumes {assumed}.")
    yield Prose("Limitations of the claim, the worst first:")
    yield Bullets(claim.limitations_of(p))


def _role(text: str | None) -> str:
    """Return what a role is: the first paragraph of its docstring, whose verb is for programmers."""
    said = _first(text).removeprefix("Run ")
    return said[:1].upper() + said[1:]


def _first(text: str | None) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def _about(kind: type[Message]) -> str:
    """Return what a message of this kind is: the first sentence of its class."""
    first = _first(kind.__doc__)
    return re.split(r"(?<=[a-z\])])\. (?=[A-Z])", first)[0].rstrip(".") + "."
