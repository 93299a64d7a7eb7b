"""The one exception that a user is meant to see."""


class UserError(Exception):
    """Bad input or a bad environment, told in one sentence.

    The sentence says what is wrong and what to do about it. The command line prints it alone,
    without a traceback, and exits with code 2.
    """


class MissingExtraError(UserError):
    """A package of an optional extra is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package '{package}', which is not installed; "
            f"run: pip install 'kernel-suiteopt[{extra}]'"
        )
