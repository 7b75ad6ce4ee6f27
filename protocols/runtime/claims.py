"""Security claims declared beside a protocol: what each coalition may learn, and the checks of such declarations.

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

Readings = dict[str, list[int]]
"""Numbers that a coalition reads, by "Kind.field", in the order of arrival."""


@dataclass(frozen=True)
class View:
    """View of one role: its inputs, the results of its stages, the messages it read with their senders. Secret.

    `session` is the public id of the session.
    """

    name: str
    inputs: tuple[Any, ...] = field(repr=False)
    results: tuple[Any, ...] = field(repr=False)
    messages: tuple[tuple[str, Message], ...] = field(repr=False)
    session: bytes = b""


@dataclass(frozen=True)
class Violation:
    """Violation in signed data; `name`: the participant whose own signature of it proves that it deviated, if any."""

    fault: Fault
    name: str | None = None


class DisclosedMessage(NamedTuple):
    """Message that a view decrypts."""

    sender: str
    to: str
    stage: str
    message: Message


class RequiredMessage(NamedTuple):
    """Message that must have been sent: the ends of its link, its kind and its stage."""

    sender: str
    to: str
    kind: str
    stage: str


_Contradicted = Callable[
    [Any, bytes, Mapping[str, Any], Mapping[str, Any], Sequence[tuple[str, Any]]], Violation | None
]


@dataclass(frozen=True)
class PublicVerification:
    """Checks that anybody can make without a secret, as functions of the parameters p.

    `opens(p)`: whether anybody can recompute the published value. `verify_publication(p, session_id, greetings,
    published, attested)`: its violation, from all greetings and `attested(name, statement, signature)`.
    `verify_messages(p, greetings, messages)`: a violation that decrypted messages show beside a signed greeting; none
    where greetings say no more than keys.
    `needs(p, published)`: the messages that must have been sent for it; `LocalError` for what nobody can publish.
    `contradicted(p, session_id, greetings, published, statements)`: the signed statement, each with its signer, that
    contradicts the publication, and the signer whose deviation it proves beside it.
    """

    opens: Callable[[Any], bool]
    verify_publication: Callable[
        [Any, bytes, Mapping[str, Any], Mapping[str, Any], Callable[[str, Message, bytes], bool]], Violation | None
    ]
    verify_messages: Callable[[Any, Mapping[str, Any], Sequence[DisclosedMessage]], Violation | None] = (
        lambda p, greetings, messages: None
    )
    needs: Callable[[Any, Mapping[str, Any]], Iterable[RequiredMessage]] = lambda p, published: ()
    contradicted: _Contradicted = lambda p, session, greetings, published, statements: None


Unknown = Callable[[str, int], Any]


@dataclass(frozen=True)
class Mask:
    """Field whose readings hide a secret of at most `hidden` bits by adding a number uniform on [0, 2**bits).

    `place` is "Kind.field". `hidden` is None where the sum is taken mod 2**bits, so that it is uniform; else `times`
    such masks in a run are within times * 2**(hidden - bits) of uniform. `unpack` splits the values of one message.
    """

    place: str
    bits: int
    hidden: int | None = None
    times: int = 1
    unpack: Callable[[list[int]], list[int]] = list

    @property
    def slack(self) -> int | None:
        """Slack -log2 of the distance from uniform of all masks together, rounded down; None for distance zero."""
        return None if self.hidden is None else self.bits - self.hidden - (self.times - 1).bit_length()


@dataclass(frozen=True)
class Hygiene:
    """Facts about a protocol that an audit needs to inspect the numbers in views.

    `sigma`: the declared statistical parameter in bits. `masks(p)`: every field that a mask hides from its reader.
    `alike`: the kinds that a sender sends to several peers as one message, ciphertexts and all. `carried(p)`: (bits,
    shift) of the ring in which a compared unknown travels, followed by `shift` random bits. `agrees(p, inputs,
    published)`: whether the published messages are the ideal functionality's result on these inputs. `ring_bits(p)`:
    the published numbers add up mod 2**ring_bits(p). `says_who(p)`: whether the publication names those whose inputs it
    contains, so that `agrees` applies after drop-outs as well. `gathered(p, inputs)`: the inputs of a role as
    `Model.inputs` has them, where it queried some on its way.
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
    """Longer conversation after an incorrect message, whichever it was.

    Messages of the kind `shown_by` stand in a transcript then. `make_incorrect(message)`: an incorrect message
    instead of this one, of the kind `spoils`; it sends a dry run the same way.
    """

    shown_by: type[Message]
    spoils: type[Message]
    make_incorrect: Callable[[Any], Message]


@dataclass(frozen=True)
class Model:
    """Model of a protocol: what an audit needs to run its conversation without anybody's data.

    `dry_run_parameters(p)`: parameters with the same names and the same messages in the same order, at the smallest
    size. `inputs(p, unknown)`: the inputs of every participant by name, with private values made by `unknown(name,
    bits)`, which stands for an integer in [0, 2**bits): a drawn number in a dry run, a linear form in a symbolic one.
    `permutations` names the secret permutations in the order in which they are drawn, `compared(p)` the unknowns whose
    order the protocol finds, party by party. `sample(K)`: parameters for K parties in a symbolic run, with at least two
    coordinates, and `variants(p)` others for the same parties: more coordinates and packs, key lengths of real runs;
    the code must leak no more there. `outcomes(p, j)`: other secrets, by name, when the j-th party (from 0) has the
    smallest compared unknown: each a sum of unknowns. Names of unknowns and outcomes with coordinates end in their
    number, as "w_1(2)". `hygiene` is None for a model without real runs. `matrix_file`: coalition matrix, in the
    package `protocols`, of a protocol that computes with bits, which linear forms cannot.

    `drop_outs(p)`: the participants whose drop-out or lateness, before any of their messages, is examined, one at a
    time. `given(p, inputs, said, members)`: what the ideal functionality gives a coalition, by name, where these
    senders sent these messages; without it, the sum of the published shares. `profiles(p)`: other parameters for the
    same parties under which coalitions may learn something else: each has a table of its own. `split_answers(p,
    inputs)`: a participant's initial inputs, and the answers of its local program, one after the other. `detour`: a
    longer way that a session may take.
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
    """Attack of a coalition outside of a claim, as code that can be tried.

    `coalitions(p)`: the smallest such coalitions, by name. `find(p, views, published)`: the secret that one of them
    finds in its members' views, which come in the order of its names, and in the published messages. `truth(p, inputs,
    names)`: that secret; None where these inputs have nothing for this coalition.
    """

    coalitions: Callable[[Any], tuple[tuple[str, ...], ...]]
    find: Callable[[Any, tuple[View, ...], Mapping[str, Any]], Any]
    truth: Callable[[Any, Inputs, tuple[str, ...]], Any]


@dataclass(frozen=True)
class Limitation:
    """Property that a protocol does not promise: a sentence that goes verbatim into reports, and its attack if any.

    `applies(p)`: whether it is one of a session with parameters p.
    """

    sentence: str
    attack: Attack | None = None
    applies: Callable[[Any], bool] = lambda p: True


@dataclass(frozen=True)
class DropOutTrials:
    """Trials of a claim with drop-outs.

    `who(p)`: the participants that drop out in every execution, with the number of messages that they still send.
    `simulation(p, rng)`: a simulated execution without them, as in `Trials`.
    """

    who: Callable[[Any], Mapping[str, int]]
    simulation: Callable[[Any, Stream], Callable[[tuple[str, ...]], Readings]]


@dataclass(frozen=True)
class Trials:
    """Trials of a claim about a whole protocol.

    `claimed(p, names)`: whether the claim is about this coalition. `simulation(p, rng)`: one execution made by the
    simulators of the claim: it maps the names of a claimed coalition to the coalition's readings. `small(p)`: a small
    session of the same kind as p. `sessions`: those of all kinds of sessions in use; an audit cites results of these
    alone. `worlds(p)`: at least two sets of all inputs, as different as can be, for which the ideal functionality gives
    the same. `condensed(p, readings)` reduces long vectors of rare events to a few numbers. `with_key_lengths(p)`: the
    small session with several lengths of keys; every execution takes one of them by lot. `drop_out_trials`: trials
    with drop-outs, where these may happen.

    Where the functionality tells some coalitions more, `leakage(p, inputs, names)` is all that it may tell this one in
    that world. Only worlds with one certain leakage are compared, with each other and with a simulation that gets it as
    well: it is then called with `(names, leakage)`. `besides(p, views)`: what the members of a coalition compute from
    their readings, and their public fields; a part of their readings.
    """

    claimed: Callable[[Any, tuple[str, ...]], bool]
    simulation: Callable[[Any, Stream], Callable[..., Readings]]
    small: Callable[[Any], Any]
    worlds: Callable[[Any], tuple[Inputs, ...]]
    condensed: Callable[[Any, Readings], Readings]
    with_key_lengths: Callable[[Any], tuple[Any, ...]] = lambda p: (p,)
    drop_out_trials: DropOutTrials | None = None
    leakage: Callable[[Any, Inputs, tuple[str, ...]], tuple[str, ...]] | None = None
    besides: Callable[[Any, tuple[View, ...]], Readings] = lambda p, views: {}
    sessions: tuple[Any, ...] = ()

    def drop_outs(self, p: Any) -> Mapping[str, int]:
        """Return the drop-outs in the executions that test the claim."""
        return self.drop_out_trials.who(p) if self.drop_out_trials else {}

    def simulated(self, p: Any, rng: Stream) -> Callable[..., Readings]:
        """Return one simulated execution of that kind."""
        return (
            self.drop_out_trials.simulation(p, rng)
            if self.drop_out_trials and self.drop_outs(p)
            else self.simulation(p, rng)
        )

    def read(self, p: Any, views: tuple[View, ...]) -> Readings:
        """Return the readings of these views together, and what `besides` computes from the views."""
        return {**readings(*views), **self.besides(p, views)}


@dataclass(frozen=True)
class Claim:
    """Claim of a protocol against a coalition, with its limitations.

    `simulators` maps a coalition, in words, to a function whose signature is the claim: it makes the coalition's
    readings from public parameters and what the ideal functionality gives the coalition, for it is given nothing else.
    `trials` is None for a claim about a step inside of other protocols. `limitations`: the worst first. `distance(p)`:
    the total statistical distance between the readings and what the simulators make; the rest rests on `assumptions`, a
    list in words that completes "it assumes"; under parameters p it is that of `assumed(p)`. `strength(p)`: a sentence
    about their remaining strength under these parameters, where that is less than expected. `simulated_from`: the
    inputs of the simulators, in words, where these are more than the release and one's own inputs. `keeps(p)`: whether
    the coalition has to be semi-honest, where under other parameters it may be malicious.
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

    def limitations_of(self, p: Any) -> tuple[str, ...]:
        """Return the sentences of the limitations that a session with parameters p has, the worst first."""
        return tuple(unclaimed.sentence for unclaimed in self.limitations if unclaimed.applies(p))

    def why_not(self, p: Any, names: tuple[str, ...]) -> list[str]:
        """Return the limitations about a coalition that is not claimed, or about a part of it that is not."""
        attacks = [(unclaimed.sentence, unclaimed.attack) for unclaimed in self.limitations if unclaimed.attack]
        return [
            sentence
            for sentence, attack in attacks
            if any(set(c) <= set(names) and not self.claims(p, c) for c in attack.coalitions(p))
        ]

    def claims(self, p: Any, names: tuple[str, ...]) -> bool:
        """Tell whether the claim is about the coalition with these names."""
        return self.trials is not None and self.trials.claimed(p, names)


def numbered(*assumed: str) -> str:
    """Return the assumptions of a claim as one list in words."""
    return "that " + "; ".join(f"({number}) {what}" for number, what in enumerate(assumed, 1))


def stage_result(view: View, kind: type[V]) -> V:
    """Return the result of this kind of a stage of this role; raise ValueError where there is none."""
    return first_instance(view.results, kind, view.name)


def message_from(view: View, sender: str, kind: type[V]) -> V:
    """Return the first message of this kind from the sender to this role; raise ValueError where there is none."""
    return first_instance([message for name, message in view.messages if name == sender], kind, view.name)


def first_instance(values: Sequence[Any], kind: type[V], whose: str) -> V:
    """Return the first value of this kind; raise ValueError, naming the view's owner, where there is none."""
    for value in values:
        if isinstance(value, kind):
            return value
    raise ValueError(f"the view of {whose} has no {kind.__name__}")


def secret_keys_of(view: View) -> dict[int, PrivateKey | DgkPrivateKey]:
    """Return the secret keys among the results of this role's stages, by modulus."""
    found: dict[int, PrivateKey | DgkPrivateKey] = {}
    for result in view.results:
        for value in vars(result).values() if hasattr(result, "__dict__") else ():
            if isinstance(value, PrivateKey | DgkPrivateKey):
                found[value.public.n] = value
    return found


def readings(*views: View) -> Readings:
    """Return what the owners of these views read together beside public fields.

    Numbers as they are, bytes as numbers, ciphertexts opened by any key among the views; what no key opens is left out.
    A DGK ciphertext opens to its plaintext mod u: its holder can read that, though its role asks for less.
    """
    return _collected(views, public=False)


def public_fields(view: View) -> Readings:
    """Return the values of public fields that the owner of this view read."""
    return _collected((view,), public=True)


def _collected(views: tuple[View, ...], *, public: bool) -> Readings:
    keys = {n: key for view in views for n, key in secret_keys_of(view).items()}
    found: Readings = {}
    for view in views:
        for _, message in view.messages:
            for slot in message.slots:
                if (slot.protection.category == "public") == public:
                    value = getattr(message, slot.name)
                    numbers = [opened(v, keys) for v in (value if slot.count else (value,))]
                    place = f"{type(message).__name__}.{slot.name}"
                    found.setdefault(place, []).extend(v for v in numbers if v is not None)
    return {place: values for place, values in found.items() if values}


def opened(value: Any, keys: Mapping[int, PrivateKey | DgkPrivateKey]) -> int | None:
    """Return a field's value as a number, a ciphertext opened by one of these keys; None if none opens it."""
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
