(* The filter of Theorem 7 before training: which levels it silences.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
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
  silenced $small epsilon 2 1 $levels.

Theorem shown :
  $low <= 1 /\ quiet $low = $alternate%nat /\
  1 < $middle /\ $middle < 2 /\ quiet $middle = seq 2 $less /\
  2 < $high /\ quiet $high = seq 1 $levels.
Proof. repeat split; try reflexivity; vm_compute; discriminate. Qed.
