# `demo`, `test`, `lint`, `bench`, `docs` and `release` install missing packages (Debian packages as root, Python packages in .venv),
# build and run. `swift build` and `swift test` also work without make.
SHELL := /bin/bash
.PHONY: demo test test-long lint apple format bench soak docs release deb deb-test setup setup-test kill-test failover instances explore screenshots pictures

setup:
	@scripts/install libsqlite3-dev:sqlite3.h

setup-test: setup
	@scripts/install node-jose:/usr/share/nodejs/jose nodejs:node chromium:chromium chromium-driver:chromedriver zbar-tools:zbarimg \
	    apache2-bin:/usr/sbin/apache2 libapache2-mod-auth-openidc:/usr/lib/apache2/modules/mod_auth_openidc.so glewlwyd:glewlwyd openssl:openssl tmux:tmux \
	    curl:curl iproute2:ip sqlite3:sqlite3 libpq-dev:postgresql/libpq-fe.h postgresql:/usr/lib/postgresql pgbouncer:pgbouncer \
	    haproxy:/usr/sbin/haproxy systemd:systemd-analyze
	@scripts/venv

# Without a terminal, the phone approves automatically and the demo ends after its last step.
# The fixed seed: see BUILD.
demo: setup
	SWIFT_DETERMINISTIC_HASHING=1 swift build --product countersign
	swift run --skip-build countersign demo $(DEMO) $(shell [ -t 0 ] || echo --once)

# The checks and the tests build the store on PostgreSQL too. The variable enables its trait.
test test-long kill-test failover instances screenshots lint: export COUNTERSIGN_POSTGRESQL = 1

# SwiftPM passes the traits to the compiler in the order of a hash table. With a random seed, every second build would compile everything
# again. The tests themselves run with a random seed.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 swift build --disable-build-manifest-caching --build-tests
TESTS = $(BUILD) && $(1) swift test --disable-build-manifest-caching --skip-build

test: setup-test
	COUNTERSIGN_REQUIRE_ALL=1 scripts/test

# The long test runs that `make test` shortens or skips.
test-long: kill-test failover instances explore screenshots

# The kill test with its full number of rounds.
kill-test: setup-test
	$(call TESTS,COUNTERSIGN_KILL_ROUNDS=50) --filter 'KillTests|SQLiteCrashTests'

# Kills servers and the database, cuts the network and upgrades the servers, under load. `make test` runs one round.
ROUNDS ?= 10
failover: setup-test
	$(call TESTS,COUNTERSIGN_FAILOVER_ROUNDS=$(ROUNDS)) --filter FailoverTests

# Runs the tests over HTTP, those of the SDK and those of the pages against two servers on one PostgreSQL database, behind HAProxy. Left out
# are the tests that start the command or servers as processes of their own.
OWN_PROCESSES = FailoverTests|KillTests|Command|ClassicTerminalTests|DebugLogTests|MasterKeyTests|OperationTests|ProxyAttackTests|TerminalAttackTests|UnsafeFileTests|InstancesTests
instances: setup-test
	$(call TESTS,COUNTERSIGN_INSTANCES=2) --filter '^AuthorizationServerTests|^EndToEndTests|^BrowserTests' --skip '$(OWN_PROCESSES)'

# Explores every sequence of eight inputs to a sign-in; `make test` explores five. Uses a separate optimized build with few modules.
explore: setup
	COUNTERSIGN_EXPLORE=1 swift run -c release --scratch-path .build/explore -Xswiftc -enable-testing explore 8

# Takes screenshots of every page at 360 and 1280 pixels, light and dark, in .build/screenshots.
screenshots: setup-test
	rm -rf .build/screenshots
	$(call TESTS,COUNTERSIGN_SCREENSHOTS=.build/screenshots) --filter '^BrowserTests'
	@ls .build/screenshots

# Creates the README's pictures from a real run.
pictures: setup
	scripts/pictures

# Type-checks the code for Apple's platforms on Linux, against stubs of Apple's frameworks, and checks the Xcode project of the examples.
apple: setup
	@scripts/install python3:python3
	@scripts/venv
	scripts/apple-check --tests
	scripts/apple-check
	.venv/bin/python scripts/check-xcode-project .build/apple/package.json .build/apple/examples.json

lint: setup
	@scripts/install python3:python3 libpq-dev:postgresql/libpq-fe.h
	scripts/lint

format:
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples

# Builds the command as one file with Swift's runtime, for machines without a toolchain.
release: setup
	@scripts/release

# Builds a Debian package of the command with PostgreSQL support.
deb: setup
	@scripts/deb

# Installs, starts, upgrades and purges the package in a copy of this system that is thrown away. Needs root.
deb-test: setup
	@scripts/install curl:curl iproute2:ip
	scripts/check-deb

bench: setup
	scripts/install wrk:wrk sqlite3:sqlite3 curl:curl
	scripts/bench

# Runs the server for a day of its clock, in an hour, and fails if memory, open files or tables grow.
MINUTES ?= 60
soak: setup
	@scripts/install gcc:cc
	Benchmarks/HTTP/soak.py $(MINUTES)

# Builds the guides and the reference as one site in .build/docs/site.
docs: setup
	scripts/docs
