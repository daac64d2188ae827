(* Two inputs whose loss gradients in a head oppose each other.

   Written by `paritylab prove --coq` from hg1-lemma17.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

Open Scope R_scope.

Definition heads : list (R * R) := [(sin (PI * (3 / 32)), cos (PI * (3 / 32))); (sin (PI * (45 / 32)), cos (PI * (45 / 32)))].
Definition head : R * R := (sin (PI * (45 / 32)), cos (PI * (45 / 32))).
(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of the head: slope times dz/da. *)
Definition gradient (x : list nat) (y : R) (part : R -> R) : R :=
  loss_slope 2 (1 / 100) (attended 8 (1 / 8) heads x) y * (moved 8 (1 / 8) head x part / (1 / 8)).

Theorem shown :
  gradient [0; 2; 3; 6; 7]%nat 1 sin * gradient [0; 1; 2; 3; 6; 7]%nat 1 sin + gradient [0; 2; 3; 6; 7]%nat 1 cos * gradient [0; 1; 2; 3; 6; 7]%nat 1 cos
  < -1 / 100.
Proof.
  unfold gradient.
  enclosed (attended 8 (1 / 8) heads [0; 2; 3; 6; 7]%nat) (129976977 / 100000000) (1299769773 / 1000000000).
  enclosed (moved 8 (1 / 8) head [0; 2; 3; 6; 7]%nat sin) (-66823793 / 1000000000) (-6682379 / 100000000).
  enclosed (moved 8 (1 / 8) head [0; 2; 3; 6; 7]%nat cos) (82526639 / 500000000) (165053281 / 1000000000).
  enclosed (attended 8 (1 / 8) heads [0; 1; 2; 3; 6; 7]%nat) (1648351193 / 1000000000) (412087799 / 250000000).
  enclosed (moved 8 (1 / 8) head [0; 1; 2; 3; 6; 7]%nat sin) (-33411689 / 500000000) (-534587 / 8000000).
  enclosed (moved 8 (1 / 8) head [0; 1; 2; 3; 6; 7]%nat cos) (165053523 / 1000000000) (82526763 / 500000000).
  apply Rminus_gt_0_lt. reduce. interval with (i_prec 60).
Qed.
