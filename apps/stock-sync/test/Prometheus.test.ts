import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Metric, MetricBoundaries } from "effect"
import * as Prometheus from "../src/observability/Prometheus.ts"

/** The rendered metrics whose names have a prefix. */
const rendered = (prefix: string) =>
  Effect.map(Metric.snapshot, (snapshot) => Prometheus.text(snapshot.filter(({ metricKey }) => metricKey.name.startsWith(prefix))))

describe("metrics in Prometheus's text", () => {
  it.effect("have a name, a help and a type each, and the samples of a name stand together", () =>
    Effect.gen(function*() {
      const gauge = Metric.gauge("prom_a_waiting", { description: "What waits" })
      yield* Metric.set(Metric.tagged(gauge, "urgency", "soldOut"), 3)
      yield* Metric.set(Metric.gauge("prom_a_other"), 1.5)
      yield* Metric.set(Metric.tagged(gauge, "urgency", "rest"), 0)
      const text = yield* rendered("prom_a_")
      const [, first, second] = /# HELP prom_a_waiting What waits\n# TYPE prom_a_waiting gauge\n(.*)\n(.*)\n/.exec(text) ?? []
      expect(new Set([first, second])).toEqual(new Set(["prom_a_waiting{urgency=\"rest\"} 0", "prom_a_waiting{urgency=\"soldOut\"} 3"]))
      expect(text).toContain("# TYPE prom_a_other gauge\nprom_a_other 1.5\n")
    }))

  it.effect("are counters, with the ending of one, only where they never fall", () =>
    Effect.gen(function*() {
      yield* Metric.incrementBy(Metric.counter("prom_b_rising", { incremental: true }), 4)
      yield* Metric.incrementBy(Metric.counter("prom_b_named_total", { incremental: true, bigint: true }), 12n)
      yield* Metric.incrementBy(Metric.counter("prom_b_both_ways"), -2)
      yield* Metric.update(Metric.frequency("prom_b_words"), "often")
      const text = yield* rendered("prom_b_")
      expect(text).toContain("# TYPE prom_b_rising_total counter\nprom_b_rising_total 4\n")
      expect(text).toContain("# TYPE prom_b_named_total counter\nprom_b_named_total 12\n")
      expect(text).toContain("# TYPE prom_b_both_ways gauge\nprom_b_both_ways -2\n")
      expect(text).toContain("# TYPE prom_b_words_total counter\nprom_b_words_total{key=\"often\"} 1\n")
    }))

  it.effect("count a histogram's buckets up to everything, once", () =>
    Effect.gen(function*() {
      const waits = Metric.tagged(Metric.histogram("prom_c_waits", MetricBoundaries.fromIterable([0.5, 2]), "Waits"), "of", "it")
      for (const value of [0.5, 1, 1, 7]) yield* Metric.update(waits, value)
      expect(yield* rendered("prom_c_")).toBe([
        "# HELP prom_c_waits Waits",
        "# TYPE prom_c_waits histogram",
        "prom_c_waits_bucket{of=\"it\",le=\"0.5\"} 1",
        "prom_c_waits_bucket{of=\"it\",le=\"2\"} 3",
        "prom_c_waits_bucket{of=\"it\",le=\"+Inf\"} 4",
        "prom_c_waits_sum{of=\"it\"} 9.5",
        "prom_c_waits_count{of=\"it\"} 4",
        ""
      ].join("\n"))
    }))

  it.effect("print a summary by its quantiles, and NaN for an unknown one", () =>
    Effect.gen(function*() {
      const summary = Metric.summary({ name: "prom_d_took", maxAge: Duration.minutes(1), maxSize: 10, error: 0, quantiles: [0.5] })
      yield* Metric.update(Metric.tagged(summary, "of", "nothing"), 3)
      const text = yield* rendered("prom_d_")
      expect(text).toMatch(/^# TYPE prom_d_took summary\nprom_d_took\{of="nothing",quantile="0\.5"\} (3|NaN)\n/)
      expect(text).toContain("prom_d_took_sum{of=\"nothing\"} 3\nprom_d_took_count{of=\"nothing\"} 1\n")
    }))

  it.effect("can't be broken by what names, labels and helps hold", () =>
    Effect.gen(function*() {
      const gauge = Metric.gauge("prom_e_odd-name.s", { description: "one \\ two\nthree \"quoted\"" })
      yield* Metric.set(Metric.tagged(gauge, "a-label:x", "back\\slash \"quote\"\nnew line"), Infinity)
      yield* Metric.set(Metric.tagged(gauge, "a-label:x", "less"), -Infinity)
      const text = yield* rendered("prom_e_")
      expect(text).toContain("# HELP prom_e_odd_name_s one \\\\ two\\nthree \"quoted\"\n# TYPE prom_e_odd_name_s gauge\n")
      expect(text).toContain("prom_e_odd_name_s{a_label_x=\"back\\\\slash \\\"quote\\\"\\nnew line\"} +Inf\n")
      expect(text).toContain("prom_e_odd_name_s{a_label_x=\"less\"} -Inf\n")
      expect(text.trimEnd().split("\n")).toHaveLength(4)
    }))

  it.effect("of another kind under a name that is taken are left out", () =>
    Effect.gen(function*() {
      yield* Metric.set(Metric.gauge("prom_f_twice_total"), 1)
      yield* Metric.increment(Metric.counter("prom_f_twice", { incremental: true }))
      expect((yield* rendered("prom_f_")).match(/# TYPE/g)).toHaveLength(1)
    }))
})
