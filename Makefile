# A front over CMake's presets: build/<preset> holds what <preset> made.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
SUITES := debug asan coverage
SOURCES = $(shell find . -path ./build -prune -o -name '*.[ch]' -print)

.PHONY: all deps deps-all deps-arm demo model \
        check check-all check-arm check-avx512 \
        bench bench-peers bench-mutants \
        bench-jit bench-challenge bench-eon bench-official bench-super bench-mttkrp \
        bench-learn bench-search bench-network bench-formats bench-against \
        bench-growth bench-fixed bench-budget \
        bench-dense bench-onnx bench-pruned bench-sample bench-transfer bench-fleet bench-python \
        bench-petsc \
        install format tidy lint clean clang tsan fuzz msan $(SUITES)

all: build/release/build.ninja      ## the release build
	cmake --build --preset release -j $(JOBS)

build/%/build.ninja: CMakePresets.json | deps
	cmake --preset $*

deps:                               ## what building and testing needs
	@tools/deps.sh
deps-all:                           ## and what the other targets need
	@tools/deps.sh all
deps-arm:                           ## and what check-arm needs
	@tools/deps.sh arm

demo: all                           ## tune a generated matrix, under a minute
	tools/demo.sh build/release/spry
model: all                          ## collect and train what is shipped
	tools/train.sh build/release/spry $(BUDGET)
check: all                          ## every test
	tools/test.sh release
check-all:                          ## gcc, clang, sanitizers, lint
	JOBS=$(JOBS) tools/check-all.sh $(SUITE)
check-avx512:                       ## AVX-512 kernels on any x86
	JOBS=$(JOBS) tools/check-avx512.sh
build/arm/build.ninja: | deps-arm
check-arm: build/arm/build.ninja    ## every test as 64-bit ARM, emulated
	cmake --build --preset arm -j $(JOBS)
	tools/test.sh arm
bench: all                          ## the published numbers, on this machine
	build/release/bench/bench-sparse
	build/release/bench/bench-pack
bench-formats bench-fixed: all      ## do palettes, bytes, rests, known widths pay?
	build/release/bench/$@
bench-budget: all                   ## are budgets kept?
	build/release/bench/$@
bench-growth: all                   ## spmm-32 by size, beside its limits
	build/release/bench/$@
bench-dense: all                    ## dense operators beside oneDNN
	build/release/bench/$@
bench-onnx: all                     ## networks beside PyTorch, OpenCV, oneDNN
	/usr/bin/python3 bench/onnx.py $(PARTS)
bench-pruned: all                   ## pruned layers and networks, dense or sparse
	build/release/bench/$@
bench-peers: all                    ## beside the libraries people use
	build/release/bench/bench-peers
bench-mttkrp: all                   ## tensors, over the best plain loop
	build/release/bench/$@
bench-mutants bench-jit: all        ## are faults noticed; making kernels
	build/release/bench/$@
bench-official: all                 ## are generated networks the official ones?
	build/release/bench/$@
bench-challenge: all                ## the Graph Challenge, passes on and off
	build/release/bench/$@
bench-eon: all                      ## the learned order beside the others
	build/release/bench/$@
bench-network: all                  ## sparse networks, all that is claimed
	build/release/bench/$@
bench-super: all                    ## are all SuperSchedules right?
	build/release/bench/$@
bench-search: all                   ## what each search strategy finds
	build/release/bench/$@
bench-learn: all                    ## is the learned tuner worth its data?
	build/release/bench/$@
bench-sample: all                   ## how few records teach as much?
	build/release/bench/$@
bench-transfer: all                 ## are models worth something elsewhere?
	build/release/bench/$@
bench-against: all                  ## is OLD=path/to/bench-serve faster?
	build/release/bench/$@ $(OLD)
bench-fleet: all                    ## a queue that loses nothing
	build/release/bench/$@
bench-python: all                   ## the Python package beside SciPy, torch
	/usr/bin/python3 bench/python.py
bench-petsc: all                    ## PETSc with spry's products and without
	python3 bench/petsc.py
install: build/release/build.ninja  ## to PREFIX, below DESTDIR
	cmake --build --preset release -j $(JOBS) \
	    --target libspry.so libspry.a spry_cli spry_man spry_completion
	cmake --install build/release --prefix "$(PREFIX)" --strip

$(SUITES): %: build/%/build.ninja   ## every test in another build
	cmake --build --preset $@ -j $(JOBS)
	tools/test.sh $@
	$(if $(filter coverage,$@),tools/coverage.sh build/$@)
clang tsan fuzz:                    ## the same with clang, if it is there
	tools/clang-suite.sh $@ $(JOBS)
msan:                               ## readers under the memory sanitizer
	JOBS=$(JOBS) tools/msan.sh

format:
	clang-format -i $(SOURCES)
tidy: all
	LINT_ALL=1 tools/lint.sh
lint: all                           ## format, cppcheck, shellcheck, tidy
	tools/lint.sh
clean:
	rm -rf build

.PHONY: prove sbom deb
prove: all                          ## are the promises kept? an hour
	PROVE_PARTS="$(PROVE_PARTS)" tools/prove.sh build/release
sbom:                               ## what it is made of, as SPDX
	@mkdir -p build
	tools/sbom.py --out build/spry.spdx.json
deb:                                ## Debian packages, in build/deb
	JOBS=$(JOBS) tools/deb.sh
