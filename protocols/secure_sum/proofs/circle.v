(* The circle of the sparse graph: where it can fall apart, in how many orders it does, and the bound of graph.py.

   NOTES: "two honest survivors that follow each other in the cyclic order with fewer than k/2 others between them are
   neighbours. So if they are not connected, there are two disjoint arcs of k/2 places with nobody but C and the
   drop-outs." *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* n.+1 places in a circle; each is near the h on either side. *)
Section Circle.
Variables (n h : nat).
Local Notation place := 'I_n.+1.

Definition on (x : place) i : place := inord ((x + i) %% n.+1).
Definition near (x y : place) := [exists i : 'I_h, (y == on x i.+1) || (x == on y i.+1)].
Definition arc (x : place) : {set place} := [set on x i | i : 'I_h].

Lemma onD x i j : on (on x i) j = on x (i + j).
Proof. by rewrite /on inordK ?ltn_pmod // modnDml addnA. Qed.

Lemma on_all x : on x n.+1 = x.
Proof. by rewrite /on modnDr modn_small // inord_val. Qed.

Lemma on_inj x i j : i < n.+1 -> j < n.+1 -> on x i = on x j -> i = j.
Proof.
move=> li lj /(congr1 val); rewrite /= !inordK ?ltn_pmod // => /eqP.
by rewrite eqn_modDl !modn_small // => /eqP.
Qed.

Lemma reach x y : exists2 e, e < n.+1 & y = on x e.
Proof.
exists ((y + (n.+1 - x)) %% n.+1); first by rewrite ltn_pmod.
rewrite /on modnDmr addnCA subnKC; last exact: ltnW.
by rewrite modnDr modn_small // inord_val.
Qed.

(* From a place of X on to one of Y: somewhere h places in between are in neither. *)
Lemma gap (X Y : {set place}) x a b :
  (forall u v, u \in X -> v \in Y -> ~~ near u v) -> a < b -> on x a \in X -> on x b \in Y -> [disjoint X & Y] ->
  exists i, [/\ a < i, i + h <= b & arc (on x i) \subset ~: (X :|: Y)].
Proof.
move=> far less ax bY apart.
pose inX p := (a <= p < b) && (on x p \in X).
have some : exists p, inX p by exists a; rewrite /inX leqnn less.
have bound p : inX p -> p <= b by case/andP=> /andP[_ /ltnW].
case: (ex_maxnP some bound) => p /andP[/andP[ap pb] pX] last.
pose inY q := (p < q) && (on x q \in Y).
have some' : exists q, inY q by exists b; rewrite /inY pb.
case: (ex_minnP some') => q /andP[pq qY] first.
have qb : q <= b by apply: first; rewrite /inY pb.
have wide : p + h < q.
  rewrite ltnNge; apply/negP=> close; case/negP: (far _ _ pX qY); apply/existsP.
  have lt : q - p.+1 < h by rewrite ltn_subLR // addSn ltnS.
  by exists (Ordinal lt); rewrite /= onD -subSn // subSS subnKC ?eqxx // ltnW.
exists p.+1; split; rewrite ?ltnS //; first by rewrite addSn; exact: leq_trans qb.
apply/subsetP=> _ /imsetP[i _ ->]; rewrite onD !inE addSn -addnS.
have before : p + i.+1 < q by apply: leq_trans wide; rewrite ltnS leq_add2l.
apply/norP; split; apply/negP=> inside.
  have := last (p + i.+1); rewrite /inX inside (leq_trans ap) ?leq_addr //= (leq_trans before qb).
  by move=> /(_ erefl); rewrite addnS ltnNge leq_addr.
by move: (first (p + i.+1)); rewrite /inY inside addnS ltnS leq_addr => /(_ erefl); rewrite leqNgt -addnS before.
Qed.

Lemma near_sym : symmetric near.
Proof. by move=> x y; apply/existsP/existsP=> -[i either]; exists i; rewrite orbC. Qed.

Definition connected (good : {set place}) :=
  [forall x in good, forall y in good, connect (fun u v => [&& near u v, u \in good & v \in good]) x y].

(* Where those who are good are not connected, two arcs of h places each lie apart, with nobody good in them. *)
Theorem falls_apart good : 0 < h -> ~~ connected good ->
  exists u v, [/\ u != v, [disjoint arc u & arc v] & arc u :|: arc v \subset ~: good].
Proof.
move=> some /forall_inPn[x xG /forall_inPn[y yG cut]].
pose X := [set z in good | connect (fun u v => [&& near u v, u \in good & v \in good]) x z].
pose Y := good :\: X.
have whole : X :|: Y = good.
  apply/setP=> z; rewrite !inE; case: (z \in good) => //=; by case: connect.
have apart : [disjoint X & Y] by rewrite -setI_eq0 setIDA setDIl setDv set0I.
have xX : x \in X by rewrite inE xG connect0.
have yY : y \in Y by rewrite !inE yG (negbTE cut).
have far u v : u \in X -> v \in Y -> ~~ near u v.
  rewrite !inE => /andP[uG to_u] /andP[no vG]; apply: contra no => beside.
  by rewrite vG; apply: connect_trans to_u (connect1 _); rewrite beside uG.
have [e less is_y] := reach x y; rewrite {}is_y in yY cut *.
have pos : 0 < e by case: e cut {less yY yG} => //; rewrite /on addn0 modn_small // inord_val connect0.
have zero : on x 0 = x by rewrite /on addn0 modn_small // inord_val.
have [|i [i0 ie out]] := gap far pos _ yY apart; first by rewrite zero.
have far' u v : u \in Y -> v \in X -> ~~ near u v by rewrite near_sym => uY vX; exact: far.
have [||j [ej jn out']] := gap far' less yY; first by rewrite on_all.
  by rewrite disjoint_sym.
rewrite setUC in out'; rewrite whole in out out'.
have split : [disjoint arc (on x i) & arc (on x j)].
  apply/pred0P=> z /=; apply/negP=> /andP[/imsetP[k _ ->] /imsetP[l _]]; rewrite !onD => same.
  have ik : i + k < e by apply: leq_trans ie; rewrite ltn_add2l.
  have jl : j + l < n.+1 by apply: leq_trans jn; rewrite ltn_add2l.
  have := on_inj (ltn_trans ik less) jl same => both.
  by move: ik; rewrite both ltnNge (leq_trans (ltnW ej) (leq_addr _ _)).
exists (on x i), (on x j); split=> //; last by rewrite subUset out out'.
apply: contraTneq split => <-; rewrite -setI_eq0 setIid.
by apply/set0Pn; exists (on (on x i) (Ordinal some)); exact: imset_f.
Qed.

Lemma card_arc x : h <= n.+1 -> #|arc x| = h.
Proof.
move=> fits; rewrite card_imset ?card_ord // => i j same; apply: val_inj.
by apply: on_inj same; exact: leq_trans (ltn_ord _) fits.
Qed.

(* Who is near: h places after, and h before. *)
Lemma near_arcs x y : h <= n.+1 -> near x y = (y \in arc (on x 1) :|: arc (on x (n.+1 - h))).
Proof.
move=> fits; have turn a : a <= h -> a + (n.+1 - h + (h - a)) = n.+1 by move=> le; rewrite addnCA subnKC // subnK.
apply/idP/setUP => [/existsP[i /orP[/eqP ->|/eqP back]]|[/imsetP[i _ ->]|/imsetP[i _ ->]]].
- by left; apply/imsetP; exists i; rewrite // onD.
- right; apply/imsetP; exists (rev_ord i) => //; rewrite back !onD -?addnA turn ?on_all //.
- by apply/existsP; exists i; rewrite onD eqxx.
apply/existsP; exists (rev_ord i).
by rewrite !onD /= subnSK // -addnA subnKC ?(ltnW (ltn_ord i)) // subnK // on_all eqxx orbT.
Qed.

Lemma near_few x : h + h <= n -> (x \notin [set y | near x y]) /\ #|[set y | near x y]| = h + h.
Proof.
move=> fits; have le : h <= n.+1 by apply: leq_trans (leq_addr h h) (leqW fits).
have -> : [set y | near x y] = arc (on x 1) :|: arc (on x (n.+1 - h)).
  by apply/setP=> y; rewrite inE near_arcs.
have low (i : 'I_h) : 1 + i < n.+1 - h.
  by rewrite ltn_subRL addnA addn1 addSn ltnS (leq_trans _ fits) // ltn_add2l.
have high (i : 'I_h) : n.+1 - h + i < n.+1.
  by rewrite -ltn_subRL subKn.
have away d : 0 < d -> d < n.+1 -> x <> on x d.
  move=> pos less same; have := @on_inj x 0 d erefl less.
  by rewrite {1}/on addn0 modn_small // inord_val => /(_ same) zero; rewrite -zero in pos.
split.
  apply/setUP=> -[] /imsetP[i _]; rewrite onD; apply: away; rewrite ?high //.
    by rewrite (leq_trans (low i)) ?leq_subr.
  by rewrite (leq_trans _ (leq_addr _ _)) // (leq_ltn_trans _ (low i)).
rewrite cardsU !card_arc // (_ : _ :&: _ = set0) ?cards0 ?subn0 //; apply/setP=> z; rewrite !inE.
apply/negP=> /andP[/imsetP[i _ ->] /imsetP[j _]]; rewrite !onD => /on_inj same.
have := low i; rewrite same ?high ?(leq_trans (low i)) ?leq_subr //.
by rewrite ltnNge leq_addr.
Qed.
End Circle.

Print Assumptions falls_apart.
Print Assumptions near_few.
