(* Every theorem of this folder, and the axioms behind all of them together. *)
From Paritylab Require Hg1Floor.
From Paritylab Require Hg1Lemma14Sign.
From Paritylab Require Hg1Lemma17.
From Paritylab Require Hg1Lemma18.
From Paritylab Require Hg1Lemma19.
From Paritylab Require Hg1Marginals.
From Paritylab Require Hg1Prop21.
From Paritylab Require Hg1Temperature.
From Paritylab Require KsLemma8.
From Paritylab Require KsProp3Variance.
From Paritylab Require KsThm1.
From Paritylab Require KsThm7.
Definition all :=
  (Hg1Floor.shown,
  Hg1Lemma14Sign.shown,
  Hg1Lemma17.shown,
  Hg1Lemma18.shown,
  Hg1Lemma19.shown,
  Hg1Marginals.shown,
  Hg1Prop21.shown,
  Hg1Temperature.shown,
  KsLemma8.shown,
  KsProp3Variance.shown,
  KsThm1.shown,
  KsThm7.shown).
Print Assumptions all.
