(* The sparse graph where it does: one sum over the honest who have not dropped out, and nothing else.

   NOTES: "By (c), as in L3, the y_j of the honest in U are uniform but for their total: along a spanning tree of the
   honest in U each edge is a mask that neither end loses." *)
From mathcomp Require Import all_ssreflect fingroup perm ssralg finalg.
Require Import circle orders masks.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Sparse.
Variables (K1 reach T R : nat) (context : finType) (word : finZmodType).
Local Notation party := 'I_K1.+1.
Variables (C : {set party}) (dropped : 'I_R -> {set party}) (r : 'I_R) (o : {perm party}).

(* Honest parties share masks where one stands near the other. *)
Definition honest := [finType of {j : party | j \notin C}].
Definition adjacent (i j : honest) := near reach ((o^-1)%g (val i)) ((o^-1)%g (val j)).
Definition survivors : {set honest} := [set j | val j \notin dropped r].

Lemma survivors_are_linked : connected reach (honest_places C dropped r o) -> linked adjacent survivors.
Proof.
move=> conn i j; rewrite !inE => i_stays j_stays.
have good (i' : honest) : val i' \notin dropped r -> (o^-1)%g (val i') \in honest_places C dropped r o.
  by move=> i'_stays; rewrite !inE permKV negb_or (valP i') i'_stays.
move/forall_inP/(_ _ (good i i_stays))/forall_inP/(_ _ (good j j_stays))/connectP: conn => -[way steps end_is].
elim: way i i_stays steps end_is => [|u way IH] i i_stays /=.
  by move=> _ /perm_inj/val_inj ->; exact: connect0.
case/andP=> /and3P[beside _ u_good] steps end_is.
move: (u_good); rewrite !inE negb_or => /andP[u_honest u_stays].
pose i' : honest := Sub (o u) u_honest.
have u_is : u = (o^-1)%g (val i') by rewrite SubK permK.
have i'_stays : val i' \notin dropped r by rewrite SubK.
apply: connect_trans (IH i' i'_stays _ _); last 2 first.
- by rewrite -u_is.
- by rewrite -u_is.
by apply: connect1; rewrite /within /adjacent -u_is beside !inE i_stays i'_stays.
Qed.

(* In an order in which the graph does: what honest parties send, and what opens, is the same for all inputs of the same
   total, with other masks. *)
Theorem sparse_view ctx (z z' : honest -> word) :
  does reach T C dropped o -> \sum_(i in survivors) z i = \sum_(i in survivors) z' i ->
  exists2 phi : coins honest context word -> coins honest context word, injective phi & forall c,
    masked adjacent (fun=> ctx) z' (phi c) = masked adjacent (fun=> ctx) z c /\
    opened adjacent (Some survivors) (phi c) = opened adjacent (Some survivors) c.
Proof.
case/and3P=> _ _ /forallP/(_ r) conn same; apply: same_view => [i j|W [<-]]; first by rewrite /adjacent near_sym.
by left; split=> //; [exact: survivors_are_linked | rewrite sumrB same subrr].
Qed.
End Sparse.

Print Assumptions survivors_are_linked.
Print Assumptions sparse_view.
