(* Orders of the circle: in how many of them the sparse graph does not do, and the bound that graph.py computes.

   NOTES: "Let the graph do when for every sum (a) no honest party has T or more neighbours in C; (b) every party has T
   neighbours who do not drop out; (c) the honest who do not drop out are connected." *)
From mathcomp Require Import all_ssreflect fingroup perm ssralg ssrnum rat.
Require Import tails circle.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.

Section Uniform.
Variable party : finType.
Implicit Types (S : {set party}) (o : {perm party}).

(* A permutation takes a set to each of its size, and leaves alone who is in neither. *)
Lemma transport S S' : #|S| = #|S'| -> exists o, o @: S = S' /\ forall p, p \notin S -> p \notin S' -> o p = p.
Proof.
move: {2}(#|S :\: S'|) (erefl #|S :\: S'|) => m; elim: m S => [|m IH] S many same.
  exists 1%g; split=> [|p _ _]; last by rewrite perm1.
  have -> : S = S' by apply/eqP; rewrite eqEcard same leqnn andbT -setD_eq0 -cards_eq0 many.
  by rewrite -[RHS]imset_id; apply: eq_imset => p; rewrite perm1.
have /card_gt0P[a] : 0 < #|S :\: S'| by rewrite many.
rewrite inE => /andP[aS' aS].
have /card_gt0P[b] : 0 < #|S' :\: S|.
  by rewrite cardsD -same setIC -cardsD many.
rewrite inE => /andP[bS bS'].
have differ : a != b by apply: contraTneq aS => ->.
have swapped : tperm a b @: S = b |: S :\ a.
  apply/setP=> z; rewrite -{1}(tpermK a b z) (mem_imset _ _ (@perm_inj _ _)) !inE.
  case: tpermP => [->|->|/eqP za /eqP zb]; first by rewrite eqxx (negbTE differ) (negbTE bS).
    by rewrite eqxx aS.
  by rewrite (negbTE zb) za.
have [||o [image fixed]] := IH (tperm a b @: S).
- rewrite swapped setDUl; have -> : [set b] :\: S' = set0 by apply/eqP; rewrite setD_eq0 sub1set.
  by rewrite set0U setDDl setUC -setDDl; have := cardsD1 a (S :\: S'); rewrite many inE aS aS' => -[].
- by rewrite card_imset //; exact: perm_inj.
exists (tperm a b * o)%g; split=> [|p pS pS'].
  by rewrite -image -imset_comp; apply: eq_imset => z; rewrite /= permM.
rewrite permM tpermD ?fixed //.
- rewrite swapped !inE (negbTE pS) andbF orbF.
  by apply: contraNneq pS' => ->.
- by apply: contraNneq pS => <-.
- by apply: contraNneq pS' => <-.
Qed.

(* What orders make of a set, if by symmetry nothing prefers one set of X to others, is each as often. *)
Lemma uniform (f : {perm party} -> {set party}) (X P : {set {set party}}) :
  (forall o, f o \in X) ->
  (forall S S', S \in X -> S' \in X -> exists a, forall o, f o = S -> f (o * a)%g = S') ->
  #|[set o | f o \in P]| * #|X| = #|X :&: P| * #|{: {perm party}}|.
Proof.
move=> inX move.
pose fibre S := [set o | f o == S].
have le S S' : S \in X -> S' \in X -> #|fibre S| <= #|fibre S'|.
  move=> SX SX'; have [a moves] := move _ _ SX SX'.
  rewrite -(card_imset _ (mulIg a)); apply/subset_leq_card/subsetP=> _ /imsetP[o oS ->].
  by rewrite inE; apply/eqP/moves/eqP; move: oS; rewrite inE.
have all S : S \in X -> #|fibre S| = #|fibre (f 1%g)|.
  by move=> SX; apply/eqP; rewrite eqn_leq !le.
have count (B : {set {set party}}) : #|[set o | f o \in B]| = #|X :&: B| * #|fibre (f 1%g)|.
  rewrite -sum1_card (partition_big f (mem (X :&: B))) => [|o]; last by rewrite !inE inX.
  rewrite -sum_nat_const; apply: eq_bigr => S /setIP[SX SB].
  rewrite -(all S SX) -sum1_card; apply: eq_bigl => o; rewrite !inE.
  by case: (altP (f o =P S)) => [->|]; rewrite ?SB ?andbF.
have -> : #|{: {perm party}}| = #|[set o | f o \in setT]| by apply: eq_card => o; rewrite !inE.
by rewrite !count setIT mulnAC mulnA.
Qed.
End Uniform.

(* K = n + 1 parties. An order says who stands at which place; the k = 2 h neighbours of a party are those near. *)
Section Bound.
Variables (n h t D R T : nat).
Local Notation party := 'I_n.+1.
Local Notation K := n.+1.
Local Notation k := (2 * h).
Hypotheses (some : 0 < h) (fits : k <= n) (threshold : T <= k) (less : D <= n).
Variables (C : {set party}) (dropped : 'I_R -> {set party}).
Hypotheses (corrupt : #|C| = t) (few : forall r, #|dropped r| <= D).
Implicit Types (o a : {perm party}) (p : party) (S : {set party}).
Local Notation orders := #|{: {perm party}}|.

Definition neighbours p o := [set q | near h (o^-1 p)%g (o^-1 q)%g].
Definition enough_honest p o := #|neighbours p o :&: C| < T.
Definition enough_stay r p o := T <= #|neighbours p o :\: dropped r|.
Definition honest_places r o := [set x | o x \notin C :|: dropped r].

Definition does o :=
  [&& [forall (p | p \notin C), enough_honest p o], [forall r, forall p, enough_stay r p o] &
      [forall r, connected h (honest_places r o)]].

Let small : h + h <= n. Proof. by rewrite addnn -mul2n. Qed.

Let sets p := [set S : {set party} | (S \subset [set~ p]) && (#|S| == k)].

Let neighbours_moved p o a : a p = p -> neighbours p (o * a)%g = a @: neighbours p o.
Proof.
move=> fixed; apply/setP=> q; rewrite -{2}(permKV a q) (mem_imset _ _ (@perm_inj _ a)) !inE invMg !permM.
by rewrite -{1}fixed permK.
Qed.

Let neighbours_in p o : neighbours p o \in sets p.
Proof.
have [away size] := near_few (o^-1 p)%g small.
have -> : neighbours p o = o @: [set y | near h (o^-1 p)%g y].
  by apply/setP=> q; rewrite -{2}(permKV o q) (mem_imset _ _ (@perm_inj _ o)) !inE.
rewrite inE card_imset ?size ?addnn -?mul2n ?eqxx ?andbT; last exact: perm_inj.
rewrite subsetC sub1set inE -{1}(permKV o p) (mem_imset _ _ (@perm_inj _ o)).
exact: away.
Qed.

(* The neighbours of a party are each set of k others as often. *)
Let neighbours_uniform p (P : {set {set party}}) :
  #|[set o | neighbours p o \in P]| * 'C(n, k) = #|sets p :&: P| * orders.
Proof.
have -> : 'C(n, k) = #|sets p| by rewrite cards_draws cardsC1 card_ord.
apply: uniform; first exact: neighbours_in.
move=> S S'; rewrite !inE => /andP[away /eqP size] /andP[away' /eqP size'].
have [a [image fixed]] := transport (etrans size (esym size')).
exists a => o is_S; rewrite neighbours_moved ?is_S //; apply: fixed.
  by apply/negP=> inside; have := subsetP away p inside; rewrite !inE eqxx.
by apply/negP=> inside; have := subsetP away' p inside; rewrite !inE eqxx.
Qed.

Let corrupt_neighbours p : p \notin C ->
  #|[set o | ~~ enough_honest p o]| * 'C(n, k) = tail n t k T * orders.
Proof.
move=> honest.
have inside : C \subset [set~ p] by rewrite subsetC sub1set inE.
have <- : #|sets p :&: [set S | T <= #|S :&: C|]| = tail n t k T.
  have := card_at_least k T inside; rewrite cardsC1 card_ord corrupt => <-.
  by apply: eq_card => S; rewrite !inE andbA.
rewrite -neighbours_uniform; congr (_ * _); apply: eq_card => o.
by rewrite !inE /enough_honest -leqNgt.
Qed.

Let missing_neighbours r p :
  #|[set o | ~~ enough_stay r p o]| * 'C(n, k) <= tail n D k (k - T).+1 * orders.
Proof.
have inside : dropped r :\ p \subset [set~ p] by rewrite subsetC sub1set !inE eqxx.
have most : #|sets p :&: [set S | #|S :\: dropped r| < T]| <= tail n D k (k - T).+1.
  have := @more_marked _ _ _ D k (k - T).+1 inside; rewrite cardsC1 card_ord => /(_ _ less) le.
  apply: leq_trans (le _); last first.
    by apply: leq_trans (few r); apply/subset_leq_card/subsetDl.
  apply/subset_leq_card/subsetP=> S; rewrite !inE => /andP[/andP[away /eqP size] little].
  rewrite away size eqxx /=; have <- : S :&: dropped r = S :&: (dropped r :\ p).
    apply/setP=> q; rewrite !inE; case: eqVneq => [->|] //=; rewrite andbF; apply/negP=> /andP[pS _].
    by have := subsetP away p pS; rewrite !inE eqxx.
  move: little; rewrite cardsD size => little.
  by rewrite ltn_subLR // addnC -ltn_subLR // -size subset_leq_card // subsetIl.
apply: leq_trans (leq_mul most (leqnn _)); rewrite -neighbours_uniform leq_mul2r; apply/orP; right.
by apply/subset_leq_card/subsetP=> o; rewrite !inE /enough_stay -ltnNge.
Qed.

(* Two arcs that lie apart hold each set of k parties as often. *)
Let arcs (u v : party) := arc h u :|: arc h v.
Let split (u v : party) := [disjoint arc h u & arc h v].

Let empty_arcs r u v :
  #|[set o : {perm party} | split u v && (o @: arcs u v \subset C :|: dropped r)]| * 'C(K, k) <= 'C(t + D, k) * orders.
Proof.
have [apart|_] := boolP (split u v); last first.
  by rewrite (_ : [set _ | _] = set0) ?cards0 //; apply/setP=> o; rewrite !inE.
have size : #|arcs u v| = k.
  rewrite cardsU (disjoint_setI0 apart) cards0 subn0 !card_arc ?addnn ?mul2n //;
    by apply: leq_trans (leqW small); exact: leq_addr.
pose X := [set S : {set party} | #|S| == k].
have all : #|X| = 'C(K, k).
  by have := cards_draws [set: party] k; rewrite cardsT card_ord => <-; apply: eq_card => S; rewrite !inE subsetT.
pose P := [set S : {set party} | S \subset C :|: dropped r].
have main : #|[set o : {perm party} | o @: arcs u v \in P]| * #|X| = #|X :&: P| * orders.
  apply: (@uniform _ (fun o : {perm party} => o @: arcs u v)) => [o|S S'].
    by rewrite inE card_imset ?size //; exact: perm_inj.
  rewrite !inE => /eqP is_k /eqP is_k'; have [a [image _]] := transport (etrans is_k (esym is_k')).
  by exists a => o is_S; rewrite -image -is_S -imset_comp; apply: eq_imset => q; rewrite /= permM.
have -> : [set o : {perm party} | true && (o @: arcs u v \subset C :|: dropped r)] =
          [set o : {perm party} | o @: arcs u v \in P] by apply/setP=> o; rewrite !inE.
rewrite -all main leq_mul2r; apply/orP; right.
rewrite (_ : X :&: P = [set S : {set party} | (S \subset C :|: dropped r) && (#|S| == k)]).
  rewrite cards_draws leq_bin2l // (leq_trans (leq_card_setU _ _)) // corrupt leq_add2l; exact: few.
by apply/setP=> S; rewrite !inE andbC.
Qed.

Let one_of (I J : finType) (P : pred I) (Q : I -> pred J) :
  #|[set o | [exists (i | P i), Q i o]]| <= \sum_(i | P i) #|[set o | Q i o]|.
Proof.
rewrite -sum1_card big_mkcond; under eq_bigr do rewrite inE.
under [X in _ <= X]eq_bigr do rewrite -sum1_card big_mkcond.
rewrite exchange_big /=; apply: leq_sum => o _; case: ifP => // /existsP[i /andP[Pi Qi]].
by rewrite (bigD1 i) //= inE Qi.
Qed.

Let pieces r : 2 * #|[set o | ~~ connected h (honest_places r o)]| * 'C(K, k) <= K * n * 'C(t + D, k) * orders.
Proof.
pose E (u v : party) := [set o : {perm party} | split u v && (o @: arcs u v \subset C :|: dropped r)].
have twice : 2 * #|[set o | ~~ connected h (honest_places r o)]| <= \sum_u \sum_(v | v != u) #|E u v|.
  have -> : \sum_u \sum_(v | v != u) #|E u v| = \sum_o \sum_u \sum_(v | v != u) (o \in E u v : nat).
    rewrite [RHS]exchange_big; apply: eq_bigr => u _; rewrite exchange_big; apply: eq_bigr => v _ /=.
    by rewrite -sum1_card big_mkcond.
  rewrite -sum1_card big_mkcond big_distrr leq_sum //= => o _; rewrite inE.
  case: (boolP (connected _ _)) => //= /(falls_apart some)[u [v [differ apart inside]]].
  have out x : x \in arcs u v -> o x \in C :|: dropped r.
    by move/(subsetP inside); rewrite !inE negbK.
  have uv : o \in E u v by rewrite inE [split u v]apart; apply/subsetP=> _ /imsetP[x /out xB ->].
  have back : arcs v u = arcs u v by rewrite /arcs setUC.
  have vu : o \in E v u.
    by rewrite inE /split disjoint_sym apart back; apply/subsetP=> _ /imsetP[x /out xB ->].
  have differ' : v != u by rewrite eq_sym.
  rewrite (bigD1 u) //= [X in X + _](bigD1 v) //= uv [X in _ + X](bigD1 v) //=.
  by rewrite [X in _ + (X + _)](bigD1 u) //= vu; apply: (@leq_add 1 1); rewrite -?addnA leq_addr.
apply: leq_trans (leq_mul twice (leqnn _)) _; rewrite big_distrl /=.
have -> : K * n * 'C(t + D, k) * orders = \sum_(u : party) n * ('C(t + D, k) * orders).
  by rewrite sum_nat_const card_ord !mulnA.
apply: leq_sum => u _; rewrite big_distrl /=.
have -> : n * ('C(t + D, k) * orders) = \sum_(v : party | v != u) 'C(t + D, k) * orders.
  rewrite sum_nat_const; congr (_ * _); transitivity #|predC1 u|; first by rewrite cardC1 card_ord.
  exact: eq_card.
by apply: leq_sum => v _; exact: empty_arcs.
Qed.

Let ratio (a x c N : nat) : (0 < c) -> (0 < N) -> a * c <= x * N -> (a%:R / N%:R <= x%:R / c%:R :> rat)%R.
Proof.
move=> c0 N0 le; rewrite ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n //.
by rewrite -!natrM ler_nat.
Qed.

(* The bound that graph.py computes. *)
Theorem seldom_fails :
  (#|[set o | ~~ does o]|%:R / orders%:R <=
    ((K - t) * tail n t k T + R * K * tail n D k (k - T).+1)%:R / 'C(n, k)%:R +
    (R * K * n * 'C(t + D, k))%:R / (2 * 'C(K, k))%:R :> rat)%R.
Proof.
pose a := #|[set o | [exists (p | p \notin C), ~~ enough_honest p o]]|.
pose b := #|[set o | [exists r, [exists p, ~~ enough_stay r p o]]]|.
pose c := #|[set o | [exists r, ~~ connected h (honest_places r o)]]|.
have all : #|[set o | ~~ does o]| <= a + b + c.
  rewrite -addnA; apply: leq_trans (leq_add (leqnn _) (leq_card_setU _ _)).
  apply: leq_trans (leq_card_setU _ _); apply/subset_leq_card/subsetP=> o; rewrite !inE /does !negb_and.
  rewrite negb_forall_in !negb_forall => /or3P[-> //|/existsP[r]|->]; last by rewrite !orbT.
  by rewrite negb_forall => miss; apply/orP; right; apply/orP; left; apply/existsP; exists r.
have first : a * 'C(n, k) <= (K - t) * tail n t k T * orders.
  apply: leq_trans (leq_mul (one_of _ _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : (K - t) * tail n t k T * orders = \sum_(p | p \notin C) tail n t k T * orders.
    have size : #|~: C| = K - t by rewrite cardsCs setCK card_ord corrupt.
    by rewrite sum_nat_const mulnA -size; congr (_ * _ * _); apply: eq_card => p; rewrite !inE.
  by apply: leq_sum => p honest; rewrite corrupt_neighbours.
have second : b * 'C(n, k) <= R * K * tail n D k (k - T).+1 * orders.
  apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : R * K * tail n D k (k - T).+1 * orders = \sum_(r < R) \sum_(p : party) tail n D k (k - T).+1 * orders.
    by rewrite !sum_nat_const !card_ord !mulnA.
  apply: leq_sum => r _; apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  by apply: leq_sum => p _; exact: missing_neighbours.
have third : c * (2 * 'C(K, k)) <= R * K * n * 'C(t + D, k) * orders.
  apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : R * K * n * 'C(t + D, k) * orders = \sum_(r < R) K * n * 'C(t + D, k) * orders.
    by rewrite sum_nat_const card_ord !mulnA.
  by apply: leq_sum => r _; rewrite mulnA [_ * 2]mulnC; exact: pieces.
have every : 0 < orders by apply/card_gt0P; exists 1%g.
have pairs : 0 < 'C(n, k) by rewrite bin_gt0.
have halves : 0 < 2 * 'C(K, k) by rewrite muln_gt0 /= bin_gt0; exact: leqW.
apply: (@le_trans _ _ ((a + b)%:R / orders%:R + c%:R / orders%:R)%R).
  by rewrite -mulrDl -natrD ler_pmul2r ?invr_gt0 ?ltr0n // ler_nat.
by apply: ler_add; apply: ratio => //; rewrite !mulnDl leq_add //.
Qed.
End Bound.

(* The terms of the bound, for R = 1: a test compares what is printed here with graph.py. *)
Definition bounds :=
  [seq let: (n, t, D) := c in
     (n.+1, t, D, T, (n.+1 - t) * tail n t 4 T + n.+1 * tail n D 4 (4 - T).+1, n.+1 * n * 'C(t + D, 4))
    | c <- [:: (5, 0, 1); (5, 1, 2); (6, 2, 2); (7, 1, 3); (7, 3, 2)], T <- [:: 2; 3; 4]].
Eval compute in bounds.
Print Assumptions transport.
Print Assumptions uniform.
Print Assumptions seldom_fails.
