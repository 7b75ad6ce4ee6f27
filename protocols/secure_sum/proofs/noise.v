(* Noise: from what the calibration evaluates to the statement, for a release of words of a finite ring.

   The analytic facts are premises here: which (epsilon, delta) noise of the program's parameters gives (the curve of
   Gaussian noise; Balle and Wang 2018, Dong, Roth and Su 2022), and how close a sum of shares is to it (Poisson's
   formula; smc_dp/privacy/gaussian.py). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Noise.
Variables (F : realFieldType) (word : finType).
Implicit Types (dist ideal : word -> F) (event : {set word}).

Definition mass dist event := \sum_(w in event) dist w.

(* (epsilon, delta)-privacy of a release with one distribution, or the other for the neighbouring data. *)
Definition private exp_epsilon delta dist dist' :=
  forall event, mass dist event <= exp_epsilon * mass dist' event + delta.

Definition close factor dist ideal := forall w, dist w <= factor * ideal w /\ ideal w <= factor * dist w.

Lemma mass_close factor dist ideal event : close factor dist ideal -> mass dist event <= factor * mass ideal event.
Proof. by move=> near; rewrite /mass mulr_sumr ler_sum // => w _; case: (near w). Qed.

(* Distributions that are close to private ones are private, with errors that are charged. *)
Lemma exchange exp_epsilon delta factor dist dist' ideal ideal' :
  0 <= exp_epsilon -> 0 <= factor -> close factor dist ideal -> close factor dist' ideal' ->
    private exp_epsilon delta ideal ideal' -> private (exp_epsilon * factor ^+ 2) (delta * factor) dist dist'.
Proof.
move=> exp0 factor0 near near' priv event; apply: le_trans (mass_close event near) _.
apply: (@le_trans _ _ (factor * (exp_epsilon * mass ideal' event + delta))); first exact: ler_wpmul2l.
rewrite mulrDr (mulrC factor delta) ler_add2r mulrA (mulrC factor exp_epsilon) expr2 !mulrA.
rewrite -[exp_epsilon * factor * factor * _]mulrA.
apply: ler_wpmul2l; first exact: mulr_ge0.
by rewrite /mass mulr_sumr ler_sum // => w _; case: (near' w).
Qed.

(* Whatever is done to a release, with coins of its own, keeps what it guarantees: more noise, reduction, decoding. *)
Definition processed (out : finType) (kernel : word -> out -> F) dist (shown : out) := \sum_w dist w * kernel w shown.

Lemma private_of_tests exp_epsilon delta dist dist' (test : word -> F) :
  private exp_epsilon delta dist dist' -> (forall w, 0 <= test w <= 1) ->
    \sum_w test w * dist w <= exp_epsilon * (\sum_w test w * dist' w) + delta.
Proof.
move=> priv bounds; rewrite -ler_subl_addl mulr_sumr -sumrB.
pose event := [set w | exp_epsilon * dist' w <= dist w].
apply: (@le_trans _ _ (\sum_(w in event) (dist w - exp_epsilon * dist' w))); last first.
  by rewrite sumrB -mulr_sumr ler_subl_addl; exact: priv.
rewrite [X in X <= _](bigID (mem event)) /= -[X in _ <= X]addr0 ler_add //.
  apply: ler_sum => w; rewrite inE => above; rewrite mulrCA -mulrBr.
  by rewrite ler_pimull ?subr_ge0 //; case/andP: (bounds w).
rewrite -oppr_ge0 -sumrN sumr_ge0 // => w; rewrite inE -ltNge => below.
rewrite oppr_ge0 mulrCA -mulrBr mulr_ge0_le0 ?subr_le0 ?(ltW below) //; by case/andP: (bounds w).
Qed.
End Noise.

Lemma processing (F : realFieldType) (word out : finType) (kernel : word -> out -> F) exp_epsilon delta
    (dist dist' : word -> F) :
  (forall w shown, 0 <= kernel w shown) -> (forall w, \sum_shown kernel w shown = 1) ->
  private exp_epsilon delta dist dist' -> private exp_epsilon delta (processed kernel dist) (processed kernel dist').
Proof.
move=> pos one priv event.
have swap law : mass (processed kernel law) event = \sum_w (\sum_(shown in event) kernel w shown) * law w.
  by rewrite /mass /processed exchange_big; apply: eq_bigr => w _; rewrite -mulr_sumr mulrC.
rewrite !swap; apply: private_of_tests => // w; apply/andP; split; first exact: sumr_ge0.
by rewrite -(one w) [X in _ <= X](bigID (mem event)) /= ler_addl sumr_ge0.
Qed.

(* What the program evaluates leaves room for such distributions. With margin = 2^-180 it finds that the curve at
   epsilon - margin is at most delta (1 - margin) (gaussian.curve_keeps). So exp_less = exp(epsilon - margin), and
   exp_less (1 + margin) <= exp(epsilon). *)
Lemma from_program (F : realFieldType) (exp_epsilon delta exp_less found factor margin : F) :
  0 <= exp_less -> 0 <= found -> 0 <= delta -> 0 <= margin -> 0 <= factor ->
  factor ^+ 2 <= 1 + margin -> exp_less * (1 + margin) <= exp_epsilon -> found <= delta * (1 - margin) ->
  exp_less * factor ^+ 2 <= exp_epsilon /\ found * factor <= delta.
Proof.
move=> exp0 found0 delta0 margin0 factor0 near fits fits'; split; first by apply: le_trans fits; apply: ler_wpmul2l.
have factor1 : factor <= 1 + margin.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?addr_ge0 ?ler01 //; apply: le_trans near _.
  by rewrite expr2 ler_pemulr ?addr_ge0 ?ler01 // ler_addl.
apply: le_trans (ler_pmul found0 factor0 fits' factor1) _.
rewrite -mulrA ler_pimulr //; have -> : (1 - margin) * (1 + margin) = 1 - margin ^+ 2 by rewrite -subr_sqr expr1n.
by rewrite ler_subl_addr ler_addl exprn_ge0.
Qed.

(* The statement: a premise names each fact. *)
Theorem stated (F : realFieldType) (word out : finType) (kernel : word -> out -> F)
    (exp_epsilon delta exp_less found factor margin : F) (shares shares' ideal ideal' : word -> F) :
  (forall w shown, 0 <= kernel w shown) -> (forall w, \sum_shown kernel w shown = 1) -> (forall w, 0 <= shares' w) ->
  0 <= exp_less -> 0 <= delta -> 0 <= margin -> 0 <= factor ->
  private exp_less found ideal ideal' ->                       (* the curve *)
  close factor shares ideal -> close factor shares' ideal' ->  (* a sum of shares is nearly that noise *)
  factor ^+ 2 <= 1 + margin -> exp_less * (1 + margin) <= exp_epsilon ->
  found <= delta * (1 - margin) ->                             (* the program evaluates this *)
  private exp_epsilon delta (processed kernel shares) (processed kernel shares').
Proof.
move=> pos one nonneg exp0 delta0 margin0 factor0 curve near near' small fits fits'; apply: processing => // event.
have found0 : 0 <= found by have := curve set0; rewrite /mass !big_set0 mulr0 add0r.
have [at_exp at_delta] := from_program exp0 found0 delta0 margin0 factor0 small fits fits'.
apply: le_trans (exchange exp0 factor0 near near' curve event) _.
by rewrite ler_add // ler_wpmul2r // sumr_ge0.
Qed.

Print Assumptions exchange.
Print Assumptions processing.
Print Assumptions from_program.
Print Assumptions stated.
