# Everything happens in .venv; nothing outside the project is changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD :=  # settings of the build, and where it keeps its files
OLDEST_PYTHON ?= python3.10
CORE := CMakeLists.txt pyproject.toml $(shell find core -type f)

.PHONY: help demo test test-oldest test-v3 quick lint docs bench bench-peers bench-before bench-phases sanitize validate validate-all clean
help:  ## show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Continua needs Python 3.10 or newer") if sys.version_info < (3, 10) else 0'
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(VENV)/bin/python $(CORE)
	@echo "installing Continua into $(VENV) (builds the core, a few minutes)"
	$(PIP) install $(BUILD) --editable ".[all]"
	@touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python $(CORE)  # holds all of run.stamp, so that the core is built once
	@echo "installing Continua and its tools into $(VENV) (builds the core, a few minutes)"
	$(PIP) install $(BUILD) --editable ".[dev]"
	@touch $(VENV)/run.stamp $@

demo: $(VENV)/run.stamp  ## build, run the default scene and render it
	$(BIN)/continua run snowball --precision single -o out/snowball --overwrite
	$(BIN)/continua render out/snowball
	@echo "look at out/snowball"

test: $(VENV)/dev.stamp  ## set everything up and run all tests, as many at a time as there are cores
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist worksteal

test-v3:  ## all tests as on a processor without AVX-512: the core for x86-64-v3, and NumPy without AVX-512 as well
	OPENBLAS_CORETYPE=Haswell \
	NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4" \
	$(MAKE) test VENV=.venv-v3 \
	BUILD="--config-settings=cmake.define.CONTINUA_ARCH=x86-64-v3 --config-settings=build-dir=build/x86-64-v3"

test-oldest:  ## all tests with the oldest Python, NumPy and all else that is allowed
	mkdir -p build
	$(OLDEST_PYTHON) tools/oldest.py > build/oldest.txt
	PIP_CONSTRAINT=$(CURDIR)/build/oldest.txt PIP_BUILD_CONSTRAINT=$(CURDIR)/build/oldest.txt \
	$(MAKE) test VENV=.venv-oldest PYTHON=$(OLDEST_PYTHON)

lint: $(VENV)/dev.stamp  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/dev.stamp  ## build the documentation, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

validate: $(VENV)/run.stamp  ## compare with closed forms, manufactured solutions and experiments, about twenty minutes
	$(BIN)/continua validate

validate-all: $(VENV)/run.stamp  ## every case and every gallery scene at full size, half an hour on two cores; goes on where it was stopped
	$(BIN)/python tools/validate_all.py --jobs 2

bench: $(VENV)/run.stamp  ## speed of this machine
	$(BIN)/continua bench

bench-phases: $(VENV)/run.stamp  ## cost of every phase of a step beside the limits of this machine
	$(BIN)/python benchmarks/phases.py

bench-before: $(VENV)/run.stamp  ## speed beside another checkout that is built: make bench-before BEFORE=../before
	$(BIN)/python benchmarks/before_after.py --before $(BEFORE)
	$(BIN)/python benchmarks/demo.py --before $(BEFORE) --full

bench-peers: $(VENV)/run.stamp  ## speed beside Taichi, Warp and Numba, in an environment of its own
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip --disable-pip-version-check --quiet install . -r benchmarks/requirements-peers.txt
	.venv-peers/bin/python benchmarks/check_peers.py
	.venv-peers/bin/python benchmarks/compare.py
	.venv-peers/bin/python benchmarks/flow.py

sanitize: $(VENV)/dev.stamp  ## run the tests of the core with address and undefined-behaviour sanitizers
	bash tools/sanitize.sh $(BIN)/python $(PARTS)

clean:  ## remove everything that was built
	rm -rf build site .venv .venv-v3 .venv-oldest .pytest_cache .mypy_cache .ruff_cache src/continua/_core*.so
