(* Parameters: the least Q, T = Q and the largest D of K parties and t, with H.

   A test compares the table that is printed here with parameters.py. *)
From mathcomp Require Import all_ssreflect.
Require Import lists.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition quorum K t := maxn 2 ((K + t)./2 + 1).
Definition most_dropouts K t := K - quorum K t.

Lemma quorum_is_enough K t : K + t + 1 <= 2 * quorum K t.
Proof.
rewrite /quorum mul2n; apply: (@leq_trans ((K + t)./2 + 1).*2); last by rewrite leq_double leq_maxr.
by rewrite !addn1 doubleS -{1}(odd_double_half (K + t)) ltnS; case: odd.
Qed.

Lemma quorum_is_least K t Q : 2 <= Q -> K + t + 1 <= 2 * Q -> quorum K t <= Q.
Proof.
move=> two; rewrite /quorum geq_max two /= addn1 mul2n => enough.
by rewrite addn1 -ltn_double; apply: leq_ltn_trans enough; rewrite -{2}(odd_double_half (K + t)) leq_addl.
Qed.

(* The theorem's conditions hold of every K, t and D that parameters.py accepts with D > 0. *)
Lemma parameters_are_valid K t D :
  0 < D -> D <= most_dropouts K t -> t < K -> valid (Parameters K t D (quorum K t) (quorum K t)).
Proof.
move=> some few less; rewrite /valid /=.
have fits : quorum K t + D <= K.
  move: few; rewrite /most_dropouts => few.
  have le : quorum K t <= K by apply: ltnW; rewrite -subn_gt0; exact: leq_trans few.
  by rewrite -leq_subRL.
split=> //; first exact: quorum_is_enough.
apply: leq_trans (leq_maxr _ _); rewrite leq_add2r geq_half_double -addnn leq_add2r; exact: ltnW.
Qed.

Definition table :=
  [seq (K, t, quorum K t, most_dropouts K t, K - most_dropouts K t - t) | K <- iota 2 11, t <- iota 0 K].
Eval compute in table.
Print Assumptions quorum_is_enough.
Print Assumptions quorum_is_least.
Print Assumptions parameters_are_valid.
