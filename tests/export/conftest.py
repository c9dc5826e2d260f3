from tests.analysis.conftest import checkpoint  # noqa: F401
