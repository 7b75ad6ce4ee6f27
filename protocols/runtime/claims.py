"""What each coalition may learn, declared beside a protocol, and the checks that read such declarations.

A check can refute a claim and never proves one; the proof is the prose in a protocol's `ideal.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from protocols.arithmetic.rng import Stream
from protocols.crypto.dgk import BitCiphertext, DgkPrivateKey
from protocols.crypto.paillier import Ciphertext, PrivateKey
from protocols.errors import Fault
from protocols.runtime.message import Message

V = TypeVar("V")

# "Kind.field" -> the numbers that a coalition reads there, in the order of arrival.
Readings = dict[str, list[int]]


@dataclass(frozen=True)
class View:
    """All that one role saw: its inputs, what its stages left, its opened mail with the senders. Secret; `session` is
    the public id of the session.
    """

    name: str
    inputs: tuple[Any, ...] = field(repr=False)
    results: tuple[Any, ...] = field(repr=False)
    messages: tuple[tuple[str, Message], ...] = field(repr=False)
    session: bytes = b""


@dataclass(frozen=True)
class Violation:
    """What is wrong with something that was signed; `name`: whose own signature of it shows that it deviated, if
    anybody's does, whatever others told it.
    """

    fault: Fault
    name: str | None = None


class DisclosedMessage(NamedTuple):
    """A letter that a view opens."""

    sender: str
    to: str
    stage: str
    message: Message


class RequiredMessage(NamedTuple):
    """A message that somebody has to have sent: the ends of its link, its kind and its stage."""

    sender: str
    to: str
    kind: str
    stage: str


@dataclass(frozen=True)
class PublicVerification:
    """What somebody can find out who was not there and trusts nobody, all of it as functions of the parameters p.

    `opens(p)`: whether what is published can be made again by anybody. `verify_publication(p, session_id, greetings,
    published, attested)`: what is wrong with it, from what everybody greeted with and `attested(name, statement,
    signature)`. `verify_messages(p, greetings, messages)`: what opened letters show of who greeted otherwise; its
    greeting is what it signed. `needs(p, published)`: what has to have been sent for this; `LocalError` for what nobody
    can publish. `contradicted(p, session_id, greetings, published, statements)`: which of these signed statements, each
    with its signer, contradicts what was published, and whose signature of the publication shows a deviation beside it.
    """

    opens: Callable[[Any], bool]
    verify_publication: Callable[
        [Any, bytes, Mapping[str, Any], Mapping[str, Any], Callable[[str, Message, bytes], bool]], Violation | None
    ]
    verify_messages: Callable[[Any, Mapping[str, Any], Sequence[DisclosedMessage]], Violation | None]
    needs: Callable[[Any, Mapping[str, Any]], Iterable[RequiredMessage]] = lambda p, published: ()
    contradicted: Callable[
        [Any, bytes, Mapping[str, Any], Mapping[str, Any], Sequence[tuple[str, Any]]], Violation | None
    ] = lambda p, session, greetings, published, statements: None


Unknown = Callable[[str, int], Any]


@dataclass(frozen=True)
class Mask:
    """A field whose readings hide a secret of at most `hidden` bits by adding a number uniform on [0, 2**bits).

    `place` is "Kind.field". `hidden` is None where the sum is taken mod 2**bits, so that nothing of the secret shows;
    else `times` such masks in a run are within times * 2**(hidden - bits) of uniform. `unpack` takes apart what the
    values of one message hold.
    """

    place: str
    bits: int
    hidden: int | None = None
    times: int = 1
    unpack: Callable[[list[int]], list[int]] = list

    @property
    def slack(self) -> int | None:
        """-log2 of the distance from uniform of all masks together, rounded down; None when it is zero."""
        return None if self.hidden is None else self.bits - self.hidden - (self.times - 1).bit_length()


@dataclass(frozen=True)
class Hygiene:
    """What an audit must know of a protocol to look at the numbers in somebody's views.

    `sigma`: the declared statistical parameter in bits. `masks(p)`: every field that a mask hides from its reader.
    `alike`: the kinds of which a sender sends one message to several peers, ciphertexts and all. `carried(p)`: (bits,
    shift) of the ring in which a compared unknown travels, followed by `shift` random bits. `agrees(p, inputs,
    published)`: whether the published messages give what the ideal functionality makes of everybody's inputs.
    `ring_bits(p)`: the published numbers add up mod 2**ring_bits(p). `says_who(p)`: whether what is published says
    whose inputs it is made of, so that `agrees` can be asked where somebody vanished as well. `gathered(p, inputs)`:
    the inputs of a role as `Model.inputs` has them, where it asked for some on its way; it may not have come to all.
    """

    sigma: int
    masks: Callable[[Any], tuple[Mask, ...]]
    alike: tuple[str, ...]
    carried: Callable[[Any], tuple[int, int]]
    agrees: Callable[[Any, Mapping[str, tuple[Any, ...]], Mapping[str, Any]], bool]
    ring_bits: Callable[[Any], int]
    says_who: Callable[[Any], bool] = lambda p: False
    gathered: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]] = lambda p, inputs: inputs


Inputs = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Detour:
    """What else a conversation goes through where one message was not what it should be, whichever that was.

    Messages of the kind `shown_by` stand in a transcript then. `spoilt(message)`: one of the kind `spoils` as it should
    not be, which sends a dry run the same way.
    """

    shown_by: type[Message]
    spoils: type[Message]
    spoilt: Callable[[Any], Message]


@dataclass(frozen=True)
class Model:
    """What an audit must know of a protocol to hold its conversation without anybody's data.

    `dry_run_parameters(p)`: parameters under which the same names hold the same conversation, the same messages in the
    same order, at toy size (smallest keys, dimension 1). `inputs(p, unknown)`: the inputs of every participant by name,
    whatever is private in them made by `unknown(name, bits)`, which stands for an integer in [0, 2**bits): a drawn
    number in a toy run, a linear form in a symbolic one. `permutations` names the secret permutations in the order in
    which they are drawn, `compared(p)` the unknowns whose order the protocol finds, party by party. `sample(K)` gives
    parameters for K parties in a symbolic run, with two coordinates or more, and `variants(p)` other such parameters
    for the same parties: more coordinates and packs, keys as short and as long as in real runs; the code must not tell
    more there. `outcomes(p, j)` is what else is secret, by name, when the j-th party (from 0) has the smallest compared
    unknown: each a sum of unknowns. Unknowns and outcomes with coordinates end in their number, as "w_1(2)". `hygiene`
    is None for a model that has no real runs. `matrix_file` is there for a protocol that computes with bits, which
    linear forms
    cannot: it is not run over symbols, and this file of the package `protocols` has its coalition matrix.

    Of a protocol that some may leave: `drop_outs(p)` names those of whom it is looked at, one at a time, what
    coalitions learn when they vanish before any of their letters, or are late with it. `given(p, inputs, said,
    members)` is what the ideal functionality gives a coalition, by name, where these messages were sent by these
    senders; without it, that is the sum of the published shares. `profiles(p)` gives other parameters for the same
    parties under which coalitions may learn something else: each has a table of its own. `split_answers(p, inputs)`: of
    one participant's inputs those that it starts with, and what it is answered at home, one after the other, where a
    role asks; what is answered is its own as its inputs are. `detour`: a longer way that a session may take.
    """

    dry_run_parameters: Callable[[Any], Any]
    inputs: Callable[[Any, Unknown], dict[str, tuple[Any, ...]]]
    permutations: tuple[str, ...]
    compared: Callable[[Any], tuple[str, ...]]
    sample: Callable[[int], Any]
    outcomes: Callable[[Any, int], Mapping[str, tuple[str, ...]]]
    hygiene: Hygiene | None = None
    matrix_file: str = ""
    variants: Callable[[Any], tuple[Any, ...]] = lambda p: ()
    drop_outs: Callable[[Any], tuple[str, ...]] = lambda p: ()
    given: Callable[[Any, Inputs, Sequence[tuple[str, Message]], frozenset[str]], Mapping[str, Any]] | None = None
    profiles: Callable[[Any], tuple[Any, ...]] = lambda p: ()
    split_answers: Callable[[Any, tuple[Any, ...]], tuple[tuple[Any, ...], tuple[Any, ...]]] = lambda p, inputs: (
        inputs,
        (),
    )
    detour: Detour | None = None


@dataclass(frozen=True)
class Attack:
    """What a coalition outside of a claim finds, as code that can be tried.

    `coalitions(p)`: the smallest coalitions of which it is said, by name. `find(p, views, published)`: what one of
    them finds in its members' views, which come in the order of its names, and in the published messages. `truth(p,
    inputs, names)`: what is there to be found; None where these inputs have nothing for this coalition.
    """

    coalitions: Callable[[Any], tuple[tuple[str, ...], ...]]
    find: Callable[[Any, tuple[View, ...], Mapping[str, Any]], Any]
    truth: Callable[[Any, Inputs, tuple[str, ...]], Any]


@dataclass(frozen=True)
class Limitation:
    """Something that a protocol does not promise: a sentence that goes verbatim into reports, and its attack if any."""

    sentence: str
    attack: Attack | None = None


@dataclass(frozen=True)
class DropOutTrials:
    """How a claim is tried where somebody may vanish.

    `who(p)`: who vanishes in every execution, with the number of letters that it still sends; nobody where nobody may.
    `simulation(p, rng)`: a simulated execution without them, as in `Trials`.
    """

    who: Callable[[Any], Mapping[str, int]]
    simulation: Callable[[Any, Stream], Callable[[tuple[str, ...]], Readings]]


@dataclass(frozen=True)
class Trials:
    """How a claim about a whole protocol is tried.

    `claimed(p, names)`: whether the claim is about this coalition. `simulation(p, rng)` is one simulated execution,
    made by the simulators of the claim: it maps the names of a claimed coalition to the coalition's readings.
    `small(p)`: a small session of the same kind as p. `sessions`: those of all kinds of sessions that are in use; an
    audit cites results of these alone. `worlds(p)`: two sets of everybody's inputs or more, as different as can be, for
    which the ideal functionality gives the same. `condensed(p, readings)` puts long vectors of rare events into a few
    numbers. `lengths(p)`: the small session with each of some lengths of keys; every execution takes one of them by
    lot, so all have the same messages. `drop_out_trials` is there where somebody may vanish: then that is tried.

    Where the functionality tells some coalitions more, `leakage(p, inputs, names)` is all that it may tell this one in
    that world. Only worlds in which it tells the same for sure are held against each other, and against a simulation
    that is told that as well: it is then asked for `(names, told)`. `besides(p, views)`: what the members of a
    coalition can make of what they read, and what they read of the public fields; a part of their readings.
    """

    claimed: Callable[[Any, tuple[str, ...]], bool]
    simulation: Callable[[Any, Stream], Callable[..., Readings]]
    small: Callable[[Any], Any]
    worlds: Callable[[Any], tuple[Inputs, ...]]
    condensed: Callable[[Any, Readings], Readings]
    lengths: Callable[[Any], tuple[Any, ...]] = lambda p: (p,)
    drop_out_trials: DropOutTrials | None = None
    leakage: Callable[[Any, Inputs, tuple[str, ...]], tuple[str, ...]] | None = None
    besides: Callable[[Any, tuple[View, ...]], Readings] = lambda p, views: {}
    sessions: tuple[Any, ...] = ()

    def drop_outs(self, p: Any) -> Mapping[str, int]:
        """Who vanishes in the executions in which the claim is tried."""
        return self.drop_out_trials.who(p) if self.drop_out_trials else {}

    def simulated(self, p: Any, rng: Stream) -> Callable[..., Readings]:
        """One simulated execution of that kind."""
        return (
            self.drop_out_trials.simulation(p, rng)
            if self.drop_out_trials and self.drop_outs(p)
            else self.simulation(p, rng)
        )

    def read(self, p: Any, views: tuple[View, ...]) -> Readings:
        """What the owners of these views read together."""
        return {**readings(*views), **self.besides(p, views)}


@dataclass(frozen=True)
class Claim:
    """What a protocol promises against a semi-honest coalition, and what it does not.

    `simulators` maps a coalition, in words, to a function whose signature is the claim: it makes the coalition's
    readings from public parameters and what the ideal functionality gives the coalition, for it is given nothing
    else. `trials` is None for a claim about a step inside of other protocols. `limitations`: the worst first.
    `distance(p)`: the total statistical distance between the readings and what the simulators make; what comes on top
    rests on `assumptions`, a list in words that completes "it assumes"; under parameters p it is that of `assumed(p)`.
    `strength(p)`: how much of them is left under these parameters, a sentence, where that is less than one would think.
    `simulated_from`: what the simulators are given, in words, where that is more than the release and one's own inputs.
    `keeps(p)`: whether whoever it is about has to keep to the protocol, where under other parameters they may deviate.
    """

    simulators: Mapping[str, Callable[..., Readings]]
    limitations: tuple[Limitation, ...]
    trials: Trials | None = None
    distance: Callable[[Any], Fraction | None] | None = None
    assumptions: str = ""
    assumed: Callable[[Any], str] | None = None
    keeps: Callable[[Any], bool] | None = None
    strength: Callable[[Any], str] = lambda p: ""
    simulated_from: str = "the release"

    def why_not(self, p: Any, names: tuple[str, ...]) -> list[str]:
        """The sentences about a coalition that is not claimed: those about it, or about a part of it that is not."""
        attacks = [(unclaimed.sentence, unclaimed.attack) for unclaimed in self.limitations if unclaimed.attack]
        return [
            sentence
            for sentence, attack in attacks
            if any(set(c) <= set(names) and not self.claims(p, c) for c in attack.coalitions(p))
        ]

    def claims(self, p: Any, names: tuple[str, ...]) -> bool:
        """Whether the claim is about the coalition with these names."""
        return self.trials is not None and self.trials.claimed(p, names)


def stage_result(view: View, kind: type[V]) -> V:
    """What a stage of this role left behind; ValueError where there is none of this kind."""
    return first_instance(view.results, kind, view.name)


def message_from(view: View, sender: str, kind: type[V]) -> V:
    """The first message of this kind that this role had from the sender; ValueError where there is none."""
    return first_instance([message for name, message in view.messages if name == sender], kind, view.name)


def first_instance(values: Sequence[Any], kind: type[V], whose: str) -> V:
    """The first of this kind among what is in somebody's view; ValueError where there is none."""
    for value in values:
        if isinstance(value, kind):
            return value
    raise ValueError(f"the view of {whose} has no {kind.__name__}")


def secret_keys_of(view: View) -> dict[int, PrivateKey | DgkPrivateKey]:
    """The secret keys that the stages of this role left behind, by modulus."""
    found: dict[int, PrivateKey | DgkPrivateKey] = {}
    for result in view.results:
        for value in vars(result).values() if hasattr(result, "__dict__") else ():
            if isinstance(value, PrivateKey | DgkPrivateKey):
                found[value.public.n] = value
    return found


def readings(*views: View) -> Readings:
    """What the owners of these views read together beside what is public: numbers as they are, bytes as numbers,
    ciphertexts opened by any key among them.

    A DGK ciphertext opens to its plaintext mod u: its holder can read that, though its role asks for less. What no key
    opens is left out.
    """
    return _collected(views, public=False)


def public_fields(view: View) -> Readings:
    """What the fields declared public showed the owner of this view."""
    return _collected((view,), public=True)


def _collected(views: tuple[View, ...], *, public: bool) -> Readings:
    keys = {n: key for view in views for n, key in secret_keys_of(view).items()}
    found: Readings = {}
    for view in views:
        for _, message in view.messages:
            for slot in message.slots:
                if (slot.protection.how == "public") == public:
                    value = getattr(message, slot.name)
                    numbers = [opened(v, keys) for v in (value if slot.count else (value,))]
                    place = f"{type(message).__name__}.{slot.name}"
                    found.setdefault(place, []).extend(v for v in numbers if v is not None)
    return {place: values for place, values in found.items() if values}


def opened(value: Any, keys: Mapping[int, PrivateKey | DgkPrivateKey]) -> int | None:
    """A value of a field as a number, a ciphertext opened by any of these keys; None for what none of them opens."""
    if isinstance(value, Ciphertext | BitCiphertext):
        key = keys.get(value.n)
        if isinstance(key, PrivateKey) and isinstance(value, Ciphertext):
            return key.decrypt(value)
        if isinstance(key, DgkPrivateKey) and isinstance(value, BitCiphertext):
            return key.decrypt(value)
        return None
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    return value if isinstance(value, int) else None
