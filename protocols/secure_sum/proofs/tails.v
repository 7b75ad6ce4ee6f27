(* Tails of the sparse graph: how often a random set of neighbours holds so many of a marked set.

   graph.py computes with these whole numbers. That the neighbours of a place are such a set, and the bound on cuts, are
   in NOTES and not here. *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Tails.
Variables (party : finType) (marked : {set party}).

Definition draws k j := [set S : {set party} | (#|S| == k) && (#|S :&: marked| == j)].

(* Sets of k parties of whom exactly j are marked. *)
Lemma card_draws_of k j : j <= k -> #|draws k j| = 'C(#|marked|, j) * 'C(#|party| - #|marked|, k - j).
Proof.
move=> le; have -> : #|party| - #|marked| = #|~: marked| by rewrite (cardsCs (~: marked)) setCK.
rewrite -!cards_draws -cardsX.
rewrite -(card_in_imset (f := fun S => (S :&: marked, S :\: marked)) (D := draws k j)).
  apply: eq_card => -[A B]; rewrite !inE /=; apply/imsetP/andP.
    case=> S; rewrite inE => /andP[/eqP size /eqP mark] [-> ->].
    rewrite subsetIr mark eqxx; split=> //; rewrite subsetDr /=.
    by rewrite cardsD size mark eqxx.
  case=> /andP[inside /eqP sizeA] /andP[outside /eqP sizeB].
  have meet : A :&: B = set0.
    apply/eqP; rewrite -subset0; apply: subset_trans (setISS inside outside) _.
    by rewrite setICr.
  have noB : B :&: marked = set0 by apply/eqP; rewrite setI_eq0 disjoints_subset.
  have noA : A :\: marked = set0 by apply/eqP; rewrite setD_eq0.
  have allA : A :&: marked = A by apply/setIidPl.
  have allB : B :\: marked = B by rewrite setDE; apply/setIidPl.
  exists (A :|: B); last by rewrite setIUl setDUl noA noB allA allB setU0 set0U.
  by rewrite inE setIUl noB allA setU0 sizeA eqxx cardsU meet cards0 subn0 sizeA sizeB subnKC ?eqxx.
by move=> S S' _ _ [same same']; rewrite -(setID S marked) same same' setID.
Qed.

(* Sets of k parties of whom T or more are marked, as `_at_least` of graph.py adds them up, from T = k + 1 downwards. *)
Definition at_least k T := #|[set S : {set party} | (#|S| == k) && (T <= #|S :&: marked|)]|.

Theorem no_more k : at_least k k.+1 = 0.
Proof.
apply/eqP; rewrite cards_eq0 -subset0; apply/subsetP=> S; rewrite inE => /andP[/eqP size].
by rewrite ltnNge -size subset_leq_card ?subsetIl.
Qed.

Theorem one_less k T :
  T <= k -> at_least k T = at_least k T.+1 + 'C(#|marked|, T) * 'C(#|party| - #|marked|, k - T).
Proof.
move=> le; rewrite -card_draws_of //.
have apart : [disjoint [set S : {set party} | (#|S| == k) && (T < #|S :&: marked|)] & draws k T].
  apply/pred0P=> S /=; rewrite !inE; apply/negbTE/negP=> /andP[/andP[_ above] /andP[_ /eqP same]].
  by rewrite same ltnn in above.
transitivity #|[set S : {set party} | (#|S| == k) && (T < #|S :&: marked|)] :|: draws k T|; last first.
  by rewrite cardsU (disjoint_setI0 apart) cards0 subn0.
apply: eq_card => S.
by rewrite !inE leq_eqVlt [T == _]eq_sym orbC andb_orr.
Qed.
End Tails.

Print Assumptions no_more.
Print Assumptions one_less.
