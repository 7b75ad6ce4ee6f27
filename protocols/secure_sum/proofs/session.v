(* A session: what honest parties do when a coalition asks them to, and what it sees, step by step.

   The world is ideal: masks are uniform and independent for each context, signatures cannot be forged, and a secret of
   which fewer than T shares are open stays uniform (shares.v). Coins are masks; a strategy is any function from what
   the coalition has seen to what it has an honest party do next. So each step can depend on those before it alone. *)
From mathcomp Require Import all_ssreflect ssralg finalg.
Require Import lists masks.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Session.
Variables (p : parameters) (party context : finType) (word : finZmodType) (C : {set party}) (R : nat).

(* Honest parties. Each masks with each other (R1). *)
Definition honest := [finType of {j : party | j \notin C}].
Definition adjacent (i j : honest) := i != j.

(* What the coalition can have an honest party do. *)
Inductive act :=
  | Mask of honest & context              (* it masks what it puts in, in this context: session, g, r and q_r *)
  | Sign of honest & {set party}          (* it signs this list *)
  | Open of honest & {set party} & {set party}.  (* it opens its shares: this set signed this list *)

Lemma act_comparable : comparable act.
Proof. by rewrite /comparable /decidable; decide equality; exact: eq_comparable. Qed.
Definition act_eqMixin := comparableMixin act_comparable.
Canonical act_eqType := EqType act act_eqMixin.

(* Masks of all sums. Those of None are of a context in which nobody masks. *)
Definition sum_coins := coins honest [finType of option context] word.
Definition all_coins := {ffun 'I_R -> sum_coins}.

(* What the coalition asks in a sum, and what it gets: a masked input, and the masks of that sum whose secrets are open.
   What it has seen, the last first. *)
Definition request := ('I_R * act)%type.
Definition reply := (word * sum_coins)%type.
Definition transcript := seq (request * reply).
Definition asked (seen : transcript) : seq request := [seq step.1 | step <- seen].

(* Whose shares of the secrets of an honest party the coalition has beside those that are opened below: those of C,
   and those that the party opened to complaints (few_are_known). It grows: a dealer that is held in set-up may answer
   complaints after sums of others. It follows from the requests so far. A request that R2 to R4 refuse can pass on
   anything that was seen. *)
Variable known : seq request -> honest -> {set party}.
Hypothesis known_grows : forall later past j, known past j \subset known (later ++ past) j.

(* In which context a party masked a sum: the first in which it was asked to (R2). *)
Fixpoint masked_in (past : seq request) r j : option context :=
  if past is (r', what) :: before then
    if masked_in before r j is Some ctx then Some ctx
    else if what is Mask j' ctx then if (r' == r) && (j' == j) then Some ctx else None else None
  else None.

(* R3: it signs the first list that is empty, or has itself in it and at least K - D members. *)
Definition may_sign (j : honest) (U : {set party}) := (U == set0) || (val j \in U) && (K p - D p <= #|U|)%N.
Fixpoint signed (past : seq request) r j : option {set party} :=
  if past is (r', what) :: before then
    if signed before r j is Some U then Some U
    else if what is Sign j' U then if [&& r' == r, j' == j & may_sign j U] then Some U else None else None
  else None.

(* C signs everything. *)
Definition signs past r (j : party) U := if insub j is Some i then signed past r i == Some U else true.

(* R4: it opens shares when Q members of a list have signed it: b of the list's members, s of the others. *)
Fixpoint opens (past : seq request) r i U : bool :=
  if past is (r', what) :: before then
    opens before r i U || if what is Open i' by_all V then
      [&& r' == r, i' == i, V == U, by_all \subset U, (Q p <= #|by_all|)%N &
          [forall (j | j \in by_all), signs before r j U]]
    else false
  else false.
Definition answers past r i (j : honest) kind := [exists U : {set party}, opens past r i U && (kind == (val j \in U))].

(* A secret is open if T of its shares are. Of kind true it is b, for the own mask of a party; else s, for its masks
   with others. *)
Definition open past r (j : honest) kind :=
  (T p <= #|known past j :|: [set val i | i : honest & answers past r i j kind]|)%N.

Definition shown past r (c : sum_coins) : sum_coins :=
  ([ffun key => if open past r key.2 true then c.1 key else 0],
   [ffun key => if open past r key.2.1 false || open past r key.2.2 false
                then pair_mask adjacent c key.1 key.2.1 key.2.2 else 0]).

(* What honest parties put into each sum, in view of all that was said before: z_j. *)
Definition inputs := transcript -> 'I_R -> honest -> word.

Definition answer (z : inputs) (seen : transcript) (ask : request) (c : all_coins) : reply :=
  (if ask is (r, Mask j ctx) then
     if masked_in (asked seen) r j is None then masked adjacent (fun=> Some ctx) (z seen r) (c r) j else 0
   else 0,
   shown (ask :: asked seen) ask.1 (c ask.1)).

Variable strategy : transcript -> request.

Fixpoint run (z : inputs) (c : all_coins) steps : transcript :=
  if steps is rest.+1 then
    let seen := run z c rest in (strategy seen, answer z seen (strategy seen) c) :: seen
  else [::].

(* Coins with which the coalition has seen this after so many steps. *)
Definition leading (z : inputs) (seen : transcript) := [set c | run z c (size seen) == seen].

(* No coins are lost: before the first step all are left, and with each step they are divided among the replies. So the
   share of those that lead to what is seen is its probability. *)
Lemma all_lead_to_the_start z : leading z [::] = setT.
Proof. by apply/setP=> c; rewrite !inE eqxx. Qed.

Theorem nothing_is_lost z seen :
  (\sum_(said : reply) #|leading z ((strategy seen, said) :: seen)| = #|leading z seen|)%N.
Proof.
rewrite -[RHS]sum1_card (partition_big (fun c => answer z seen (strategy seen) c) xpredT) //=.
apply: eq_bigr => said _; rewrite -sum1_card; apply: eq_bigl => c; rewrite !inE /=.
by rewrite eqseq_cons; case: (altP (_ =P seen)) => [->|]; rewrite ?andbF // xpair_eqE eqxx andbT.
Qed.

(* What has been said stays. *)
Lemma masked_in_stays later past r j ctx : masked_in past r j = Some ctx -> masked_in (later ++ past) r j = Some ctx.
Proof. by move=> first; elim: later => [|[r' what] later IH] //=; rewrite IH. Qed.

Lemma signed_stays later past r j U : signed past r j = Some U -> signed (later ++ past) r j = Some U.
Proof. by move=> first; elim: later => [|[r' what] later IH] //=; rewrite IH. Qed.

Lemma signs_stays later past r j U : signs past r j U -> signs (later ++ past) r j U.
Proof. by rewrite /signs; case: insubP => // i _ _ /eqP own; rewrite (signed_stays later own). Qed.

Lemma opens_stays later past r i U : opens past r i U -> opens (later ++ past) r i U.
Proof. by move=> own; elim: later => [|[r' what] later IH] //=; rewrite IH. Qed.

Lemma open_stays later past r j kind : open past r j kind -> open (later ++ past) r j kind.
Proof.
move=> many; apply: leq_trans many _; apply/subset_leq_card/setUSS=> //; apply/imsetS/subsetP=> i; rewrite !inE.
by case/existsP=> U /andP[own same]; apply/existsP; exists U; rewrite opens_stays.
Qed.
End Session.

Print Assumptions all_lead_to_the_start.
Print Assumptions nothing_is_lost.
