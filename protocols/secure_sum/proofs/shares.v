(* Shares (L2): of Shamir's shares over a finite field, T - 1 are independent of the secret, and T determine it.

   NOTES: "The coalition has fewer than T shares of the other: that secret stays uniform." *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Shamir.
Variables (F : finFieldType) (T : nat).

(* Values of a polynomial of degree below T, given by its coefficients, at T points. *)
Let values (x : 'I_T -> F) (v : 'rV[F]_T) : 'rV[F]_T := \row_i (rVpoly v).[x i].

Let values_inj (x : 'I_T -> F) : injective x -> injective (values x).
Proof.
move=> inj v w same; apply/eqP; rewrite -subr_eq0; apply/eqP.
have roots i : (rVpoly (v - w)).[x i] = 0.
  by rewrite linearB /= hornerD hornerN; move/rowP/(_ i): same; rewrite !mxE => ->; rewrite subrr.
have zero : rVpoly (v - w) = 0.
  apply: contraTeq (size_poly T (fun k => if insub k is Some i then (v - w) 0 i else 0)) => nonzero.
  have := max_poly_roots (rs := [seq x i | i : 'I_T]) nonzero.
  rewrite size_map size_enum_ord -ltnNge; apply.
    by apply/allP=> _ /mapP[i _ ->]; apply/rootP.
  by rewrite map_inj_uniq ?enum_uniq.
by rewrite -[v - w]rVpolyK zero linear0.
Qed.

(* There is exactly one polynomial of degree below T with given values at T points. *)
Theorem one_polynomial (x y : 'I_T -> F) :
  injective x -> exists! f : {poly F}, (size f <= T)%N /\ forall i, f.[x i] = y i.
Proof.
move=> inj.
have /codomP[w /rowP at_w] : \row_i y i \in codom (values x) by exact: (injF_onto (values_inj inj)).
exists (rVpoly w); split.
  by split; [exact: size_poly | move=> i; move: (at_w i); rewrite !mxE].
move=> f [small at_f].
rewrite -(poly_rV_K small); congr rVpoly.
by apply: (values_inj inj); apply/rowP=> i; rewrite !mxE poly_rV_K // at_f; move: (at_w i); rewrite !mxE.
Qed.
End Shamir.

Section Secret.
Variables (F : finFieldType) (n : nat).  (* T = n + 1 shares open a secret *)

(* Beside any T - 1 shares, at different places that are not 0, each secret has exactly one polynomial. *)
Theorem secret_is_hidden (x y : 'I_n -> F) (secret : F) :
  injective x -> (forall i, x i != 0) ->
  exists! f : {poly F}, [/\ (size f <= n.+1)%N, f.[0] = secret & forall i, f.[x i] = y i].
Proof.
move=> inj away.
pose x' (i : 'I_n.+1) := if unlift ord0 i is Some j then x j else 0.
pose y' (i : 'I_n.+1) := if unlift ord0 i is Some j then y j else secret.
have inj' : injective x'.
  move=> i j; rewrite /x'; case: (unliftP ord0 i) => [a ->|->]; case: (unliftP ord0 j) => [b ->|->] //.
  - by move/inj->.
  - by move/eqP; rewrite (negbTE (away a)).
  - by move/esym/eqP; rewrite (negbTE (away b)).
case: (one_polynomial y' inj') => f [[small at_f] unique]; exists f; split.
  split=> //; first by have := at_f ord0; rewrite /x' /y' unlift_none.
  by move=> i; have := at_f (lift ord0 i); rewrite /x' /y' liftK.
move=> g [small' at0 at_g]; apply: unique; split=> // i; rewrite /x' /y'.
by case: (unliftP ord0 i) => [j _|_].
Qed.

(* Any T shares determine the secret. *)
Theorem enough_shares_determine (x : 'I_n.+1 -> F) (f g : {poly F}) :
  injective x -> (size f <= n.+1)%N -> (size g <= n.+1)%N -> (forall i, f.[x i] = g.[x i]) -> f.[0] = g.[0].
Proof.
move=> inj small small' same.
case: (one_polynomial (fun i => f.[x i]) inj) => h [_ unique].
have -> : f = h by apply/esym; exact: unique.
by congr (_.[0]); apply: unique; split=> // i; rewrite same.
Qed.
End Secret.

Print Assumptions one_polynomial.
Print Assumptions secret_is_hidden.
Print Assumptions enough_shares_determine.
