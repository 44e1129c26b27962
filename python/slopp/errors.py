"""What can go wrong. Every error is a `SloppError`, and also the error that Python has for such things."""

from . import _slopp


class SloppError(Exception):
    """Any error of slopp."""

    def __init__(self, text: str = ""):
        # Names come from files, and may hold characters that a terminal would act on.
        super().__init__(_slopp.visible_lines(text))


class ArgumentError(SloppError, ValueError, TypeError):
    """An argument that makes no sense: of a wrong type, a negative count, two that exclude each other."""


class PlaceError(SloppError, IndexError):
    """A place at which there is no record."""


class OutOfMemoryError(SloppError, MemoryError):
    """An answer that needs more memory than there is."""


class RecordsError(SloppError, ValueError):
    """Records that cannot be used: a cell that is not Boolean, an unseen category, columns that changed."""


class NamesError(SloppError, ValueError):
    """A name that no variable has, or that two have."""


class FormulaError(SloppError, ValueError):
    """Evidence, a formula or rules that cannot be read."""


class VtreeError(SloppError, ValueError):
    """A text or file that is not a vtree, or a vtree over other variables."""


class CircuitError(SloppError, ValueError):
    """A circuit that cannot be built."""


class CertificateError(SloppError, ValueError):
    """A circuit that is not what it has to be proved to be."""


class KindError(SloppError, AttributeError):
    """A question that a model of this kind cannot answer."""


class QueryError(SloppError, ValueError):
    """A question without an answer."""


class ImpossibleError(QueryError):
    """Conditioning on what has probability zero."""


class LearnError(SloppError, ValueError):
    """Nothing could be learned."""


class TooLargeError(SloppError, RuntimeError):
    """A diagram that needs more than its limits allow."""


class ReadError(SloppError, OSError, ValueError):
    """A file that cannot be read."""


class MissingFileError(ReadError, FileNotFoundError):
    """A file that is not there."""


class WriteError(SloppError, OSError):
    """A file that cannot be written."""
