{% set levels = setting["levels"] %}
{% set low, middle, high = rational(witness["epsilons"][0]), rational(witness["epsilons"][1]), rational(witness["epsilons"][2]) %}
{% set title %}The filter of Theorem 7 before training: which levels it silences.{% endset %}
{% include "head.v" %}
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
  silenced {{ rational(witness["small"]) }} epsilon 2 1 {{ levels }}.

Theorem shown :
  {{ low }} <= 1 /\ quiet {{ low }} = {{ listed(range(2, levels + 1, 2)) }}%nat /\
  1 < {{ middle }} /\ {{ middle }} < 2 /\ quiet {{ middle }} = seq 2 {{ levels - 1 }} /\
  2 < {{ high }} /\ quiet {{ high }} = seq 1 {{ levels }}.
Proof. repeat split; try reflexivity; vm_compute; discriminate. Qed.
