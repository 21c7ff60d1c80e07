# `demo`, `test`, `lint`, `bench`, `docs` and `release` install missing packages (Debian packages as root, Python packages in .venv),
# build and run. `swift build` and `swift test` also work without make.
SHELL := /bin/bash
.PHONY: demo test test-long lint format bench docs release setup setup-test kill-test instances explore screenshots pictures

setup:
	@scripts/install libsqlite3-dev:sqlite3.h

setup-test: setup
	@scripts/install node-jose:/usr/share/nodejs/jose nodejs:node chromium:chromium chromium-driver:chromedriver zbar-tools:zbarimg \
	    apache2-bin:/usr/sbin/apache2 libapache2-mod-auth-openidc:/usr/lib/apache2/modules/mod_auth_openidc.so glewlwyd:glewlwyd openssl:openssl tmux:tmux \
	    curl:curl iproute2:ip sqlite3:sqlite3 libpq-dev:postgresql/libpq-fe.h postgresql:/usr/lib/postgresql pgbouncer:pgbouncer \
	    haproxy:/usr/sbin/haproxy
	@scripts/venv

# Without a terminal, the phone approves automatically and the demo ends after its last step.
demo: setup
	swift run countersign demo $(DEMO) $(shell [ -t 0 ] || echo --once)

# The checks and the tests build the store on PostgreSQL too. The variable enables its trait.
test test-long kill-test instances screenshots lint: export COUNTERSIGN_POSTGRESQL = 1

test: setup-test
	COUNTERSIGN_REQUIRE_ALL=1 scripts/test

# The long test runs that `make test` shortens or skips.
test-long: kill-test instances explore screenshots

# The kill test with its full number of rounds.
kill-test: setup-test
	COUNTERSIGN_KILL_ROUNDS=50 swift test --filter 'KillTests|SQLiteCrashTests'

# Runs the wire tests against two servers on one PostgreSQL database, behind HAProxy.
instances: setup-test
	COUNTERSIGN_INSTANCES=2 swift test --filter '^AuthorizationServerTests'

# Explores every sequence of eight inputs to a sign-in; `make test` explores five. Uses a separate optimized build with few modules.
explore: setup
	COUNTERSIGN_EXPLORE=1 swift run -c release --scratch-path .build/explore -Xswiftc -enable-testing explore 8

# Takes screenshots of every page at 360 and 1280 pixels, light and dark, in .build/screenshots.
screenshots: setup-test
	rm -rf .build/screenshots
	COUNTERSIGN_SCREENSHOTS=.build/screenshots swift test --filter '^BrowserTests'
	@ls .build/screenshots

# Creates the README's pictures from a real run.
pictures: setup
	scripts/pictures

lint: setup
	@scripts/install python3:python3 libpq-dev:postgresql/libpq-fe.h
	scripts/lint

format:
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples

# Builds the command as one file with Swift's runtime, for machines without a toolchain.
release: setup
	@scripts/release

bench: setup
	scripts/install wrk:wrk sqlite3:sqlite3 curl:curl
	scripts/bench

# Builds the guides and the reference as one site in .build/docs/site.
docs: setup
	scripts/docs
