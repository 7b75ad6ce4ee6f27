"""Base class of the estimators: from scikit-learn's arrays to a federation, a method's release, and predictions."""

# Annotations are not deferred here: families in other files inherit the fields, and would not find the types' names.

import math
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any, ClassVar, Self, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from typing_extensions import Protocol, override, runtime_checkable

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputError, InputFault, check_one_of, clipped_too_often, shown, warn_clipped
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Federation
from smc_dp.data.preprocess import warn_of_clipping
from smc_dp.estimators.bounded_rows import BoundsParameter, encode_table, named_classes, public_bounds, row_width
from smc_dp.estimators.docstrings import documented
from smc_dp.estimators.ledger_charge import FitCharge, charge_fit
from smc_dp.estimators.rows import (
    Ball,
    RowAssignment,
    Weigh,
    clip_into_ball,
    dense_blocks,
    join_parties,
    make_federation,
    sorted_classes,
)
from smc_dp.estimators.validation import (
    LabelArray,
    check_exact_number,
    check_labels,
    check_number,
    check_public_rows,
    check_whole_number,
    stream_of_seed,
)
from smc_dp.estimators.weights import NOT_OF_FAMILY, uses_weights
from smc_dp.methods.collaborative.rounds import BiasedModel
from smc_dp.methods.method import Method, Trust, check_target, default_secure_noise, noise_names
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.simulated_sum import SimulatedSum, has_secure_sum, require_secure_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, NoiseName, Target

CLASSES_FROM_LABELS = (
    "The classes were read off the labels and are not protected: name them beforehand with the parameter classes."
)
SIMULATED_PARTIES = "The parties are a simulation: the rows of one table, dealt by a public seed."
SINGLE_RELEASE = "This is the guarantee of one fit. Further fits add up, and scores on private rows are not covered."
REFUSAL = "The fact that a fit is refused because of private rows is not covered."
NO_RANDOM_STATE = InputFault("random_state.not_a_parameter")

PartyRows: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike] | tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]


@runtime_checkable
class Scored(Protocol):
    """A released model that scores rows of the unit ball; the class with the largest score, the first of equals."""

    def scores(self, X: Array) -> Array:
        """Return one score for each row and class: (n, C)."""
        ...

    def predict(self, X: Array) -> npt.NDArray[np.int64]:
        """Return class numbers: (n,)."""
        ...


@dataclass(kw_only=True, eq=False, repr=False)
class FederatedClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Methods of `smc_dp.methods` behind scikit-learn's interface; each subclass is one family of them.

    A subclass names its `methods`, and says whether they are `binary`, but for one that says itself that it is not. The
    fields are the parameters: those here belong to every family, those of a subclass are settings of its methods, and
    only `method` may be given by its place. They are checked in `fit` and not before, as scikit-learn wants it.
    """

    methods: ClassVar[tuple[str, ...]]
    binary: ClassVar[bool]
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"parties": True}

    method: str = field(kw_only=False)
    epsilon: float = 1.0
    delta: float = 1e-5
    calibration: Calibration = "proven"
    noise: NoiseName | None = None
    trust: Trust = "aggregator"
    colluders: int = 1
    dropouts: int = 0
    n_parties: int = 5
    radius: float = 1.0
    bias: float = 1.0
    classes: Sequence[Any] | None = None
    bounds: BoundsParameter = None
    insecure_seed: int | None = None
    ledger: str | PathLike[str] | None = None

    @override
    def __new__(cls, *args: object, **given: object) -> Self:
        if refused := _refused_parameter(cls, given):
            raise TypeError(str(refused))
        made: Self = super().__new__(cls)
        return made

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of a learner as `learner__name`.

        Parameters
        ----------
        **params : dict
            Parameters by name, with their new values; nothing is looked at before a fit.

        Returns
        -------
        FederatedClassifier
            The estimator itself.

        Raises
        ------
        InputError
            For `random_state`, which is called `insecure_seed` here and means something else, and for `class_weight`
            where the family uses no weights.
        ValueError
            For another name that is no parameter.

        """
        if refused := _refused_parameter(type(self), params):
            raise InputError(refused)
        changed: Self = super().set_params(**params)
        return changed

    @documented
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, parties: npt.ArrayLike | None = None) -> Self:  # noqa: D417  filled in
        """Train, draw noise, keep what is released and nothing else.

        Parameters
        ----------
        X, y, parties

        """
        dealt = parties is None
        return self._release(self._federation(X, y, parties), dealt)

    @documented
    def fit_parties(self, parties: Iterable[PartyRows] | Mapping[Any, PartyRows], **public: Any) -> Self:
        """Fit to each party's own rows.

        Parameters
        ----------
        parties : iterable of pairs (X, y), or mapping of names to them
            The parties' rows and classes, X of one width; in a list the parties are called 1, 2, ... A third entry is
            the `sample_weight` of the party's rows, where the family uses weights.
        **public : array-like
            Public rows, passed on to `fit` by name where the family has any.

        """
        X, y, whose, weights = join_parties(
            parties, with_frames=self.bounds is not None, with_weights=uses_weights(self.methods)
        )
        more = public if weights is None else {"sample_weight": weights, **public}
        fitted: Self = self.fit(X, y, parties=whose, **more)
        return fitted

    def predict(self, X: npt.ArrayLike) -> LabelArray:
        """Return the likeliest class of each row, which is clipped as in training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n,)
            Classes out of `classes_`.

        """
        numbers = np.concatenate([self.model_.predict(rows) for rows in self._rows(X)])
        found: LabelArray = self.classes_[numbers]
        return found

    def predict_proba(self, X: npt.ArrayLike) -> Array:
        """Return the softmax of the scores: numbers of a model with noise, and no calibrated probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite; they are clipped as in training.

        Returns
        -------
        ndarray of shape (n, C)
            A number for each row and class, in the order of `classes_`.

        """
        probabilities: Array = scipy.special.softmax(self._scores(X), axis=1)
        return probabilities

    def decision_function(self, X: npt.ArrayLike) -> Array:
        """Return the scores, of which the largest is the class that is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, finite; they are clipped as in training.

        Returns
        -------
        ndarray of shape (n, C), or (n,) for two classes
            One score for each row and class; for two, how far the second is ahead of the first.

        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @property
    def coef_(self) -> Array:
        """Weights of the columns in `decision_function`, for rows that are not clipped: (C, d), or (1, d) for two."""
        return self._in_columns("coef_")[0]

    @property
    def intercept_(self) -> Array:
        """Constants beside `coef_`: (C,), or (1,) for two classes."""
        return self._in_columns("intercept_")[1]

    @override
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        noisy = self.epsilon != math.inf
        tags.non_deterministic = noisy and self.insecure_seed is None
        tags.classifier_tags.poor_score = noisy  # no accuracy is promised whatever epsilon is
        tags.classifier_tags.multi_class = not self._for_two
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _settings(self) -> dict[str, Any]:
        """Return the method's fields, which are the family's own parameters, checked by their types.

        None leaves a field to the method, which may not have it.
        """
        checks, found = {"float": check_number, "int": check_whole_number}, dict[str, Any]()
        for own in fields(self)[len(fields(FederatedClassifier)) :]:
            value, kind = getattr(self, own.name), str(own.type).partition(" ")[0]
            found[own.name] = value if value is None or kind not in checks else checks[kind](own.name, value)
        return found

    def _method(self, **settings: Any) -> Method:
        check_one_of("method", self.method, self.methods)
        kind: Any = find_method(self.method)
        known, given = {setting.name for setting in fields(kind)}, {}
        for name, value in (self._settings() | settings).items():
            if value is not None and name not in known:
                raise InputError("setting.not_of_method", name=name, method=self.method, got=shown(value))
            if value is not None:
                given[name] = value
        try:
            method: Method = kind(**given)
        except InputError as wrong:
            raise InputError(_in_own_names(wrong.fault)) from wrong
        return method

    def _target(self, method: Method) -> Target:
        delta = check_exact_number("delta", self.delta)
        if delta is None:
            raise InputError("delta.infinite")
        noise = self._own_noise(method) if self.noise is None else self.noise
        return Target(check_exact_number("epsilon", self.epsilon), self.calibration, noise, delta)

    def _check(self, method: Method) -> None:
        """Raise InputError for a target or a trust that the theory of this method does not give."""
        check_one_of("trust", self.trust, get_args(Trust))
        if self.trust == "secure":
            require_secure_sum(method, self._target(method))
        else:
            check_target(self._target(method), method)

    def _own_noise(self, method: Method) -> NoiseName:
        if self.trust == "secure" and has_secure_sum(method):
            return default_secure_noise(method)
        return next(
            iter(noise_names(method, self.calibration)), "knorm"
        )  # a calibration that it has not is refused later

    def _stream(self) -> Stream:
        return stream_of_seed(self.insecure_seed)

    def _federation(
        self, X: npt.ArrayLike, y: npt.ArrayLike, parties: npt.ArrayLike | None, weigh: Weigh | None = None
    ) -> Federation:
        """Check everything that can be checked before training, and set the attributes that describe the input.

        A fit that fails leaves an estimator that is not fitted, instead of an old model with new classes.
        """
        for released in ("model_", "privacy_"):
            if hasattr(self, released):
                delattr(self, released)
        self.bounds_ = self._public_bounds()
        if self.bounds_ is not None:
            return self._encoded(X, y, parties, self.bounds_, weigh)
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False, accept_sparse="csr")
        self._begin(labels, self.classes)
        self.ball_ = Ball(check_number("radius", self.radius), check_number("bias", self.bias))
        parts = RowAssignment.of(rows.shape[0], parties, self.n_parties)
        inside, clipped = clip_into_ball(rows, self.ball_, parts)
        data = make_federation(inside, labels, self.classes_, parts, weigh)
        if clipped_too_often(clipped, rows.shape[0]):
            self._warn_clipped(clipped, rows.shape)
        return data

    def _encoded(
        self, X: Any, y: npt.ArrayLike, parties: npt.ArrayLike | None, bounds: Bounds, weigh: Weigh | None
    ) -> Federation:
        """Return the federation of rows that these bounds encode."""
        found = encode_table(X, bounds, "X")
        n = len(found.X)
        labels = check_labels("y", y, n, f"the {n} rows")
        self._begin(labels, named_classes(bounds, labels) if self.classes is None else self.classes)
        validate_data(self, X, skip_check_array=True)  # the number and the names of columns
        self.ball_ = Ball(bounds.clip, bounds.bias)
        data = make_federation(found.X, labels, self.classes_, RowAssignment.of(n, parties, self.n_parties), weigh)
        warn_of_clipping(type(self).__name__, found, bounds)
        return data

    def _begin(self, labels: LabelArray, named: Sequence[Any] | None) -> None:
        """Check labels and settings, and set the classes, which are public where somebody named them."""
        check_classification_targets(labels)
        self._check(self._method())
        self.classes_: LabelArray = self._classes(labels, named)

    @property
    def _classes_are_public(self) -> bool:
        """True if somebody named the classes: they are a parameter, or texts out of the bounds."""
        return self.classes is not None or named_classes(self.bounds_, self.classes_) is not None

    def _public_bounds(self) -> Bounds | None:
        """Return the bounds; InputError where they say what another parameter says, too."""
        found = public_bounds(self.bounds)
        usual = {own.name: own.default for own in fields(self)}
        for name in ("radius", "bias"):
            if found is not None and getattr(self, name) != usual[name]:
                raise InputError("setting.beside_bounds", name=name, got=shown(getattr(self, name)))
        return found

    @property
    def _width(self) -> int:
        """Number of features of a row before the bias."""
        width: int = self.n_features_in_
        return width if self.bounds_ is None else row_width(self.bounds_)

    def _public_rows(self, name: str, given: npt.ArrayLike) -> Array:
        """Return public rows in the ball."""
        if self.bounds_ is not None:
            return encode_table(given, self.bounds_, name).X
        return self.ball_.rows(check_public_rows(name, given, self.n_features_in_))

    def _warn_clipped(self, clipped: int, shape: tuple[int, int]) -> None:
        n, d = shape
        fault = InputFault(
            "rows.clipped_by_radius",
            {"clipped": clipped, "rows": n, "radius": self.ball_.radius, "columns": d, "length": math.sqrt(d)},
        )
        warn_clipped(fault.within(type(self).__name__), stacklevel=4)

    @property
    def _for_two(self) -> bool:
        """Property of a method for two classes only; one that is none of the family is refused elsewhere."""
        return self.binary and (self.method not in self.methods or getattr(find_method(self.method), "binary", True))

    def _classes(self, y: LabelArray, named: Sequence[Any] | None) -> LabelArray:
        classes = sorted_classes(y if named is None else named, once=named is not None)
        if self._for_two and len(classes) > 2:
            raise InputError("classes.only_two_supported", method=self.method, got=len(classes))
        return classes

    def _release(self, data: Federation, dealt: bool, **settings: Any) -> Self:
        method, rng = self._method(**settings), self._stream()
        target, simulated = self._target(method), self._simulated_sum(method, data)
        if self.ledger is None:
            return self._released((simulated or method.train(data)).release(target, rng), dealt)
        if rng.insecure:
            raise InputError("ledger.insecure_seed")
        statement = simulated.statement(simulated.spec(target)) if simulated else method.statement(data.public, target)
        with charge_fit(self.ledger, data, self.method, statement, target) as charge:
            return self._released((simulated or method.train(data)).release(target, rng), dealt, charge)

    def _simulated_sum(self, method: Method, data: Federation) -> SimulatedSum | None:
        """Return the parties' local models where nobody is trusted; None where somebody is."""
        if self.trust == "aggregator":
            return None
        t, D = check_whole_number("colluders", self.colluders), check_whole_number("dropouts", self.dropouts)
        return SimulatedSum.of(method, data, ThreatModel(len(data.parties), t, D), LARGEST_N)

    def _released(self, release: Release, dealt: bool, charge: FitCharge | None = None) -> Self:
        if not isinstance(release.model, Scored):
            raise TypeError(f"{self.method} releases no model that scores rows")
        more = [(CLASSES_FROM_LABELS, not self._classes_are_public), (SIMULATED_PARTIES, dealt)]
        more += [(SINGLE_RELEASE, charge is None), (REFUSAL, True)]
        caveats = (*release.privacy.caveats, *(caveat for caveat, holds in more if holds))
        privacy = replace(release.privacy, caveats=caveats)
        self.privacy_: PrivacyStatement = charge.released(release.model, privacy) if charge else privacy
        self.model_: Scored = release.model
        return self

    def _scores(self, X: npt.ArrayLike) -> Array:
        """Return scores: (n, C)."""
        scores: Array = np.concatenate([self.model_.scores(rows) for rows in self._rows(X)])
        return scores

    def _rows(self, X: npt.ArrayLike) -> Iterator[Array]:
        """Return the rows in the ball, block by block."""
        check_is_fitted(self)
        if self.bounds_ is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
            return iter((encode_table(X, self.bounds_, "X").X,))
        given = validate_data(self, X, dtype=np.float64, reset=False, accept_sparse="csr")
        return (self.ball_.rows(block) for _, block in dense_blocks(given))

    def _in_columns(self, name: str) -> tuple[Array, Array]:
        """Return `coef_` and `intercept_`; AttributeError before a fit, and where the model has neither."""
        check_is_fitted(self)
        if isinstance(self.model_, LinearModel):
            weights, constants = self.ball_.in_columns(self.model_.W)
        elif isinstance(self.model_, BiasedModel):  # its rows get one more coordinate, which is 1
            W = self.model_.linear.W
            weights, constants = self.ball_.in_columns(W[:, :-1])
            constants = constants + W[:, -1]
        else:
            raise AttributeError(f"{name}: {type(self).__name__} released a {type(self.model_).__name__}, not linear")
        if len(self.classes_) == 2:
            return weights[1:] - weights[:1], constants[1:] - constants[:1]
        return weights, constants


def _refused_parameter(kind: type[FederatedClassifier], given: Mapping[str, object]) -> InputFault | None:
    """Return why a parameter of other estimators, which is given by habit, is none of this family."""
    if "random_state" in given:
        return NO_RANDOM_STATE
    return NOT_OF_FAMILY if "class_weight" in given and not uses_weights(kind.methods) else None


def _in_own_names(fault: Fault) -> Fault:
    """Return a method's fault about one of its fields, with the name that the parameter has here."""
    return replace(fault, fields={**fault.fields, "name": "lam"}) if fault.fields.get("name") == "lambda" else fault
