"""What a rule is. Rules of other packages subclass these two and register as entry points."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from gpu_eval.mutation.launch import PlanContext, PlanEdit
from gpu_eval.mutation.sites import Edit, SourceContext
from suiteopt.matrix.schema import Family


class _Named:
    """What every rule has: a name, a family and, as its docstring, one line of documentation."""

    name: ClassVar[str]
    family: ClassVar[Family]

    @property
    def documentation(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").strip().partition("\n")[0]


class Rule(_Named, ABC):
    """A way to edit source code wrongly."""

    @abstractmethod
    def sites(self, source: SourceContext) -> Iterator[Edit]:
        """Yield every edit of this rule in one file.

        The span of an edit is the expression or statement that is edited as a whole, so that two
        rules that edit one expression share a site.
        """


class LaunchRule(_Named, ABC):
    """A way to edit a launch plan wrongly."""

    @abstractmethod
    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        """Yield every edit of this rule in one plan."""
