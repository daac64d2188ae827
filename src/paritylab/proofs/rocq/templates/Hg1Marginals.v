(* The least squared-hinge risk of a constant answer, for every p, and noise.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

Definition risk (p u : R) : R := (1 - p) * pos (1 - u) ^ 2 + p * pos (1 + u) ^ 2.

Lemma least p u : 0 <= p <= 1 -> 4 * p * (1 - p) <= risk p u.
Proof.
  intros range. unfold risk, pos.
  pose proof (pow2_ge_0 (u - (1 - 2 * p))).
  pose proof (pow2_ge_0 p). pose proof (pow2_ge_0 (1 - p)).
  destruct (Rle_or_lt 0 (1 - u)); destruct (Rle_or_lt 0 (1 + u));
    repeat ((rewrite Rabs_right by lra) || (rewrite Rabs_left by lra)).
  - nra.
  - replace ((1 - u + (1 - u)) / 2) with (1 - u) by field.
    replace ((1 + u + - (1 + u)) / 2) with 0 by field.
    assert (0 <= (1 - u) ^ 2 - 4) by (assert (2 <= 1 - u) by lra; nra).
    assert (0 <= (1 - p) * ((1 - u) ^ 2 - 4)) by (apply Rmult_le_pos; lra). nra.
  - replace ((1 + u + (1 + u)) / 2) with (1 + u) by field.
    replace ((1 - u + - (1 - u)) / 2) with 0 by field.
    assert (0 <= (1 + u) ^ 2 - 4) by (assert (2 <= 1 + u) by lra; nra).
    assert (0 <= p * ((1 + u) ^ 2 - 4)) by (apply Rmult_le_pos; lra). nra.
  - lra.
Qed.

Theorem shown :
  risk $p $blind = 9 / 25 /\ $noise * 2 ^ 2 = 2 / 5 /\
  forall p u, 0 <= p <= 1 -> 4 * p * (1 - p) <= risk p u.
Proof.
  split; [|split; [lra|exact least]].
  unfold risk, pos. rewrite !Rabs_right by lra. lra.
Qed.
