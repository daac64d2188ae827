(* A bent function beats the rate 1/2 - 1000 exp(-n) on a quarter of all parities.

   Written by `paritylab prove --coq` from ks-thm1.json; change the certificate, not this file. *)
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
Definition pairs : list (nat * nat) := [(0, 1); (2, 3); (4, 5); (6, 7)]%nat.
Definition inside (s : list bool) : nat :=
  length (filter (fun '(i, j) => andb (nth i s false) (nth j s false)) pairs).
Definition parity (m : nat) : Z := if Nat.even m then 1 else -1.
Definition both (s x : list bool) : nat := size (map (fun '(a, b) => andb a b) (combine s x)).
(* 2^n times the Walsh coefficient of (-1)^(form) at s. *)
Definition coefficient (s : list bool) : Z :=
  total (map (fun x => parity (inside x + both s x)) (strings 8)).
Definition sets : list (list bool) := filter (fun s => Nat.eqb (size s) 4) (strings 8).

Theorem shown :
  forallb (fun s => coefficient s =? parity (inside s) * 2 ^ 4) sets = true /\
  2 * total (map (fun s => if 0 <? coefficient s then 1 else 0) sets)
    = choose 8 4 + signed 4 /\
  List.Forall (fun n => choose n (n / 2) < 2 * (choose n (n / 2) + signed (n / 2))) [16; 32; 64; 128]%nat /\
  List.Forall (fun n => 1000 < exp (num n) / 2 ^ (n / 2 + 1))%R [16; 32; 64; 128]%nat.
Proof.
  split; [vm_compute; reflexivity|split; [vm_compute; reflexivity|split]].
  - repeat (apply List.Forall_cons; [vm_compute; reflexivity|]). apply List.Forall_nil.
  - repeat (apply List.Forall_cons; [shown|]). apply List.Forall_nil.
Qed.
