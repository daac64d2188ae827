(* Krawtchouk numbers: parities of 32 signs average out at k = 16, not at k = 32.

   Written by `paritylab prove --coq` from ks-lemma8.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.

Open Scope Z_scope.

(* Binomial coefficients by Pascal's rule, row by row. *)
Fixpoint row (n : nat) : list Z :=
  match n with
  | O => [1]
  | S m => let r := row m in map (fun '(a, b) => a + b) (combine (0 :: r) (r ++ [0]))
  end.
Definition choose (n k : nat) : Z := nth k (row n) 0.
Definition total (l : list Z) : Z := fold_right Z.add 0 l.

Definition krawtchouk (n k w : nat) : Z :=
  total (map (fun j => (-1) ^ Z.of_nat j * choose w j * choose (n - w) (k - j))
    (seq 0 (S (min w k)))).

Theorem shown :
  List.Forall (fun w => Z.abs (krawtchouk 32 32 w) = choose 32 32) (seq 0 33) /\
  List.Forall (fun w => 1000 * Z.abs (krawtchouk 32 16 w) < choose 32 16)
    (seq 8 17) /\
  99 * 2 ^ 32 < 100 * total (map (choose 32) (seq 8 17)) /\
  total (map (fun w => choose 32 w * krawtchouk 32 16 w ^ 2) (seq 0 33))
    = 2 ^ 32 * choose 32 16.
Proof.
  split; [|split; [|split; [vm_compute; reflexivity|vm_compute; reflexivity]]];
    cbn [seq]; repeat (apply List.Forall_cons; [vm_compute; reflexivity|]); apply List.Forall_nil.
Qed.
