(* Heads on B have a positive risk for every b in an interval; for k = 3 all heads have.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

(* k = 2, heads that attend to B alone: z is the number of ones among two bits. *)
Definition risk_on_B (b : R) : R := (loss 2 b 0 1 + 2 * loss 2 b 1 (-1) + loss 2 b 2 1) / 4.

(* k = 3: at all zeros and ones z is 0 and 3 under any heads; no other loss is negative. *)
Definition risk_at_ends (b : R) : R := (loss 3 b 0 1 + loss 3 b 3 (-1)) / $strings.

Theorem shown : forall b, $low <= b <= $high ->
  2 * b ^ 2 < risk_on_B b /\ b ^ 2 / 200 < risk_at_ends b.
Proof.
  intros b range. split; apply Rminus_gt_0_lt; reduce;
    interval with (i_prec 60, i_bisect b, i_depth 40).
Qed.
