import { describe, expect, it } from "@effect/vitest"
import * as Chart from "../src/observability/Chart.ts"
import * as History from "../src/observability/History.ts"

const minute = 60_000
const point = (at: number, more: Partial<History.Point> = {}): History.Point => ({ at, backlog: 0, sends: 0, requests: 0, ...more })
const of = (...points: ReadonlyArray<History.Point>) => points.reduce<History.History>(History.add, [])

describe("the last hour", () => {
  it("forgets what is older, and what a clock that was set back has made the future", () => {
    const seen = of(point(0), point(30 * minute), point(61 * minute), point(40 * minute))
    expect(seen.map(({ at }) => at)).toEqual([30 * minute, 40 * minute])
    expect(History.add(seen, point(95 * minute)).map(({ at }) => at)).toEqual([40 * minute, 95 * minute])
  })

  it("has sends a minute over the minute before each point, whatever the distance of the points", () => {
    const seen = of(point(0), point(10_000, { sends: 20 }), point(60_000, { sends: 60 }), point(70_000, { sends: 80 }),
      point(250_000, { sends: 260 }))
    expect(History.rates(seen)).toEqual([
      { at: 10_000, perMinute: 20 },
      { at: 60_000, perMinute: 60 },
      { at: 70_000, perMinute: 60 },
      { at: 250_000, perMinute: 60 }
    ])
    expect(History.rates(of(point(0)))).toEqual([])
  })

  it("counts the requests since a moment, no further back than it knows", () => {
    const seen = of(point(0, { requests: 5 }), point(10_000, { requests: 25 }), point(20_000, { requests: 30 }))
    expect(History.requestsSince(seen, 10_000)).toBe(5)
    expect(History.requestsSince(seen, -1)).toBe(25)
    expect(History.requestsSince([], 0)).toBe(0)
  })

  it("adds up in steps of five minutes, the latest first, and every send is in one of them", () => {
    const seen = of(...Array.from({ length: 61 }, (_, index) => point(index * minute, { backlog: 100 - index, sends: index * 2 })))
    const steps = History.steps(seen)
    expect(steps).toHaveLength(12)
    expect(steps[0]).toEqual({ at: 60 * minute, backlog: 40, sends: 10 })
    expect(steps.at(-1)).toEqual({ at: 5 * minute, backlog: 95, sends: 10 })
    expect(steps.reduce((sum, { sends }) => sum + sends, 0)).toBe(120)
    expect(History.steps(of(point(0), point(30 * minute, { sends: 7 })))).toEqual([
      { at: 30 * minute, backlog: 0, sends: 7 },
      { at: 0, backlog: 0, sends: 0 }
    ])
    expect(History.steps([])).toEqual([])
  })
})

describe("a chart", () => {
  it("reaches to one, two or five times a power of ten", () => {
    expect([0, 1, 3, 10, 11, 21, 51, 120, 9_999].map(Chart.axisEnd)).toEqual([1, 1, 5, 10, 20, 50, 100, 200, 10_000])
  })

  it("draws the oldest point at the left, the largest at the top, and tells what it shows in words", () => {
    const drawn = Chart.svg({
      id: "x",
      title: "Waiting <now>",
      description: "12 now",
      points: [{ at: 0, value: 0 }, { at: 3_600_000, value: 100 }],
      from: 0,
      to: 3_600_000,
      least: 10
    }).toString()
    expect(drawn).toContain("points=\"40,128 412,8\"")
    expect(drawn).toContain("aria-labelledby=\"x-title x-desc\"")
    expect(drawn).toContain("<title id=\"x-title\">Waiting &lt;now&gt;</title><desc id=\"x-desc\">12 now</desc>")
    expect(drawn).toContain(">30 min</text>")
    expect(drawn).toContain(">now</text>")
  })
})
