# The work is done by tools/course.py, which also runs where there is no make.

ifdef PYTHON
PYTHONS = "$(PYTHON)"
else
PYTHONS = python3 python3.13 python3.12 python3.11 python
endif
find = $(shell for p in $(PYTHONS); do "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null && { echo "$$p"; break; }; done)
none = $(error Python 3.11 or newer is needed and was not found (looked for: $(PYTHONS)); \
	install it from python.org, or name yours: make $@ PYTHON=/path/to/python3)
course = @"$(or $(find),$(none))" tools/course.py

.PHONY: help lab test lint refresh html bench mutants matrix steady colab links clean

help:
	@echo "make lab      open the course in JupyterLab (PORT=8890 chooses the port)"
	@echo "make test     check everything: style, spelling, the helper, every cell of every notebook"
	@echo "make lint     style and spelling only"
	@echo "make refresh  run the notebooks again and store what they print"
	@echo "make html     write the course as web pages, to read without Jupyter"
	@echo "make bench    time the notebooks' check, and the explorers in a browser (TRACK=light)"
	@echo "make colab    write notebooks that run alone, the helper inside, into build/colab"
	@echo "make links    write the Colab badges and the address of the helper (REPO=owner/name)"
	@echo "make mutants  make small faults and see whether the tests notice (N=200 SEED=1)"
	@echo "make matrix   check with other versions of Python and the packages"
	@echo "make steady   check with other threads, order, locale, time zone, path and user, offline"
	@echo "make clean    remove the virtual environment and the caches"

lab:
	$(course) lab

test:
	$(course) test

lint:
	$(course) lint

refresh:
	$(course) refresh

html:
	$(course) html

bench:
	$(course) bench $(TRACK)

colab:
	$(course) colab

links:
	$(course) links $(REPO)

mutants:
	$(course) mutants $(or $(N),200) $(or $(SEED),1)

matrix:
	$(course) matrix

steady:
	$(course) steady

clean:
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
