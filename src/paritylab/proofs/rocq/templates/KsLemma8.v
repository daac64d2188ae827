(* Krawtchouk numbers: parities of $n signs average out at k = $k, not at k = $n.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope Z_scope.

$choose
Definition krawtchouk (n k w : nat) : Z :=
  total (map (fun j => (-1) ^ Z.of_nat j * choose w j * choose (n - w) (k - j))
    (seq 0 (S (min w k)))).

Theorem shown :
  List.Forall (fun w => Z.abs (krawtchouk $n $n w) = choose $n $n) (seq 0 $more) /\
  List.Forall (fun w => 1000 * Z.abs (krawtchouk $n $k w) < choose $n $k)
    (seq $first $count) /\
  99 * 2 ^ $n < 100 * total (map (choose $n) (seq $first $count)) /\
  total (map (fun w => choose $n w * krawtchouk $n $k w ^ 2) (seq 0 $more))
    = 2 ^ $n * choose $n $k.
Proof.
  split; [|split; [|split; [vm_compute; reflexivity|vm_compute; reflexivity]]];
    cbn [seq]; repeat (apply List.Forall_cons; [vm_compute; reflexivity|]); apply List.Forall_nil.
Qed.
