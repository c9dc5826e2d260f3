from tests.analysis.conftest import checkpoint  # noqa: F401
from tests.training_runs.conftest import ask, folder, tsv  # noqa: F401
