# make demo      builds everything and runs the main job
# make test      formatting, lints, engine tests, Python tests
# make test-all  the long tests too
# make docs      the pages in docs/protocols, and the drawings in docs
# make bench     speed and memory of the engine; BENCH=--quick, --instructions, --switches, --protocols, --markdown
# Needs Rust, Python 3.11 or newer and a C toolchain; all else goes into .venv.
.PHONY: demo test test-all built engine-tests run-engine-tests run-python-tests lint docs bench clean
.DELETE_ON_ERROR:

BIN := .venv/bin
ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
endif
ENGINE_SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)

# Tests start Python hundreds of times: what it compiled is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE
# The one interpreter for every build, so that cargo does not build the same crate twice.
export PYO3_PYTHON = $(CURDIR)/$(BIN)/python
# The Python module cannot be linked into a test program; its tests are those of the Python package.
ENGINE_TESTS := cargo test --locked --workspace --exclude tailback-py
# More processes would load the libraries for longer than they test.
PYTHON_TESTS := $(BIN)/pytest -n auto --maxprocesses 8 --dist worksteal

demo: .venv/.engine
	$(BIN)/tailback demo

# Both at once: each has stretches that keep one core busy only.
test: built
	$(MAKE) -j2 --output-sync=target run-engine-tests run-python-tests

# The same random cases each time, so that what fails here fails again; test-all draws new ones.
run-engine-tests:
	PROPTEST_RNG_SEED=1 $(ENGINE_TESTS)

run-python-tests:
	$(PYTHON_TESTS) --hypothesis-profile=ci

test-all: built
	$(ENGINE_TESTS) -- --include-ignored
	$(PYTHON_TESTS) -m ''

# Tests and module at once: the module's last step, which looks at the whole program, keeps one core busy only.
built:
	$(MAKE) -j2 engine-tests .venv/.engine lint

engine-tests:
	$(ENGINE_TESTS) --no-run

lint: .venv/.packages
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check python
	$(BIN)/ruff format --check python
	$(BIN)/mypy

docs: .venv/.engine
	$(BIN)/python -m tailback.docs docs/protocols
	$(BIN)/tailback describe scenarios/phases.toml --draw docs/tree.svg
	$(BIN)/tailback trace scenarios/pause.toml -o docs/pause.svg

bench:
	cargo run --locked --release --package tailback-engine --example bench -- $(BENCH)

clean:
	rm -rf .venv target
	rm -f python/tailback/_engine*.so

.venv/.packages: requirements.lock
	@test -n "$(PYTHON)" || { echo "Tailback needs Python 3.11 or newer as python3 in the PATH" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

.venv/.engine: .venv/.packages $(ENGINE_SOURCES)
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --quiet --release --locked
	@touch $@
