# make app · make test · make lint · make bench · make pictures
# Everything lands in .venv; pip runs again only when pyproject.toml or constraints.txt changes.
# Another interpreter: make app PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALL := $(RUN) -m pip install --disable-pip-version-check --no-input --constraint constraints.txt --editable

.PHONY: app test lint bench pictures
.DELETE_ON_ERROR:

app: $(VENV)/.app
	$(RUN) -m streamlit run app.py

# Files of tests are shared out among processes; a browser and its server get the machine to themselves.
test: $(VENV)/.test
	$(RUN) -m pytest -m "not e2e" --numprocesses auto --maxprocesses 4 --dist loadfile
	$(RUN) -m pytest -m e2e

lint: $(VENV)/.lint
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(VENV)/bin/lint-imports
	$(RUN) -m pyright

bench: $(VENV)/.bench $(VENV)-joeynmt/.ready
	$(RUN) -m benchmarks

pictures: $(VENV)/.test
	$(RUN) docs/make_pictures.py

# A stamp for each set of packages, touched only after pip has succeeded.
$(VENV)/.app: pyproject.toml constraints.txt | $(RUN)
	@echo "Installing Roundtable into $(VENV): a few minutes, this once. Where pip picks a CUDA build of torch, several GB."
	$(INSTALL) .
	@touch $@

$(VENV)/.test $(VENV)/.bench $(VENV)/.lint: $(VENV)/.%: pyproject.toml constraints.txt | $(RUN)
	$(INSTALL) '.[$*]'
	@touch $@

# JoeyNMT pins packages that we need newer, so it has an environment of its own. Without it the table lacks its column.
$(VENV)-joeynmt/.ready: constraints.txt | $(RUN)
	-"$(PYTHON)" -m venv --clear $(VENV)-joeynmt && $(VENV)-joeynmt/bin/python -m pip install \
		--disable-pip-version-check --no-input "$$(grep ^torch== constraints.txt)" joeynmt==2.3.0 importlib_metadata && touch $@

# Without ensurepip (Debian's python3-venv) a half-made venv stays behind and would be taken for a whole one: remove it.
$(RUN):
	@command -v "$(PYTHON)" >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name it, as in: make app PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Roundtable needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" -V 2>&1): name a newer one, as in: make app PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) could not make a virtual environment: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
