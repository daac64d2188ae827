(* No gradient but a loss at all zeros and ones, for every n, tau and all $k heads.

   Written by `paritylab prove --coq` from $id.json; change the certificate, not this file. *)
$imports
Open Scope R_scope.

(* The loss's derivative in a13 (part = sin) or a14 (part = cos) of a head, heads being all. *)
Definition gradient (n : nat) (tau : R) (heads : list (R * R)) (a : R * R) (x : list nat) (y : R)
  (part : R -> R) : R :=
  loss_slope $k $b (attended n tau heads x) y * (moved n tau a x part / tau).
Definition squares (n : nat) (tau : R) (heads : list (R * R)) (x : list nat) (y : R) : R :=
  sum (map (fun a => gradient n tau heads a x y sin ^ 2
    + gradient n tau heads a x y cos ^ 2) heads).

Lemma none n tau all heads x y :
  (forall a part, moved n tau a x part = 0) ->
  sum (map (fun a => gradient n tau all a x y sin ^ 2
    + gradient n tau all a x y cos ^ 2) heads) = 0.
Proof.
  intros still. induction heads as [|a heads nothing]; simpl; [reflexivity|].
  simpl in nothing. rewrite nothing. unfold gradient. rewrite !still. unfold Rdiv. ring.
Qed.

Theorem shown : forall n tau a1 a2 a3,
  let heads := [a1; a2; a3] in let all := seq 0 (S n) in
  squares (S n) tau heads [] 1 = 0 /\ squares (S n) tau heads all (-1) = 0 /\
  attended (S n) tau heads [] = 0 /\ attended (S n) tau heads all = 3 /\
  1 / 10000 < loss $k $b (attended (S n) tau heads []) 1
    + loss $k $b (attended (S n) tau heads all) (-1).
Proof.
  intros. assert (attended (S n) tau heads [] = 0) as zero.
  { unfold attended, mean, heads. simpl. unfold Rdiv. ring. }
  assert (attended (S n) tau heads all = 3) as three.
  { unfold attended, heads, all. cbn [map sum]. rewrite !all_ones. ring. }
  split; [apply none; intros; apply moved_by_zeros|].
  split; [apply none; intros; apply moved_by_ones|].
  split; [exact zero|split; [exact three|]].
  rewrite zero, three. shown.
Qed.
