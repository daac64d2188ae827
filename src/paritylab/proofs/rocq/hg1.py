"""Rocq files of HG1's certificates: a title, a blank line, then definitions and theorems.

Each ends with a theorem `shown` that says all of it. Decimals between which a term is enclosed on
the way come from python-flint; Rocq proves each enclosure itself, so they are hints, not trusted.
"""

from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from paritylab.proofs.kernel import Heads
from paritylab.proofs.rocq.numbers import enclosing, listed, ones, real


def floor(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    low, high = setting["b"]
    return f"""Heads on B have a positive risk for every b in an interval; for k = 3 all heads have.

Open Scope R_scope.

(* k = 2, heads that attend to B alone: z is the number of ones among two bits. *)
Definition risk_on_B (b : R) : R := (loss 2 b 0 1 + 2 * loss 2 b 1 (-1) + loss 2 b 2 1) / 4.

(* k = 3: at all zeros and ones z is 0 and 3 under any heads; no other loss is negative. *)
Definition risk_at_ends (b : R) : R := (loss 3 b 0 1 + loss 3 b 3 (-1)) / {2 ** setting["n"]}.

Theorem shown : forall b, {real(low)} <= b <= {real(high)} ->
  2 * b ^ 2 < risk_on_B b /\\ b ^ 2 / 200 < risk_at_ends b.
Proof.
  intros b range. split; apply Rminus_gt_0_lt; reduce;
    interval with (i_prec 60, i_bisect b, i_depth 40).
Qed.
"""


def marginals(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    p, blind, noise = (real(v) for v in (setting["p"], witness["blind"], setting["noise"]))
    return f"""The least squared-hinge risk of a constant answer, for every p, and noise.

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
  risk {p} {blind} = 9 / 25 /\\ {noise} * 2 ^ 2 = 2 / 5 /\\
  forall p u, 0 <= p <= 1 -> 4 * p * (1 - p) <= risk p u.
Proof.
  split; [|split; [lra|exact least]].
  unfold risk, pos. rewrite !Rabs_right by lra. lra.
Qed.
"""


def temperature(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    first, n0, c = setting["from"], witness["n0"], setting["c"]
    return f"""A unit head on its position at tau = c/n, and the estimate for n >= {n0}.

Open Scope R_scope.

(* The largest attention of a unit head on position 0. *)
Definition peak (n : nat) : R := attention n ({c} / num n) (0, 1) 0.

(* From n0 on: 8 pi^2 / (n0 c) <= 1, so that four neighbours add exp(-1) each, or more. *)
Definition estimate : Prop :=
  8 * PI ^ 2 / {n0 * c} < 1 /\\ 1 / (1 + 4 / exp 1) < 1 / 2.

Theorem shown : List.Forall (fun n => peak n < 1 / 2) (seq {first} {n0 - first}) /\\ estimate.
Proof.
  split.
  - cbn [seq]. repeat (apply List.Forall_cons; [shown|]). apply List.Forall_nil.
  - split; shown.
Qed.
"""


def prop21(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, (low, high), tau = setting["n"], setting["B"], real(setting["tau"])
    angle = real(witness["angle"])
    return f"""Two heads between positions {low} and {high}: soft risk below 1e-6, hard risk 2.

Open Scope R_scope.

Definition head : R * R := (sin (PI * {angle}), cos (PI * {angle})).
Definition nearness (j : nat) : R :=
  fst head * sin (angle {n} j) + snd head * cos (angle {n} j).
Definition share (j : nat) : R := attention {n} {tau} head j.

(* z of both heads for bits u, v of B; the others add at most their attention. *)
Definition z (u v others : R) : R := 2 * (share {low} * u + share {high} * v + others).
Definition soft (o1 o2 o3 o4 : R) : R :=
  (loss 2 0 (z 0 0 o1) 1 + loss 2 0 (z 0 1 o2) (-1)
   + loss 2 0 (z 1 0 o3) (-1) + loss 2 0 (z 1 1 o4) 1) / 4.
Definition hard : R :=
  (loss 2 0 0 1 + loss 2 0 0 (-1) + loss 2 0 2 (-1) + loss 2 0 2 1) / 4.
Definition among (o : R) : Prop := 0 <= o <= 1 - share {low} - share {high}.

Theorem shown :
  List.Forall (fun j => nearness j < nearness {low}) (seq 1 {n - 1}) /\\
  (forall o1 o2 o3 o4, among o1 -> among o2 -> among o3 -> among o4 ->
    soft o1 o2 o3 o4 < 1 / 10 ^ 6) /\\
  199 / 100 < hard < 201 / 100.
Proof.
  split; [|split].
  - cbn [seq]. repeat (apply List.Forall_cons; [shown_finely|]). apply List.Forall_nil.
  - intros o1 o2 o3 o4. unfold among, soft, z.
    assert (1 - share {low} - share {high} < 1 / {10**20}) as rest by shown_finely.
    revert rest.
    enclosed (share {low}) (1 / 2) (50003 / 100000).
    enclosed (share {high}) (49997 / 100000) (1 / 2).
    intros rest [] [] [] [].
    assert (o1 <= 1 / {10**20} /\\ o2 <= 1 / {10**20} /\\
      o3 <= 1 / {10**20} /\\ o4 <= 1 / {10**20})
      as [? [? [? ?]]] by (repeat split; lra).
    apply Rminus_gt_0_lt. reduce. interval with (i_prec 100).
  - split; shown.
Qed.
"""


def lemma14_sign(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, tau, p = setting["n"], real(setting["tau"]), witness["position"]
    one, two = (real(v) for v in witness["head"])
    z, b = real(witness["z"]), real(witness["b"])
    return f"""Two printed derivatives, of the activation's slope and of attention.

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
Definition gamma (j : nat) : R := attention {n} {tau} ({one}, {two}) j.
Definition others : R :=
  sum (map (fun j => if Nat.eqb j {p} then 0 else gamma j * sin (angle {n} j)) (seq 0 {n})).
Definition with_sign (s : R) : R :=
  gamma {p} * ((1 - gamma {p}) * sin (angle {n} {p}) + s * others) / {tau}.
(* The derivative is gamma_p (s_p - mean) / tau = with_sign (-1); the paper prints with_sign 1. *)

Theorem shown :
  (forall b z, 0 < b -> is_derive (sigma_slope b) z (b / (2 * sqrt (z * z + b) ^ 3))) /\\
  1 / 100 < Rabs (printed_second {b} {z} - {b} / (2 * sqrt ({z} * {z} + {b}) ^ 3)) /\\
  1 / 10 < Rabs (with_sign 1 - with_sign (-1)).
Proof. split; [exact second_derivative|split; shown]. Qed.
"""


def lemma17(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, subset, which = setting["n"], setting["B"], witness["head"]
    tau, b = real(setting["tau"]), real(setting["b"])
    turns = [f"(sin (PI * {real(t)}), cos (PI * {real(t)}))" for t in witness["angles"]]
    rational = [fmpq(Fraction(t).numerator, Fraction(t).denominator) for t in witness["angles"]]
    model = Heads([arb.sin_cos_pi_fmpq(t) for t in rational], n, _ball(setting["tau"]))
    rows, hints, names = model.moments(), [], []
    for x in witness["inputs"]:
        y = "1" if sum(x[i] for i in subset) % 2 == 0 else "(-1)"
        names.append(f"{ones(x)} {y}")
        low, high = enclosing(model.attended(x))
        hints.append(f"  enclosed (attended {n} {tau} heads {ones(x)}) {low} {high}.")
        slopes = model.slope(x, rows)[2 * which : 2 * which + 2]
        for part, slope in zip(("sin", "cos"), slopes, strict=True):
            low, high = enclosing(slope * _ball(setting["tau"]))
            hints.append(f"  enclosed (moved {n} {tau} head {ones(x)} {part}) {low} {high}.")
    first, second = names
    return f"""Two inputs whose loss gradients in a head oppose each other.

Open Scope R_scope.

Definition heads : list (R * R) := {listed(turns)}.
Definition head : R * R := {turns[which]}.
(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of the head: slope times dz/da. *)
Definition gradient (x : list nat) (y : R) (part : R -> R) : R :=
  loss_slope 2 {b} (attended {n} {tau} heads x) y * (moved {n} {tau} head x part / {tau}).

Theorem shown :
  gradient {first} sin * gradient {second} sin + gradient {first} cos * gradient {second} cos
  < -1 / 100.
Proof.
  unfold gradient.
{chr(10).join(hints)}
  apply Rminus_gt_0_lt. reduce. interval with (i_prec 60).
Qed.
"""


def lemma18(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, k, tau, b = setting["n"], setting["k"], real(setting["tau"]), real(setting["b"])
    places, x = witness["places"], ones(witness["input"])
    near = [
        f"(on {n} {place}, {(place + step) % n}%nat)"
        for place in places
        for step in range(-(n // 8), n // 8 + 1)
    ]
    heads = listed(f"on {n} {place}" for place in places)
    return f"""An input with s > 0 whose printed sum is below a thousandth of the bound.

Open Scope R_scope.

Definition heads : list (R * R) := {heads}.
(* The printed line, with plus for minus. *)
Definition line (a : R * R) (p : nat) (part : R -> R) : R :=
  attention {n} {tau} a p * ((1 - 2 * attention {n} {tau} a p) * part (angle {n} p)
    + mean {n} {tau} a (seq 0 {n}) part).
Definition printed (a : R * R) (part : R -> R) : R := sum (map (fun p => line a p part) {x}).
Definition left : R := sum (map (fun a => printed a sin ^ 2 + printed a cos ^ 2) heads).
(* Every head with every position within pi/4; c2 tau is the least attention among them. *)
Definition near : list (R * R * nat) := {listed(near)}.

Theorem shown :
  0 < attended {n} {tau} heads {x} /\\
  List.Forall (fun '(a, j) => 1000 * left < 2 * attention {n} {tau} a j ^ 2 / {n**2}) near /\\
  - readout {k} {b} {real(witness["s"])} < 1 /\\
  ({k} * readout_slope {k} {b} {real(witness["s"])}) ^ 2 < 16 /\\
  forall tau a part, moved {n} tau a (seq 0 {n}) part = 0.
Proof.
  split; [shown|split; [|split; [shown|split; [shown|intros; apply moved_by_ones]]]].
  assert (left < 1 / 10 ^ 10) as small by (shown).
  revert small. generalize left. intros sum small. unfold near.
  repeat (apply List.Forall_cons; [apply Rlt_trans with (1 / 10 ^ 7); [lra|shown]|]).
  apply List.Forall_nil.
Qed.
"""


def lemma19(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    k, b = setting["k"], real(setting["b"])
    return f"""No gradient but a loss at all zeros and ones, for every n, tau and all {k} heads.

Open Scope R_scope.

(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of a head, heads being all. *)
Definition gradient (n : nat) (tau : R) (heads : list (R * R)) (a : R * R) (x : list nat) (y : R)
  (part : R -> R) : R :=
  loss_slope {k} {b} (attended n tau heads x) y * (moved n tau a x part / tau).
Definition squares (n : nat) (tau : R) (heads : list (R * R)) (x : list nat) (y : R) : R :=
  sum (map (fun a => gradient n tau heads a x y sin ^ 2
    + gradient n tau heads a x y cos ^ 2) heads).

Lemma none n tau all heads x y :
  (forall a part, moved n tau a x part = 0) ->
  sum (map (fun a => gradient n tau all a x y sin ^ 2
    + gradient n tau all a x y cos ^ 2) heads) = 0.
Proof.
  intros still. induction heads as [|a heads nothing]; simpl; [reflexivity|].
  simpl in nothing. rewrite nothing. unfold gradient. rewrite !still. unfold Rdiv. ring.
Qed.

Theorem shown : forall n tau a1 a2 a3,
  let heads := [a1; a2; a3] in let all := seq 0 (S n) in
  squares (S n) tau heads [] 1 = 0 /\\ squares (S n) tau heads all (-1) = 0 /\\
  attended (S n) tau heads [] = 0 /\\ attended (S n) tau heads all = 3 /\\
  1 / 10000 < loss {k} {b} (attended (S n) tau heads []) 1
    + loss {k} {b} (attended (S n) tau heads all) (-1).
Proof.
  intros. assert (attended (S n) tau heads [] = 0) as zero.
  {{ unfold attended, mean, heads. simpl. unfold Rdiv. ring. }}
  assert (attended (S n) tau heads all = 3) as three.
  {{ unfold attended, heads, all. cbn [map sum]. rewrite !all_ones. ring. }}
  split; [apply none; intros; apply moved_by_zeros|].
  split; [apply none; intros; apply moved_by_ones|].
  split; [exact zero|split; [exact three|]].
  rewrite zero, three. shown.
Qed.
"""


def _ball(value: int | Fraction) -> Any:
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))
