(* Decoding: a sum that does not leave its range is read off the ring as it is.

   This is correctness and not privacy: reduction modulo M is post-processing of the sum. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint intdiv.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* M = 2^m. Of a word below M/2 itself is meant, of another the word less M. *)
Definition decode m (word : int) := if word < 2 ^+ m.-1 then word else word - 2 ^+ m.

Lemma two_halves m : (0 < m)%N -> 2 ^+ m = 2 ^+ m.-1 *+ 2 :> int.
Proof. by case: m => // rest _; rewrite exprS mulr_natl. Qed.

Lemma decoded m (S : int) : (0 < m)%N -> - 2 ^+ m.-1 <= S -> S < 2 ^+ m.-1 -> decode m (S %% 2 ^+ m)%Z = S.
Proof.
move=> some; rewrite /decode (two_halves some).
have pos : 0 < 2 ^+ m.-1 :> int by exact: exprn_gt0.
move: (2 ^+ m.-1) pos => half pos low high.
have whole : 0 < half *+ 2 by rewrite pmulrn_lgt0.
have [neg|nonneg] := ltP S 0.
  have -> : (S %% (half *+ 2))%Z = S + half *+ 2.
    rewrite -[LHS](modzDr S (half *+ 2)) modz_small //.
    apply/andP; split; last by rewrite -ltr_subr_addr subrr.
    by rewrite -ler_subl_addr sub0r (le_trans _ low) // ler_opp2 mulr2n ler_addl ltW.
  have -> : (S + half *+ 2 < half) = false.
    by apply/negbTE; rewrite -leNgt mulr2n addrA ler_addr -ler_subl_addr sub0r.
  by rewrite addrK.
rewrite modz_small ?high // nonneg /= (lt_trans high) //.
by rewrite mulr2n ltr_addl.
Qed.

(* Tight: the least sum above the range is read as the least one in it. *)
Lemma range_is_tight m : (0 < m)%N -> decode m (2 ^+ m.-1 %% 2 ^+ m)%Z = - 2 ^+ m.-1.
Proof.
move=> some; rewrite /decode (two_halves some).
have pos : 0 < 2 ^+ m.-1 :> int by exact: exprn_gt0.
move: (2 ^+ m.-1) pos => half pos; rewrite modz_small.
  by rewrite ltxx mulr2n opprD addrA subrr sub0r.
by rewrite ltW //= mulr2n ltr_addl.
Qed.

Print Assumptions decoded.
Print Assumptions range_is_tight.
