(* Two heads between positions 0 and 19: soft risk below 1e-6, hard risk 2.

   Written by `paritylab prove --coq` from hg1-prop21.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

Open Scope R_scope.

Definition head : R * R := (sin (PI * (-4681898105161 / 93637985919820)), cos (PI * (-4681898105161 / 93637985919820))).
Definition nearness (j : nat) : R :=
  fst head * sin (angle 20 j) + snd head * cos (angle 20 j).
Definition share (j : nat) : R := attention 20 (1 / 8000) head j.

(* z of both heads for bits u, v of B; the others add at most their attention. *)
Definition z (u v others : R) : R := 2 * (share 0 * u + share 19 * v + others).
Definition soft (o1 o2 o3 o4 : R) : R :=
  (loss 2 0 (z 0 0 o1) 1 + loss 2 0 (z 0 1 o2) (-1)
   + loss 2 0 (z 1 0 o3) (-1) + loss 2 0 (z 1 1 o4) 1) / 4.
Definition hard : R :=
  (loss 2 0 0 1 + loss 2 0 0 (-1) + loss 2 0 2 (-1) + loss 2 0 2 1) / 4.
Definition among (o : R) : Prop := 0 <= o <= 1 - share 0 - share 19.

Theorem shown :
  List.Forall (fun j => nearness j < nearness 0) (seq 1 19) /\
  (forall o1 o2 o3 o4, among o1 -> among o2 -> among o3 -> among o4 ->
    soft o1 o2 o3 o4 < 1 / 10 ^ 6) /\
  199 / 100 < hard < 201 / 100.
Proof.
  split; [|split].
  - cbn [seq]. repeat (apply List.Forall_cons; [shown_finely|]). apply List.Forall_nil.
  - intros o1 o2 o3 o4. unfold among, soft, z.
    assert (1 - share 0 - share 19 < 1 / 100000000000000000000) as rest by shown_finely.
    revert rest.
    enclosed (share 0) (1 / 2) (50003 / 100000).
    enclosed (share 19) (49997 / 100000) (1 / 2).
    intros rest [] [] [] [].
    assert (o1 <= 1 / 100000000000000000000 /\ o2 <= 1 / 100000000000000000000 /\
      o3 <= 1 / 100000000000000000000 /\ o4 <= 1 / 100000000000000000000)
      as [? [? [? ?]]] by (repeat split; lra).
    apply Rminus_gt_0_lt. reduce. interval with (i_prec 100).
  - split; shown.
Qed.
