(* The theorem: what a coalition sees of a session of sums is decided by its own inputs, uniform values, and at most one
   sum a round, over at least K - D members of whom at least K - D - t are honest. *)
From mathcomp Require Import all_ssreflect ssralg finalg.
Require Import lists masks session.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Coalition.
Variables (p : parameters) (party context : finType) (word : finZmodType) (C : {set party}) (R : nat).
Hypotheses (parties : #|party| = K p) (corrupt : (#|C| <= t p)%N) (ok : valid p).
Local Notation honest := (honest C).
Local Notation request := (request context C R).
Local Notation transcript := (transcript context word C R).
Local Notation sum_coins := (sum_coins context word C).
Local Notation all_coins := (all_coins context word C R).
Local Notation inputs := (inputs context word C R).
Variable E : seq request -> honest -> {set party}.
Hypothesis E_grows : forall later past j, E past j \subset E (later ++ past) j.
Hypothesis few : forall past j, (#|E past j| < T p)%N.
Variable s : transcript -> request.

Local Notation g := (@g party C).
Let g_sym : symmetric g. Proof. by move=> i j; rewrite /g eq_sym. Qed.
Implicit Types (past : seq request) (seen : transcript) (x : inputs).
Local Notation signed := (signed p).
Local Notation signs := (signs p).
Local Notation opens := (opens p).
Local Notation answers := (answers p).
Local Notation open := (open p E).
Local Notation shown := (shown p E).
Local Notation answer := (answer p E).
Local Notation run := (run p E s).
Local Notation leading := (leading p E s).

(* The rules of honest parties are those of lists.v. *)
Lemma one_list_each past r j U V : j \notin C -> signs past r j U -> signs past r j V -> U = V.
Proof. by move=> hj; rewrite /signs insubT => /eqP-> /eqP[]. Qed.

Lemma own_list past r j U : j \notin C -> signs past r j U -> U != set0 -> (j \in U) /\ (K p - D p <= #|U|)%N.
Proof.
move=> hj; rewrite /signs insubT => own some.
suff : may_sign p (Sub j hj) U by rewrite /may_sign (negbTE some) /= => /andP[].
elim: past own => [|[r' a] past IH] //=; case: (signed past r _) IH => [V IH /IH //|_].
by case: a => [//|j' V|//]; case: ifP => // /and3P[_ _ may] /eqP[<-].
Qed.

Lemma certified_first past r i U :
  opens past r i U -> exists2 S : {set party}, S \subset U & certificate p (signs past r) S U.
Proof.
elim: past => [|[r' a] past IH] //= /orP[/IH[S inside [many own]]|].
  by exists S => //; split=> // j /own; exact: (signs_stays [:: _]).
case: a => // i' S V /and5P[_ _ _ inside /andP[many /forall_inP own]]; exists S => //; split=> // j /own.
exact: (signs_stays [:: _]).
Qed.

Definition certified past r U :=
  [exists S : {set party}, (Q p <= #|S|)%N && [forall (j | j \in S), signs past r j U]].

Lemma certifiedP past r U : reflect (exists S, certificate p (signs past r) S U) (certified past r U).
Proof.
apply: (iffP existsP) => -[S]; first by case/andP=> many /forall_inP own; exists S.
by case=> many own; exists S; rewrite many; apply/forall_inP.
Qed.

(* The honest members of the list of a sum, if one with members can be certified. *)
Definition chosen past r : option {set honest} :=
  if [pick U : {set party} | (U != set0) && certified past r U] is Some U then Some [set j | val j \in U] else None.

(* One list: whichever list with members can be certified, it is the one that is chosen. *)
Lemma chosen_is_one past r U : U != set0 -> certified past r U -> chosen past r = Some [set j | val j \in U].
Proof.
move=> some cert; rewrite /chosen; case: pickP => [V /andP[_ cert']|/(_ U)]; last by rewrite some cert.
case/certifiedP: cert => S cert; case/certifiedP: cert' => S' cert'.
case: ok => enough _ _ _.
by rewrite (one_list parties corrupt (@one_list_each past r) enough cert cert').
Qed.

(* And it stays. *)
Lemma chosen_stays later past r W : chosen past r = Some W -> chosen (later ++ past) r = Some W.
Proof.
rewrite {1}/chosen; case: pickP => // U /andP[some /certifiedP[S [many own]]] [<-].
by apply: chosen_is_one some _; apply/certifiedP; exists S; split=> // j /own; exact: signs_stays.
Qed.

(* At least K - D parties are on such a list, and at least K - D - t honest ones in the sum. *)
Lemma list_is_large past r U : U != set0 -> certified past r U -> (K p - D p <= #|U|)%N.
Proof.
move=> some /certifiedP[S cert]; case: ok => _ low le _.
have enough : (t p + 1 <= Q p)%N by exact: leq_trans le.
case: (honest_signer corrupt enough cert) => j /setDP[_ hj] own.
by case: (own_list hj own some).
Qed.

Lemma chosen_is_large past r W : chosen past r = Some W -> (K p - D p - t p <= #|W|)%N.
Proof.
rewrite /chosen; case: pickP => // U /andP[some /certifiedP[S cert]] [<-].
case: ok => _ low le _.
have enough : (t p + 1 <= Q p)%N by exact: leq_trans le.
apply: leq_trans (honest_survivors corrupt (@own_list past r) enough cert some) _.
apply: leq_trans (leq_imset_card val [set j : honest | val j \in U]).
apply/subset_leq_card/subsetP=> j /setDP[jU jC].
by apply/imsetP; exists (Sub j jC); rewrite ?inE ?SubK.
Qed.

(* One kind: honest holders open what is in the view of the list that is chosen, and nothing else of an honest party. *)
Lemma opened_by_the_list past r i (j : honest) kind :
  answers past r i j kind -> exists2 W, chosen past r = Some W & kind = (j \in W).
Proof.
case/existsP=> U /andP[/certified_first[S inside cert] /eqP ->].
case: ok => enough low le _.
have some : U != set0.
  apply: contraTneq (proj1 cert) => none; rewrite -ltnNge.
  have -> : S = set0 by apply/eqP; rewrite -subset0 -none.
  by rewrite cards0; apply: leq_trans le; apply: leq_trans low; rewrite addn1.
exists [set k : honest | val k \in U]; last by rewrite inE.
by apply: chosen_is_one some _; apply/certifiedP; exists S.
Qed.

(* So what is open is of the kind that the list says, and of the other kind fewer than T shares are open: it stays
   uniform (shares.v). *)
Lemma only_one_kind_is_open past r (j : honest) kind :
  open past r j kind -> exists2 W, chosen past r = Some W & kind = (j \in W).
Proof.
have [none|[i]] := set_0Vmem [set i : honest | answers past r i j kind]; last by rewrite inE => /opened_by_the_list.
by rewrite /open none imset0 setU0 leqNgt few.
Qed.

Lemma shown_of_opened later past r (c c' : sum_coins) :
  opened g (chosen (later ++ past) r) c' = opened g (chosen (later ++ past) r) c -> shown past r c' = shown past r c.
Proof.
rewrite /shown => same; congr (_, _); apply/ffunP=> q; rewrite !ffunE.
  case: ifP => // /(open_stays E_grows later)/only_one_kind_is_open[W chose jW].
  by move: same; rewrite /opened chose => -[/ffunP/(_ q)]; rewrite !ffunE -jW.
case: ifP => // either.
have [W chose out] : exists2 W, chosen (later ++ past) r = Some W & ~~ ((q.2.1 \in W) && (q.2.2 \in W)).
  by case/orP: either => /(open_stays E_grows later)/only_one_kind_is_open[W chose jW]; exists W; rewrite // -jW ?andbF.
by move: same; rewrite /opened chose => -[_ /ffunP/(_ q)]; rewrite !ffunE (negbTE out).
Qed.

(* What a party has put into a sum: what it had when it masked, and 0 if it has not. *)
Fixpoint input x seen r j : word :=
  if seen is _ :: before then
    if masked_in (asked before) r j is Some _ then input x before r j
    else if masked_in (asked seen) r j is Some _ then x before r j else 0
  else 0.

Lemma input_stays x later seen r j k :
  masked_in (asked seen) r j = Some k -> input x (later ++ seen) r j = input x seen r j.
Proof.
move=> first; elim: later => [|e later IH] //=.
by rewrite /asked map_cat -/(asked later) (masked_in_stays (asked later) first).
Qed.

Lemma nothing_put_in x seen r j : masked_in (asked seen) r j = None -> input x seen r j = 0.
Proof.
case: seen => // -[[r' a] b] before; rewrite /=; case: masked_in => //.
by move=> ->.
Qed.

(* Where two honest members of the list masked in different contexts, or nothing is certified, what was put into that
   sum has no part in the view. *)
Theorem nothing_without_one_context x x' seen :
  (forall r W, chosen (asked seen) r = Some W ->
     \sum_(j in W) input x seen r j = \sum_(j in W) input x' seen r j \/
     exists i j, [/\ i \in W, j \in W & masked_in (asked seen) r i != masked_in (asked seen) r j]) ->
  #|leading x seen| = #|leading x' seen|.
Proof.
move=> fits.
have each r : exists phi : sum_coins -> sum_coins, injective phi /\ forall c,
    masked g (masked_in (asked seen) r) (input x' seen r) (phi c) =
    masked g (masked_in (asked seen) r) (input x seen r) c /\
    opened g (chosen (asked seen) r) (phi c) = opened g (chosen (asked seen) r) c.
  have [|phi inj keeps] := @same_view _ _ word g g_sym (masked_in (asked seen) r)
    (input x seen r) (input x' seen r) (chosen (asked seen) r); last by exists phi.
  move=> W chose; apply: complete_hides; first by move=> i j _ _.
  case: (fits r W chose) => [same|apart]; [left | by right].
  by rewrite sumrB same subrr.
case: (fin_all_exists each) => phi both.
pose all (c : all_coins) : all_coins := [ffun r => phi r (c r)].
have inj : injective all.
  move=> c d /ffunP e; apply/ffunP=> r; have := e r; rewrite !ffunE; case: (both r) => inj _; exact: inj.
have same later q before c :
    seen = later ++ (q, answer x before q c) :: before \/ seen = later ++ (q, answer x' before q (all c)) :: before ->
    answer x' before q (all c) = answer x before q c.
  move=> whole.
  have {whole} [a whole] : exists a, seen = later ++ (q, a) :: before by case: whole => ->; eexists.
  have past_is : asked seen = asked later ++ q :: asked before by rewrite whole /asked map_cat.
  rewrite /answer; case: q whole past_is => r act whole past_is.
  case: (both r) => _ /(_ (c r))[mask op]; congr (_, _); last first.
    by rewrite ffunE; apply: (@shown_of_opened (asked later)); rewrite -past_is.
  case: act whole past_is => // j k whole past_is.
  case first : (masked_in (asked before) r j) => //.
  have context_is : masked_in (asked seen) r j = Some k.
    by rewrite past_is; apply: masked_in_stays; rewrite /= first !eqxx.
  have put y : input y seen r j = y before r j.
    by rewrite whole (@input_stays _ _ _ _ _ k) /= first !eqxx.
  by move/ffunP/(_ j): mask; rewrite !ffunE context_is !put.
rewrite -(card_preimset (leading x' seen) inj); apply: eq_card => c; rewrite !inE.
suff part later before : seen = later ++ before ->
    (run x c (size before) == before) = (run x' (all c) (size before) == before).
  exact: (part [::]).
elim: before later => [|[q a] before IH] later whole //=.
have {IH} := IH (rcons later (q, a)); rewrite cat_rcons => /(_ whole) IH.
rewrite !eqseq_cons IH; case: (altP (run _ _ _ =P before)) => [is_past|_]; last by rewrite !andbF.
move: IH; rewrite is_past eqxx => /eqP ->; rewrite !andbT !xpair_eqE.
case: (altP (s before =P q)) => //= ->; apply/eqP/eqP=> is_a.
  by rewrite -is_a; apply: same; left; rewrite whole is_a.
by rewrite -is_a; apply/esym/same; right; rewrite whole is_a.
Qed.

(* Whose sum is known: the members of the list that is chosen, once all have masked in one context. *)
Definition released seen r : option {set honest} :=
  if chosen (asked seen) r is Some W then
    if [exists k, [forall (j | j \in W), (masked_in (asked seen) r j == Some k)]] then Some W else None
  else None.

Definition sum_of x seen r := if released seen r is Some W then \sum_(j in W) input x seen r j else 0.

Lemma released_is_large seen r W : released seen r = Some W -> (K p - D p - t p <= #|W|)%N.
Proof. by rewrite /released; case chose: chosen => [V|] //; case: ifP => // _ [<-]; exact: chosen_is_large chose. Qed.

(* At most one sum a round: it stays what it is. *)
Lemma released_stays later seen r W : released seen r = Some W -> released (later ++ seen) r = Some W.
Proof.
rewrite /released; case chose: (chosen (asked seen) r) => [V|] //; case: ifP => // /existsP[k /forall_inP same] [<-].
rewrite /asked map_cat (chosen_stays _ chose); case: ifP => // /existsP[]; exists k.
by apply/forall_inP=> j /same/eqP first; rewrite (masked_in_stays _ first).
Qed.

Lemma sum_stays x later seen r W : released seen r = Some W -> sum_of x (later ++ seen) r = sum_of x seen r.
Proof.
move=> out; rewrite /sum_of out (released_stays later out); apply: eq_bigr => j jW; move: out.
rewrite /released; case: chosen => // V; case: ifP => // /existsP[k /forall_inP same] [is_W].
by apply: (@input_stays _ _ _ _ _ k); apply/eqP/same; rewrite is_W.
Qed.

(* So how probable a view is follows from one sum a round, once it is released. *)
Theorem sums_are_all : exists weight : transcript -> ('I_R -> word) -> nat,
  forall x seen, #|leading x seen| = weight seen (sum_of x seen).
Proof.
pose one seen (S : 'I_R -> word) : inputs := fun _ r j =>
  if released seen r is Some W then S r *+ ([pick i in W] == Some j) else 0.
exists (fun seen S => #|leading (one seen S) seen|) => x seen.
apply: nothing_without_one_context => r W chose.
have [/existsP[k /forall_inP same]|/existsPn apart] :=
  boolP [exists k, [forall (j | j \in W), masked_in (asked seen) r j == Some k]]; last first.
  case: (boolP [exists i in W, exists j in W, masked_in (asked seen) r i != masked_in (asked seen) r j]).
    by case/exists_inP=> i iW /exists_inP[j jW differ]; right; exists i, j.
  move/exists_inPn=> all; left; suff none y : \sum_(j in W) input y seen r j = 0 by rewrite !none.
  apply: big1 => j jW; apply: nothing_put_in; case first: (masked_in (asked seen) r j) => [k|] //.
  case/negP: (apart k); apply/forall_inP=> i iW.
  by move/(_ i iW)/exists_inPn/(_ j jW): all; rewrite negbK first.
have out : released seen r = Some W.
  by rewrite /released chose; case: ifP => // /existsP[]; exists k; exact/forall_inP.
left; have put S j : j \in W -> input (one seen S) seen r j = S r *+ ([pick i in W] == Some j).
  have constant f before : masked_in (asked before) r j -> input (fun=> f) before r j = f r j.
    elim: before => // -[[r' a] b] before IH; rewrite /=; case: (masked_in (asked before) r j) IH => [k' -> //|_].
    by case: a => // j' k'; case: ifP.
  by move=> jW; rewrite /one constant ?out // (eqP (same j jW)).
rewrite (eq_bigr _ (fun j jW => put _ j jW)) /sum_of out; case: pickP => [i iW|none]; last by rewrite !big_pred0.
rewrite [RHS](bigD1 i) //= eqxx [X in _ + X]big1 ?addr0 // => j /andP[_ /negbTE no].
by rewrite (inj_eq (@Some_inj _)) eq_sym no.
Qed.
End Coalition.

Print Assumptions chosen_is_one.
Print Assumptions chosen_stays.
Print Assumptions list_is_large.
Print Assumptions chosen_is_large.
Print Assumptions opened_by_the_list.
Print Assumptions only_one_kind_is_open.
Print Assumptions nothing_without_one_context.
Print Assumptions released_is_large.
Print Assumptions released_stays.
Print Assumptions sum_stays.
Print Assumptions sums_are_all.
