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
Implicit Types (N : {set party}) (o : {perm party}).

(* A permutation takes a set to each of its size, and leaves alone who is in neither. *)
Lemma transport N N' : #|N| = #|N'| -> exists o, o @: N = N' /\ forall j, j \notin N -> j \notin N' -> o j = j.
Proof.
move: {2}(#|N :\: N'|) (erefl #|N :\: N'|) => rest; elim: rest N => [|rest IH] N many same.
  exists 1%g; split=> [|j _ _]; last by rewrite perm1.
  have -> : N = N' by apply/eqP; rewrite eqEcard same leqnn andbT -setD_eq0 -cards_eq0 many.
  by rewrite -[RHS]imset_id; apply: eq_imset => j; rewrite perm1.
have /card_gt0P[i] : 0 < #|N :\: N'| by rewrite many.
rewrite inE => /andP[iN' iN].
have /card_gt0P[i'] : 0 < #|N' :\: N|.
  by rewrite cardsD -same setIC -cardsD many.
rewrite inE => /andP[i'N i'N'].
have differ : i != i' by apply: contraTneq iN => ->.
have swapped : tperm i i' @: N = i' |: N :\ i.
  apply/setP=> j'; rewrite -{1}(tpermK i i' j') (mem_imset _ _ (@perm_inj _ _)) !inE.
  case: tpermP => [->|->|/eqP not_i /eqP not_i']; first by rewrite eqxx (negbTE differ) (negbTE i'N).
    by rewrite eqxx iN.
  by rewrite (negbTE not_i') not_i.
have [||o [image fixed]] := IH (tperm i i' @: N).
- rewrite swapped setDUl; have -> : [set i'] :\: N' = set0 by apply/eqP; rewrite setD_eq0 sub1set.
  by rewrite set0U setDDl setUC -setDDl; have := cardsD1 i (N :\: N'); rewrite many inE iN iN' => -[].
- by rewrite card_imset //; exact: perm_inj.
exists (tperm i i' * o)%g; split=> [|j jN jN'].
  by rewrite -image -imset_comp; apply: eq_imset => j'; rewrite /= permM.
rewrite permM tpermD ?fixed //.
- rewrite swapped !inE (negbTE jN) andbF orbF.
  by apply: contraNneq jN' => ->.
- by apply: contraNneq jN => <-.
- by apply: contraNneq jN' => <-.
Qed.

(* What orders make of a set, if by symmetry nothing prefers one set of the range to others, is each as often. *)
Lemma uniform (made : {perm party} -> {set party}) (range wanted : {set {set party}}) :
  (forall o, made o \in range) ->
  (forall N N', N \in range -> N' \in range -> exists o', forall o, made o = N -> made (o * o')%g = N') ->
  #|[set o | made o \in wanted]| * #|range| = #|range :&: wanted| * #|{: {perm party}}|.
Proof.
move=> in_range moved.
pose fibre N := [set o | made o == N].
have le N N' : N \in range -> N' \in range -> #|fibre N| <= #|fibre N'|.
  move=> N_range N'_range; have [o' moves] := moved _ _ N_range N'_range.
  rewrite -(card_imset _ (mulIg o')); apply/subset_leq_card/subsetP=> _ /imsetP[o o_N ->].
  by rewrite inE; apply/eqP/moves/eqP; move: o_N; rewrite inE.
have all N : N \in range -> #|fibre N| = #|fibre (made 1%g)|.
  by move=> N_range; apply/eqP; rewrite eqn_leq !le.
have count (wanted' : {set {set party}}) : #|[set o | made o \in wanted']| = #|range :&: wanted'| * #|fibre (made 1%g)|.
  rewrite -sum1_card (partition_big made (mem (range :&: wanted'))) => [|o]; last by rewrite !inE in_range.
  rewrite -sum_nat_const; apply: eq_bigr => N /setIP[N_range N_wanted].
  rewrite -(all N N_range) -sum1_card; apply: eq_bigl => o; rewrite !inE.
  by case: (altP (made o =P N)) => [->|]; rewrite ?N_wanted ?andbF.
have -> : #|{: {perm party}}| = #|[set o | made o \in setT]| by apply: eq_card => o; rewrite !inE.
by rewrite !count setIT mulnAC mulnA.
Qed.
End Uniform.

(* K = K1 + 1 parties. An order says who stands at which place; the k = 2 reach neighbours of a party are those near. *)
Section Bound.
Variables (K1 reach t D R T : nat).
Local Notation party := 'I_K1.+1.
Local Notation K := K1.+1.
Local Notation k := (2 * reach).
Hypotheses (some : 0 < reach) (fits : k <= K1) (threshold : T <= k) (less : D <= K1).
Variables (C : {set party}) (dropped : 'I_R -> {set party}).
Hypotheses (corrupt : #|C| = t) (few : forall r, #|dropped r| <= D).
Implicit Types (o : {perm party}) (j : party) (N : {set party}).
Local Notation orders := #|{: {perm party}}|.

Definition neighbours j o := [set i | near reach (o^-1 j)%g (o^-1 i)%g].
Definition enough_honest j o := #|neighbours j o :&: C| < T.
Definition enough_stay r j o := T <= #|neighbours j o :\: dropped r|.
Definition honest_places r o := [set u | o u \notin C :|: dropped r].

Definition does o :=
  [&& [forall (j | j \notin C), enough_honest j o], [forall r, forall j, enough_stay r j o] &
      [forall r, connected reach (honest_places r o)]].

Let small : reach + reach <= K1. Proof. by rewrite addnn -mul2n. Qed.

Let sets j := [set N : {set party} | (N \subset [set~ j]) && (#|N| == k)].

Let neighbours_moved j o o' : o' j = j -> neighbours j (o * o')%g = o' @: neighbours j o.
Proof.
move=> fixed; apply/setP=> i; rewrite -{2}(permKV o' i) (mem_imset _ _ (@perm_inj _ o')) !inE invMg !permM.
by rewrite -{1}fixed permK.
Qed.

Let neighbours_in j o : neighbours j o \in sets j.
Proof.
have [away size] := near_few (o^-1 j)%g small.
have -> : neighbours j o = o @: [set u | near reach (o^-1 j)%g u].
  by apply/setP=> i; rewrite -{2}(permKV o i) (mem_imset _ _ (@perm_inj _ o)) !inE.
rewrite inE card_imset ?size ?addnn -?mul2n ?eqxx ?andbT; last exact: perm_inj.
rewrite subsetC sub1set inE -{1}(permKV o j) (mem_imset _ _ (@perm_inj _ o)).
exact: away.
Qed.

(* The neighbours of a party are each set of k others as often. *)
Let neighbours_uniform j (wanted : {set {set party}}) :
  #|[set o | neighbours j o \in wanted]| * 'C(K1, k) = #|sets j :&: wanted| * orders.
Proof.
have -> : 'C(K1, k) = #|sets j| by rewrite cards_draws cardsC1 card_ord.
apply: uniform; first exact: neighbours_in.
move=> N N'; rewrite !inE => /andP[away /eqP size] /andP[away' /eqP size'].
have [o' [image fixed]] := transport (etrans size (esym size')).
exists o' => o is_N; rewrite neighbours_moved ?is_N //; apply: fixed.
  by apply/negP=> inside; have := subsetP away j inside; rewrite !inE eqxx.
by apply/negP=> inside; have := subsetP away' j inside; rewrite !inE eqxx.
Qed.

Let corrupt_neighbours j : j \notin C ->
  #|[set o | ~~ enough_honest j o]| * 'C(K1, k) = tail K1 t k T * orders.
Proof.
move=> honest.
have inside : C \subset [set~ j] by rewrite subsetC sub1set inE.
have <- : #|sets j :&: [set N | T <= #|N :&: C|]| = tail K1 t k T.
  have := card_at_least k T inside; rewrite cardsC1 card_ord corrupt => <-.
  by apply: eq_card => N; rewrite !inE andbA.
rewrite -neighbours_uniform; congr (_ * _); apply: eq_card => o.
by rewrite !inE /enough_honest -leqNgt.
Qed.

Let missing_neighbours r j :
  #|[set o | ~~ enough_stay r j o]| * 'C(K1, k) <= tail K1 D k (k - T).+1 * orders.
Proof.
have inside : dropped r :\ j \subset [set~ j] by rewrite subsetC sub1set !inE eqxx.
have most : #|sets j :&: [set N | #|N :\: dropped r| < T]| <= tail K1 D k (k - T).+1.
  have := @more_marked _ _ _ D k (k - T).+1 inside; rewrite cardsC1 card_ord => /(_ _ less) le.
  apply: leq_trans (le _); last first.
    by apply: leq_trans (few r); apply/subset_leq_card/subsetDl.
  apply/subset_leq_card/subsetP=> N; rewrite !inE => /andP[/andP[away /eqP size] little].
  rewrite away size eqxx /=; have <- : N :&: dropped r = N :&: (dropped r :\ j).
    apply/setP=> i; rewrite !inE; case: eqVneq => [->|] //=; rewrite andbF; apply/negP=> /andP[jN _].
    by have := subsetP away j jN; rewrite !inE eqxx.
  move: little; rewrite cardsD size => little.
  by rewrite ltn_subLR // addnC -ltn_subLR // -size subset_leq_card // subsetIl.
apply: leq_trans (leq_mul most (leqnn _)); rewrite -neighbours_uniform leq_mul2r; apply/orP; right.
by apply/subset_leq_card/subsetP=> o; rewrite !inE /enough_stay -ltnNge.
Qed.

(* Two arcs that lie apart hold each set of k parties as often. *)
Let arcs (u v : party) := arc reach u :|: arc reach v.
Let split (u v : party) := [disjoint arc reach u & arc reach v].

Let empty_arcs r u v :
  #|[set o : {perm party} | split u v && (o @: arcs u v \subset C :|: dropped r)]| * 'C(K, k) <= 'C(t + D, k) * orders.
Proof.
have [apart|_] := boolP (split u v); last first.
  by rewrite (_ : [set _ | _] = set0) ?cards0 //; apply/setP=> o; rewrite !inE.
have size : #|arcs u v| = k.
  rewrite cardsU (disjoint_setI0 apart) cards0 subn0 !card_arc ?addnn ?mul2n //;
    by apply: leq_trans (leqW small); exact: leq_addr.
pose range := [set N : {set party} | #|N| == k].
have all : #|range| = 'C(K, k).
  by have := cards_draws [set: party] k; rewrite cardsT card_ord => <-; apply: eq_card => N; rewrite !inE subsetT.
pose wanted := [set N : {set party} | N \subset C :|: dropped r].
have main : #|[set o : {perm party} | o @: arcs u v \in wanted]| * #|range| = #|range :&: wanted| * orders.
  apply: (@uniform _ (fun o : {perm party} => o @: arcs u v)) => [o|N N'].
    by rewrite inE card_imset ?size //; exact: perm_inj.
  rewrite !inE => /eqP is_k /eqP is_k'; have [o' [image _]] := transport (etrans is_k (esym is_k')).
  by exists o' => o is_N; rewrite -image -is_N -imset_comp; apply: eq_imset => i; rewrite /= permM.
have -> : [set o : {perm party} | true && (o @: arcs u v \subset C :|: dropped r)] =
          [set o : {perm party} | o @: arcs u v \in wanted] by apply/setP=> o; rewrite !inE.
rewrite -all main leq_mul2r; apply/orP; right.
rewrite (_ : range :&: wanted = [set N : {set party} | (N \subset C :|: dropped r) && (#|N| == k)]).
  rewrite cards_draws leq_bin2l // (leq_trans (leq_card_setU _ _)) // corrupt leq_add2l; exact: few.
by apply/setP=> N; rewrite !inE andbC.
Qed.

Let one_of (index item : finType) (taken : pred index) (bad : index -> pred item) :
  #|[set o | [exists (i | taken i), bad i o]]| <= \sum_(i | taken i) #|[set o | bad i o]|.
Proof.
rewrite -sum1_card big_mkcond; under eq_bigr do rewrite inE.
under [X in _ <= X]eq_bigr do rewrite -sum1_card big_mkcond.
rewrite exchange_big /=; apply: leq_sum => o _; case: ifP => // /existsP[i /andP[i_taken i_bad]].
by rewrite (bigD1 i) //= inE i_bad.
Qed.

Let pieces r : 2 * #|[set o | ~~ connected reach (honest_places r o)]| * 'C(K, k) <= K * K1 * 'C(t + D, k) * orders.
Proof.
pose empty (u v : party) := [set o : {perm party} | split u v && (o @: arcs u v \subset C :|: dropped r)].
have twice : 2 * #|[set o | ~~ connected reach (honest_places r o)]| <= \sum_u \sum_(v | v != u) #|empty u v|.
  have -> : \sum_u \sum_(v | v != u) #|empty u v| = \sum_o \sum_u \sum_(v | v != u) (o \in empty u v : nat).
    rewrite [RHS]exchange_big; apply: eq_bigr => u _; rewrite exchange_big; apply: eq_bigr => v _ /=.
    by rewrite -sum1_card big_mkcond.
  rewrite -sum1_card big_mkcond big_distrr leq_sum //= => o _; rewrite inE.
  case: (boolP (connected _ _)) => //= /(falls_apart some)[u [v [differ apart inside]]].
  have out u' : u' \in arcs u v -> o u' \in C :|: dropped r.
    by move/(subsetP inside); rewrite !inE negbK.
  have uv : o \in empty u v by rewrite inE [split u v]apart; apply/subsetP=> _ /imsetP[u' /out in_B ->].
  have back : arcs v u = arcs u v by rewrite /arcs setUC.
  have vu : o \in empty v u.
    by rewrite inE /split disjoint_sym apart back; apply/subsetP=> _ /imsetP[u' /out in_B ->].
  have differ' : v != u by rewrite eq_sym.
  rewrite (bigD1 u) //= [X in X + _](bigD1 v) //= uv [X in _ + X](bigD1 v) //=.
  by rewrite [X in _ + (X + _)](bigD1 u) //= vu; apply: (@leq_add 1 1); rewrite -?addnA leq_addr.
apply: leq_trans (leq_mul twice (leqnn _)) _; rewrite big_distrl /=.
have -> : K * K1 * 'C(t + D, k) * orders = \sum_(u : party) K1 * ('C(t + D, k) * orders).
  by rewrite sum_nat_const card_ord !mulnA.
apply: leq_sum => u _; rewrite big_distrl /=.
have -> : K1 * ('C(t + D, k) * orders) = \sum_(v : party | v != u) 'C(t + D, k) * orders.
  rewrite sum_nat_const; congr (_ * _); transitivity #|predC1 u|; first by rewrite cardC1 card_ord.
  exact: eq_card.
by apply: leq_sum => v _; exact: empty_arcs.
Qed.

Let ratio (part bound size total : nat) : (0 < size) -> (0 < total) -> part * size <= bound * total ->
  (part%:R / total%:R <= bound%:R / size%:R :> rat)%R.
Proof.
move=> size0 total0 le; rewrite ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n //.
by rewrite -!natrM ler_nat.
Qed.

(* The bound that graph.py computes. *)
Theorem seldom_fails :
  (#|[set o | ~~ does o]|%:R / orders%:R <=
    ((K - t) * tail K1 t k T + R * K * tail K1 D k (k - T).+1)%:R / 'C(K1, k)%:R +
    (R * K * K1 * 'C(t + D, k))%:R / (2 * 'C(K, k))%:R :> rat)%R.
Proof.
pose crowded := #|[set o | [exists (j | j \notin C), ~~ enough_honest j o]]|.
pose deserted := #|[set o | [exists r, [exists j, ~~ enough_stay r j o]]]|.
pose cut := #|[set o | [exists r, ~~ connected reach (honest_places r o)]]|.
have all : #|[set o | ~~ does o]| <= crowded + deserted + cut.
  rewrite -addnA; apply: leq_trans (leq_add (leqnn _) (leq_card_setU _ _)).
  apply: leq_trans (leq_card_setU _ _); apply/subset_leq_card/subsetP=> o; rewrite !inE /does !negb_and.
  rewrite negb_forall_in !negb_forall => /or3P[-> //|/existsP[r]|->]; last by rewrite !orbT.
  by rewrite negb_forall => miss; apply/orP; right; apply/orP; left; apply/existsP; exists r.
have first : crowded * 'C(K1, k) <= (K - t) * tail K1 t k T * orders.
  apply: leq_trans (leq_mul (one_of _ _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : (K - t) * tail K1 t k T * orders = \sum_(j | j \notin C) tail K1 t k T * orders.
    have size : #|~: C| = K - t by rewrite cardsCs setCK card_ord corrupt.
    by rewrite sum_nat_const mulnA -size; congr (_ * _ * _); apply: eq_card => j; rewrite !inE.
  by apply: leq_sum => j honest; rewrite corrupt_neighbours.
have second : deserted * 'C(K1, k) <= R * K * tail K1 D k (k - T).+1 * orders.
  apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : R * K * tail K1 D k (k - T).+1 * orders = \sum_(r < R) \sum_(j : party) tail K1 D k (k - T).+1 * orders.
    by rewrite !sum_nat_const !card_ord !mulnA.
  apply: leq_sum => r _; apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  by apply: leq_sum => j _; exact: missing_neighbours.
have third : cut * (2 * 'C(K, k)) <= R * K * K1 * 'C(t + D, k) * orders.
  apply: leq_trans (leq_mul (one_of xpredT _) (leqnn _)) _; rewrite big_distrl /=.
  have -> : R * K * K1 * 'C(t + D, k) * orders = \sum_(r < R) K * K1 * 'C(t + D, k) * orders.
    by rewrite sum_nat_const card_ord !mulnA.
  by apply: leq_sum => r _; rewrite mulnA [_ * 2]mulnC; exact: pieces.
have every : 0 < orders by apply/card_gt0P; exists 1%g.
have pairs : 0 < 'C(K1, k) by rewrite bin_gt0.
have halves : 0 < 2 * 'C(K, k) by rewrite muln_gt0 /= bin_gt0; exact: leqW.
apply: (@le_trans _ _ ((crowded + deserted)%:R / orders%:R + cut%:R / orders%:R)%R).
  by rewrite -mulrDl -natrD ler_pmul2r ?invr_gt0 ?ltr0n // ler_nat.
by apply: ler_add; apply: ratio => //; rewrite !mulnDl leq_add //.
Qed.
End Bound.

(* The terms of the bound, for R = 1: a test compares what is printed here with graph.py. *)
Definition bounds :=
  [seq let: (K1, t, D) := each in
     (K1.+1, t, D, T, (K1.+1 - t) * tail K1 t 4 T + K1.+1 * tail K1 D 4 (4 - T).+1, K1.+1 * K1 * 'C(t + D, 4))
    | each <- [:: (5, 0, 1); (5, 1, 2); (6, 2, 2); (7, 1, 3); (7, 3, 2)], T <- [:: 2; 3; 4]].
Eval compute in bounds.
Print Assumptions transport.
Print Assumptions uniform.
Print Assumptions seldom_fails.
