(* The circle of the sparse graph: where it can fall apart.

   NOTES: "two honest survivors that follow each other in the cyclic order with fewer than k/2 others between them are
   neighbours. So if they are not connected, there are two disjoint arcs of k/2 places with nobody but C and the
   drop-outs." *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* K places in a circle, K1 = K - 1; each is near the k/2 = `reach` on either side. *)
Section Circle.
Variables (K1 reach : nat).
Local Notation place := 'I_K1.+1.

Definition on (u : place) l : place := inord ((u + l) %% K1.+1).
Definition near (u v : place) := [exists l : 'I_reach, (v == on u l.+1) || (u == on v l.+1)].
Definition arc (u : place) : {set place} := [set on u l | l : 'I_reach].

Lemma onD u l l' : on (on u l) l' = on u (l + l').
Proof. by rewrite /on inordK ?ltn_pmod // modnDml addnA. Qed.

Lemma on_all u : on u K1.+1 = u.
Proof. by rewrite /on modnDr modn_small // inord_val. Qed.

Lemma on_inj u l l' : l < K1.+1 -> l' < K1.+1 -> on u l = on u l' -> l = l'.
Proof.
move=> small small' /(congr1 val); rewrite /= !inordK ?ltn_pmod // => /eqP.
by rewrite eqn_modDl !modn_small // => /eqP.
Qed.

Lemma along u v : exists2 l, l < K1.+1 & v = on u l.
Proof.
exists ((v + (K1.+1 - u)) %% K1.+1); first by rewrite ltn_pmod.
rewrite /on modnDmr addnCA subnKC; last exact: ltnW.
by rewrite modnDr modn_small // inord_val.
Qed.

(* From a place of one set on to one of another: somewhere `reach` places in between are in neither. *)
Lemma gap (part rest : {set place}) start l l' :
  (forall u v, u \in part -> v \in rest -> ~~ near u v) -> l < l' -> on start l \in part -> on start l' \in rest ->
    [disjoint part & rest] ->
  exists step, [/\ l < step, step + reach <= l' & arc (on start step) \subset ~: (part :|: rest)].
Proof.
move=> far less in_part in_rest apart.
pose leaving leaves := (l <= leaves < l') && (on start leaves \in part).
have some : exists leaves, leaving leaves by exists l; rewrite /leaving leqnn less.
have bound leaves : leaving leaves -> leaves <= l' by case/andP=> /andP[_ /ltnW].
case: (ex_maxnP some bound) => leaves /andP[/andP[l_leaves leaves_l'] leavesP] last.
pose entering enters := (leaves < enters) && (on start enters \in rest).
have some' : exists enters, entering enters by exists l'; rewrite /entering leaves_l'.
case: (ex_minnP some') => enters /andP[leaves_enters entersR] first.
have enters_l' : enters <= l' by apply: first; rewrite /entering leaves_l'.
have wide : leaves + reach < enters.
  rewrite ltnNge; apply/negP=> close; case/negP: (far _ _ leavesP entersR); apply/existsP.
  have lt : enters - leaves.+1 < reach by rewrite ltn_subLR // addSn ltnS.
  by exists (Ordinal lt); rewrite /= onD -subSn // subSS subnKC ?eqxx // ltnW.
exists leaves.+1; split; rewrite ?ltnS //; first by rewrite addSn; exact: leq_trans enters_l'.
apply/subsetP=> _ /imsetP[step _ ->]; rewrite onD !inE addSn -addnS.
have before : leaves + step.+1 < enters by apply: leq_trans wide; rewrite ltnS leq_add2l.
apply/norP; split; apply/negP=> inside.
  have := last (leaves + step.+1); rewrite /leaving inside (leq_trans l_leaves) ?leq_addr //=.
  rewrite (leq_trans before enters_l').
  by move=> /(_ erefl); rewrite addnS ltnNge leq_addr.
by move: (first (leaves + step.+1)); rewrite /entering inside addnS ltnS leq_addr => /(_ erefl);
  rewrite leqNgt -addnS before.
Qed.

Lemma near_sym : symmetric near.
Proof. by move=> u v; apply/existsP/existsP=> -[l either]; exists l; rewrite orbC. Qed.

Definition connected (good : {set place}) :=
  [forall u in good, forall v in good, connect (fun u' v' => [&& near u' v', u' \in good & v' \in good]) u v].

(* Where those who are good are not connected, two arcs of `reach` places each lie apart, with nobody good in them. *)
Theorem falls_apart good : 0 < reach -> ~~ connected good ->
  exists u v, [/\ u != v, [disjoint arc u & arc v] & arc u :|: arc v \subset ~: good].
Proof.
move=> some /forall_inPn[here hereG /forall_inPn[there thereG cut]].
pose part := [set place0 in good | connect (fun u v => [&& near u v, u \in good & v \in good]) here place0].
pose rest := good :\: part.
have whole : part :|: rest = good.
  apply/setP=> place0; rewrite !inE; case: (place0 \in good) => //=; by case: connect.
have apart : [disjoint part & rest] by rewrite -setI_eq0 setIDA setDIl setDv set0I.
have hereP : here \in part by rewrite inE hereG connect0.
have thereR : there \in rest by rewrite !inE thereG (negbTE cut).
have far u v : u \in part -> v \in rest -> ~~ near u v.
  rewrite !inE => /andP[uG to_u] /andP[no vG]; apply: contra no => beside.
  by rewrite vG; apply: connect_trans to_u (connect1 _); rewrite beside uG.
have [way less is_there] := along here there; rewrite {}is_there in thereR cut *.
have pos : 0 < way by case: way cut {less thereR thereG} => //; rewrite /on addn0 modn_small // inord_val connect0.
have zero : on here 0 = here by rewrite /on addn0 modn_small // inord_val.
have [|l [l0 l_way out]] := gap far pos _ thereR apart; first by rewrite zero.
have far' u v : u \in rest -> v \in part -> ~~ near u v by rewrite near_sym => u_rest v_part; exact: far.
have [||l' [way_l' l'_K1 out']] := gap far' less thereR; first by rewrite on_all.
  by rewrite disjoint_sym.
rewrite setUC in out'; rewrite whole in out out'.
have split : [disjoint arc (on here l) & arc (on here l')].
  apply/pred0P=> place0 /=; apply/negP=> /andP[/imsetP[step _ ->] /imsetP[step' _]]; rewrite !onD => same.
  have step_way : l + step < way by apply: leq_trans l_way; rewrite ltn_add2l.
  have step_K1 : l' + step' < K1.+1 by apply: leq_trans l'_K1; rewrite ltn_add2l.
  have := on_inj (ltn_trans step_way less) step_K1 same => both.
  by move: step_way; rewrite both ltnNge (leq_trans (ltnW way_l') (leq_addr _ _)).
exists (on here l), (on here l'); split=> //; last by rewrite subUset out out'.
apply: contraTneq split => <-; rewrite -setI_eq0 setIid.
by apply/set0Pn; exists (on (on here l) (Ordinal some)); exact: imset_f.
Qed.

Lemma card_arc u : reach <= K1.+1 -> #|arc u| = reach.
Proof.
move=> fits; rewrite card_imset ?card_ord // => l l' same; apply: val_inj.
by apply: on_inj same; exact: leq_trans (ltn_ord _) fits.
Qed.

(* Who is near: so many places after, and so many before. *)
Lemma near_arcs u v : reach <= K1.+1 -> near u v = (v \in arc (on u 1) :|: arc (on u (K1.+1 - reach))).
Proof.
move=> fits; have turn l : l <= reach -> l + (K1.+1 - reach + (reach - l)) = K1.+1.
  by move=> le; rewrite addnCA subnKC // subnK.
apply/idP/setUP => [/existsP[l /orP[/eqP ->|/eqP back]]|[/imsetP[l _ ->]|/imsetP[l _ ->]]].
- by left; apply/imsetP; exists l; rewrite // onD.
- right; apply/imsetP; exists (rev_ord l) => //; rewrite back !onD -?addnA turn ?on_all //.
- by apply/existsP; exists l; rewrite onD eqxx.
apply/existsP; exists (rev_ord l).
by rewrite !onD /= subnSK // -addnA subnKC ?(ltnW (ltn_ord l)) // subnK // on_all eqxx orbT.
Qed.

Lemma near_few u : reach + reach <= K1 -> (u \notin [set v | near u v]) /\ #|[set v | near u v]| = reach + reach.
Proof.
move=> fits; have le : reach <= K1.+1 by apply: leq_trans (leq_addr reach reach) (leqW fits).
have -> : [set v | near u v] = arc (on u 1) :|: arc (on u (K1.+1 - reach)).
  by apply/setP=> v; rewrite inE near_arcs.
have low (l : 'I_reach) : 1 + l < K1.+1 - reach.
  by rewrite ltn_subRL addnA addn1 addSn ltnS (leq_trans _ fits) // ltn_add2l.
have high (l : 'I_reach) : K1.+1 - reach + l < K1.+1.
  by rewrite -ltn_subRL subKn.
have away l : 0 < l -> l < K1.+1 -> u <> on u l.
  move=> pos less same; have := @on_inj u 0 l erefl less.
  by rewrite {1}/on addn0 modn_small // inord_val => /(_ same) zero; rewrite -zero in pos.
split.
  apply/setUP=> -[] /imsetP[l _]; rewrite onD; apply: away; rewrite ?high //.
    by rewrite (leq_trans (low l)) ?leq_subr.
  by rewrite (leq_trans _ (leq_addr _ _)) // (leq_ltn_trans _ (low l)).
rewrite cardsU !card_arc // (_ : _ :&: _ = set0) ?cards0 ?subn0 //; apply/setP=> v; rewrite !inE.
apply/negP=> /andP[/imsetP[l _ ->] /imsetP[l' _]]; rewrite !onD => /on_inj same.
have := low l; rewrite same ?high ?(leq_trans (low l)) ?leq_subr //.
by rewrite ltnNge leq_addr.
Qed.
End Circle.

Print Assumptions falls_apart.
Print Assumptions near_few.
