// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer on the JVM: Netty's HashedWheelTimer, as it comes (a tick of 100 ms, 512
 * slots, its own thread).  It has no refresh: that is a cancel and a new timeout.
 *
 *	NettyPeer LIVE,... RUNS OPERATION,...|all json|table
 *
 * The rows are those of timewheel-peers.  What one round of an operation costs is
 * taken after rounds that nobody counts, in which the JVM compiles it.  All CPU time
 * is the caller's and that of the wheel's thread; the collector's is not in it.
 */
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

public final class NettyPeer {
	private static final int WORK_MAX = 100000;
	private static final int EXTRA_MAX = 10000;
	private static final int WARM_UPS = 3;
	private static final int IDLE_S = 4;
	private static final long SEC = 1000000000L;
	private static final long FAR_NS = 7200 * SEC;
	private static final long SPAN_NS = 3 * SEC;
	private static final long SOON_NS = SEC;
	/* The wheel's thread takes in what was asked for, and unlinks, once in a tick. */
	private static final long SETTLE_MS = 500;
	private static final String THREAD = "netty-wheel";

	private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
	private static final Random RANDOM = new Random(1);

	/* What is measured. */
	private interface Work {
		void run() throws Exception;
	}

	/* What a program learns: which timeout it was, and here also when. */
	private final class Learn implements TimerTask {
		private final int index;

		Learn(int index) {
			this.index = index;
		}

		@Override
		public void run(Timeout timeout) {
			at[index - live] = System.nanoTime();
			latch.countDown();
		}
	}

	private final int live;
	private final int extra;
	private final int[] order;
	private final Timeout[] timeouts;
	private final long[] deadlines;
	private final long[] at;
	private final boolean json;
	private Thread worker;
	private final HashedWheelTimer timer;
	private CountDownLatch latch;

	private NettyPeer(int live, boolean json) {
		this.live = live;
		this.json = json;
		extra = Math.min(live, EXTRA_MAX);
		order = new int[live];
		timeouts = new Timeout[live + extra];
		deadlines = new long[extra];
		at = new long[extra];
		timer = new HashedWheelTimer(task -> {
			worker = new Thread(task, THREAD);
			return worker;
		});
		timer.start();
		for (int i = 0; i < live; i++)
			order[i] = i;
		for (int i = live - 1; i > 0; i--) {
			int other = RANDOM.nextInt(i + 1), swap = order[i];

			order[i] = order[other];
			order[other] = swap;
		}
	}

	private static long far() {
		return FAR_NS / 2 + (long)(RANDOM.nextDouble() * (FAR_NS / 2));
	}

	private void arm(int index, long delay) {
		timeouts[index] = timer.newTimeout(new Learn(index), delay, TimeUnit.NANOSECONDS);
	}

	private void fill() {
		for (int i = 0; i < live; i++)
			arm(i, far());
	}

	private static void settle() throws InterruptedException {
		Thread.sleep(SETTLE_MS);
	}

	private void row(String operation, String unit, double value, double... more) {
		String[] names = { "cpu", "p50", "p99", "p999" };
		StringBuilder line = new StringBuilder();

		if (json)
			line.append(String.format(Locale.ROOT,
				"{\"part\":\"user\",\"peer\":\"netty\",\"operation\":\"%s\","
				+ "\"live\":%d,\"unit\":\"%s\",\"value\":%.2f",
				operation, live, unit, value));
		else
			line.append(String.format(Locale.ROOT, "  %-18s %-8d live %14.1f %s",
						  operation, live, value, unit));
		for (int i = 0; i < more.length; i++) {
			if (!Double.isNaN(more[i]))
				line.append(String.format(Locale.ROOT,
					json ? ",\"%s\":%.2f" : "  %s %.1f", names[i], more[i]));
		}
		System.out.println(line.append(json ? "}" : ""));
	}

	private static double median(double[] values) {
		double[] sorted = values.clone();

		Arrays.sort(sorted);
		return sorted[sorted.length / 2];
	}

	/* Of this thread and the wheel's. */
	private long cpuNs() {
		return CPU.getCurrentThreadCpuTime() + workerNs();
	}

	private long workerNs() {
		return CPU.getThreadCpuTime(worker.getId());
	}

	/* One figure each of time and CPU time, for one of @nr. */
	private double[] measure(int nr, Work work) throws Exception {
		long cpu = cpuNs(), begin = System.nanoTime(), end;

		work.run();
		end = System.nanoTime();
		settle();
		return new double[] {
			(double)(end - begin) / nr,
			(double)(cpuNs() - cpu) / nr,
		};
	}

	private void refresh(int from, int to, long[] delays) {
		for (int i = from; i < to; i++) {
			Timeout old = timeouts[order[i]];

			old.cancel();
			timeouts[order[i]] = timer.newTimeout(old.task(), delays[i],
							      TimeUnit.NANOSECONDS);
		}
	}

	private void cancel(int from, int to) {
		for (int i = from; i < to; i++)
			timeouts[order[i]].cancel();
	}

	private void arm(int from, int to, long[] delays) {
		for (int i = from; i < to; i++)
			arm(order[i], delays[i]);
	}

	/* Two threads at once, each with one half of what there is. */
	private double[] both(int half, Work first, Work second) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(2);
		long[] took = new long[2], cpu = new long[2];
		Work[] works = { first, second };
		Thread[] threads = new Thread[2];
		double[] figure;

		for (int i = 0; i < 2; i++) {
			int me = i;

			threads[i] = new Thread(() -> {
				try {
					barrier.await();
					took[me] = System.nanoTime();
					works[me].run();
					took[me] = System.nanoTime() - took[me];
					cpu[me] = CPU.getCurrentThreadCpuTime();
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			});
		}
		figure = measure(2 * half, () -> {
			for (Thread thread : threads)
				thread.start();
			for (Thread thread : threads)
				thread.join();
		});
		figure[0] = (double)(took[0] + took[1]) / 2 / half;
		figure[1] += (double)(cpu[0] + cpu[1]) / 2 / half;
		return figure;
	}

	private void costs(int runs, List<String> wanted) throws Exception {
		int nr = Math.min(live / 2, WORK_MAX), half = nr / 2;
		String[] names = { "refresh", "cancel", "arm", "refresh-2-threads", "arm-2-threads" };
		double[][] value = new double[names.length][runs], cpu = new double[names.length][runs];
		long[] delays = new long[nr];

		for (int run = -WARM_UPS; run < runs; run++) {
			double[][] figures = new double[names.length][];

			for (int i = 0; i < nr; i++)
				delays[i] = far();
			figures[0] = measure(nr, () -> refresh(0, nr, delays));
			figures[1] = measure(nr, () -> cancel(0, nr));
			figures[2] = measure(nr, () -> arm(0, nr, delays));
			figures[3] = both(half, () -> refresh(0, half, delays),
					  () -> refresh(half, 2 * half, delays));
			cancel(0, 2 * half);
			settle();
			figures[4] = both(half, () -> arm(0, half, delays),
					  () -> arm(half, 2 * half, delays));
			for (int i = 0; run >= 0 && i < names.length; i++) {
				value[i][run] = figures[i][0];
				cpu[i][run] = figures[i][1];
			}
		}
		for (int i = 0; i < names.length; i++)
			if (wanted.contains(names[i].replaceAll(".*-2-", "")))
				row(names[i], "ns", median(value[i]), median(cpu[i]));
	}

	private void armExtra(long span) {
		long from = System.nanoTime() + SOON_NS;

		latch = new CountDownLatch(extra);
		for (int i = 0; i < extra; i++) {
			deadlines[i] = from + (span > 0 ? (long)(RANDOM.nextDouble() * span) : 0);
			arm(live + i, deadlines[i] - System.nanoTime());
		}
	}

	/* The wheel's thread tells: its time is from the first to the last. */
	private void expiry(int runs) throws Exception {
		double[] value = new double[runs], cpu = new double[runs];

		for (int run = -WARM_UPS; run < runs; run++) {
			long begin;

			armExtra(0);
			Thread.sleep((SOON_NS - SEC / 10) / 1000000);
			begin = cpuNs();
			latch.await();
			if (run < 0)
				continue;
			cpu[run] = (double)(cpuNs() - begin) / extra;
			value[run] = (double)(Arrays.stream(at).max().getAsLong()
					      - Arrays.stream(at).min().getAsLong()) / extra;
		}
		row("expire", "ns", median(value), median(cpu));
	}

	private void lateness() throws Exception {
		double[] late = new double[extra];
		int early = 0;

		armExtra(SPAN_NS);
		latch.await();
		for (int i = 0; i < extra; i++) {
			late[i] = at[i] - deadlines[i];
			early += late[i] < 0 ? 1 : 0;
		}
		Arrays.sort(late);
		row("lateness", "ns", Arrays.stream(late).average().getAsDouble(), Double.NaN,
		    late[extra / 2], late[(int)(extra * 99L / 100)],
		    late[(int)(extra * 999L / 1000)]);
		row("early", "count", early);
	}

	/* Of the wheel's thread: how often it went to sleep, and how often it went at all. */
	private static long[] switches() throws IOException {
		long[] sum = new long[2];

		try (DirectoryStream<Path> tasks =
		     Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
			for (Path task : tasks) {
				if (!Files.readAllLines(task.resolve("comm")).get(0).equals(THREAD))
					continue;
				for (String line : Files.readAllLines(task.resolve("status"))) {
					String[] words = line.split("\\s+");

					if (words[0].startsWith("voluntary_"))
						sum[0] += Long.parseLong(words[1]);
					if (words[0].contains("voluntary_"))
						sum[1] += Long.parseLong(words[1]);
				}
			}
		}
		return sum;
	}

	private void idle() throws Exception {
		long[] before, after;
		long cpu;

		settle();
		before = switches();
		cpu = workerNs();
		Thread.sleep(IDLE_S * 1000L);
		cpu = workerNs() - cpu;
		after = switches();
		row("idle-wakeups", "count", (double)(after[0] - before[0]) / IDLE_S);
		row("idle-switches", "count", (double)(after[1] - before[1]) / IDLE_S);
		row("idle-cpu", "ns", (double)cpu / IDLE_S);
	}

	private static double heapBytes() throws InterruptedException {
		for (int i = 0; i < 3; i++) {
			System.gc();
			settle();
		}
		return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
	}

	private void measureAll(int runs, List<String> wanted) throws Exception {
		double before = wanted.contains("memory") ? heapBytes() : 0;

		fill();
		settle();
		/* The heap's; the arrays that find them again are the bench's. */
		if (wanted.contains("memory"))
			row("memory-process", "bytes", (heapBytes() - before) / live);
		if (!Collections.disjoint(wanted,
					  Arrays.asList("arm", "refresh", "cancel", "threads")))
			costs(runs, wanted);
		if (wanted.contains("expire"))
			expiry(runs);
		if (wanted.contains("lateness"))
			lateness();
		if (wanted.contains("idle"))
			idle();
		timer.stop();
	}

	public static void main(String[] args) throws Exception {
		String all = "arm,refresh,cancel,expire,threads,lateness,idle,memory";
		List<String> wanted = Arrays.asList((args[2].equals("all") ? all : args[2]).split(","));

		for (String live : args[0].split(","))
			new NettyPeer(Integer.parseInt(live), args[3].equals("json"))
				.measureAll(Integer.parseInt(args[1]), wanted);
	}
}
