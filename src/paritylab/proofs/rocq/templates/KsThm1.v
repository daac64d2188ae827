(* A bent function beats the rate 1/2 - 1000 exp(-n) on a quarter of all parities.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope Z_scope.

$choose
(* The coefficient of t^k in (1 + 2t - t^2)^k. *)
Definition entry (p : list Z) (i : nat) : Z := nth i p 0.
Definition times (p : list Z) : list Z :=
  map (fun i => entry p i + 2 * (if Nat.ltb i 1 then 0 else entry p (i - 1))
    - (if Nat.ltb i 2 then 0 else entry p (i - 2))) (seq 0 (length p + 2)).
Definition signed (k : nat) : Z := entry (Nat.iter k times [1]) k.

(* All inputs and all sets of m positions as lists of truth values. *)
Fixpoint strings (n : nat) : list (list bool) :=
  match n with
  | O => [[]]
  | S m => map (cons false) (strings m) ++ map (cons true) (strings m)
  end.
Definition size (s : list bool) : nat := length (filter (fun b => b) s).
Definition pairs : list (nat * nat) := $pairs.
Definition inside (s : list bool) : nat :=
  length (filter (fun '(i, j) => andb (nth i s false) (nth j s false)) pairs).
Definition parity (m : nat) : Z := if Nat.even m then 1 else -1.
Definition both (s x : list bool) : nat := size (map (fun '(a, b) => andb a b) (combine s x)).
(* 2^n times the Walsh coefficient of (-1)^(form) at s. *)
Definition coefficient (s : list bool) : Z :=
  total (map (fun x => parity (inside x + both s x)) (strings $n)).
Definition sets : list (list bool) := filter (fun s => Nat.eqb (size s) $half) (strings $n).

Theorem shown :
  forallb (fun s => coefficient s =? parity (inside s) * 2 ^ $half) sets = true /\
  2 * total (map (fun s => if 0 <? coefficient s then 1 else 0) sets)
    = choose $n $half + signed $half /\
  List.Forall (fun n => choose n (n / 2) < 2 * (choose n (n / 2) + signed (n / 2))) $sizes /\
  List.Forall (fun n => 1000 < exp (num n) / 2 ^ (n / 2 + 1))%R $sizes.
Proof.
  split; [vm_compute; reflexivity|split; [vm_compute; reflexivity|split]].
  - repeat (apply List.Forall_cons; [vm_compute; reflexivity|]). apply List.Forall_nil.
  - repeat (apply List.Forall_cons; [shown|]). apply List.Forall_nil.
Qed.
