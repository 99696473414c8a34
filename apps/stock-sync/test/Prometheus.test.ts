import { describe, expect, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Responses from "../src/observability/HttpResponses.ts"

/** What `/metrics` responds with if only these metrics exist. */
const rendered = (...updates: ReadonlyArray<Effect.Effect<void>>) =>
  Effect.flatMap(
    Effect.andThen(Effect.all(updates, { discard: true }), Responses.metrics),
    (response) => Effect.promise(() => HttpServerResponse.toWeb(response).text())
  ).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))

describe("metrics in Prometheus's text", () => {
  it.effect("have a name, a help and a type each, and the samples of a name stand together", () =>
    Effect.gen(function*() {
      const gauge = Metric.gauge("a_waiting", { description: "What waits" })
      const text = yield* rendered(
        Metric.update(Metric.withAttributes(gauge, { urgency: "soldOut" }), 3),
        Metric.update(Metric.gauge("a_other"), 1.5),
        Metric.update(Metric.withAttributes(gauge, { urgency: "rest" }), 0)
      )
      const [, first, second] = /# HELP a_waiting What waits\n# TYPE a_waiting gauge\n(.*)\n(.*)\n/.exec(text) ?? []
      expect(new Set([first, second])).toEqual(new Set(["a_waiting{urgency=\"rest\"} 0", "a_waiting{urgency=\"soldOut\"} 3"]))
      expect(text).toContain("# TYPE a_other gauge\na_other 1.5\n")
    }))

  it.effect("are counters with the ending of one", () =>
    Effect.gen(function*() {
      const text = yield* rendered(
        Metric.update(Metric.counter("b_rising", { incremental: true }), 4),
        Metric.update(Metric.counter("b_named_total", { incremental: true, bigint: true }), 12n)
      )
      expect(text).toContain("# TYPE b_rising_total counter\nb_rising_total 4\n")
      expect(text).toContain("# TYPE b_named_total counter\nb_named_total 12\n")
    }))

  it.effect("count a histogram's buckets up to everything, once", () =>
    Effect.gen(function*() {
      const waits = Metric.withAttributes(Metric.histogram("c_waits", { boundaries: [0.5, 2], description: "Waits" }), { of: "it" })
      expect(yield* rendered(...[0.5, 1, 1, 7].map((value) => Metric.update(waits, value)))).toBe([
        "# HELP c_waits Waits",
        "# TYPE c_waits histogram",
        "c_waits_bucket{of=\"it\",le=\"0.5\"} 1",
        "c_waits_bucket{of=\"it\",le=\"2\"} 3",
        "c_waits_bucket{of=\"it\",le=\"+Inf\"} 4",
        "c_waits_sum{of=\"it\"} 9.5",
        "c_waits_count{of=\"it\"} 4",
        ""
      ].join("\n"))
    }))

  it.effect("can't be broken by what names, labels and helps hold", () =>
    Effect.gen(function*() {
      const gauge = Metric.gauge("e_odd-name.s", { description: "one \\ two\nthree \"quoted\"" })
      const text = yield* rendered(
        Metric.update(Metric.withAttributes(gauge, { "a-label:x": "back\\slash \"quote\"\nnew line" }), Infinity),
        Metric.update(Metric.withAttributes(gauge, { "a-label:x": "less" }), -Infinity)
      )
      expect(text).toContain("# HELP e_odd_name_s one \\\\ two\\nthree \"quoted\"\n# TYPE e_odd_name_s gauge\n")
      expect(text).toContain("e_odd_name_s{a_label_x=\"back\\\\slash \\\"quote\\\"\\nnew line\"} +Inf\n")
      expect(text).toContain("e_odd_name_s{a_label_x=\"less\"} -Inf\n")
      expect(text.trimEnd().split("\n")).toHaveLength(4)
    }))
})
