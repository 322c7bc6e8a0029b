# SPDX-License-Identifier: GPL-2.0-only
# Only wraps: the modules are built by the kernel's build system from Kbuild,
# the tools by tools/Makefile, and what runs a guest is in scripts/.

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
TOOLS_OUT ?= $(CURDIR)/tools/build
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_SRC := /usr/src/timewheel-$(VERSION)
UDEV_RULE := /etc/udev/rules.d/60-timewheel.rules
KBUILD := $(MAKE) -C $(KDIR) M=$(CURDIR)
RELEASE = $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
KVER ?= $(shell uname -r)
# As each kernel's build system may have put them.
INSTALLED_MODULES := module/timewheel kunit/timewheel_kunit kunit/stress/timewheel_stress_kunit \
	timewheel timewheel_kunit timewheel_stress_kunit

.DEFAULT_GOAL := all
.PHONY: all modules tools demo check check-debug check-all bench bench-check million levels model install install-tools \
	dkms-install uninstall uninstall-tools clean clean-modules help have-kdir have-dkms

all: modules tools ## build the modules for KDIR (the running kernel) and the tools

modules: have-kdir ## build timewheel.ko, timewheel_bench.ko, and timewheel_kunit.ko if the kernel has KUnit
	$(KBUILD) TIMEWHEEL_BENCH=y modules

tools: ## build the timewheel command, libtimewheel, the examples and the benches
	$(MAKE) -C tools OUT=$(TOOLS_OUT)

demo: ## everything needed, then the main job on a stock Debian kernel in a VM
	scripts/demo

check: ## everything needed, then style, KUnit and the selftests on Debian's 6.12
	scripts/check $(CHECK)

check-debug: ## the same, and KUnit and the selftests on a kernel with KASAN, lockdep and kmemleak
	scripts/check --debug

check-all: ## the same on all kernels, KCSAN and PREEMPT_RT among them, and the models
	scripts/check --all

bench: ## what timeouts cost kernel code, programs and a trace, with the peers; charts (some hours)
	scripts/bench $(BENCH)

bench-check: ## whether the timewheel takes more instructions than when that was last run
	scripts/bench-check

million: ## a million timeouts against timerfds and io_uring: time, memory, leases
	scripts/million

levels: ## what a timeout costs on wheels of other shapes, in instructions
	scripts/levels

model: ## check the models of the races with spin, in full, and that each can fail
	scripts/model

# Builds the modules itself: what was built last is what modules_install takes, and that
# is to be without the bench.
install: have-kdir install-tools ## install the modules for KDIR, the command and the udev rule (root, or DESTDIR=)
	$(KBUILD) modules
	$(KBUILD) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) INSTALL_MOD_DIR=updates modules_install
	@test -n "$(DESTDIR)" || depmod -a $(RELEASE) || true
	@echo "installed for $(RELEASE); load it there with: modprobe timewheel"

install-tools: tools ## install the command, the library, the man pages and the udev rule (root, or DESTDIR=)
	install -D -m 755 $(TOOLS_OUT)/timewheel $(DESTDIR)$(PREFIX)/bin/timewheel
	install -D -m 755 $(TOOLS_OUT)/preload/timewheel-preload.so \
		$(DESTDIR)$(PREFIX)/lib/timewheel/timewheel-preload.so
	install -D -m 644 include/uapi/linux/timewheel.h $(DESTDIR)$(PREFIX)/include/linux/timewheel.h
	install -D -m 644 tools/lib/timewheel.h $(DESTDIR)$(PREFIX)/include/timewheel.h
	install -D -m 644 $(TOOLS_OUT)/lib/libtimewheel.a $(DESTDIR)$(PREFIX)/lib/libtimewheel.a
	install -D -m 755 $(TOOLS_OUT)/lib/libtimewheel.so.0 $(DESTDIR)$(PREFIX)/lib/libtimewheel.so.0
	ln -sf libtimewheel.so.0 $(DESTDIR)$(PREFIX)/lib/libtimewheel.so
	install -D -m 644 $(TOOLS_OUT)/lib/libtimewheel.pc \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/libtimewheel.pc
	install -D -m 644 tools/man/timewheel.1 $(DESTDIR)$(PREFIX)/share/man/man1/timewheel.1
	install -D -m 644 tools/man/libtimewheel.3 $(DESTDIR)$(PREFIX)/share/man/man3/libtimewheel.3
	install -D -m 644 tools/man/timewheel.4 $(DESTDIR)$(PREFIX)/share/man/man4/timewheel.4
	install -D -m 644 tools/udev/60-timewheel.rules $(DESTDIR)$(UDEV_RULE)
ifeq ($(DESTDIR),)
	getent group timewheel >/dev/null || groupadd --system timewheel
	@udevadm control --reload 2>/dev/null || true
	@ldconfig 2>/dev/null || true
endif

dkms-install: have-dkms install-tools ## install the module by DKMS, for this kernel (or KVER=) and those to come (root)
	install -d $(DKMS_SRC)
	cp -R Kbuild Makefile dkms.conf include module kunit $(DKMS_SRC)/
	dkms status -m timewheel -v $(VERSION) | grep -q . || \
		dkms add -m timewheel -v $(VERSION)
	dkms install --force -m timewheel -v $(VERSION) -k $(KVER)
	@echo "installed for $(KVER); load it there with: modprobe timewheel"

uninstall: uninstall-tools ## take away what install and dkms-install put there (root, or DESTDIR=)
ifeq ($(DESTDIR),)
	@modprobe -r timewheel 2>/dev/null || true
	@! dkms status -m timewheel -v $(VERSION) 2>/dev/null | grep -q . || \
		dkms remove -m timewheel -v $(VERSION) --all
	rm -rf $(DKMS_SRC)
endif
	rm -f $(foreach file,$(INSTALLED_MODULES),$(DESTDIR)/lib/modules/*/updates/$(file).ko*)
	@for modules in $(DESTDIR)/lib/modules/*/modules.dep; do \
		! grep -q timewheel "$$modules" || \
			depmod $(if $(DESTDIR),-b $(DESTDIR)) -a "$$(basename "$$(dirname "$$modules")")"; \
	done 2>/dev/null
ifeq ($(DESTDIR),)
	@echo "uninstalled; the group timewheel is left, 'groupdel timewheel' takes it away"
endif

uninstall-tools: ## take away what install-tools put there (root, or DESTDIR=)
	rm -rf $(DESTDIR)$(PREFIX)/lib/timewheel
	rm -f $(DESTDIR)$(PREFIX)/bin/timewheel $(DESTDIR)$(UDEV_RULE) \
		$(DESTDIR)$(PREFIX)/include/timewheel.h \
		$(DESTDIR)$(PREFIX)/include/linux/timewheel.h \
		$(DESTDIR)$(PREFIX)/lib/libtimewheel.a \
		$(DESTDIR)$(PREFIX)/lib/libtimewheel.so* \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/libtimewheel.pc \
		$(DESTDIR)$(PREFIX)/share/man/man1/timewheel.1 \
		$(DESTDIR)$(PREFIX)/share/man/man3/libtimewheel.3 \
		$(DESTDIR)$(PREFIX)/share/man/man4/timewheel.4

clean: clean-modules ## remove what was built here (the cache is left)
	-$(MAKE) -C tools clean

clean-modules:
	find $(wildcard module kunit tools/bench/kernel tools/examples/kernel) \( -name '*.o' -o -name '.*.o' -o -name '.*.d' -o -name '*.symvers' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name 'modules.order' \) -delete
	rm -f modules.order Module.symvers .modules.order.cmd .Module.symvers.cmd *.o .*.o .*.cmd

have-kdir:
	@test -e "$(KDIR)/Makefile" || { \
		echo "No kernel headers in $(KDIR)."; \
		echo "Install those of the running kernel (apt-get install linux-headers-$$(uname -r)),"; \
		echo "or name others: make KDIR=/path/to/headers, make KDIR=\$$(scripts/kernel --build 6.12)"; \
		echo "The programs alone need none: make tools. To see it at work without: make demo."; \
		exit 1; }

have-dkms:
	@command -v dkms >/dev/null || \
		{ echo "No dkms: apt-get install dkms"; exit 1; }
	@test -e "/lib/modules/$(KVER)/build/Makefile" || { \
		echo "No kernel headers for $(KVER): install them (apt-get install linux-headers-$(KVER)),"; \
		echo "or name a kernel that has them: make dkms-install KVER=..."; \
		exit 1; }

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'
	@echo
	@echo "  scripts/vm --help, scripts/uml --help: run a program in a guest"
	@echo "  scripts/kunit --help, scripts/selftests --help: one lane, one suite or one test"
	@echo "  scripts/bench --help: one run of the bench, a quick one, or a trace of your own"
	@echo "  scripts/kernel --help: the kernels, and what each is for"
