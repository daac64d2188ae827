{% macro turn(t) %}(sin (PI * {{ real(t) }}), cos (PI * {{ real(t) }})){% endmacro %}
{% set n, tau, b = setting["n"], real(setting["tau"]), real(setting["b"]) %}
{% set title %}Two inputs whose loss gradients in a head oppose each other.{% endset %}
{% include "head.v" %}
Open Scope R_scope.

Definition heads : list (R * R) := [{{ turn(witness["angles"][0]) }}; {{ turn(witness["angles"][1]) }}].
Definition head : R * R := {{ turn(witness["angles"][witness["head"]]) }}.
(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of the head: slope times dz/da. *)
Definition gradient (x : list nat) (y : R) (part : R -> R) : R :=
  loss_slope 2 {{ b }} (attended {{ n }} {{ tau }} heads x) y * (moved {{ n }} {{ tau }} head x part / {{ tau }}).

Theorem shown :
  gradient {{ inputs[0] }} sin * gradient {{ inputs[1] }} sin + gradient {{ inputs[0] }} cos * gradient {{ inputs[1] }} cos
  < -1 / 100.
Proof.
  unfold gradient.
{{ hints | join("\n") }}
  apply Rminus_gt_0_lt. reduce. interval with (i_prec 60).
Qed.
