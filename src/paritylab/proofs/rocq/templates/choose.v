(* Binomial coefficients by Pascal's rule, row by row. *)
Fixpoint row (n : nat) : list Z :=
  match n with
  | O => [1]
  | S m => let r := row m in map (fun '(a, b) => a + b) (combine (0 :: r) (r ++ [0]))
  end.
Definition choose (n k : nat) : Z := nth k (row n) 0.
Definition total (l : list Z) : Z := fold_right Z.add 0 l.
