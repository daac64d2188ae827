(* Two heads between positions $low and $high: soft risk below 1e-6, hard risk 2.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

Definition head : R * R := (sin (PI * $angle), cos (PI * $angle)).
Definition nearness (j : nat) : R :=
  fst head * sin (angle $n j) + snd head * cos (angle $n j).
Definition share (j : nat) : R := attention $n $tau head j.

(* z of both heads for bits u, v of B; the others add at most their attention. *)
Definition z (u v others : R) : R := 2 * (share $low * u + share $high * v + others).
Definition soft (o1 o2 o3 o4 : R) : R :=
  (loss 2 0 (z 0 0 o1) 1 + loss 2 0 (z 0 1 o2) (-1)
   + loss 2 0 (z 1 0 o3) (-1) + loss 2 0 (z 1 1 o4) 1) / 4.
Definition hard : R :=
  (loss 2 0 0 1 + loss 2 0 0 (-1) + loss 2 0 2 (-1) + loss 2 0 2 1) / 4.
Definition among (o : R) : Prop := 0 <= o <= 1 - share $low - share $high.

Theorem shown :
  List.Forall (fun j => nearness j < nearness $low) (seq 1 $less) /\
  (forall o1 o2 o3 o4, among o1 -> among o2 -> among o3 -> among o4 ->
    soft o1 o2 o3 o4 < 1 / 10 ^ 6) /\
  199 / 100 < hard < 201 / 100.
Proof.
  split; [|split].
  - cbn [seq]. repeat (apply List.Forall_cons; [shown_finely|]). apply List.Forall_nil.
  - intros o1 o2 o3 o4. unfold among, soft, z.
    assert (1 - share $low - share $high < 1 / $huge) as rest by shown_finely.
    revert rest.
    enclosed (share $low) (1 / 2) (50003 / 100000).
    enclosed (share $high) (49997 / 100000) (1 / 2).
    intros rest [] [] [] [].
    assert (o1 <= 1 / $huge /\ o2 <= 1 / $huge /\
      o3 <= 1 / $huge /\ o4 <= 1 / $huge)
      as [? [? [? ?]]] by (repeat split; lra).
    apply Rminus_gt_0_lt. reduce. interval with (i_prec 100).
  - split; shown.
Qed.
