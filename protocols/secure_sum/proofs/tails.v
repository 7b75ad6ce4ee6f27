(* Tails of the sparse graph: how many sets of neighbours hold so many of a marked set.

   `tail` is the whole number that `_at_least` of graph.py adds up. *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition tail total m k T := sumn [seq 'C(m, j) * 'C(total - m, k - j) | j <- iota T (k.+1 - T)].

Section Tails.
Variables (party : finType) (others : {set party}).
Implicit Types (marked S : {set party}).

Definition draws marked k j := [set S : {set party} | [&& S \subset others, #|S| == k & #|S :&: marked| == j]].

(* Sets of k of the others of whom exactly j are marked. *)
Lemma card_draws_of marked k j : marked \subset others -> j <= k ->
  #|draws marked k j| = 'C(#|marked|, j) * 'C(#|others| - #|marked|, k - j).
Proof.
move=> fits le; have -> : #|others| - #|marked| = #|others :\: marked| by rewrite cardsD (setIidPr fits).
rewrite -!cards_draws -cardsX.
rewrite -(card_in_imset (f := fun S => (S :&: marked, S :\: marked)) (D := draws marked k j)).
  apply: eq_card => -[A B]; rewrite !inE /=; apply/imsetP/andP.
    case=> S; rewrite inE => /and3P[within /eqP size /eqP mark] [-> ->].
    rewrite subsetIr mark eqxx; split=> //; rewrite setSD //=.
    by rewrite cardsD size mark eqxx.
  case=> /andP[inside /eqP sizeA] /andP[]; rewrite subsetD => /andP[within apart] /eqP sizeB.
  have noB : B :&: marked = set0 by apply/eqP; rewrite setI_eq0.
  have meet : A :&: B = set0 by apply/eqP; rewrite -subset0 -noB subsetI subsetIr (subset_trans (subsetIl _ _) inside).
  have noA : A :\: marked = set0 by apply/eqP; rewrite setD_eq0.
  have allA : A :&: marked = A by apply/setIidPl.
  have allB : B :\: marked = B by apply/setDidPl.
  exists (A :|: B); last by rewrite setIUl setDUl noA noB allA allB setU0 set0U.
  rewrite inE setIUl noB allA setU0 sizeA eqxx cardsU meet cards0 subn0 sizeA sizeB subnKC // eqxx.
  by rewrite subUset (subset_trans inside fits) within.
by move=> S S' _ _ [same same']; rewrite -(setID S marked) same same' setID.
Qed.

(* Sets of k of the others of whom T or more are marked. *)
Definition at_least marked k T := [set S : {set party} | [&& S \subset others, #|S| == k & T <= #|S :&: marked|]].

Let one_less marked k T : marked \subset others -> T <= k ->
  #|at_least marked k T| = 'C(#|marked|, T) * 'C(#|others| - #|marked|, k - T) + #|at_least marked k T.+1|.
Proof.
move=> fits le; rewrite -card_draws_of //.
have apart : [disjoint draws marked k T & at_least marked k T.+1].
  apply/pred0P=> S; rewrite /= !inE; apply/negbTE/negP=> /andP[/and3P[_ _ /eqP ->] /and3P[_ _]].
  by rewrite ltnn.
transitivity #|draws marked k T :|: at_least marked k T.+1|; last first.
  by rewrite cardsU (disjoint_setI0 apart) cards0 subn0.
by apply: eq_card => S; rewrite !inE leq_eqVlt [T == _]eq_sym -!andb_orr.
Qed.

Theorem card_at_least marked k T : marked \subset others -> #|at_least marked k T| = tail #|others| #|marked| k T.
Proof.
move=> fits; have none T' : k < T' -> #|at_least marked k T'| = tail #|others| #|marked| k T'.
  move=> above; rewrite /tail; have -> : k.+1 - T' = 0 by apply/eqP; rewrite subn_eq0.
  apply/eqP; rewrite cards_eq0 -subset0; apply/subsetP=> S.
  by rewrite !inE leqNgt => /and3P[_ /eqP size]; rewrite (leq_ltn_trans (subset_leq_card (subsetIl _ _))) ?size.
case: (ltnP k T) => [|le]; first exact: none.
rewrite -(subKn le); elim: (k - T) (leq_subr T k) => [_|i IH less].
  by rewrite subn0 one_less // none // /tail subSnn [X in iota _.+1 X]subnn.
rewrite one_less ?leq_subr // -subSn // subSS IH ?(ltnW less) // /tail.
by rewrite -(subnSK less) subSS (subSn (leq_subr i.+1 k)).
Qed.

(* With more that are marked there are not fewer. *)
Lemma more_marked marked m k T : marked \subset others -> #|marked| <= m -> m <= #|others| ->
  #|at_least marked k T| <= tail #|others| m k T.
Proof.
move=> fits; move: {2}(m - _) (erefl (m - #|marked|)) => d; elim: d marked fits => [|d IH] marked fits is_d le most.
  have -> : m = #|marked| by apply/eqP; rewrite eqn_leq le andbT -subn_eq0 is_d.
  by rewrite card_at_least.
have less : #|marked| < m by rewrite -subn_gt0 is_d.
have /subsetPn[i other new] : ~~ (others \subset marked).
  by apply: contraL less => /subset_leq_card all; rewrite -leqNgt (leq_trans most).
apply: leq_trans (IH (i |: marked) _ _ _ most); last 1 first.
- by rewrite cardsU1 new.
- apply/subset_leq_card/subsetP=> S; rewrite !inE => /and3P[-> -> many] /=; apply: leq_trans many _.
  by apply/subset_leq_card/setIS/subsetUr.
- by rewrite subUset sub1set other.
by rewrite cardsU1 new addnC subnDA is_d subn1.
Qed.
End Tails.

Print Assumptions card_at_least.
Print Assumptions more_marked.
