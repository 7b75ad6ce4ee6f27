"""Byte strings of a symbolic run: random ones with their owners, digests, and derivations.

All are real bytes, so that role code can join, hash, compare and send them. Whether a coalition has one is not a matter
of bytes: it has what its members drew or read, the digests of what it has, and what can be made of enough others of
them, as a secret can of its shares.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from smc_dp.leakage.symbolic.form import Form, Number

NO_OWNER = ""
"""Owner of strings that nobody draws, as they follow from others."""
Derivation = tuple[tuple[bytes, ...], int]
"""Strings that give another one, and how many of them it takes."""


@dataclass(repr=False)
class Strings:
    """Register of all strings: `drawn`, random strings by their owner; `hashed`, from a digest to its preimage.

    `numbers`: from a digest to the numbers that it is of. `derivations`: from a string to all that gives it.
    """

    drawn: dict[str, dict[bytes, None]] = field(default_factory=dict)
    hashed: dict[bytes, bytes] = field(default_factory=dict)
    numbers: dict[bytes, tuple[Form, ...]] = field(default_factory=dict)
    derivations: dict[bytes, set[Derivation]] = field(default_factory=dict)
    _known_parts: dict[bytes, tuple[list[bytes], list[bytes]]] = field(default_factory=dict)

    def draw(self, owner: str, made: bytes) -> bytes:
        """Note a string that this role drew."""
        self._known_parts.clear()  # the new string may be a part of one that was looked at before
        self.drawn.setdefault(owner, {})[made] = None
        return made

    def opens(self, made: bytes, of: Iterable[bytes], enough: int) -> None:
        """Note that `enough` of these give the string."""
        self.derivations.setdefault(made, set()).add((tuple(of), enough))

    def follows(self, what: bytes, *of: bytes) -> bytes:
        """Return a string that each of these gives, and that gives none of them."""
        made = hashlib.sha256(b"follows\0" + what + b"".join(of)).digest()
        self.opens(self.draw(NO_OWNER, made), of, 1)
        return made

    def signature(self, name: str, statement: Iterable[bytes]) -> bytes:
        """Return the stand-in for a signature: the same for the same statement, and nobody else can make it."""
        data = b"\0".join((b"signature", name.encode(), *statement))
        return self.draw(name, self._hashed(hashlib.sha512(data).digest(), data))

    def digest(self, data: bytes) -> bytes:
        """Return a hash whose preimage is remembered."""
        return self._hashed(hashlib.sha256(data).digest(), data)

    def digest_of(self, values: Iterable[Number]) -> bytes:
        """Return a hash of numbers, of which some may be unknown: the same for the same numbers."""
        forms = tuple(Form.of(x) for x in values)
        # The modulus belongs to a value: the same terms mod another number are another one.
        made = self.digest(b"numbers\0" + "\0".join(f"{x.text} mod {x.wrap}" for x in forms).encode())
        self.numbers[made] = forms
        return made

    def is_string(self, value: Any) -> bool:
        """Return whether these are random bytes as they were drawn, hashed, or made for a commitment."""
        if not isinstance(value, bytes):
            return False
        return value in self.hashed or self._is_drawn(value)

    def _is_drawn(self, value: bytes) -> bool:
        return any(value in owned for owned in self.drawn.values())

    def reached(self, members: Set[str], read: Set[bytes]) -> set[bytes]:
        """Return all strings that these roles have, having read these, but for digests of what they have."""
        theirs = {*read, *(s for name in members for s in self.drawn.get(name, ()))}
        # Again and again, for a string that was reached can be what another one lacks.
        while more := {
            made for made, found in self.derivations.items() if made not in theirs and self._given(found, theirs)
        }:
            theirs |= more
        return theirs

    def _given(self, derivations: Iterable[Derivation], theirs: Set[bytes]) -> bool:
        return any(sum(self.makes(s, theirs) for s in parts) >= enough for parts, enough in derivations)

    def makes(self, source: bytes, theirs: Set[bytes]) -> bool:
        """Return whether the holder of these strings can make the source.

        He needs all random strings in it; public bytes are available to anybody.
        """
        if source in theirs:
            return True
        drawn, inside = self._parts(source)
        return all(s in theirs for s in drawn) and all(self.makes(digest, theirs) for digest in inside)

    def guessable_numbers(self, theirs: Set[bytes]) -> list[Form]:
        """Return the numbers that the holder of these strings can try.

        Their digests are among the strings, or hashed in them together with nothing that is not.
        """
        if not any(form.terms for forms in self.numbers.values() for form in forms):
            return []
        seen: dict[bytes, None] = {}
        todo = sorted(theirs)
        while todo:
            text = todo.pop()
            drawn, inside = self._parts(text)
            if text not in seen and all(s in theirs or s == text for s in drawn):
                seen[text] = None
                todo += inside
        return [form for text in seen for form in self.numbers.get(text, ()) if form.terms]

    def _hashed(self, made: bytes, data: bytes) -> bytes:
        self._known_parts.clear()
        self.hashed[made] = data
        return made

    def _parts(self, source: bytes) -> tuple[list[bytes], list[bytes]]:
        """Return the random strings and the digests in a string, or in the preimage of a digest."""
        if source not in self._known_parts:
            self._known_parts[source] = self._searched(source)
        return self._known_parts[source]

    def _searched(self, source: bytes) -> tuple[list[bytes], list[bytes]]:
        if self._is_drawn(source) and source not in self.hashed:
            return [source], []
        whole = self.hashed.get(source, source)
        inside = [digest for digest in self.hashed if digest != source and digest in whole]
        return [s for owned in self.drawn.values() for s in owned if s in whole], inside
