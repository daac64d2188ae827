(* The model of Han and Ghoshdastidar, equations (2) and (3): what the other files speak of.

   Readout, squared hinge and attention are written down as in the paper, over Rocq's num numbers.
   Nothing here is computed: `interval` bounds the expressions in ball-like arithmetic that Rocq
   itself has proved correct, with whole numbers (precision 60 and more, no floating point). *)
From Coq Require Import Reals List Lra ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum (l : list R) : R := match l with [] => 0 | a :: rest => a + sum rest end.
Definition num (j : nat) : R := IZR (Z.of_nat j).

(* max(t, 0), in a form that `interval` reads. *)
Definition pos (t : R) : R := (t + Rabs t) / 2.

Lemma pos_is_max t : pos t = Rmax t 0.
Proof.
  unfold pos, Rmax. destruct (Rle_dec t 0) as [low|high].
  - rewrite Rabs_left1 by lra. lra.
  - rewrite Rabs_right by lra. lra.
Qed.

(* The activation, its slope, and k neurons. *)
Definition sigma (b t : R) : R := (t + sqrt (t * t + b)) / 2.
Definition sigma_slope (b t : R) : R := (1 + t / sqrt (t * t + b)) / 2.

Lemma sigma_slope_is_derivative b t : 0 < b -> is_derive (sigma b) t (sigma_slope b t).
Proof.
  intros positive. assert (0 < t * t + b) as inside by nra.
  assert (sqrt (t * t + b) <> 0) as root by (apply Rgt_not_eq, sqrt_lt_R0; lra).
  unfold sigma, sigma_slope. auto_derive; [lra|field; lra].
Qed.

Definition sign (q : nat) : R := if Nat.even q then 1 else -1.
Definition factor (q : nat) : R := sign q * (8 * num q - 4).
Definition readout (k : nat) (b z : R) : R :=
  1 + sum (map (fun q => factor q * sigma b (z - num q + 1 / 2)) (seq 1 k)).
Definition readout_slope (k : nat) (b z : R) : R :=
  sum (map (fun q => factor q * sigma_slope b (z - num q + 1 / 2)) (seq 1 k)).

(* The squared hinge at label y, and its slope in z. *)
Definition loss (k : nat) (b z y : R) : R := pos (1 - y * readout k b z) ^ 2.
Definition loss_slope (k : nat) (b z y : R) : R :=
  -2 * y * pos (1 - y * readout k b z) * readout_slope k b z.

(* Positions on the circle, and attention of a head (a13, a14). *)
Definition angle (n j : nat) : R := 2 * PI * num j / num n.
Definition weight (n : nat) (tau : R) (a : R * R) (j : nat) : R :=
  exp ((fst a * sin (angle n j) + snd a * cos (angle n j)) / tau).
Definition attention (n : nat) (tau : R) (a : R * R) (j : nat) : R :=
  weight n tau a j / sum (map (weight n tau a) (seq 0 n)).
(* A unit head on a position. *)
Definition on (n j : nat) : R * R := (sin (angle n j), cos (angle n j)).

(* Inputs are lists of the positions whose bit is 1. The mean of x_j f(angle of j) under attention,
   then z, and tau times its derivative in a13 (part = sin) or a14 (part = cos): Cov(x, part). *)
Definition mean (n : nat) (tau : R) (a : R * R) (x : list nat) (f : R -> R) : R :=
  sum (map (fun j => weight n tau a j * f (angle n j)) x) / sum (map (weight n tau a) (seq 0 n)).
Definition one (_ : R) : R := 1.
Definition attended (n : nat) (tau : R) (heads : list (R * R)) (x : list nat) : R :=
  sum (map (fun a => mean n tau a x one) heads).
Definition moved (n : nat) (tau : R) (a : R * R) (x : list nat) (part : R -> R) : R :=
  mean n tau a x part - mean n tau a x one * mean n tau a (seq 0 n) part.

(* A constant input moves nothing, whatever the head: Cov(1, part) = Cov(0, part) = 0. *)
Lemma sum_of_weights n tau a l :
  sum (map (fun j => weight n tau a j * one (angle n j)) l) = sum (map (weight n tau a) l).
Proof. induction l as [|j l same]; simpl; [reflexivity|rewrite same; unfold one; ring]. Qed.

Lemma weights_positive n tau a j l : 0 < sum (map (weight n tau a) (j :: l)).
Proof.
  assert (forall m, 0 <= sum (map (weight n tau a) m)) as rest.
  { induction m as [|i m small]; simpl; [lra|]. pose proof (exp_pos ((fst a * sin (angle n i)
    + snd a * cos (angle n i)) / tau)). unfold weight at 1. lra. }
  simpl. pose proof (rest l). unfold weight at 1. pose proof (exp_pos ((fst a * sin (angle n j)
    + snd a * cos (angle n j)) / tau)). lra.
Qed.

Lemma all_ones n tau a : mean (S n) tau a (seq 0 (S n)) one = 1.
Proof.
  unfold mean. rewrite sum_of_weights. apply Rinv_r.
  apply Rgt_not_eq. exact (weights_positive (S n) tau a 0 (seq 1 n)).
Qed.

Lemma moved_by_ones n tau a part : moved (S n) tau a (seq 0 (S n)) part = 0.
Proof. unfold moved. rewrite all_ones. ring. Qed.

Lemma moved_by_zeros n tau a part : moved n tau a [] part = 0.
Proof. unfold moved, mean. simpl. unfold Rdiv. ring. Qed.

Ltac reduce :=
  cbv -[Rplus Rminus Rmult Rdiv Rinv Ropp exp sqrt sin cos PI IZR Rabs pow Rlt Rle].
Ltac shown := apply Rminus_gt_0_lt; reduce; interval with (i_prec 60).
Ltac shown_finely := apply Rminus_gt_0_lt; reduce; interval with (i_prec 140).
(* Enclose a term between two numbers, then forget what it is. *)
Ltac enclosed term low high :=
  let bounds := fresh "bounds" in
  assert (low <= term <= high) as bounds by (reduce; interval with (i_prec 100));
  revert bounds; generalize term; intros ? bounds.
