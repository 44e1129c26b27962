"""Learners and their options for type checkers: written by test_learners.py from the table of the library."""

from __future__ import annotations

from typing import Final, Literal, TypedDict

#: The names of all learners.
LearnerName = Literal["slopp", "slopp-bag", "slopp-em", "slopp-tree", "slopp-kmeans", "factorised",
    "chow-liu", "learnpsdd", "slopp+learnpsdd", "strudel", "strudel-em", "learnspn"]

#: The default learner.
DEFAULT: Final = "slopp"

#: Those that make a `Psdd`.
PsddLearner = Literal["slopp", "slopp-tree", "factorised", "chow-liu", "learnpsdd", "slopp+learnpsdd"]

#: Those that make a `Deterministic`.
DeterministicLearner = Literal["strudel"]

#: Those that make a `Circuit`.
CircuitLearner = Literal["slopp-kmeans"]

#: Those that make a `Mixture`.
MixtureLearner = Literal["slopp-bag", "slopp-em", "strudel-em"]

#: Those that make a `Spn`.
SpnLearner = Literal["learnspn"]

#: How much slopp tries, or how many models slopp-bag has.
Effort = Literal["fast", "balanced", "best"]

#: Which reading of the paper.
Variant = Literal["notebook", "algorithm2"]

#: By which variables Strudel splits an element.
Scope = Literal["prime", "whole"]

#: The model of records that are not divided further.
Leaves = Literal["chow-liu", "independent"]


class Options(TypedDict, total=False):
    """The options of some learners."""

    effort: Effort | None
    pseudocount: float | None
    max_classes: int | None
    max_elements: int | None
    components: int | None
    whole: bool | None
    max_clusters: int | None
    min_records: float | None
    split_penalty: float | None
    parameter_penalty: float | None
    variant: Variant | None
    k: int | None
    d: int | None
    penalty: float | None
    scope: Scope | None
    depth: int | None
    steps: int | None
    independence: float | None
    cluster_penalty: float | None
    leaves: Leaves | None
