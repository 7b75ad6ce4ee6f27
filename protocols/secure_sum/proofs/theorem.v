(* The theorem: what a coalition sees of a session of sums is a function of its own inputs, uniform values, and at most
   one sum a round, over at least K - D members of whom at least K - D - t are honest.

   The world is ideal: masks are uniform and independent for each context, signatures cannot be forged, and a secret of
   which fewer than T shares are open stays uniform (shares.v). Then coins are masks, a view is what all honest parties
   send and what opens, and a strategy is whatever the coalition does in view of it. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import lists masks.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Session.
Variables (p : parameters) (party context : finType) (A : finZmodType) (C : {set party}) (R : nat).
Hypotheses (parties : #|party| = K p) (corrupt : (#|C| <= t p)%N) (ok : valid p).

(* Honest parties. Each masks with each other (R1). *)
Definition honest := [finType of {j : party | j \notin C}].
Let g (i j : honest) := i != j.
Let g_sym : symmetric g. Proof. by move=> i j; rewrite /g eq_sym. Qed.

(* What the coalition sees of one sum, and of all. *)
Definition round_view := ({ffun honest -> A} * coins honest context A)%type.
Definition view := 'I_R -> round_view.

(* A strategy of the coalition: which context and query each honest party gets and, by the programs of honest parties
   (R3, R4), what they sign and whose shares they open, of which kind: true for the own mask of a party, false for its
   masks with others. It depends on the view: a causal one on the part of it that is there before. *)
Record strategy := Strategy {
  contexts : view -> 'I_R -> honest -> context;
  signs : view -> 'I_R -> party -> {set party} -> bool;
  opens : view -> 'I_R -> party -> party -> bool -> bool;
  one_list_each : forall v r j U V, j \notin C -> signs v r j U -> signs v r j V -> U = V;
  own_list : forall v r j U, j \notin C -> signs v r j U -> U != set0 -> (j \in U) /\ (K p - D p <= #|U|)%N;
  certified_first : forall v r i j kind, i \notin C -> opens v r i j kind -> exists S U : {set party},
    [/\ S \subset U, certificate p (signs v r) S U, signs v r i U & kind = (j \in U)] }.

Variable s : strategy.

Definition certified v r U := [exists S : {set party}, (Q p <= #|S|)%N && [forall (j | j \in S), signs s v r j U]].

Lemma certifiedP v r U : reflect (exists S, certificate p (signs s v r) S U) (certified v r U).
Proof.
apply: (iffP existsP) => -[S]; first by case/andP=> many /forall_inP own; exists S.
by case=> many own; exists S; rewrite many; apply/forall_inP.
Qed.

(* The honest members of the list of a sum, if one with members is certified. *)
Definition chosen v r : option {set honest} :=
  if [pick U : {set party} | (U != set0) && certified v r U] is Some U then Some [set j | val j \in U] else None.

(* One list: whichever list with members is certified, it is the one that is chosen. *)
Lemma chosen_is_one v r U : U != set0 -> certified v r U -> chosen v r = Some [set j | val j \in U].
Proof.
move=> some cert; rewrite /chosen; case: pickP => [V /andP[_ cert']|/(_ U)]; last by rewrite some cert.
case/certifiedP: cert => S cert; case/certifiedP: cert' => S' cert'.
case: ok => enough _ _ _.
by rewrite (one_list parties corrupt (one_list_each (s := s)  (v := v) (r := r)) enough cert cert').
Qed.

(* At least K - D - t honest parties are in a sum. *)
Lemma chosen_is_large v r W : chosen v r = Some W -> (K p - D p - t p <= #|W|)%N.
Proof.
rewrite /chosen; case: pickP => // U /andP[some /certifiedP[S cert]] [<-].
case: ok => _ low le _.
have enough : (t p + 1 <= Q p)%N by exact: leq_trans le.
apply: leq_trans (honest_survivors corrupt (own_list (s := s) (v := v) (r := r)) enough cert some) _.
apply: leq_trans (leq_imset_card val [set j : honest | val j \in U]).
apply/subset_leq_card/subsetP=> j /setDP[jU jC].
by apply/imsetP; exists (Sub j jC); rewrite ?inE ?SubK.
Qed.

(* One kind: honest holders open what is in the view of the list that is chosen, and nothing else of an honest party. *)
Lemma opened_by_the_list v r i (j : honest) kind :
  i \notin C -> opens s v r i (val j) kind -> exists2 W, chosen v r = Some W & kind = (j \in W).
Proof.
move=> hi /(certified_first hi)[S [U [inside cert _ ->]]].
case: ok => enough low le _.
have some : U != set0.
  apply: contraTneq (proj1 cert) => none; rewrite -ltnNge.
  have -> : S = set0 by apply/eqP; rewrite -subset0 -none.
  by rewrite cards0; apply: leq_trans le; apply: leq_trans low; rewrite addn1.
exists [set k : honest | val k \in U]; last by rewrite inE.
by apply: chosen_is_one some _; apply/certifiedP; exists S.
Qed.

(* A secret of an honest party is open if T of its shares are: those of C, and those that honest holders open. *)
Definition open v r (j : honest) kind :=
  (T p <= #|C :|: [set i : party | (i \notin C) && opens s v r i (val j) kind]|)%N.

(* So it is of the kind that the list says, and of the other kind fewer than T shares are open: it stays uniform
   (shares.v). *)
Lemma only_one_kind_is_open v r (j : honest) kind :
  open v r j kind -> exists2 W, chosen v r = Some W & kind = (j \in W).
Proof.
case: ok => _ low _ _ many.
have [none|[i]] := set_0Vmem [set i : party | (i \notin C) && opens s v r i (val j) kind].
  move: many; rewrite /open none setU0 => /leq_trans/(_ corrupt); rewrite leqNgt.
  by rewrite -addn1 low.
by rewrite inE => /andP[hi]; exact: opened_by_the_list.
Qed.

(* Inputs of honest parties: what they put into each sum, in view of what came before. *)
Definition inputs := view -> 'I_R -> honest -> A.

(* The coalition sees what honest parties send, own masks whose secret is open, and masks of a pair of which one is. *)
Definition seen (x : inputs) v r (c : coins honest context A) : round_view :=
  (masked g (contexts s v r) (x v r) c,
   ([ffun q : context * honest => if open v r q.2 true then c.1 q else 0],
    [ffun q : context * (honest * honest) =>
      if open v r q.2.1 false || open v r q.2.2 false then pair_mask g c q.1 q.2.1 q.2.2 else 0])).

Lemma seen_of_opened x x' v r c c' :
  masked g (contexts s v r) (x' v r) c' = masked g (contexts s v r) (x v r) c ->
  opened g (chosen v r) c' = opened g (chosen v r) c -> seen x' v r c' = seen x v r c.
Proof.
rewrite /seen => -> same; congr (_, (_, _)); apply/ffunP=> q; rewrite !ffunE.
  case: ifP => // /only_one_kind_is_open[W chose jW].
  by move: same; rewrite /opened chose => -[/ffunP/(_ q)]; rewrite !ffunE -jW.
case: ifP => // either.
have [W chose out] : exists2 W, chosen v r = Some W & ~~ ((q.2.1 \in W) && (q.2.2 \in W)).
  by case/orP: either => /only_one_kind_is_open[W chose jW]; exists W; rewrite // -jW ?andbF.
by move: same; rewrite /opened chose => -[_ /ffunP/(_ q)]; rewrite !ffunE (negbTE out).
Qed.

(* Coins of all sums that lead to a view. *)
Definition leading (x : inputs) v :=
  [set c : {ffun 'I_R -> coins honest context A} | [forall r, seen x v r (c r) == v r]].

Definition sum_of (x : inputs) v r := if chosen v r is Some W then \sum_(j in W) x v r j else 0.

(* Where two honest members got different contexts, or nothing is certified, the inputs have no part in the view. *)
Theorem nothing_without_one_context (x x' : inputs) v :
  (forall r W, chosen v r = Some W ->
     \sum_(j in W) x v r j = \sum_(j in W) x' v r j \/
     exists i j, [/\ i \in W, j \in W & contexts s v r i != contexts s v r j]) ->
  #|leading x v| = #|leading x' v|.
Proof.
move=> fits.
have each r : exists phi, injective phi /\ forall c, seen x' v r (phi c) = seen x v r c.
  have [|phi inj keeps] := @same_view _ _ A g g_sym (contexts s v r) (x v r) (x' v r) (chosen v r).
    move=> W chose; split; first by move=> i j _ _.
    case: (fits r W chose) => [same|apart]; [left | by right].
    by rewrite sumrB same subrr.
  by exists phi; split=> // c; case: (keeps c); exact: seen_of_opened.
case: (fin_all_exists each) => phi both.
pose all (c : {ffun 'I_R -> coins honest context A}) := [ffun r => phi r (c r)].
have inj : injective all.
  move=> c d /ffunP e; apply/ffunP=> r; have := e r; rewrite !ffunE; case: (both r) => inj _; exact: inj.
rewrite -(card_preimset (leading x' v) inj); apply: eq_card => c; rewrite !inE.
by apply: eq_forallb => r; rewrite ffunE; case: (both r) => _ ->.
Qed.

(* So how probable a view is follows from one sum a round. *)
Theorem sums_are_all v : exists probable : ('I_R -> A) -> nat, forall x, #|leading x v| = probable (sum_of x v).
Proof.
pose one (S : 'I_R -> A) : inputs := fun v' r j =>
  if chosen v r is Some W then S r *+ ([pick i in W] == Some j) else 0.
exists (fun S => #|leading (one S) v|) => x; apply: nothing_without_one_context => r W chose; left.
rewrite /one /sum_of chose; case: pickP => [i iW|none]; last by rewrite !big_pred0.
rewrite [RHS](bigD1 i) //= eqxx [X in _ + X]big1 ?addr0 // => j /andP[_ /negbTE no].
by rewrite (inj_eq (@Some_inj _)) eq_sym no.
Qed.
End Session.

Print Assumptions chosen_is_one.
Print Assumptions chosen_is_large.
Print Assumptions opened_by_the_list.
Print Assumptions only_one_kind_is_open.
Print Assumptions nothing_without_one_context.
Print Assumptions sums_are_all.
