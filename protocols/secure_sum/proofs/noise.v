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

(* The statement: the program has found that a k^2 <= e^epsilon and d k <= delta, a premise names each fact. *)
Theorem stated (F : realFieldType) (word out : finType) (kernel : word -> out -> F)
    (exp_epsilon delta a d k : F) (shares shares' ideal ideal' : word -> F) :
  (forall z y, 0 <= kernel z y) -> (forall z, \sum_y kernel z y = 1) -> (forall z, 0 <= shares' z) ->
  0 <= a -> 0 <= k ->
  private a d ideal ideal' ->                              (* the curve *)
  close k shares ideal -> close k shares' ideal' ->        (* a sum of shares is nearly that noise *)
  a * k ^+ 2 <= exp_epsilon -> d * k <= delta ->           (* what the program evaluates *)
  private exp_epsilon delta (processed kernel shares) (processed kernel shares').
Proof.
move=> pos one nonneg a0 k0 curve near near' fits fits'; apply: processing => // S.
apply: le_trans (exchange a0 k0 near near' curve S) _.
by rewrite ler_add // ler_wpmul2r // sumr_ge0.
Qed.

Print Assumptions exchange.
Print Assumptions processing.
Print Assumptions stated.
