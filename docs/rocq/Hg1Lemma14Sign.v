(* Two printed derivatives, of the activation's slope and of attention.

   Written by `paritylab prove --coq` from hg1-lemma14-sign.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

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
Definition gamma (j : nat) : R := attention 8 (1 / 8) ((1 / 2), (1 / 3)) j.
Definition others : R :=
  sum (map (fun j => if Nat.eqb j 1 then 0 else gamma j * sin (angle 8 j)) (seq 0 8)).
Definition with_sign (s : R) : R :=
  gamma 1 * ((1 - gamma 1) * sin (angle 8 1) + s * others) / (1 / 8).
(* The derivative is gamma_p (s_p - mean) / tau = with_sign (-1); the paper prints with_sign 1. *)

Theorem shown :
  (forall b z, 0 < b -> is_derive (sigma_slope b) z (b / (2 * sqrt (z * z + b) ^ 3))) /\
  1 / 100 < Rabs (printed_second (7 / 16) (3 / 4) - (7 / 16) / (2 * sqrt ((3 / 4) * (3 / 4) + (7 / 16)) ^ 3)) /\
  1 / 10 < Rabs (with_sign 1 - with_sign (-1)).
Proof. split; [exact second_derivative|split; shown]. Qed.
