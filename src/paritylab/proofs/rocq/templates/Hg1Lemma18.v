(* An input with s > 0 whose printed sum is below a thousandth of the bound.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

Definition heads : list (R * R) := $heads.
(* The printed line, with plus for minus. *)
Definition line (a : R * R) (p : nat) (part : R -> R) : R :=
  attention $n $tau a p * ((1 - 2 * attention $n $tau a p) * part (angle $n p)
    + mean $n $tau a (seq 0 $n) part).
Definition printed (a : R * R) (part : R -> R) : R := sum (map (fun p => line a p part) $x).
Definition left : R := sum (map (fun a => printed a sin ^ 2 + printed a cos ^ 2) heads).
(* Every head with every position within pi/4; c2 tau is the least attention among them. *)
Definition near : list (R * R * nat) := $near.

Theorem shown :
  0 < attended $n $tau heads $x /\
  List.Forall (fun '(a, j) => 1000 * left < 2 * attention $n $tau a j ^ 2 / $square) near /\
  - readout $k $b $s < 1 /\
  ($k * readout_slope $k $b $s) ^ 2 < 16 /\
  forall tau a part, moved $n tau a (seq 0 $n) part = 0.
Proof.
  split; [shown|split; [|split; [shown|split; [shown|intros; apply moved_by_ones]]]].
  assert (left < 1 / 10 ^ 10) as small by (shown).
  revert small. generalize left. intros sum small. unfold near.
  repeat (apply List.Forall_cons; [apply Rlt_trans with (1 / 10 ^ 7); [lra|shown]|]).
  apply List.Forall_nil.
Qed.
