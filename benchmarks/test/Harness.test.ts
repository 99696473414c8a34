/** Medians, rows and rounds, and the file of results. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { format, interleave, median, ratios, row, summary } from "../src/Harness.ts"
import * as Results from "../src/Results.ts"

describe("a figure", () => {
  it("is the median, also of an even number of samples", () => {
    expect(median([5, 1, 100])).toBe(5)
    expect(median([4, 1, 2, 100])).toBe(3)
    expect(median([])).toBeNaN()
  })

  it.each([
    [1.234, "x", "1.23x"],
    [47.06, "ms", "47.1 ms"],
    [12_345.6, "us", "12,346 us"],
    [0, "", "0"],
    [99.512, "%", "99.51%"],
    [94.26, "%", "94.3%"],
    [1.5, "s", "1.5 s"],
    [Number.NaN, "x", "-x"]
  ])("%d in %s is printed as %s", (figure, unit, text) => {
    expect(format(figure, unit)).toBe(text)
  })

  it("is compared round by round", () => {
    expect(ratios([2, 9], [1, 3])).toEqual([2, 3])
  })

  it("has its quartiles beside it", () => {
    expect(summary("curl", [1, 2, 3, 4, 5], "s")).toBe("curl 3 s (2 s to 4 s, 5 runs)")
    expect(summary("curl", [1], "s")).toBe("curl 1 s")
  })
})

describe("a row", () => {
  const common = { claim: "it is fast", page: "docs/client.md#uploads", unit: "x" }

  it.each([
    [{ atMost: 1.5 }, [1.4, 9, 1.2], true],
    [{ atMost: 1.5 }, [1.6], false],
    [{ atLeast: 0.9 }, [0.9], true],
    [{ atLeast: 0.9 }, [0.89], false],
    [{ atLeast: 0.9 }, [Number.NaN], false]
  ])("with the limit %j and the samples %j: held is %s", (limit, samples, held) => {
    expect(row({ ...common, limit, samples }).held).toBe(held)
  })

  it("has the limit, the median and the quartiles", () => {
    expect(row({ ...common, limit: { atMost: 1.5 }, samples: [1, 2, 3] })).toMatchObject({
      limit: "at most 1.5x",
      median: "2x",
      spread: "1.5x to 2.5x, 3 runs"
    })
  })
})

describe("interleaved rounds", () => {
  it("measure every contender once, and each round begins with another one", () => {
    const order: Array<string> = []
    const note = (name: string) => Effect.sync(() => order.push(name))
    const samples = Effect.runSync(interleave({ a: note("a"), b: note("b") }, 3))
    expect(order).toEqual(["a", "b", "b", "a", "a", "b"])
    expect(samples).toEqual({ a: [1, 4, 5], b: [2, 3, 6] })
  })
})

describe("the file of results", () => {
  const line = (name: string, run: string) => [name, "a claim", "at most 1x", "1x", "1 run", "", "yes", run]
  const first = ["2026-11-01 10:00", "a machine", "versions"]
  const second = ["2026-11-02 10:00", "a machine", "versions"]
  const names = ["a", "b"]

  it("is read as it was written", () => {
    const results = { rows: [line("a", "2026-11-01 10:00")], runs: [first] }
    expect(Results.parse(Results.print(results))).toEqual(results)
    expect(Results.parse("")).toEqual({ rows: [], runs: [] })
  })

  it("keeps the rows of other benchmarks with their run, in the order of the benchmarks", () => {
    const b = Results.replace({ rows: [], runs: [] }, names, "b", [line("b", "2026-11-01 10:00")], first)
    const both = Results.replace(b, names, "a", [line("a", "2026-11-02 10:00")], second)
    expect(both).toEqual({ rows: [line("a", "2026-11-02 10:00"), line("b", "2026-11-01 10:00")], runs: [first, second] })
  })

  it("drops a run without rows, and the rows of a benchmark that no longer exists", () => {
    const old = { rows: [line("gone", "2026-11-01 10:00"), line("a", "2026-11-01 10:00")], runs: [first] }
    expect(Results.replace(old, names, "a", [line("a", "2026-11-02 10:00")], second)).toEqual({
      rows: [line("a", "2026-11-02 10:00")],
      runs: [second]
    })
  })
})
