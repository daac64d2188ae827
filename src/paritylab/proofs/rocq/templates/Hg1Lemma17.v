(* Two inputs whose loss gradients in a head oppose each other.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

Definition heads : list (R * R) := $heads.
Definition head : R * R := $head.
(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of the head: slope times dz/da. *)
Definition gradient (x : list nat) (y : R) (part : R -> R) : R :=
  loss_slope 2 $b (attended $n $tau heads x) y * (moved $n $tau head x part / $tau).

Theorem shown :
  gradient $one sin * gradient $two sin + gradient $one cos * gradient $two cos
  < -1 / 100.
Proof.
  unfold gradient.
$hints
  apply Rminus_gt_0_lt. reduce. interval with (i_prec 60).
Qed.
