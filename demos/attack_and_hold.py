"""Four attacks on the curator protocol as published, and on the hardened one: see the first lost, and the second hold.

Four hospitals run each protocol once. You will see Charlie read the secret permutation off his mail, a party find
another's noise by baby steps and giant steps, an outsider read the exact sum of all models mod 4 off the release, and
all parties undo Charlie's permutation where he blinds carelessly. Then the one attack that no protocol of this design
can stop. `smc-dp lab attack --all` measures all attacks that we know. Keys are toys of 512 bits (INSECURE, quick).
"""

from __future__ import annotations

from protocols import pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published, messages
from protocols.pathak2010.values import Halves, PartyKeys
from protocols.runtime.claims import message_from, stage_result
from protocols.runtime.session import Program
from smc_dp.attacks.extract_randomiser import guess_pi2
from smc_dp.attacks.link_sender import guess_pi1
from smc_dp.attacks.recover_exponent import recover_noise
from smc_dp.attacks.residues_mod_k import read_residues
from smc_dp.attacks.sessions import FinishedRun, PartySecret, run_program

ROWS, NOISE = (900, 400, 120, 700), (-31_415, 2_718, 161_803, -14_142)
MODELS = ([5, -7], [11, 13], [-2, 6], [8, 1])
SECRETS = [PartySecret(n, w, [e, -e]) for n, w, e in zip(ROWS, MODELS, NOISE, strict=True)]
SUM = [sum(column) for column in zip(*MODELS, strict=True)]
ORDER = "which party stands where"


def attacks(seen: FinishedRun, program: Program, rng: Stream) -> dict[str, tuple[object, object]]:
    """Return the answer of each attack, and the truth."""
    hard, parties = program is pathak2010.PROGRAM, seen.parameters.parties
    keys, halves = stage_result(seen.party(0), PartyKeys), stage_result(seen.charlie, Halves)
    slot, back = (messages.Slot, messages.Blinded) if hard else (as_published.PrintedSlot, as_published.PlainlyBlinded)
    sent = [message_from(seen.charlie, name, slot).a for name in parties]
    returned = [message_from(seen.views[name], "charlie", back).a for name in parties]
    selected = messages.Selected if hard else as_published.PrintedSelected
    return {
        f"Charlie, by senders: {ORDER} after pi_1": (guess_pi1(seen.charlie, parties, rng), keys.pi1),
        f"all parties, by randomisers: {ORDER} after pi_2": (guess_pi2(keys.xi, sent, returned, rng), halves.pi2),
        "P1, by search: the noise of P3": (recover_noise(seen.party(0), "P3", selected), NOISE[2]),
        "an outsider: the sum of all models mod 4": (read_residues(seen.lifted, 4), [x % 4 for x in SUM]),
    }


def shown(answer: object) -> str:
    """Return an answer as a person reads it."""
    return "nothing" if answer is None else str(answer.images if isinstance(answer, Permutation) else answer)


def main() -> None:
    """Run both, attack both."""
    rng = Stream.insecure_from_seed("attack and hold")
    print("Toy keys of 512 bits: INSECURE, for this demonstration only.")
    programs = {"as published, with r as a plaintext": as_published.PLAIN_BLINDING, "hardened": pathak2010.PROGRAM}
    for title, program in programs.items():
        seen = run_program(program, SECRETS, 512, rng.fork(title))
        print(f"\nThe protocol {title}:")
        for who, (answer, truth) in attacks(seen, program, rng).items():
            print(f"  {who}: {shown(answer)}; the truth is {shown(truth)}: {'LOST' if answer == truth else 'holds'}")
            if (answer == truth) != (program is as_published.PLAIN_BLINDING):
                raise SystemExit(f"{title}: the attack did not end as it should")
        noise = [e if program is pathak2010.PROGRAM else e * len(ROWS) for e in SECRETS[2].eta]
        exact = [s - e for s, e in zip(seen.lifted, noise, strict=True)]
        print(f"  P3, the smallest, takes its own noise off and has the exact sum: {exact}. There is no fix here.")
        if exact != SUM:
            raise SystemExit(f"{title}: the smallest party did not find the sum")


if __name__ == "__main__":
    main()
