(* The sparse graph where it does: one sum over the honest who have not dropped out, and nothing else.

   NOTES: "By (c), as in L3, the y_A of the honest in U are uniform but for their total: along a spanning tree of the
   honest in U each edge is a mask that neither end loses." *)
From mathcomp Require Import all_ssreflect fingroup perm ssralg finalg.
Require Import circle orders masks.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Sparse.
Variables (n h T R : nat) (context : finType) (word : finZmodType).
Local Notation party := 'I_n.+1.
Variables (C : {set party}) (dropped : 'I_R -> {set party}) (r : 'I_R) (o : {perm party}).

(* Honest parties share masks where one stands near the other. *)
Definition honest := [finType of {j : party | j \notin C}].
Definition g (i j : honest) := near h ((o^-1)%g (val i)) ((o^-1)%g (val j)).
Definition survivors : {set honest} := [set j | val j \notin dropped r].

Lemma survivors_are_linked : connected h (honest_places C dropped r o) -> linked g survivors.
Proof.
move=> conn i j; rewrite !inE => iU jU.
have good (m : honest) : val m \notin dropped r -> (o^-1)%g (val m) \in honest_places C dropped r o.
  by move=> mU; rewrite !inE permKV negb_or (valP m) mU.
move/forall_inP/(_ _ (good i iU))/forall_inP/(_ _ (good j jU))/connectP: conn => -[q steps end_is].
elim: q i iU steps end_is => [|x q IH] i iU /=.
  by move=> _ /perm_inj/val_inj ->; exact: connect0.
case/andP=> /and3P[beside _ xG] steps end_is.
move: (xG); rewrite !inE negb_or => /andP[hx xU].
pose m : honest := Sub (o x) hx.
have x_is : x = (o^-1)%g (val m) by rewrite SubK permK.
have mU : val m \notin dropped r by rewrite SubK.
apply: connect_trans (IH m mU _ _); last 2 first.
- by rewrite -x_is.
- by rewrite -x_is.
by apply: connect1; rewrite /within /g -x_is beside !inE iU mU.
Qed.

(* In an order in which the graph does: what honest parties send, and what opens, is the same for all inputs of the same
   total, with other masks. *)
Theorem sparse_view k (x x' : honest -> word) :
  does h T C dropped o -> \sum_(i in survivors) x i = \sum_(i in survivors) x' i ->
  exists2 phi : coins honest context word -> coins honest context word, injective phi & forall c,
    masked g (fun=> k) x' (phi c) = masked g (fun=> k) x c /\
    opened g (Some survivors) (phi c) = opened g (Some survivors) c.
Proof.
case/and3P=> _ _ /forallP/(_ r) conn same; apply: same_view => [i j|U [<-]]; first by rewrite /g near_sym.
by left; split=> //; [exact: survivors_are_linked | rewrite sumrB same subrr].
Qed.
End Sparse.

Print Assumptions survivors_are_linked.
Print Assumptions sparse_view.
