# `make run` starts the service, `make test` runs the tests; `make help` lists the rest.

BIN := node_modules/.bin
# Where the machine's Node is none that package.json allows ("engines"), make brings one along.
NODE_FITS := $(shell node -e 'const of = (text) => text.match(/\d+/g).map(Number), own = of(process.versions.node); \
	process.exit(+!require("./package.json").engines.node.split("||").some((range) => { \
		const least = of(range), at = least.findIndex((part, index) => part !== own[index]); \
		return least[0] === own[0] && (at < 0 || own[at] > least[at]); }))' 2>/dev/null && echo yes)
export MACHINE_PATH := $(or $(MACHINE_PATH),$(PATH))
ifneq ($(NODE_FITS),yes)
NODE := .node/node_modules/node/bin/node
export PATH := $(CURDIR)/$(dir $(NODE)):$(PATH)
endif
# The oldest Node that package.json allows, and the newest that the registry has.
RUNTIMES = $(shell node -e 'const [oldest, ...rest] = require("./package.json").engines.node.split(" || "); console.log(oldest.slice(1), rest.at(-1).match(/\d+/)[0])')
# The sources of what ships, and those of the tests and benchmarks.
SOURCES = $(call sources,runtime daraja src client gateway console contract proto)
TESTS = $(call sources,test bench)
sources = $(shell find $(1) \( -path src/gen -o -path client/gen -o -path console/gen \) -prune -o -type f \( -name '*.ts' -o -name '*.tsx' -o -name '*.proto' -o -path '*/migrations/*.json' \) -print)

.DEFAULT_GOAL := help
.PHONY: help packages run pack test lint lint-format lint-code lint-contract lint-tests check coverage nightly docs runtimes fuzz audit baseline screenshots bench bench-full cells suspend console move profile compare path peers upgrade chaos events overload hostile simulate mutants clean

help: ## list what make can do
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

run: dist/.bundled ## install, build, migrate, make a demo organization if there is none, and serve (gRPC and REST)
	@echo 'The command kesc, in this folder:$(if $(NODE), PATH="$(CURDIR)/$(dir $(NODE)):$$PATH") npx kesc --help'
	@dist/bin/kesc.js serve --demo

pack: dist/.bundled ## make the packages to install without a checkout, in dist/packages: kesc, and the client @kesc/client
	@node deploy/packages.mjs
	@cd dist/packages && npm pack --silent --ignore-scripts ./kesc ./client >/dev/null && ls -sh1 *.tgz

lint: dist/.built ## what needs no server: formatting, linters, imports, dead code, contract, generated files, documents
	@$(MAKE) --no-print-directory -j2 --output-sync lint-code lint-format lint-contract lint-tests

lint-code:
	@$(BIN)/eslint .

lint-format:
	@$(BIN)/prettier --check --log-level warn .
	@$(BIN)/depcruise runtime daraja src client gateway console contract test bench
	@$(BIN)/knip

lint-contract:
	@$(BIN)/buf lint proto
	@$(BIN)/buf format --diff --exit-code proto
	@$(BIN)/buf breaking dist/proto/kesc.v1.json --against proto/released.json

lint-tests:
	@$(BIN)/mocha --reporter dot 'dist/test/lint/**/*.test.js'

test: dist/.built ## install, build, and run the tests: each unit and rpc, PostgreSQL included; ONLY="storage grpc/calls" picks files
	@node dist/test/run.js $(ONLY)

check: lint coverage ## everything that must hold before a commit lands: lint, and all tests in their full size on both engines
	@KESC_TEST_STAGE=check $(MAKE) --no-print-directory test

coverage: dist/.built ## the tests of the rules in src/domain, which must reach every branch
	@$(BIN)/c8 $(BIN)/mocha --reporter dot 'dist/test/domain/**/*.test.js'

nightly: dist/.built ## for hours: random seeds, planted bugs, long simulations, kills, overload; ends with one table. ONLY=chaos picks parts
	@node dist/test/attack/nightly.js $(ONLY)

runtimes: dist/.built ## the tests of transport, gateway, commands and storage on the oldest and the newest Node that package.json allows
	@for version in $(RUNTIMES); do \
		folder=$$(mktemp -d) && npm install --prefix $$folder --no-audit --no-fund --loglevel=error node@$$version >/dev/null && \
		PATH=$$folder/node_modules/node/bin:$$PATH && node --version && node dist/test/run.js $(or $(ONLY),grpc runtime gateway client cli storage/sqlite startup) \
		|| exit 1; rm -r $$folder; done

fuzz: dist/.built ## hostile input for as long as you like: RUNS=10000 tries of each property, SEED=… repeats a failure
	@FUZZ_RUNS=$(or $(RUNS),2000) $(if $(SEED),SEED=$(SEED)) $(BIN)/mocha 'dist/test/attack/fuzz/*.test.js'

audit: dist/.built ## known vulnerabilities: those that test/advisories.json lists, and then those that the registry knows
	@$(BIN)/mocha dist/test/lint/advisories.test.js
	@if npm audit --json 2>/dev/null | grep -q '"auditReportVersion"'; then npm audit; else \
		echo 'The registry could NOT be asked ("npm audit" says why): only the list in test/advisories.json was checked.'; fi

baseline: dist/.built ## after a release: what the next change of the contract is compared with
	@cp dist/proto/kesc.v1.json proto/released.json
	@node dist/test/contract/print-routes.js > proto/released-routes.txt

docs: dist/.built ## write what documents take from the code and from bench/results, and what verify expects of the schema
	@node dist/test/docs.js
	@$(BIN)/prettier --write --log-level warn docs

screenshots: dist/.built ## show the pages of the gateway and the console, and `kesc top`, to a browser, and keep what it sees in docs/images
	@SCREENSHOTS_INTO=docs/images $(BIN)/mocha dist/test/openapi/browser.check.test.js dist/test/console/browser.check.test.js dist/test/cli/top/picture.check.test.js

bench: dist/.built ## measure against a bare gRPC echo, in one run on this machine; ARGS=--help lists the options
	@node dist/bench/main.js $(ARGS)

bench-full: dist/.built ## the parts of the benchmark that take long: curve, growth, PostgreSQL, rails, fairness, soak; ARGS=--help lists the options
	@node dist/test/support/with-postgres.js node dist/bench/main.js --full $(ARGS)

profile: dist/.built ## the processor time of a call, by the code that uses it
	@node dist/bench/profile/main.js

compare: dist/.built ## rate and processor time of calls in this build and another, in turn: OLD=../before PAIRS=11; ARGS="--engine postgres"
	@node dist/test/support/with-postgres.js node dist/bench/compare.js --old "$(OLD)" --pairs $(or $(PAIRS),11) $(ARGS)

cells: dist/.built ## mints a second of one cell and of four on PostgreSQL, with slow commits; ARGS=--help lists the options
	@node dist/test/support/with-postgres.js node dist/bench/cells.js $(ARGS)

suspend: dist/.built ## how long a suspension and the end of a key take while thousands of mints wait; ARGS=--help lists the options
	@node dist/test/support/with-postgres.js node dist/bench/suspend.js $(ARGS)

console: dist/.built ## the pages of the console over 100,000 transactions, and mints beside 30 open ones; ARGS=--help lists the options
	@node dist/test/support/with-postgres.js node dist/bench/console.js $(ARGS)

move: dist/.built ## move an organization with a million transactions from SQLite to PostgreSQL, and compare both; ARGS="--transactions 10000"
	@node dist/test/support/with-postgres.js node dist/bench/move.js $(ARGS)

path: dist/.built ## the files of ours that run between a request and its answer; ARGS="--kesc ../before" asks another build
	@node dist/bench/coverage.js $(ARGS)

peers: dist/.built ## generated clients and examples in other languages against the service, clients of others against the simulator, the rail against an M-Pesa of others, payment files against the schemas of ISO, all in a temporary folder, and Blnk beside it; ARGS=generators, ARGS=mpesa, ARGS=examples, ARGS=banks or ARGS=blnk
	@node dist/test/peers/main.js $(ARGS)

chaos: dist/.built ## kill the service and its database under load, and count what is lost; ARGS=--help lists the options
	@node dist/test/attack/chaos/main.js $(ARGS)

upgrade: dist/.built ## replace old servers by new ones under load, and count what is lost: OLD=../before; without it by a copy with one more migration
	@node dist/test/attack/upgrade/main.js --old "$(OLD)" $(ARGS)

events: dist/.built ## a million events through two gateways while one of two servers is killed; ARGS="--events 100000 --kills 5"
	@node dist/test/attack/events/main.js $(ARGS)

overload: dist/.built ## ten times what the service can do, and a greedy organization beside a modest one; OVERLOAD_SECONDS=20
	@node dist/test/attack/overload/main.js

hostile: dist/.built ## callers who keep to no rules, with ten thousand idle connections (as many as ulimit -n allows)
	@IDLE_CONNECTIONS=10000 $(BIN)/mocha 'dist/test/attack/hostile/*.test.js'

simulate: dist/.built ## crash servers between any two steps, and check what was acknowledged; SEED=1 RUNS=10000 ENGINE=both (ENGINE=rails: payments)
	@node dist/test/attack/simulation/main.js --seed $(or $(SEED),1) --runs $(or $(RUNS),10000) --engine $(or $(ENGINE),both)

mutants: dist/.built ## plant known bugs, one after the other, and see that something finds each; ONLY=text picks some, QUICK=1 asks make test alone
	@node dist/test/attack/mutants/main.js --only "$(ONLY)" $(if $(QUICK),--quick)

clean: ## remove what was built; data/ stays
	@rm -rf dist src/gen client/gen console/gen coverage proto/kesc.binpb proto/kesc-admin.binpb

.node/node_modules/node/bin/node:
	@echo 'Node 24 comes into .node, because the Node of this machine is not one for KESC…'
	@npm install --prefix .node --no-audit --no-fund --loglevel=error node@24

# What it takes to build and run are `dependencies`; `devDependencies` are for tests, linters and benchmarks. They stay where they are.
node_modules/.to-run: package.json package-lock.json
	@$(MAKE) --no-print-directory -j2 $(NODE) packages OMIT=$(if $(wildcard node_modules/mocha),,--omit=dev)
	@touch $@

node_modules/.to-test: package.json package-lock.json
	@$(MAKE) --no-print-directory -j2 $(NODE) packages
	@[ node_modules/.to-run -nt package-lock.json ] || touch node_modules/.to-run
	@touch $@

# Not `npm ci`: it wants the packages of every platform in the lock file, and not every registry has all of them. The machine's Node
# installs, since .node may arrive meanwhile.
packages:
	@echo 'Installing packages…'
	@PATH="$(MACHINE_PATH)" npm install $(OMIT) --no-save --no-audit --no-fund --loglevel=error

dist/.bundled: node_modules/.to-run $(SOURCES) deploy/bundle.mjs deploy/packages.mjs tsconfig.json tsconfig.client.json buf.yaml buf.gen.yaml
	@echo 'Building…'
	@npm run --silent build
	@touch $@

dist/.built: node_modules/.to-test dist/.bundled $(TESTS)
	@echo 'Compiling the tests…'
	@npm run --silent compile
	@chmod +x dist/src/cli/kesc.js
	@cd dist && find test -name '*.test.js' | while read -r test; do [ -f "../$${test%.js}.ts" ] || rm "$$test"; done # of tests that are gone
	@touch $@
