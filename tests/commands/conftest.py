from tests.analysis.conftest import checkpoint  # noqa: F401
from tests.training_runs.conftest import folder  # noqa: F401
