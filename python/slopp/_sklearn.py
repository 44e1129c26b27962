"""What the estimator takes from scikit-learn, or what stands in for it where that is not installed."""

from __future__ import annotations

import inspect
from types import MethodType
from typing import Any

__all__ = ["HAS_SKLEARN", "NO_TARGET", "BaseEstimator", "ClassifierTags", "DensityMixin", "IfTarget", "NotFittedError",
           "check_is_fitted", "validate_data"]

try:
    from sklearn.base import BaseEstimator, DensityMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import ClassifierTags
    from sklearn.utils.validation import check_is_fitted, validate_data

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False
    ClassifierTags = check_is_fitted = validate_data = None

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The model was not fitted."""

    class DensityMixin:  # type: ignore[no-redef]
        """A place for what scikit-learn adds."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. "
                                     f"Valid parameters are: {self._get_param_names()}.")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
            settings = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
            return f"{type(self).__name__}({', '.join(settings)})"


NO_TARGET = 'which column is to be predicted? PSDD(target="name"), or set_params(target="name"), also after fit'


class IfTarget:
    """A method that is there if there is a target."""

    def __init__(self, method: Any):
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: Any) -> Any:
        if estimator is None:
            return self._method
        if estimator.target is None:
            raise AttributeError(NO_TARGET)
        return MethodType(self._method, estimator)
