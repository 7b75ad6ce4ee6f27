(* Noise: from what the calibration evaluates to the statement, for a release of words of a finite ring.

   The analytic facts are premises here: which (a, d), with a = e^epsilon, noise of the program's parameters gives (the
   curve of Gaussian noise; Balle and Wang 2018, Dong, Roth and Su 2022), and how close a sum of shares is to it
   (Poisson's formula; smc_dp/privacy/gaussian.py). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Noise.
Variables (F : realFieldType) (word : finType).
Implicit Types (P Q : word -> F) (S : {set word}).

Definition mass P S := \sum_(z in S) P z.

(* (epsilon, delta)-privacy of a release with law P, or P' for the neighbouring data, with a = e^epsilon, d = delta. *)
Definition private a d P P' := forall S, mass P S <= a * mass P' S + d.

Definition close k P Q := forall z, P z <= k * Q z /\ Q z <= k * P z.

Lemma mass_close k P Q S : close k P Q -> mass P S <= k * mass Q S.
Proof. by move=> near; rewrite /mass mulr_sumr ler_sum // => z _; case: (near z). Qed.

(* Laws that are close to private ones are private, with errors that are charged. *)
Lemma exchange a d k P P' Q Q' :
  0 <= a -> 0 <= k -> close k P Q -> close k P' Q' -> private a d Q Q' -> private (a * k ^+ 2) (d * k) P P'.
Proof.
move=> a0 k0 near near' priv S; apply: le_trans (mass_close S near) _.
apply: (@le_trans _ _ (k * (a * mass Q' S + d))); first exact: ler_wpmul2l.
rewrite mulrDr (mulrC k d) ler_add2r mulrA (mulrC k a) expr2 !mulrA -[a * k * k * _]mulrA.
apply: ler_wpmul2l; first exact: mulr_ge0.
by rewrite /mass mulr_sumr ler_sum // => z _; case: (near' z).
Qed.

(* Whatever is done to a release, with coins of its own, keeps what it guarantees: more noise, reduction, decoding. *)
Definition processed (out : finType) (kernel : word -> out -> F) P (y : out) := \sum_z P z * kernel z y.

Lemma private_of_tests a d P P' (f : word -> F) :
  private a d P P' -> (forall z, 0 <= f z <= 1) -> \sum_z f z * P z <= a * (\sum_z f z * P' z) + d.
Proof.
move=> priv test; rewrite -ler_subl_addl mulr_sumr -sumrB.
pose S := [set z | a * P' z <= P z].
apply: (@le_trans _ _ (\sum_(z in S) (P z - a * P' z))); last first.
  by rewrite sumrB -mulr_sumr ler_subl_addl; exact: priv.
rewrite [X in X <= _](bigID (mem S)) /= -[X in _ <= X]addr0 ler_add //.
  apply: ler_sum => z; rewrite inE => above; rewrite mulrCA -mulrBr.
  by rewrite ler_pimull ?subr_ge0 //; case/andP: (test z).
rewrite -oppr_ge0 -sumrN sumr_ge0 // => z; rewrite inE -ltNge => below.
rewrite oppr_ge0 mulrCA -mulrBr mulr_ge0_le0 ?subr_le0 ?(ltW below) //; by case/andP: (test z).
Qed.
End Noise.

Lemma processing (F : realFieldType) (word out : finType) (kernel : word -> out -> F) a d (P P' : word -> F) :
  (forall z y, 0 <= kernel z y) -> (forall z, \sum_y kernel z y = 1) ->
  private a d P P' -> private a d (processed kernel P) (processed kernel P').
Proof.
move=> pos one priv S.
have swap Q : mass (processed kernel Q) S = \sum_z (\sum_(y in S) kernel z y) * Q z.
  by rewrite /mass /processed exchange_big; apply: eq_bigr => z _; rewrite -mulr_sumr mulrC.
rewrite !swap; apply: private_of_tests => // z; apply/andP; split; first exact: sumr_ge0.
by rewrite -(one z) [X in _ <= X](bigID (mem S)) /= ler_addl sumr_ge0.
Qed.

(* What the program evaluates leaves room for such laws. With e = 2^-180 it finds that the curve at epsilon - e is at
   most delta (1 - e) (gaussian.curve_keeps). So a = exp(epsilon - e), and a (1 + e) <= exp(epsilon). *)
Lemma from_program (F : realFieldType) (exp_epsilon delta a d k e : F) :
  0 <= a -> 0 <= d -> 0 <= delta -> 0 <= e -> 0 <= k ->
  k ^+ 2 <= 1 + e -> a * (1 + e) <= exp_epsilon -> d <= delta * (1 - e) -> a * k ^+ 2 <= exp_epsilon /\ d * k <= delta.
Proof.
move=> a0 d0 delta0 e0 k0 near fits fits'; split; first by apply: le_trans fits; apply: ler_wpmul2l.
have k1 : k <= 1 + e.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?addr_ge0 ?ler01 //; apply: le_trans near _.
  by rewrite expr2 ler_pemulr ?addr_ge0 ?ler01 // ler_addl.
apply: le_trans (ler_pmul d0 k0 fits' k1) _.
rewrite -mulrA ler_pimulr //; have -> : (1 - e) * (1 + e) = 1 - e ^+ 2 by rewrite -subr_sqr expr1n.
by rewrite ler_subl_addr ler_addl exprn_ge0.
Qed.

(* The statement: a premise names each fact. *)
Theorem stated (F : realFieldType) (word out : finType) (kernel : word -> out -> F)
    (exp_epsilon delta a d k e : F) (shares shares' ideal ideal' : word -> F) :
  (forall z y, 0 <= kernel z y) -> (forall z, \sum_y kernel z y = 1) -> (forall z, 0 <= shares' z) ->
  0 <= a -> 0 <= delta -> 0 <= e -> 0 <= k ->
  private a d ideal ideal' ->                              (* the curve *)
  close k shares ideal -> close k shares' ideal' ->        (* a sum of shares is nearly that noise *)
  k ^+ 2 <= 1 + e -> a * (1 + e) <= exp_epsilon -> d <= delta * (1 - e) ->  (* the program evaluates the last *)
  private exp_epsilon delta (processed kernel shares) (processed kernel shares').
Proof.
move=> pos one nonneg a0 delta0 e0 k0 curve near near' small fits fits'; apply: processing => // S.
have d0 : 0 <= d by have := curve set0; rewrite /mass !big_set0 mulr0 add0r.
have [at_a at_d] := from_program a0 d0 delta0 e0 k0 small fits fits'.
apply: le_trans (exchange a0 k0 near near' curve S) _.
by rewrite ler_add // ler_wpmul2r // sumr_ge0.
Qed.

Print Assumptions exchange.
Print Assumptions processing.
Print Assumptions from_program.
Print Assumptions stated.
