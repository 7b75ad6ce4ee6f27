(* Tails of the sparse graph: how many sets of neighbours hold so many of a marked set.

   `tail` is the whole number that `_at_least` of graph.py adds up. *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition tail total marks k T :=
  sumn [seq 'C(marks, count) * 'C(total - marks, k - count) | count <- iota T (k.+1 - T)].

Section Tails.
Variables (party : finType) (others : {set party}).
Implicit Types (marked N : {set party}).

Definition draws marked k count := [set N : {set party} | [&& N \subset others, #|N| == k & #|N :&: marked| == count]].

(* Sets of k of the others of whom exactly `count` are marked. *)
Lemma card_draws_of marked k count : marked \subset others -> count <= k ->
  #|draws marked k count| = 'C(#|marked|, count) * 'C(#|others| - #|marked|, k - count).
Proof.
move=> fits le; have -> : #|others| - #|marked| = #|others :\: marked| by rewrite cardsD (setIidPr fits).
rewrite -!cards_draws -cardsX.
rewrite -(@card_in_imset _ _ (fun N => (N :&: marked, N :\: marked)) (mem (draws marked k count))).
  apply: eq_card => -[drawn_in drawn_out]; rewrite !inE /=; apply/imsetP/andP.
    case=> N; rewrite inE => /and3P[within /eqP size /eqP mark] [-> ->].
    rewrite subsetIr mark eqxx; split=> //; rewrite setSD //=.
    by rewrite cardsD size mark eqxx.
  case=> /andP[inside /eqP size_in] /andP[]; rewrite subsetD => /andP[within apart] /eqP size_out.
  have none_out : drawn_out :&: marked = set0 by apply/eqP; rewrite setI_eq0.
  have meet : drawn_in :&: drawn_out = set0 by apply/eqP;
    rewrite -subset0 -none_out subsetI subsetIr (subset_trans (subsetIl _ _) inside).
  have none_in : drawn_in :\: marked = set0 by apply/eqP; rewrite setD_eq0.
  have all_in : drawn_in :&: marked = drawn_in by apply/setIidPl.
  have all_out : drawn_out :\: marked = drawn_out by apply/setDidPl.
  exists (drawn_in :|: drawn_out); last by rewrite setIUl setDUl none_in none_out all_in all_out setU0 set0U.
  rewrite inE setIUl none_out all_in setU0 size_in eqxx cardsU meet cards0 subn0 size_in size_out subnKC // eqxx.
  by rewrite subUset (subset_trans inside fits) within.
by move=> N N' _ _ [same same']; rewrite -(setID N marked) same same' setID.
Qed.

(* Sets of k of the others of whom T or more are marked. *)
Definition at_least marked k T := [set N : {set party} | [&& N \subset others, #|N| == k & T <= #|N :&: marked|]].

Let one_less marked k T : marked \subset others -> T <= k ->
  #|at_least marked k T| = 'C(#|marked|, T) * 'C(#|others| - #|marked|, k - T) + #|at_least marked k T.+1|.
Proof.
move=> fits le; rewrite -card_draws_of //.
have apart : [disjoint draws marked k T & at_least marked k T.+1].
  apply/pred0P=> N; rewrite /= !inE; apply/negbTE/negP=> /andP[/and3P[_ _ /eqP ->] /and3P[_ _]].
  by rewrite ltnn.
transitivity #|draws marked k T :|: at_least marked k T.+1|; last first.
  by rewrite cardsU (disjoint_setI0 apart) cards0 subn0.
by apply: eq_card => N; rewrite !inE leq_eqVlt [T == _]eq_sym -!andb_orr.
Qed.

Theorem card_at_least marked k T : marked \subset others -> #|at_least marked k T| = tail #|others| #|marked| k T.
Proof.
move=> fits; have none T' : k < T' -> #|at_least marked k T'| = tail #|others| #|marked| k T'.
  move=> above; rewrite /tail; have -> : k.+1 - T' = 0 by apply/eqP; rewrite subn_eq0.
  apply/eqP; rewrite cards_eq0 -subset0; apply/subsetP=> N.
  by rewrite !inE leqNgt => /and3P[_ /eqP size]; rewrite (leq_ltn_trans (subset_leq_card (subsetIl _ _))) ?size.
case: (ltnP k T) => [|le]; first exact: none.
rewrite -(subKn le); elim: (k - T) (leq_subr T k) => [_|steps IH less].
  by rewrite subn0 one_less // none // /tail subSnn [X in iota _.+1 X]subnn.
rewrite one_less ?leq_subr // -subSn // subSS IH ?(ltnW less) // /tail.
by rewrite -(subnSK less) subSS (subSn (leq_subr steps.+1 k)).
Qed.

(* With more that are marked there are not fewer. *)
Lemma more_marked marked marks k T : marked \subset others -> #|marked| <= marks -> marks <= #|others| ->
  #|at_least marked k T| <= tail #|others| marks k T.
Proof.
move=> fits; move: {2}(marks - _) (erefl (marks - #|marked|)) => rest;
  elim: rest marked fits => [|rest IH] marked fits is_rest le most.
  have -> : marks = #|marked| by apply/eqP; rewrite eqn_leq le andbT -subn_eq0 is_rest.
  by rewrite card_at_least.
have less : #|marked| < marks by rewrite -subn_gt0 is_rest.
have /subsetPn[j other new] : ~~ (others \subset marked).
  by apply: contraL less => /subset_leq_card all; rewrite -leqNgt (leq_trans most).
apply: leq_trans (IH (j |: marked) _ _ _ most); last 1 first.
- by rewrite cardsU1 new.
- apply/subset_leq_card/subsetP=> N; rewrite !inE => /and3P[-> -> many] /=; apply: leq_trans many _.
  by apply/subset_leq_card/setIS/subsetUr.
- by rewrite subUset sub1set other.
by rewrite cardsU1 new addnC subnDA is_rest subn1.
Qed.
End Tails.

Print Assumptions card_at_least.
Print Assumptions more_marked.
