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
Let values (point : 'I_T -> F) (row : 'rV[F]_T) : 'rV[F]_T := \row_i (rVpoly row).[point i].

Let values_inj (point : 'I_T -> F) : injective point -> injective (values point).
Proof.
move=> inj row row' same; apply/eqP; rewrite -subr_eq0; apply/eqP.
have roots i : (rVpoly (row - row')).[point i] = 0.
  by rewrite linearB /= hornerD hornerN; move/rowP/(_ i): same; rewrite !mxE => ->; rewrite subrr.
have zero : rVpoly (row - row') = 0.
  apply: contraTeq (size_poly T (fun i' => if insub i' is Some i then (row - row') 0 i else 0)) => nonzero.
  have := max_poly_roots (rs := [seq point i | i : 'I_T]) nonzero.
  rewrite size_map size_enum_ord -ltnNge; apply.
    by apply/allP=> _ /mapP[i _ ->]; apply/rootP.
  by rewrite map_inj_uniq ?enum_uniq.
by rewrite -[row - row']rVpolyK zero linear0.
Qed.

(* There is exactly one polynomial of degree below T with given values at T points. *)
Theorem one_polynomial (point value : 'I_T -> F) :
  injective point -> exists! dealt : {poly F}, (size dealt <= T)%N /\ forall i, dealt.[point i] = value i.
Proof.
move=> inj.
have /codomP[row' /rowP at_row] : \row_i value i \in codom (values point) by exact: (injF_onto (values_inj inj)).
exists (rVpoly row'); split.
  by split; [exact: size_poly | move=> i; move: (at_row i); rewrite !mxE].
move=> dealt [small at_dealt].
rewrite -(poly_rV_K small); congr rVpoly.
by apply: (values_inj inj); apply/rowP=> i; rewrite !mxE poly_rV_K // at_dealt; move: (at_row i); rewrite !mxE.
Qed.
End Shamir.

Section Secret.
Variables (F : finFieldType) (T1 : nat).  (* T = T1 + 1 shares open a secret *)

(* Beside any T - 1 shares, at different places that are not 0, each secret has exactly one polynomial. *)
Theorem secret_is_hidden (point value : 'I_T1 -> F) (secret : F) :
  injective point -> (forall i, point i != 0) ->
  exists! dealt : {poly F}, [/\ (size dealt <= T1.+1)%N, dealt.[0] = secret & forall i, dealt.[point i] = value i].
Proof.
move=> inj away.
pose point' (i : 'I_T1.+1) := if unlift ord0 i is Some j then point j else 0.
pose value' (i : 'I_T1.+1) := if unlift ord0 i is Some j then value j else secret.
have inj' : injective point'.
  move=> i j; rewrite /point'; case: (unliftP ord0 i) => [i' ->|->]; case: (unliftP ord0 j) => [j' ->|->] //.
  - by move/inj->.
  - by move/eqP; rewrite (negbTE (away i')).
  - by move/esym/eqP; rewrite (negbTE (away j')).
case: (one_polynomial value' inj') => dealt [[small at_dealt] unique]; exists dealt; split.
  split=> //; first by have := at_dealt ord0; rewrite /point' /value' unlift_none.
  by move=> i; have := at_dealt (lift ord0 i); rewrite /point' /value' liftK.
move=> dealt' [small' at0 at_dealt']; apply: unique; split=> // i; rewrite /point' /value'.
by case: (unliftP ord0 i) => [j _|_].
Qed.

(* Any T shares determine the secret. *)
Theorem enough_shares_determine (point : 'I_T1.+1 -> F) (dealt dealt' : {poly F}) :
  injective point -> (size dealt <= T1.+1)%N -> (size dealt' <= T1.+1)%N ->
    (forall i, dealt.[point i] = dealt'.[point i]) -> dealt.[0] = dealt'.[0].
Proof.
move=> inj small small' same.
case: (one_polynomial (fun i => dealt.[point i]) inj) => only [_ unique].
have -> : dealt = only by apply/esym; exact: unique.
by congr (_.[0]); apply: unique; split=> // i; rewrite same.
Qed.
End Secret.

Print Assumptions one_polynomial.
Print Assumptions secret_is_hidden.
Print Assumptions enough_shares_determine.
