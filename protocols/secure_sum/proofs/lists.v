(* One list (L1), one kind (L2'), link (L3c), honest survivors, charges: what follows from counting.

   NOTES: "Two certified lists of one sum have honest signers a and a' with a + t >= Q, a' + t >= Q, disjoint by R3." *)
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* K parties, of whom the corrupt set C has at most t; Q signatures are a quorum, and D may drop out. *)
Record parameters := Parameters {K : nat; t : nat; D : nat; Q : nat; T : nat}.

Definition valid (p : parameters) :=
  [/\ K p + t p + 1 <= 2 * Q p, t p + 1 <= T p, T p <= Q p & Q p + D p <= K p].

Section OneSum.
Variables (p : parameters) (party : finType) (C : {set party}).
Hypothesis parties : #|party| = K p.
Hypothesis corrupt : #|C| <= t p.

(* What a party signs of one sum: a list of survivors, or the empty list, "given up". *)
Variable signs : party -> {set party} -> bool.
Hypothesis R3_one : forall j U V, j \notin C -> signs j U -> signs j V -> U = V.

Definition certificate (signers U : {set party}) := Q p <= #|signers| /\ (forall j, j \in signers -> signs j U).

Lemma one_list signers signers' U V :
  K p + t p + 1 <= 2 * Q p -> certificate signers U -> certificate signers' V -> U = V.
Proof.
move=> enough [many own] [many' own']; apply/eqP/contraT => /eqP differ.
have inside : signers :&: signers' \subset C.
  apply/subsetP=> j /setIP[jS jS']; apply/contraT => honest.
  by case: differ; exact: (R3_one honest (own j jS) (own' j jS')).
have few : #|signers :&: signers'| <= t p by exact: leq_trans (subset_leq_card inside) corrupt.
have all : #|signers :|: signers'| <= K p by rewrite -parties; exact: max_card.
have := cardsUI signers signers'.
move=> sum.
have : 2 * Q p <= K p + t p.
  by rewrite mul2n -addnn; apply: leq_trans (leq_add many many') _; rewrite -sum leq_add.
by move=> le; move: (leq_trans enough le); rewrite addn1 ltnn.
Qed.

(* An honest party signs only lists of at least K - D members that have itself in them, or the empty list. *)
Hypothesis R3_own : forall j U, j \notin C -> signs j U -> U != set0 -> (j \in U) /\ K p - D p <= #|U|.

(* A certificate has an honest signer. *)
Lemma honest_signer signers U : t p + 1 <= Q p -> certificate signers U -> exists2 j, j \in signers :\: C & signs j U.
Proof.
move=> enough [many own].
have : 0 < #|signers :\: C|.
  have inter : #|signers :&: C| <= t p by apply: leq_trans corrupt; exact: subset_leq_card (subsetIr signers C).
  rewrite cardsD subn_gt0; apply: leq_ltn_trans inter _.
  by apply: leq_trans many; rewrite -addn1.
case/card_gt0P => j jSC; exists j => //.
by apply: own; case/setDP: jSC.
Qed.

(* L3c: a certified list that is not empty has an honest signer among its members, who masked with all of them. *)
Lemma link signers U : t p + 1 <= Q p -> certificate signers U -> U != set0 -> exists2 j, j \in U :\: C & signs j U.
Proof.
move=> enough cert some; case: (honest_signer enough cert) => j /setDP[_ honest] signed.
by exists j => //; rewrite inE honest; case: (R3_own honest signed some).
Qed.

(* At least H = K - D - t honest parties are on a certified list that is not empty; their noise is in its sum. *)
Lemma honest_survivors signers U :
  t p + 1 <= Q p -> certificate signers U -> U != set0 -> K p - D p - t p <= #|U :\: C|.
Proof.
move=> enough cert some; case: (honest_signer enough cert) => j /setDP[_ honest] signed.
case: (R3_own honest signed some) => _ size.
rewrite cardsD; apply: leq_sub size _; apply: leq_trans corrupt.
exact: subset_leq_card (subsetIr U C).
Qed.

(* R4: an honest party answers for j of this sum only when a certificate is shown. It checks as well that it has signed
   that list itself, and answers once: what follows needs neither. *)
Variable answers : party -> party -> bool -> Prop.  (* holder, dealer, and whether the dealer is on the list *)
Hypothesis R4 : forall i j kind, i \notin C -> answers i j kind ->
  exists signers U, certificate signers U /\ kind = (j \in U).

(* L2': all honest answers about one dealer in one sum are of one kind. *)
Lemma one_kind i i' j kind kind' :
  K p + t p + 1 <= 2 * Q p -> i \notin C -> i' \notin C -> answers i j kind -> answers i' j kind' -> kind = kind'.
Proof.
move=> enough hi hi' /(R4 hi)[signers [U [cert ->]]] /(R4 hi')[signers' [V [cert' ->]]].
by rewrite (one_list enough cert cert').
Qed.

(* Whose shares of a dealer the coalition has beside what is opened by R4, those of C and of all whom the dealer
   answered in set-up. Of these at most T - 1 - t are not in C: at most A = T - 1 - t have accused it, or nobody honest
   has (R6). *)
Lemma few_are_known (accusers : {set party}) :
  t p + 1 <= T p -> #|accusers :\: C| <= T p - 1 - t p -> #|C :|: accusers| < T p.
Proof.
move=> threshold few; have -> : C :|: accusers = C :|: accusers :\: C.
  by apply/setP=> i; rewrite !inE; case: (i \in C).
apply: leq_ltn_trans (leq_card_setU _ _) _; apply: leq_ltn_trans (leq_add corrupt few) _.
by rewrite -subnDA addnC subnDA subnK ?leq_subRL ?subn1 ?prednK // (leq_trans _ threshold) // addn1.
Qed.

(* L2': so of the other kind only shares that are known without it are open, fewer than T. *)
Lemma other_kind_closed (known opened : {set party}) j kind :
  K p + t p + 1 <= 2 * Q p -> #|known| < T p ->
  (exists i, [/\ i \notin C & answers i j kind]) ->
  (forall i, i \in opened -> i \notin known -> i \notin C /\ answers i j (~~ kind)) ->
  #|opened| < T p.
Proof.
move=> enough few [i [hi own]] others; apply: leq_ltn_trans few; apply/subset_leq_card/subsetP=> i' open.
apply/contraT=> /(others i' open)[hi' other].
by have := one_kind enough hi hi' own other; case: (kind).
Qed.

(* Where a certificate on a list without j is there, no sum with the input of j opens: none with j is certified. *)
Lemma refund_is_exclusive signers signers' U V j :
  K p + t p + 1 <= 2 * Q p -> certificate signers U -> j \notin U -> certificate signers' V -> j \notin V.
Proof. by move=> enough cert out cert'; rewrite -(one_list enough cert cert'). Qed.
End OneSum.

(* H is at least 1. *)
Lemma some_are_honest p : valid p -> 0 < K p - D p - t p.
Proof.
case=> _ low le fits; rewrite subn_gt0 ltn_subRL; apply: leq_trans fits.
by rewrite addnC -addSn leq_add2r -[(t p).+1]addn1; exact: leq_trans le.
Qed.

(* Tight: with 2Q = K + t and K - t even and positive, two lists are certified although every honest party signs one, by
   R3: it is on its list, and the list has Q = K - D members, with D = K - Q. *)
Section Tight.
Variables (a t : nat).  (* a honest signers of each list, and t corrupt parties who are on both and sign both *)
Let party := (bool * 'I_a + 'I_t)%type.
Let C : {set party} := [set inr i | i : 'I_t].
Let half side : {set party} := [set inl (side, i) | i : 'I_a].
Let signs (j : party) (U : {set party}) :=
  match j with inl (side, _) => U == half side :|: C | inr _ => true end.

Lemma tight : 0 < a ->
  [/\ #|{: party}| = 2 * a + t, #|C| = t,
      forall j U V, j \notin C -> signs j U -> signs j V -> U = V,
      forall j U, j \notin C -> signs j U -> (j \in U) /\ #|U| = a + t &
      exists U V : {set party}, [/\ U != V, #|U| = a + t, #|V| = a + t,
        forall j, j \in U -> signs j U & forall j, j \in V -> signs j V]].
Proof.
move=> pos.
have sizeC : #|C| = t by rewrite card_imset ?card_ord // => i j [].
have sizeH side : #|half side| = a by rewrite card_imset ?card_ord // => i j [].
have apart side : [disjoint half side & C].
  by apply/pred0P=> j /=; apply/negP=> /andP[/imsetP[i _ ->] /imsetP[i' _]].
have size side : #|half side :|: C| = a + t.
  by rewrite cardsU (disjoint_setI0 (apart side)) cards0 subn0 sizeH sizeC.
split.
- by rewrite card_sum card_prod card_bool !card_ord.
- exact: sizeC.
- case=> [[side i]|i] U V /=; first by move=> _ /eqP-> /eqP->.
  by rewrite imset_f.
- case=> [[side i]|i] U /=; first by move=> _ /eqP->; rewrite inE imset_f.
  by rewrite imset_f.
exists (half true :|: C), (half false :|: C); split=> //.
- apply/eqP=> /setP/(_ (inl (true, Ordinal pos))).
  by rewrite !inE imset_f //= => /esym/orP[/imsetP[i _ []]|/imsetP[i _]].
- by move=> j /setUP[/imsetP[i _ ->] /=|/imsetP[i _ ->]].
- by move=> j /setUP[/imsetP[i _ ->] /=|/imsetP[i _ ->]].
Qed.
End Tight.

Print Assumptions one_list.
Print Assumptions some_are_honest.
Print Assumptions tight.
Print Assumptions link.
Print Assumptions honest_survivors.
Print Assumptions one_kind.
Print Assumptions few_are_known.
Print Assumptions other_kind_closed.
Print Assumptions refund_is_exclusive.
