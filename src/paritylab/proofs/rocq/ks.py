"""Rocq files of KS's certificates: whole and rational numbers, decided by computing."""

from typing import Any

from paritylab.proofs.rocq.numbers import listed, rational

_CHOOSE = """(* Binomial coefficients by Pascal's rule, row by row. *)
Fixpoint row (n : nat) : list Z :=
  match n with
  | O => [1]
  | S m => let r := row m in map (fun '(a, b) => a + b) (combine (0 :: r) (r ++ [0]))
  end.
Definition choose (n k : nat) : Z := nth k (row n) 0.
Definition total (l : list Z) : Z := fold_right Z.add 0 l.
"""


def lemma8(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, k, radius = setting["n"], setting["k"], witness["radius"]
    first, count = n // 2 - radius, 2 * radius + 1
    return f"""Krawtchouk numbers: parities of {n} signs average out at k = {k}, not at k = {n}.

Open Scope Z_scope.

{_CHOOSE}
Definition krawtchouk (n k w : nat) : Z :=
  total (map (fun j => (-1) ^ Z.of_nat j * choose w j * choose (n - w) (k - j))
    (seq 0 (S (min w k)))).

Theorem shown :
  List.Forall (fun w => Z.abs (krawtchouk {n} {n} w) = choose {n} {n}) (seq 0 {n + 1}) /\\
  List.Forall (fun w => 1000 * Z.abs (krawtchouk {n} {k} w) < choose {n} {k})
    (seq {first} {count}) /\\
  99 * 2 ^ {n} < 100 * total (map (choose {n}) (seq {first} {count})) /\\
  total (map (fun w => choose {n} w * krawtchouk {n} {k} w ^ 2) (seq 0 {n + 1}))
    = 2 ^ {n} * choose {n} {k}.
Proof.
  split; [|split; [|split; [vm_compute; reflexivity|vm_compute; reflexivity]]];
    cbn [seq]; repeat (apply List.Forall_cons; [vm_compute; reflexivity|]); apply List.Forall_nil.
Qed.
"""


def thm1(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    sizes, n = listed(setting["n"]) + "%nat", setting["listed"]
    pairs = listed(f"({i}, {j})" for i, j in witness["pairs"]) + "%nat"
    return f"""A bent function beats the rate 1/2 - 1000 exp(-n) on a quarter of all parities.

Open Scope Z_scope.

{_CHOOSE}
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
Definition pairs : list (nat * nat) := {pairs}.
Definition inside (s : list bool) : nat :=
  length (filter (fun '(i, j) => andb (nth i s false) (nth j s false)) pairs).
Definition parity (m : nat) : Z := if Nat.even m then 1 else -1.
Definition both (s x : list bool) : nat := size (map (fun '(a, b) => andb a b) (combine s x)).
(* 2^n times the Walsh coefficient of (-1)^(form) at s. *)
Definition coefficient (s : list bool) : Z :=
  total (map (fun x => parity (inside x + both s x)) (strings {n})).
Definition sets : list (list bool) := filter (fun s => Nat.eqb (size s) {n // 2}) (strings {n}).

Theorem shown :
  forallb (fun s => coefficient s =? parity (inside s) * 2 ^ {n // 2}) sets = true /\\
  2 * total (map (fun s => if 0 <? coefficient s then 1 else 0) sets)
    = choose {n} {n // 2} + signed {n // 2} /\\
  List.Forall (fun n => choose n (n / 2) < 2 * (choose n (n / 2) + signed (n / 2))) {sizes} /\\
  List.Forall (fun n => 1000 < exp (num n) / 2 ^ (n / 2 + 1))%R {sizes}.
Proof.
  split; [vm_compute; reflexivity|split; [vm_compute; reflexivity|split]].
  - repeat (apply List.Forall_cons; [vm_compute; reflexivity|]). apply List.Forall_nil.
  - repeat (apply List.Forall_cons; [shown|]). apply List.Forall_nil.
Qed.
"""


def thm7(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    low, middle, high = (rational(e) for e in witness["epsilons"])
    levels = setting["levels"]
    alternate = listed(range(2, levels + 1, 2))
    return f"""The filter of Theorem 7 before training: which levels it silences.

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
  silenced {rational(witness["small"])} epsilon 2 1 {levels}.

Theorem shown :
  {low} <= 1 /\\ quiet {low} = {alternate}%nat /\\
  1 < {middle} /\\ {middle} < 2 /\\ quiet {middle} = seq 2 {levels - 1} /\\
  2 < {high} /\\ quiet {high} = seq 1 {levels}.
Proof. repeat split; try reflexivity; vm_compute; discriminate. Qed.
"""


def prop3_variance(setting: dict[str, Any], witness: dict[str, Any]) -> str:
    n, k = setting["n"], setting["k"]
    weights = listed(rational(w) for w in witness["weights"])
    return f"""The variance of the gradient over all parities of {k} of {n} signs, against F^2/|H|.

Open Scope Q_scope.

Fixpoint strings (n : nat) : list (list bool) :=
  match n with
  | O => [[]]
  | S m => map (cons false) (strings m) ++ map (cons true) (strings m)
  end.
Definition size (s : list bool) : nat := length (filter (fun b => b) s).
Definition sets : list (list bool) := filter (fun s => Nat.eqb (size s) {k}) (strings {n}).
Definition value (s x : list bool) : Q :=
  if Nat.even (size (map (fun '(a, b) => andb a b) (combine s x))) then 1 else -1.
Definition total (l : list Q) : Q := fold_right (fun a b => Qred (a + b)) 0 l.
Definition count : Q := inject_Z (Z.of_nat (length sets)).
Definition average (f : list bool -> Q) : Q := total (map f (strings {n})) / {2**n}.

Definition weights : list Q := {weights}.
Definition answer (x : list bool) : Q :=
  total (map (fun '(w, s) => w * value s x) (combine weights sets)).
(* The derivative of E(f - h)^2 in the weight of s. *)
Definition gradient (h s : list bool) : Q :=
  average (fun x => 2 * (answer x - value h x) * value s x).
Definition middle (s : list bool) : Q := total (map (fun h => gradient h s) sets) / count.
Definition variance : Q :=
  total (map (fun h => total (map (fun s => (gradient h s - middle s) ^ 2) sets)) sets) / count.
(* F^2 = E |grad f|^2 = |H|, over |H|. *)
Definition printed : Q := average (fun x => total (map (fun s => value s x ^ 2) sets)) / count.

Theorem shown : length weights = length sets /\\ 3 * printed < variance /\\ variance < 4 * printed.
Proof. split; [reflexivity|split; vm_compute; reflexivity]. Qed.
"""
