(* Decoding (W): a sum that does not leave its range is read off the ring as it is.

   This is correctness and not privacy: reduction modulo M is post-processing of the sum. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint intdiv.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* M = 2^m = 2 h; of a word below h itself is meant, of another the word less M. *)
Definition decode (h : int) (word : int) := if word < h then word else word - h *+ 2.

Lemma decoded (h S : int) : 0 < h -> - h <= S -> S < h -> decode h (S %% (h *+ 2))%Z = S.
Proof.
move=> pos low high; rewrite /decode.
have whole : 0 < h *+ 2 by rewrite pmulrn_lgt0.
have [neg|nonneg] := ltP S 0.
  have -> : (S %% (h *+ 2))%Z = S + h *+ 2.
    rewrite -[LHS](modzDr S (h *+ 2)) modz_small //.
    apply/andP; split; last by rewrite -ltr_subr_addr subrr.
    by rewrite -ler_subl_addr sub0r (le_trans _ low) // ler_opp2 mulr2n ler_addl ltW.
  have -> : (S + h *+ 2 < h) = false.
    by apply/negbTE; rewrite -leNgt mulr2n addrA ler_addr -ler_subl_addr sub0r.
  by rewrite addrK.
rewrite modz_small ?high // nonneg /= (lt_trans high) //.
by rewrite mulr2n ltr_addl.
Qed.

(* Tight: the least sum above the range is read as the least one in it. *)
Lemma range_is_tight (h : int) : 0 < h -> decode h (h %% (h *+ 2))%Z = - h.
Proof.
move=> pos; rewrite /decode modz_small.
  by rewrite ltxx mulr2n opprD addrA subrr sub0r.
by rewrite ltW //= mulr2n ltr_addl.
Qed.

Print Assumptions decoded.
Print Assumptions range_is_tight.
