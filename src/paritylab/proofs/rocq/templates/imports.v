From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.
