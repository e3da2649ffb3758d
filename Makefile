# Switchboard's commands; `make` alone lists them. The scripts in scripts/ implement them.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build install dist demo console demo-pages test test-deep sanitize fuzz soak check docs conformance format generate bench interop clean

# Printing a backtrace can hang, and a test that crashes must end. To get one: SWIFT_BACKTRACE=enable=yes make test
export SWIFT_BACKTRACE ?= enable=no

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Install everything for building and testing (packages by apt, a Python environment in .venv)
	@scripts/setup --tests

build: ## Build everything for debugging
	@scripts/setup
	swift build

PREFIX ?= /usr/local

install: ## Build the command for release, and install it with man page and completions below PREFIX=/usr/local
	@scripts/setup
	@scripts/install "$(PREFIX)"

dist: ## Build a tarball and a Debian package of the tools in .build/dist, and try both in an empty system
	@scripts/setup --dist
	@scripts/dist
	@scripts/test/dist

demo: ## Build and show what works
	@scripts/setup
	@scripts/demo

console: ## Build an example with load, and keep its console open: prints the link
	@scripts/setup
	swift build --package-path Examples/Observed --scratch-path .build/console
	.build/console/debug/Observed --serve

demo-pages: ## Keep pictures of the pages that commands make, and of the console, in .build/pages
	@scripts/setup --tests
	@scripts/demo-pages

test: ## Build and run all tests
	@scripts/setup --tests
	@scripts/test/steps test \
	  1 'building the peers' scripts/interop/build-peers \
	  7 'building the library, the tools and the tests' 'swift build --build-tests' \
	  4 'running the tests' scripts/test/run

test-deep: ## After `make test`: what repeats tests under other conditions, fuzzes, checks states and builds the examples
	@scripts/test/steps test-deep \
	  2 'the tests of the transport, without shortcuts' \
	    'SWITCHBOARD_SHORTCUTS=off scripts/test/run --filter SwitchboardTransportTests' \
	  2 'the tests of faults, with little memory' scripts/test/scarce-memory \
	  4 'fuzzing briefly' 'scripts/test/fuzz short' \
	  4 'a million random calls against models' scripts/test/states \
	  2 'a hundred thousand random steps of a mesh against a model, and 2,500 updates of one' \
	    'MESH_STEPS=100000 MESH_UPDATES=2500 scripts/test/run --filter "MeshModelTests|MeshFaultTests"' \
	  1 'the console of a server with 10,000 connections' \
	    'PAGE_CONNECTIONS=10000 scripts/test/run --filter ManyConnectionsTests' \
	  4 'the examples, as packages of their own' scripts/test/examples

sanitize: ## Run all tests under the address sanitizer, then under the thread sanitizer (slow)
	@scripts/setup --tests
	@scripts/interop/build-peers
	@scripts/test/sanitize

SECONDS ?= 60
MINUTES ?= 1

fuzz: ## Fuzz the code that reads untrusted bytes, for SECONDS=60 in total
	@scripts/setup
	@scripts/test/fuzz $(SECONDS)

soak: ## Make calls of all kinds with injected faults for MINUTES=1, and report losses and leaks
	@scripts/setup
	@scripts/test/soak $(MINUTES)

check: ## Lint, compare Generated/, check doc comments, links, spelling, the size of the code and house rules
	@scripts/setup --tests
	@scripts/check/all

docs: ## Build the documents and the pages of all public symbols as a site, in .build/docs
	@scripts/setup --tests
	@scripts/docs
	@scripts/check/site
	@scripts/check/site-looks

conformance: ## Run protobuf's conformance suite (fetches its source; takes minutes the first time)
	@scripts/setup
	@scripts/interop/conformance

format: ## Format the hand-written Swift files in place
	@scripts/format

generate: ## Write Generated/ anew from Protos/
	@scripts/setup --tests
	@scripts/generate

bench: ## Measure against the reference implementations (takes minutes)
	@scripts/setup --bench
	@scripts/bench/all

interop: ## Run gRPC's interoperability tests and write their table into docs/records/Interop.md
	@scripts/setup --tests
	swift build --build-tests
	@scripts/interop/table

clean: ## Remove what building made, and .venv
	rm -rf .build .venv Examples/*/.build
