(* A unit head on its position at tau = c/n, and the estimate for n >= $n0.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

(* The largest attention of a unit head on position 0. *)
Definition peak (n : nat) : R := attention n ($c / num n) (0, 1) 0.

(* From n0 on: 8 pi^2 / (n0 c) <= 1, so that four neighbours add exp(-1) each, or more. *)
Definition estimate : Prop :=
  8 * PI ^ 2 / $product < 1 /\ 1 / (1 + 4 / exp 1) < 1 / 2.

Theorem shown : List.Forall (fun n => peak n < 1 / 2) (seq $first $count) /\ estimate.
Proof.
  split.
  - cbn [seq]. repeat (apply List.Forall_cons; [shown|]). apply List.Forall_nil.
  - split; shown.
Qed.
