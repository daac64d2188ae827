(* The filter of Theorem 7 before training: which levels it silences.

   Written by `paritylab prove --coq` from ks-thm7.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

Open Scope Q_scope.

(* Distances from -1 level by level: 2 for inputs, 1 for a silenced level, else near. *)
Fixpoint silenced (near epsilon distance : Q) (level left : nat) : list nat :=
  match left with
  | O => []
  | S rest =>
      if negb (Qle_bool epsilon distance)
      then level :: silenced near epsilon 1 (S level) rest
      else silenced near epsilon near (S level) rest
  end.
Definition quiet (epsilon : Q) : list nat :=
  silenced (1 # 2) epsilon 2 1 5.

Theorem shown :
  (19 # 20) <= 1 /\ quiet (19 # 20) = [2; 4]%nat /\
  1 < (8 # 5) /\ (8 # 5) < 2 /\ quiet (8 # 5) = seq 2 4 /\
  2 < (21 # 10) /\ quiet (21 # 10) = seq 1 5.
Proof. repeat split; try reflexivity; vm_compute; discriminate. Qed.
