(* Masks (L3): given all that opens, the masked inputs of honest survivors are uniform but for their total.

   NOTES: "A certificate has at least Q - t >= 1 honest signers B in U, who masked with all of U. s_B stays hidden (L2);
   every honest A in U shares with B a mask that neither can lose. So given all that opens, the y_A of the honest A in U
   are uniform but for one linear relation, their total, and that one only if all of them used the same (g, q_r)." *)
From mathcomp Require Import all_ssreflect ssralg finalg.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* What moves between parties along edges: its divergence can be anything with total 0, if the graph is connected. *)
Section Flow.
Variables (V : finType) (word : zmodType) (g : rel V).
Hypothesis g_sym : symmetric g.

Definition antisymmetric_on (f : V -> V -> word) :=
  (forall i j, f i j = - f j i) /\ (forall i j, ~~ g i j -> f i j = 0).
Definition divergence (f : V -> V -> word) i := \sum_j f i j.

Let edge (u v : V) (a : word) (i j : V) : word := a *+ ((i == u) && (j == v)) - a *+ ((i == v) && (j == u)).

Let edge_on u v a : g u v -> antisymmetric_on (edge u v a).
Proof.
move=> guv; split=> i j; rewrite /edge; first by rewrite opprB andbC [(j == u) && _]andbC.
move=> off; have [/andP[/eqP ei /eqP ej]|_] := boolP ((i == u) && (j == v)).
  by move: off; rewrite ei ej guv.
have [/andP[/eqP ei /eqP ej]|_] := boolP ((i == v) && (j == u)); last by rewrite subrr.
by move: off; rewrite ei ej g_sym guv.
Qed.

Let edge_div u v a i : divergence (edge u v a) i = a *+ (i == u) - a *+ (i == v).
Proof.
rewrite /divergence /edge sumrB; congr (_ - _).
  by rewrite (bigD1 v) //= eqxx andbT big1 ?addr0 // => j /negbTE ->; rewrite andbF.
by rewrite (bigD1 u) //= eqxx andbT big1 ?addr0 // => j /negbTE ->; rewrite andbF.
Qed.

Let zero_on : antisymmetric_on (fun _ _ => 0).
Proof. by split=> *; rewrite ?oppr0. Qed.

Let add_on f h : antisymmetric_on f -> antisymmetric_on h -> antisymmetric_on (fun i j => f i j + h i j).
Proof.
move=> [anti off] [anti' off']; split=> i j; first by rewrite anti anti' opprD.
by move=> no; rewrite off // off' // addr0.
Qed.

Let unit_flow i r a : connect g i r ->
  exists f, antisymmetric_on f /\ forall k, divergence f k = a *+ (k == i) - a *+ (k == r).
Proof.
case/connectP=> q + ->; elim: q i => [|v q IH] i /=.
  move=> _; exists (fun _ _ => 0); split=> // k.
  by rewrite /divergence big1 // subrr.
case/andP=> giv /IH[f [on div]].
exists (fun x y => edge i v a x y + f x y); split; first exact: add_on (edge_on a giv) on.
move=> k; rewrite /divergence big_split /= -!/(divergence _ _) edge_div div.
by rewrite addrA addrNK.
Qed.

Lemma flow (delta : V -> word) r :
  (forall i, delta i != 0 -> connect g i r) -> \sum_i delta i = 0 ->
  exists f, antisymmetric_on f /\ forall k, divergence f k = delta k.
Proof.
move=> to_r total.
have each i : exists f, antisymmetric_on f /\ forall k, divergence f k = delta i *+ (k == i) - delta i *+ (k == r).
  case: (eqVneq (delta i) 0) => [->|/to_r]; last exact: unit_flow.
  by exists (fun _ _ => 0); split=> // k; rewrite /divergence big1 // !mul0rn subrr.
case: (fin_all_exists each) => f on.
exists (fun x y => \sum_i f i x y); split.
  split=> x y; first by rewrite -sumrN; apply: eq_bigr => i _; case: (on i) => -[anti _] _; exact: anti.
  by move=> no; rewrite big1 // => i _; case: (on i) => -[_ none] _; exact: none.
move=> k; rewrite /divergence exchange_big /=.
transitivity (\sum_i (delta i *+ (k == i) - delta i *+ (k == r))).
  by apply: eq_bigr => i _; case: (on i) => _ /(_ k).
rewrite sumrB sumrMnl total mul0rn subr0 (bigD1 k) //= eqxx big1 ?addr0 // => i.
by rewrite eq_sym => /negbTE ->.
Qed.
End Flow.


(* One sum. V: the honest parties; g: who shares masks with whom; contexts stand for (session, g, r, q_r). *)
Section Masks.
Variables (V context : finType) (word : finZmodType) (g : rel V).
Hypothesis g_sym : symmetric g.

(* A mask of each party and of each pair, for each context, uniform and independent: random oracles of secrets that
   nobody outside has. *)
Definition coins := ({ffun context * V -> word} * {ffun context * (V * V) -> word})%type.

Definition pair_mask (c : coins) k i j : word :=
  if ~~ g i j then 0 else
  if (enum_rank i < enum_rank j)%N then c.2 (k, (i, j)) else - c.2 (k, (j, i)).

(* What i sends, less its masks towards the coalition, which knows them. *)
Definition masked (ctx : V -> context) (x : V -> word) (c : coins) : {ffun V -> word} :=
  [ffun i => x i + c.1 (ctx i, i) + \sum_j pair_mask c (ctx i) i j].

(* What opens with the certificate on a list whose honest members are U, at most: the own masks of these, and every mask
   of a pair that is not within U. Nothing opens without a certificate. *)
Definition opened (chosen : option {set V}) (c : coins) : coins :=
  if chosen is Some U then
    ([ffun p => if p.2 \in U then c.1 p else 0],
     [ffun p => if (p.2.1 \in U) && (p.2.2 \in U) then 0 else pair_mask c p.1 p.2.1 p.2.2])
  else ([ffun=> 0], [ffun=> 0]).

Definition within (U : {set V}) i j := [&& g i j, i \in U & j \in U].
Definition linked (U : {set V}) := forall i j, i \in U -> j \in U -> connect (within U) i j.
Definition complete (U : {set V}) := forall i j, i \in U -> j \in U -> i != j -> g i j.

(* Which changes d of what honest members of U put in nobody can see: all with total 0, if a connected graph links them
   in one context; and all, if they have different ones on the complete graph. *)
Definition hidden (ctx : V -> context) (U : {set V}) (d : V -> word) :=
  [/\ linked U, forall i j, i \in U -> j \in U -> ctx i = ctx j & \sum_(i in U) d i = 0] \/
  (complete U /\ exists i j, [/\ i \in U, j \in U & ctx i != ctx j]).

(* So all with total 0 on the complete graph, in whatever contexts. *)
Lemma complete_hides ctx (U : {set V}) d :
  complete U -> \sum_(i in U) d i = 0 \/ (exists i j, [/\ i \in U, j \in U & ctx i != ctx j]) -> hidden ctx U d.
Proof.
move=> full [total|apart]; last by right.
case: (boolP [exists i in U, exists j in U, ctx i != ctx j]).
  by case/exists_inP=> i iU /exists_inP[j jU differ]; right; split=> //; exists i, j.
move/exists_inPn=> same; left; split=> // i j iU jU.
  case: (eqVneq i j) => [->|differ]; first exact: connect0.
  by apply: connect1; rewrite /within full // iU.
by move/(_ i iU)/exists_inPn/(_ j jU): same; rewrite negbK => /eqP.
Qed.

Let moves (U : {set V}) (m : context -> V -> V -> word) := forall k, antisymmetric_on (within U) (m k).

Let within_sym U : symmetric (within U).
Proof. by move=> i j; rewrite /within g_sym andbCA andbC andbA; congr (_ && _); rewrite andbC. Qed.

(* L3: in one context masks along a connected graph hide everything but the total. *)
Let moves_same ctx k (U : {set V}) d :
  linked U -> (forall i, i \in U -> ctx i = k) -> \sum_(i in U) d i = 0 ->
  exists m, moves U m /\ forall i, divergence (m (ctx i)) i = if i \in U then d i else 0.
Proof.
move=> conn same total.
case: (set_0Vmem U) => [->|[r rU]].
  exists (fun _ _ _ => 0); split=> [k'|i]; first by split=> *; rewrite ?oppr0.
  by rewrite inE /divergence big1.
have [i|//|f [on div]] := @flow V word (within U) (within_sym U) (fun i => if i \in U then d i else 0) r.
- by case: ifP => [iU _|_]; [exact: conn | rewrite eqxx].
- by rewrite -big_mkcond.
exists (fun k' i j => if k' == k then f i j else 0); split=> [k'|i].
  by case: eqP => _; [exact: on | split=> *; rewrite ?oppr0].
case: ifP => iU; first by rewrite same // /divergence eqxx; have := div i; rewrite iU.
rewrite /divergence big1 // => j _; case: eqP => // _.
by case: on => _; apply; rewrite /within iU andbF.
Qed.

(* L3b: where two members have different contexts, each has a mask that enters nothing else, and hides all. *)
Let moves_apart ctx (U : {set V}) d i0 j0 :
  complete U -> i0 \in U -> j0 \in U -> ctx i0 != ctx j0 ->
  exists m, moves U m /\ forall i, divergence (m (ctx i)) i = if i \in U then d i else 0.
Proof.
move=> full i0U j0U differ.
pose other i := if ctx i == ctx i0 then j0 else i0.
have otherU i : other i \in U by rewrite /other; case: ifP.
have apart i : ctx (other i) != ctx i.
  by rewrite /other; have [same|no] := eqVneq (ctx i) (ctx i0); rewrite eq_sym // same.
have away i : other i != i by apply: contraNneq (apart i) => ->.
pose half k i j : word := if [&& i \in U, k == ctx i & j == other i] then d i else 0.
exists (fun k i j => half k i j - half k j i); split=> [k|i].
  split=> i j; first by rewrite opprB.
  move=> no; rewrite /half.
  have off a b : ~~ [&& g a b, a \in U & b \in U] -> [&& a \in U, k == ctx a & b == other a] = false.
    move=> none; apply/negbTE; apply: contra none => /and3P[aU _ /eqP ->].
    by rewrite aU otherU full // eq_sym.
  by rewrite (off i j no) (off j i) ?subrr // -[X in ~~ X]/(within U j i) within_sym.
rewrite /divergence sumrB [X in _ - X]big1 ?subr0 => [|j _]; last first.
  rewrite /half; case: ifP => // /and3P[_ /eqP same /eqP ej].
  by have := apart j; rewrite -ej same eqxx.
rewrite (bigD1 (other i)) //= big1 ?addr0 => [|j /negbTE no]; last by rewrite /half no !andbF.
by rewrite /half !eqxx !andbT.
Qed.

(* L3a: for whatever list is chosen in view of what is sent, each change that is hidden is one of coins. *)
Lemma same_view ctx (x x' : V -> word) (chosen : option {set V}) :
  (forall U, chosen = Some U -> hidden ctx U (fun i => x i - x' i)) ->
  exists2 phi : coins -> coins, injective phi &
    forall c, masked ctx x' (phi c) = masked ctx x c /\ opened chosen (phi c) = opened chosen c.
Proof.
move=> fits; pose d i := x i - x' i.
have [m [on div]] : exists m : context -> V -> V -> word, moves (odflt set0 chosen) m /\
    forall i, divergence (m (ctx i)) i = if i \in odflt set0 chosen then d i else 0.
  case: chosen fits => [U /(_ U erefl)[[links same total]|[full [i [j [iU jU differ]]]]]|_].
  - case: (set_0Vmem U) => [none|[r rU]]; last by apply: (@moves_same ctx (ctx r)) => // i iU; exact: same.
    exists (fun _ _ _ => 0); split=> [k'|i]; first by split=> *; rewrite ?oppr0.
    by rewrite none inE /divergence big1.
  - exact: (moves_apart _ full iU jU).
  - exists (fun _ _ _ => 0); split=> [k'|i]; first by split=> *; rewrite ?oppr0.
    by rewrite inE /divergence big1.
have [U chosenU] : exists U, odflt set0 chosen = U by exists (odflt set0 chosen).
rewrite chosenU in on div.
pose own (p : context * V) : word := if p.2 \in U then 0 else d p.2.
pose phi (c : coins) : coins := ([ffun p => c.1 p + own p], [ffun p => c.2 p + m p.1 p.2.1 p.2.2]).
have pair c k i j : pair_mask (phi c) k i j = pair_mask c k i j + m k i j.
  rewrite /pair_mask; case: (on k) => anti off.
  case: (boolP (g i j)) => [gij|no] /=; last by rewrite off ?/within ?(negbTE no) // addr0.
  by case: ltnP => _; rewrite ffunE //= opprD [m k j i]anti opprK.
exists phi.
  move=> [b s] [b' s'] [/ffunP eb /ffunP es]; congr (_, _); apply/ffunP=> p.
    by have := eb p; rewrite !ffunE => /addIr.
  by have := es p; rewrite !ffunE => /addIr.
move=> c; split.
  apply/ffunP=> i; rewrite !ffunE /=.
  have -> : \sum_j pair_mask (phi c) (ctx i) i j =
            \sum_j pair_mask c (ctx i) i j + (if i \in U then d i else 0).
    by rewrite -div /divergence -big_split /=; apply: eq_bigr => j _; rewrite pair.
  rewrite /own /=; case: ifP => _; rewrite addr0 /d.
    by rewrite addrA addrC !addrA subrK.
  by rewrite [c.1 _ + _]addrC addrA [x' i + _]addrC subrK.
rewrite /opened; case: chosen chosenU {fits} => [W|] //= ->.
congr (_, _); apply/ffunP=> p; rewrite !ffunE /=.
  by case: ifP => // pU; rewrite /own pU addr0.
case: ifP => // no; rewrite pair; case: (on p.1) => _ off.
by rewrite off ?addr0 // /within no andbF.
Qed.

(* Tight: a part of the graph that has no mask with the rest shows its own total, once its own masks are open. *)
Lemma connected_is_needed k (x : V -> word) (W : {set V}) c :
  irreflexive g -> (forall i j, i \in W -> j \notin W -> ~~ g i j) ->
  \sum_(i in W) (masked (fun=> k) x c i - c.1 (k, i)) = \sum_(i in W) x i.
Proof.
move=> g_irr apart.
pose a i j : word := if g i j && (enum_rank i < enum_rank j)%N then c.2 (k, (i, j)) else 0.
have pair i j : pair_mask c k i j = a i j - a j i.
  rewrite /pair_mask /a g_sym; case: (boolP (g j i)) => [gji|_] /=; last by rewrite subr0.
  case: (ltngtP (enum_rank i) (enum_rank j)) => [lt|lt|/ord_inj/enum_rank_inj same].
  - by rewrite subr0.
  - by rewrite sub0r.
  - by move: gji; rewrite same g_irr.
transitivity (\sum_(i in W) (x i + \sum_(j in W) (a i j - a j i))).
  apply: eq_bigr => i iW; rewrite ffunE addrAC addrK; congr (_ + _).
  rewrite (bigID (mem W)) /= [X in _ + X]big1 ?addr0 => [|j jW]; last by rewrite /pair_mask apart.
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
