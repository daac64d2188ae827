(* An input with s > 0 whose printed sum is below a thousandth of the bound.

   Written by `paritylab prove --coq` from hg1-lemma18.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

Open Scope R_scope.

Definition heads : list (R * R) := [on 8 0; on 8 1; on 8 7].
(* The printed line, with plus for minus. *)
Definition line (a : R * R) (p : nat) (part : R -> R) : R :=
  attention 8 (1 / 8) a p * ((1 - 2 * attention 8 (1 / 8) a p) * part (angle 8 p)
    + mean 8 (1 / 8) a (seq 0 8) part).
Definition printed (a : R * R) (part : R -> R) : R := sum (map (fun p => line a p part) [4]%nat).
Definition left : R := sum (map (fun a => printed a sin ^ 2 + printed a cos ^ 2) heads).
(* Every head with every position within pi/4; c2 tau is the least attention among them. *)
Definition near : list (R * R * nat) := [(on 8 0, 7%nat); (on 8 0, 0%nat); (on 8 0, 1%nat); (on 8 1, 0%nat); (on 8 1, 1%nat); (on 8 1, 2%nat); (on 8 7, 6%nat); (on 8 7, 7%nat); (on 8 7, 0%nat)].

Theorem shown :
  0 < attended 8 (1 / 8) heads [4]%nat /\
  List.Forall (fun '(a, j) => 1000 * left < 2 * attention 8 (1 / 8) a j ^ 2 / 64) near /\
  - readout 3 (1 / 100) (1 / 4) < 1 /\
  (3 * readout_slope 3 (1 / 100) (1 / 4)) ^ 2 < 16 /\
  forall tau a part, moved 8 tau a (seq 0 8) part = 0.
Proof.
  split; [shown|split; [|split; [shown|split; [shown|intros; apply moved_by_ones]]]].
  assert (left < 1 / 10 ^ 10) as small by (shown).
  revert small. generalize left. intros sum small. unfold near.
  repeat (apply List.Forall_cons; [apply Rlt_trans with (1 / 10 ^ 7); [lra|shown]|]).
  apply List.Forall_nil.
Qed.
