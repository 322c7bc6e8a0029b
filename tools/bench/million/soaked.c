// SPDX-License-Identifier: GPL-2.0-only
/*
 * The soak, told.
 */
#include <stdio.h>

#include "parts.h"
#include "soak.h"

void soak_report(unsigned int leases, uint64_t idle_ns, uint64_t refresh_ns)
{
	struct soak s = {
		.leases = leases,
		.idle_ns = idle_ns,
		.refresh_ns = refresh_ns,
	};
	bool held;

	fprintf(stderr, "million: refreshing %u leases for %.0f s\n", leases,
		(double)refresh_ns / SEC);
	soak_run(&s);
	held = !s.wrong && !s.early && !s.twice && !s.missing;
	printf("%u leases with an idle limit of %.1f s, refreshed for %.0f s\n"
	       "  refreshes                %12llu, each lease %llu times\n"
	       "  left alone               %12.3f s at most\n"
	       "  CPU time of the worker   %12.3f s\n"
	       "  expired while refreshed  %12u\n", leases, (double)idle_ns / SEC,
	       (double)refresh_ns / SEC, (unsigned long long)s.refreshes,
	       (unsigned long long)s.sweeps, (double)s.longest_ns / SEC,
	       (double)s.worker_ns / SEC, s.wrong);
	if (s.left_alone)
		printf("  and %u that this program was too slow for, of %u: the machine\n"
		       "  did not run it for longer than the limit\n",
		       s.excused, s.left_alone);
	printf("  expired thereafter       %12u, within %.3f s\n"
	       "    early                  %12u\n"
	       "    more than once         %12u\n"
	       "    never                  %12u\n"
	       "  goal                          %s\n\n", s.expired,
	       (double)s.took_ns / SEC, s.early, s.twice, s.missing,
	       !held ? "not met" : s.excused ? "met, as far as this machine could tell" :
	       "met");
	fflush(stdout);
}
