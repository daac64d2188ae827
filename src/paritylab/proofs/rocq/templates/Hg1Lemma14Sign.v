(* Two printed derivatives, of the activation's slope and of attention.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

Lemma second_derivative b z :
  0 < b -> is_derive (sigma_slope b) z (b / (2 * sqrt (z * z + b) ^ 3)).
Proof.
  intros positive. assert (0 < z * z + b) as inside by nra.
  assert (0 < sqrt (z * z + b)) as root by (apply sqrt_lt_R0; lra).
  assert (sqrt (z * z + b) * sqrt (z * z + b) = z * z + b) as square by (apply sqrt_sqrt; lra).
  unfold sigma_slope. auto_derive; [repeat split; lra|].
  set (r := sqrt (z * z + b)) in *. replace b with (r * r - z * z) by lra. field. lra.
Qed.

Definition printed_second (b z : R) : R :=
  (2 * sqrt (z * z + b) - z / sqrt (z * z + b)) / (4 * (z * z + b)).

(* gamma_p times ((1 - gamma_p) s_p -/+ the other positions' mean sine), over tau. *)
Definition gamma (j : nat) : R := attention $n $tau ($one, $two) j.
Definition others : R :=
  sum (map (fun j => if Nat.eqb j $position then 0 else gamma j * sin (angle $n j)) (seq 0 $n)).
Definition with_sign (s : R) : R :=
  gamma $position * ((1 - gamma $position) * sin (angle $n $position) + s * others) / $tau.
(* The derivative is gamma_p (s_p - mean) / tau = with_sign (-1); the paper prints with_sign 1. *)

Theorem shown :
  (forall b z, 0 < b -> is_derive (sigma_slope b) z (b / (2 * sqrt (z * z + b) ^ 3))) /\
  1 / 100 < Rabs (printed_second $b $z - $b / (2 * sqrt ($z * $z + $b) ^ 3)) /\
  1 / 10 < Rabs (with_sign 1 - with_sign (-1)).
Proof. split; [exact second_derivative|split; shown]. Qed.
