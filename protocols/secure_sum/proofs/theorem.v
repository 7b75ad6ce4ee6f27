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
Variable known : seq request -> honest -> {set party}.
Hypothesis known_grows : forall later past j, known past j \subset known (later ++ past) j.
Hypothesis few : forall past j, (#|known past j| < T p)%N.
Variable strategy : transcript -> request.

Local Notation adjacent := (@adjacent party C).
Let adjacent_sym : symmetric adjacent. Proof. by move=> i j; rewrite /adjacent eq_sym. Qed.
Implicit Types (past : seq request) (seen : transcript) (z : inputs).
Local Notation signed := (signed p).
Local Notation signs := (signs p).
Local Notation opens := (opens p).
Local Notation answers := (answers p).
Local Notation open := (open p known).
Local Notation shown := (shown p known).
Local Notation answer := (answer p known).
Local Notation run := (run p known strategy).
Local Notation leading := (leading p known strategy).

(* The rules of honest parties are those of lists.v. *)
Lemma one_list_each past r j U V : j \notin C -> signs past r j U -> signs past r j V -> U = V.
Proof. by move=> hj; rewrite /signs insubT => /eqP-> /eqP[]. Qed.

Lemma own_list past r j U : j \notin C -> signs past r j U -> U != set0 -> (j \in U) /\ (K p - D p <= #|U|)%N.
Proof.
move=> hj; rewrite /signs insubT => own some.
suff : may_sign p (Sub j hj) U by rewrite /may_sign (negbTE some) /= => /andP[].
elim: past own => [|[r' what] past IH] //=; case: (signed past r _) IH => [V IH /IH //|_].
by case: what => [//|j' V|//]; case: ifP => // /and3P[_ _ may] /eqP[<-].
Qed.

Lemma certified_first past r i U :
  opens past r i U -> exists2 signers : {set party}, signers \subset U & certificate p (signs past r) signers U.
Proof.
elim: past => [|[r' what] past IH] //= /orP[/IH[signers inside [many own]]|].
  by exists signers => //; split=> // j /own; exact: (signs_stays [:: _]).
case: what => // i' signers V /and5P[_ _ _ inside /andP[many /forall_inP own]]; exists signers => //; split=> // j /own.
exact: (signs_stays [:: _]).
Qed.

Definition certified past r U :=
  [exists signers : {set party}, (Q p <= #|signers|)%N && [forall (j | j \in signers), signs past r j U]].

Lemma certifiedP past r U : reflect (exists signers, certificate p (signs past r) signers U) (certified past r U).
Proof.
apply: (iffP existsP) => -[signers]; first by case/andP=> many /forall_inP own; exists signers.
by case=> many own; exists signers; rewrite many; apply/forall_inP.
Qed.

(* The honest members of the list of a sum, if one with members can be certified. *)
Definition chosen past r : option {set honest} :=
  if [pick U : {set party} | (U != set0) && certified past r U] is Some U then Some [set j | val j \in U] else None.

(* One list: whichever list with members can be certified, it is the one that is chosen. *)
Lemma chosen_is_one past r U : U != set0 -> certified past r U -> chosen past r = Some [set j | val j \in U].
Proof.
move=> some cert; rewrite /chosen; case: pickP => [V /andP[_ cert']|/(_ U)]; last by rewrite some cert.
case/certifiedP: cert => signers cert; case/certifiedP: cert' => signers' cert'.
case: ok => enough _ _ _.
by rewrite (one_list parties corrupt (@one_list_each past r) enough cert cert').
Qed.

(* And it stays. *)
Lemma chosen_stays later past r W : chosen past r = Some W -> chosen (later ++ past) r = Some W.
Proof.
rewrite {1}/chosen; case: pickP => // U /andP[some /certifiedP[signers [many own]]] [<-].
by apply: chosen_is_one some _; apply/certifiedP; exists signers; split=> // j /own; exact: signs_stays.
Qed.

(* At least K - D parties are on such a list, and at least K - D - t honest ones in the sum. *)
Lemma list_is_large past r U : U != set0 -> certified past r U -> (K p - D p <= #|U|)%N.
Proof.
move=> some /certifiedP[signers cert]; case: ok => _ low le _.
have enough : (t p + 1 <= Q p)%N by exact: leq_trans le.
case: (honest_signer corrupt enough cert) => j /setDP[_ hj] own.
by case: (own_list hj own some).
Qed.

Lemma chosen_is_large past r W : chosen past r = Some W -> (K p - D p - t p <= #|W|)%N.
Proof.
rewrite /chosen; case: pickP => // U /andP[some /certifiedP[signers cert]] [<-].
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
case/existsP=> U /andP[/certified_first[signers inside cert] /eqP ->].
case: ok => enough low le _.
have some : U != set0.
  apply: contraTneq (proj1 cert) => none; rewrite -ltnNge.
  have -> : signers = set0 by apply/eqP; rewrite -subset0 -none.
  by rewrite cards0; apply: leq_trans le; apply: leq_trans low; rewrite addn1.
exists [set i' : honest | val i' \in U]; last by rewrite inE.
by apply: chosen_is_one some _; apply/certifiedP; exists signers.
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
  opened adjacent (chosen (later ++ past) r) c' = opened adjacent (chosen (later ++ past) r) c ->
    shown past r c' = shown past r c.
Proof.
rewrite /shown => same; congr (_, _); apply/ffunP=> key; rewrite !ffunE.
  case: ifP => // /(open_stays known_grows later)/only_one_kind_is_open[W chose jW].
  by move: same; rewrite /opened chose => -[/ffunP/(_ key)]; rewrite !ffunE -jW.
case: ifP => // either.
have [W chose out] : exists2 W, chosen (later ++ past) r = Some W & ~~ ((key.2.1 \in W) && (key.2.2 \in W)).
  by case/orP: either => /(open_stays known_grows later)/only_one_kind_is_open[W chose jW];
    exists W; rewrite // -jW ?andbF.
by move: same; rewrite /opened chose => -[_ /ffunP/(_ key)]; rewrite !ffunE (negbTE out).
Qed.

(* What a party has put into a sum: what it had when it masked, and 0 if it has not. *)
Fixpoint input z seen r j : word :=
  if seen is _ :: before then
    if masked_in (asked before) r j is Some _ then input z before r j
    else if masked_in (asked seen) r j is Some _ then z before r j else 0
  else 0.

Lemma input_stays z later seen r j ctx :
  masked_in (asked seen) r j = Some ctx -> input z (later ++ seen) r j = input z seen r j.
Proof.
move=> first; elim: later => [|step later IH] //=.
by rewrite /asked map_cat -/(asked later) (masked_in_stays (asked later) first).
Qed.

Lemma nothing_put_in z seen r j : masked_in (asked seen) r j = None -> input z seen r j = 0.
Proof.
case: seen => // -[[r' what] said] before; rewrite /=; case: masked_in => //.
by move=> ->.
Qed.

(* Where two honest members of the list masked in different contexts, or nothing is certified, what was put into that
   sum has no part in the view. *)
Theorem nothing_without_one_context z z' seen :
  (forall r W, chosen (asked seen) r = Some W ->
     \sum_(j in W) input z seen r j = \sum_(j in W) input z' seen r j \/
     exists i j, [/\ i \in W, j \in W & masked_in (asked seen) r i != masked_in (asked seen) r j]) ->
  #|leading z seen| = #|leading z' seen|.
Proof.
move=> fits.
have each r : exists phi : sum_coins -> sum_coins, injective phi /\ forall c,
    masked adjacent (masked_in (asked seen) r) (input z' seen r) (phi c) =
    masked adjacent (masked_in (asked seen) r) (input z seen r) c /\
    opened adjacent (chosen (asked seen) r) (phi c) = opened adjacent (chosen (asked seen) r) c.
  have [|phi inj keeps] := @same_view _ _ word adjacent adjacent_sym (masked_in (asked seen) r)
    (input z seen r) (input z' seen r) (chosen (asked seen) r); last by exists phi.
  move=> W chose; apply: complete_hides; first by move=> i j _ _.
  case: (fits r W chose) => [same|apart]; [left | by right].
  by rewrite sumrB same subrr.
case: (fin_all_exists each) => phi both.
pose all (c : all_coins) : all_coins := [ffun r => phi r (c r)].
have inj : injective all.
  move=> c c' /ffunP step; apply/ffunP=> r; have := step r; rewrite !ffunE; case: (both r) => inj _; exact: inj.
have same later ask before c :
    seen = later ++ (ask, answer z before ask c) :: before \/
    seen = later ++ (ask, answer z' before ask (all c)) :: before ->
    answer z' before ask (all c) = answer z before ask c.
  move=> whole.
  have {whole} [said whole] : exists said, seen = later ++ (ask, said) :: before by case: whole => ->; eexists.
  have past_is : asked seen = asked later ++ ask :: asked before by rewrite whole /asked map_cat.
  rewrite /answer; case: ask whole past_is => r act whole past_is.
  case: (both r) => _ /(_ (c r))[mask op]; congr (_, _); last first.
    by rewrite ffunE; apply: (@shown_of_opened (asked later)); rewrite -past_is.
  case: act whole past_is => // j ctx whole past_is.
  case first : (masked_in (asked before) r j) => //.
  have context_is : masked_in (asked seen) r j = Some ctx.
    by rewrite past_is; apply: masked_in_stays; rewrite /= first !eqxx.
  have put z0 : input z0 seen r j = z0 before r j.
    by rewrite whole (@input_stays _ _ _ _ _ ctx) /= first !eqxx.
  by move/ffunP/(_ j): mask; rewrite !ffunE context_is !put.
rewrite -(card_preimset (leading z' seen) inj); apply: eq_card => c; rewrite !inE.
suff part later before : seen = later ++ before ->
    (run z c (size before) == before) = (run z' (all c) (size before) == before).
  exact: (part [::]).
elim: before later => [|[ask said] before IH] later whole //=.
have {IH} := IH (rcons later (ask, said)); rewrite cat_rcons => /(_ whole) IH.
rewrite !eqseq_cons IH; case: (altP (run _ _ _ =P before)) => [is_past|_]; last by rewrite !andbF.
move: IH; rewrite is_past eqxx => /eqP ->; rewrite !andbT !xpair_eqE.
case: (altP (strategy before =P ask)) => //= ->; apply/eqP/eqP=> is_said.
  by rewrite -is_said; apply: same; left; rewrite whole is_said.
by rewrite -is_said; apply/esym/same; right; rewrite whole is_said.
Qed.

(* Whose sum is known: the members of the list that is chosen, once all have masked in one context. *)
Definition released seen r : option {set honest} :=
  if chosen (asked seen) r is Some W then
    if [exists ctx, [forall (j | j \in W), (masked_in (asked seen) r j == Some ctx)]] then Some W else None
  else None.

Definition sum_of z seen r := if released seen r is Some W then \sum_(j in W) input z seen r j else 0.

Lemma released_is_large seen r W : released seen r = Some W -> (K p - D p - t p <= #|W|)%N.
Proof. by rewrite /released; case chose: chosen => [V|] //; case: ifP => // _ [<-]; exact: chosen_is_large chose. Qed.

(* At most one sum a round: it stays what it is. *)
Lemma released_stays later seen r W : released seen r = Some W -> released (later ++ seen) r = Some W.
Proof.
rewrite /released; case chose: (chosen (asked seen) r) => [V|] //; case: ifP => // /existsP[ctx /forall_inP same] [<-].
rewrite /asked map_cat (chosen_stays _ chose); case: ifP => // /existsP[]; exists ctx.
by apply/forall_inP=> j /same/eqP first; rewrite (masked_in_stays _ first).
Qed.

Lemma sum_stays z later seen r W : released seen r = Some W -> sum_of z (later ++ seen) r = sum_of z seen r.
Proof.
move=> out; rewrite /sum_of out (released_stays later out); apply: eq_bigr => j jW; move: out.
rewrite /released; case: chosen => // V; case: ifP => // /existsP[ctx /forall_inP same] [is_W].
by apply: (@input_stays _ _ _ _ _ ctx); apply/eqP/same; rewrite is_W.
Qed.

(* So how probable a view is follows from one sum a round, once it is released. *)
Theorem sums_are_all : exists weight : transcript -> ('I_R -> word) -> nat,
  forall z seen, #|leading z seen| = weight seen (sum_of z seen).
Proof.
pose one seen (S : 'I_R -> word) : inputs := fun _ r j =>
  if released seen r is Some W then S r *+ ([pick i in W] == Some j) else 0.
exists (fun seen S => #|leading (one seen S) seen|) => z seen.
apply: nothing_without_one_context => r W chose.
have [/existsP[ctx /forall_inP same]|/existsPn apart] :=
  boolP [exists ctx, [forall (j | j \in W), masked_in (asked seen) r j == Some ctx]]; last first.
  case: (boolP [exists i in W, exists j in W, masked_in (asked seen) r i != masked_in (asked seen) r j]).
    by case/exists_inP=> i iW /exists_inP[j jW differ]; right; exists i, j.
  move/exists_inPn=> all; left; suff none z0 : \sum_(j in W) input z0 seen r j = 0 by rewrite !none.
  apply: big1 => j jW; apply: nothing_put_in; case first: (masked_in (asked seen) r j) => [ctx|] //.
  case/negP: (apart ctx); apply/forall_inP=> i iW.
  by move/(_ i iW)/exists_inPn/(_ j jW): all; rewrite negbK first.
have out : released seen r = Some W.
  by rewrite /released chose; case: ifP => // /existsP[]; exists ctx; exact/forall_inP.
left; have put S j : j \in W -> input (one seen S) seen r j = S r *+ ([pick i in W] == Some j).
  have constant values before : masked_in (asked before) r j -> input (fun=> values) before r j = values r j.
    elim: before => // -[[r' what] said] before IH; rewrite /=.
    case: (masked_in (asked before) r j) IH => [ctx' -> //|_].
    by case: what => // j' ctx'; case: ifP.
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
