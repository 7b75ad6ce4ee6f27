(* Masks (L3): given all that opens, the masked inputs of honest survivors are uniform but for their total.

   NOTES: "A certificate has at least Q - t >= 1 honest signers i in U, who masked with all of U. s_i stays hidden (L2);
   every honest j in U shares with i a mask that neither can lose. So given all that opens, the y_j of the honest j in U
   are uniform but for one linear relation, their total, and that one only if all of them used the same (g, q_r)." *)
From mathcomp Require Import all_ssreflect ssralg finalg.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* What moves between parties along edges: its divergence can be anything with total 0, if the graph is connected. *)
Section Flow.
Variables (honest : finType) (word : zmodType) (adjacent : rel honest).
Hypothesis adjacent_sym : symmetric adjacent.

Definition antisymmetric_on (moved : honest -> honest -> word) :=
  (forall i j, moved i j = - moved j i) /\ (forall i j, ~~ adjacent i j -> moved i j = 0).
Definition divergence (moved : honest -> honest -> word) i := \sum_j moved i j.

Let edge (i0 j0 : honest) (w : word) (i j : honest) : word :=
  w *+ ((i == i0) && (j == j0)) - w *+ ((i == j0) && (j == i0)).

Let edge_on i0 j0 w : adjacent i0 j0 -> antisymmetric_on (edge i0 j0 w).
Proof.
move=> beside; split=> i j; rewrite /edge; first by rewrite opprB andbC [(j == i0) && _]andbC.
move=> off; have [/andP[/eqP ei /eqP ej]|_] := boolP ((i == i0) && (j == j0)).
  by move: off; rewrite ei ej beside.
have [/andP[/eqP ei /eqP ej]|_] := boolP ((i == j0) && (j == i0)); last by rewrite subrr.
by move: off; rewrite ei ej adjacent_sym beside.
Qed.

Let edge_div i0 j0 w i : divergence (edge i0 j0 w) i = w *+ (i == i0) - w *+ (i == j0).
Proof.
rewrite /divergence /edge sumrB; congr (_ - _).
  by rewrite (bigD1 j0) //= eqxx andbT big1 ?addr0 // => j /negbTE ->; rewrite andbF.
by rewrite (bigD1 i0) //= eqxx andbT big1 ?addr0 // => j /negbTE ->; rewrite andbF.
Qed.

Let zero_on : antisymmetric_on (fun _ _ => 0).
Proof. by split=> *; rewrite ?oppr0. Qed.

Let add_on moved moved' : antisymmetric_on moved -> antisymmetric_on moved' ->
  antisymmetric_on (fun i j => moved i j + moved' i j).
Proof.
move=> [anti off] [anti' off']; split=> i j; first by rewrite anti anti' opprD.
by move=> no; rewrite off // off' // addr0.
Qed.

Let unit_flow i root w : connect adjacent i root ->
  exists moved, antisymmetric_on moved /\ forall j, divergence moved j = w *+ (j == i) - w *+ (j == root).
Proof.
case/connectP=> way + ->; elim: way i => [|next way IH] i /=.
  move=> _; exists (fun _ _ => 0); split=> // j.
  by rewrite /divergence big1 // subrr.
case/andP=> beside /IH[moved [on div]].
exists (fun i' j' => edge i next w i' j' + moved i' j'); split; first exact: add_on (edge_on w beside) on.
move=> j; rewrite /divergence big_split /= -!/(divergence _ _) edge_div div.
by rewrite addrA addrNK.
Qed.

Lemma flow (change : honest -> word) root :
  (forall i, change i != 0 -> connect adjacent i root) -> \sum_i change i = 0 ->
  exists moved, antisymmetric_on moved /\ forall j, divergence moved j = change j.
Proof.
move=> to_root total.
have each i : exists moved, antisymmetric_on moved /\
    forall j, divergence moved j = change i *+ (j == i) - change i *+ (j == root).
  case: (eqVneq (change i) 0) => [->|/to_root]; last exact: unit_flow.
  by exists (fun _ _ => 0); split=> // j; rewrite /divergence big1 // !mul0rn subrr.
case: (fin_all_exists each) => moved on.
exists (fun i' j' => \sum_i moved i i' j'); split.
  split=> i' j'; first by rewrite -sumrN; apply: eq_bigr => i _; case: (on i) => -[anti _] _; exact: anti.
  by move=> no; rewrite big1 // => i _; case: (on i) => -[_ none] _; exact: none.
move=> j; rewrite /divergence exchange_big /=.
transitivity (\sum_i (change i *+ (j == i) - change i *+ (j == root))).
  by apply: eq_bigr => i _; case: (on i) => _ /(_ j).
rewrite sumrB sumrMnl total mul0rn subr0 (bigD1 j) //= eqxx big1 ?addr0 // => i.
by rewrite eq_sym => /negbTE ->.
Qed.
End Flow.


(* One sum, and its honest parties. Contexts stand for (session, g, r, q_r). *)
Section Masks.
Variables (honest context : finType) (word : finZmodType) (adjacent : rel honest).
Hypothesis adjacent_sym : symmetric adjacent.

(* A mask of each party and of each pair, for each context, uniform and independent: random oracles of secrets that
   nobody outside has. *)
Definition coins := ({ffun context * honest -> word} * {ffun context * (honest * honest) -> word})%type.

Definition pair_mask (c : coins) ctx i j : word :=
  if ~~ adjacent i j then 0 else
  if (enum_rank i < enum_rank j)%N then c.2 (ctx, (i, j)) else - c.2 (ctx, (j, i)).

(* What i sends, less its masks towards the coalition, which knows them. *)
Definition masked (ctx_of : honest -> context) (z : honest -> word) (c : coins) : {ffun honest -> word} :=
  [ffun i => z i + c.1 (ctx_of i, i) + \sum_j pair_mask c (ctx_of i) i j].

(* What opens with the certificate on a list whose honest members are W, at most: the own masks of these, and every mask
   of a pair that is not within W. Nothing opens without a certificate. *)
Definition opened (chosen : option {set honest}) (c : coins) : coins :=
  if chosen is Some W then
    ([ffun key => if key.2 \in W then c.1 key else 0],
     [ffun key => if (key.2.1 \in W) && (key.2.2 \in W) then 0 else pair_mask c key.1 key.2.1 key.2.2])
  else ([ffun=> 0], [ffun=> 0]).

Definition within (W : {set honest}) i j := [&& adjacent i j, i \in W & j \in W].
Definition linked (W : {set honest}) := forall i j, i \in W -> j \in W -> connect (within W) i j.
Definition complete (W : {set honest}) := forall i j, i \in W -> j \in W -> i != j -> adjacent i j.

(* Which changes of what honest members put in nobody can see: all with total 0, if a connected graph links them
   in one context; and all, if they have different ones on the complete graph. *)
Definition hidden (ctx_of : honest -> context) (W : {set honest}) (change : honest -> word) :=
  [/\ linked W, forall i j, i \in W -> j \in W -> ctx_of i = ctx_of j & \sum_(i in W) change i = 0] \/
  (complete W /\ exists i j, [/\ i \in W, j \in W & ctx_of i != ctx_of j]).

(* So all with total 0 on the complete graph, in whatever contexts. *)
Lemma complete_hides ctx_of (W : {set honest}) change :
  complete W -> \sum_(i in W) change i = 0 \/ (exists i j, [/\ i \in W, j \in W & ctx_of i != ctx_of j]) ->
    hidden ctx_of W change.
Proof.
move=> full [total|apart]; last by right.
case: (boolP [exists i in W, exists j in W, ctx_of i != ctx_of j]).
  by case/exists_inP=> i iW /exists_inP[j jW differ]; right; split=> //; exists i, j.
move/exists_inPn=> same; left; split=> // i j iW jW.
  case: (eqVneq i j) => [->|differ]; first exact: connect0.
  by apply: connect1; rewrite /within full // iW.
by move/(_ i iW)/exists_inPn/(_ j jW): same; rewrite negbK => /eqP.
Qed.

Let moves (W : {set honest}) (shift : context -> honest -> honest -> word) :=
  forall ctx, antisymmetric_on (within W) (shift ctx).

Let within_sym W : symmetric (within W).
Proof. by move=> i j; rewrite /within adjacent_sym andbCA andbC andbA; congr (_ && _); rewrite andbC. Qed.

(* L3: in one context masks along a connected graph hide everything but the total. *)
Let moves_same ctx_of ctx (W : {set honest}) change :
  linked W -> (forall i, i \in W -> ctx_of i = ctx) -> \sum_(i in W) change i = 0 ->
  exists shift, moves W shift /\ forall i, divergence (shift (ctx_of i)) i = if i \in W then change i else 0.
Proof.
move=> conn same total.
case: (set_0Vmem W) => [->|[root rootW]].
  exists (fun _ _ _ => 0); split=> [ctx'|i]; first by split=> *; rewrite ?oppr0.
  by rewrite inE /divergence big1.
have [i|//|moved [on div]] :=
  @flow honest word (within W) (within_sym W) (fun i => if i \in W then change i else 0) root.
- by case: ifP => [iW _|_]; [exact: conn | rewrite eqxx].
- by rewrite -big_mkcond.
exists (fun ctx' i j => if ctx' == ctx then moved i j else 0); split=> [ctx'|i].
  by case: eqP => _; [exact: on | split=> *; rewrite ?oppr0].
case: ifP => iW; first by rewrite same // /divergence eqxx; have := div i; rewrite iW.
rewrite /divergence big1 // => j _; case: eqP => // _.
by case: on => _; apply; rewrite /within iW andbF.
Qed.

(* L3b: where two members have different contexts, each has a mask that enters nothing else, and hides all. *)
Let moves_apart ctx_of (W : {set honest}) change i0 j0 :
  complete W -> i0 \in W -> j0 \in W -> ctx_of i0 != ctx_of j0 ->
  exists shift, moves W shift /\ forall i, divergence (shift (ctx_of i)) i = if i \in W then change i else 0.
Proof.
move=> full i0W j0W differ.
pose other i := if ctx_of i == ctx_of i0 then j0 else i0.
have otherW i : other i \in W by rewrite /other; case: ifP.
have apart i : ctx_of (other i) != ctx_of i.
  by rewrite /other; have [same|no] := eqVneq (ctx_of i) (ctx_of i0); rewrite eq_sym // same.
have away i : other i != i by apply: contraNneq (apart i) => ->.
pose half ctx i j : word := if [&& i \in W, ctx == ctx_of i & j == other i] then change i else 0.
exists (fun ctx i j => half ctx i j - half ctx j i); split=> [ctx|i].
  split=> i j; first by rewrite opprB.
  move=> no; rewrite /half.
  have off i' j' : ~~ [&& adjacent i' j', i' \in W & j' \in W] ->
    [&& i' \in W, ctx == ctx_of i' & j' == other i'] = false.
    move=> none; apply/negbTE; apply: contra none => /and3P[iW' _ /eqP ->].
    by rewrite iW' otherW full // eq_sym.
  by rewrite (off i j no) (off j i) ?subrr // -[X in ~~ X]/(within W j i) within_sym.
rewrite /divergence sumrB [X in _ - X]big1 ?subr0 => [|j _]; last first.
  rewrite /half; case: ifP => // /and3P[_ /eqP same /eqP ej].
  by have := apart j; rewrite -ej same eqxx.
rewrite (bigD1 (other i)) //= big1 ?addr0 => [|j /negbTE no]; last by rewrite /half no !andbF.
by rewrite /half !eqxx !andbT.
Qed.

(* L3a: for whatever list is chosen in view of what is sent, each change that is hidden is one of coins. *)
Lemma same_view ctx_of (z z' : honest -> word) (chosen : option {set honest}) :
  (forall W, chosen = Some W -> hidden ctx_of W (fun i => z i - z' i)) ->
  exists2 phi : coins -> coins, injective phi &
    forall c, masked ctx_of z' (phi c) = masked ctx_of z c /\ opened chosen (phi c) = opened chosen c.
Proof.
move=> fits; pose change i := z i - z' i.
have [shift [on div]] : exists shift : context -> honest -> honest -> word, moves (odflt set0 chosen) shift /\
    forall i, divergence (shift (ctx_of i)) i = if i \in odflt set0 chosen then change i else 0.
  case: chosen fits => [W /(_ W erefl)[[links same total]|[full [i [j [iW jW differ]]]]]|_].
  - case: (set_0Vmem W) => [none|[root rootW]].
      exists (fun _ _ _ => 0); split=> [ctx'|i]; first by split=> *; rewrite ?oppr0.
      by rewrite none inE /divergence big1.
    by apply: (@moves_same ctx_of (ctx_of root)) => // i iW; exact: same.
  - exact: (moves_apart _ full iW jW).
  - exists (fun _ _ _ => 0); split=> [ctx'|i]; first by split=> *; rewrite ?oppr0.
    by rewrite inE /divergence big1.
have [W chosenW] : exists W, odflt set0 chosen = W by exists (odflt set0 chosen).
rewrite chosenW in on div.
pose own (key : context * honest) : word := if key.2 \in W then 0 else change key.2.
pose phi (c : coins) : coins := ([ffun key => c.1 key + own key], [ffun key => c.2 key + shift key.1 key.2.1 key.2.2]).
have pair c ctx i j : pair_mask (phi c) ctx i j = pair_mask c ctx i j + shift ctx i j.
  rewrite /pair_mask; case: (on ctx) => anti off.
  case: (boolP (adjacent i j)) => [beside|no] /=; last by rewrite off ?/within ?(negbTE no) // addr0.
  by case: ltnP => _; rewrite ffunE //= opprD [shift ctx j i]anti opprK.
exists phi.
  move=> [alone both] [alone' both'] [/ffunP same_alone /ffunP same_both]; congr (_, _); apply/ffunP=> key.
    by have := same_alone key; rewrite !ffunE => /addIr.
  by have := same_both key; rewrite !ffunE => /addIr.
move=> c; split.
  apply/ffunP=> i; rewrite !ffunE /=.
  have -> : \sum_j pair_mask (phi c) (ctx_of i) i j =
            \sum_j pair_mask c (ctx_of i) i j + (if i \in W then change i else 0).
    by rewrite -div /divergence -big_split /=; apply: eq_bigr => j _; rewrite pair.
  rewrite /own /=; case: ifP => _; rewrite addr0 /change.
    by rewrite addrA addrC !addrA subrK.
  by rewrite [c.1 _ + _]addrC addrA [z' i + _]addrC subrK.
rewrite /opened; case: chosen chosenW {fits} => [W'|] //= ->.
congr (_, _); apply/ffunP=> key; rewrite !ffunE /=.
  by case: ifP => // keyW; rewrite /own keyW addr0.
case: ifP => // no; rewrite pair; case: (on key.1) => _ off.
by rewrite off ?addr0 // /within no andbF.
Qed.

(* Tight: a part of the graph that has no mask with the rest shows its own total, once its own masks are open. *)
Lemma connected_is_needed ctx (z : honest -> word) (part : {set honest}) c :
  irreflexive adjacent -> (forall i j, i \in part -> j \notin part -> ~~ adjacent i j) ->
  \sum_(i in part) (masked (fun=> ctx) z c i - c.1 (ctx, i)) = \sum_(i in part) z i.
Proof.
move=> adjacent_irr apart.
pose half i j : word := if adjacent i j && (enum_rank i < enum_rank j)%N then c.2 (ctx, (i, j)) else 0.
have pair i j : pair_mask c ctx i j = half i j - half j i.
  rewrite /pair_mask /half adjacent_sym; case: (boolP (adjacent j i)) => [beside|_] /=; last by rewrite subr0.
  case: (ltngtP (enum_rank i) (enum_rank j)) => [lt|lt|/ord_inj/enum_rank_inj same].
  - by rewrite subr0.
  - by rewrite sub0r.
  - by move: beside; rewrite same adjacent_irr.
transitivity (\sum_(i in part) (z i + \sum_(j in part) (half i j - half j i))).
  apply: eq_bigr => i iP; rewrite ffunE addrAC addrK; congr (_ + _).
  rewrite (bigID (mem part)) /= [X in _ + X]big1 ?addr0 => [|j jP]; last by rewrite /pair_mask apart.
  by apply: eq_bigr => j _; exact: pair.
rewrite big_split /= -[RHS]addr0; congr (_ + _).
under eq_bigr do rewrite sumrB.
by rewrite sumrB [X in _ - X]exchange_big subrr.
Qed.
End Masks.

Print Assumptions flow.
Print Assumptions complete_hides.
Print Assumptions same_view.
Print Assumptions connected_is_needed.
