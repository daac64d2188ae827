(* The variance of the gradient over all parities of $k of $n signs, against F^2/|H|.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope Q_scope.

Fixpoint strings (n : nat) : list (list bool) :=
  match n with
  | O => [[]]
  | S m => map (cons false) (strings m) ++ map (cons true) (strings m)
  end.
Definition size (s : list bool) : nat := length (filter (fun b => b) s).
Definition sets : list (list bool) := filter (fun s => Nat.eqb (size s) $k) (strings $n).
Definition value (s x : list bool) : Q :=
  if Nat.even (size (map (fun '(a, b) => andb a b) (combine s x))) then 1 else -1.
Definition total (l : list Q) : Q := fold_right (fun a b => Qred (a + b)) 0 l.
Definition count : Q := inject_Z (Z.of_nat (length sets)).
Definition average (f : list bool -> Q) : Q := total (map f (strings $n)) / $strings.

Definition weights : list Q := $weights.
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

Theorem shown : length weights = length sets /\ 3 * printed < variance /\ variance < 4 * printed.
Proof. split; [reflexivity|split; vm_compute; reflexivity]. Qed.
