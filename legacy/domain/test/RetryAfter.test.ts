/**
 * `Retry-After` in both of its forms, and in none.
 */
import { it } from "@effect/vitest"
import { Duration, FastCheck, Option } from "effect"
import { afterEach, describe, expect } from "vitest"
import { parseHttpDate, retryAfter } from "../src/ErrorResponse.ts"

const receivedAt = Date.UTC(2026, 9, 1, 12, 0, 0)
const day = 86_400
const week = 7 * day
/** The wait in milliseconds for a value in seconds. */
const waitFor = (seconds: number) => seconds > week ? undefined : Math.min(seconds, day) * 1_000
const millis = (header: string | undefined) => Option.getOrUndefined(Option.map(retryAfter(header, receivedAt), Duration.toMillis))

describe("Retry-After", () => {
  const secondsOfAnySize = FastCheck.oneof(FastCheck.nat(2 * day), FastCheck.nat(2 * week), FastCheck.nat())

  it.prop("in seconds is that many seconds, not milliseconds; at most a day, and none beyond a week", [secondsOfAnySize], ([seconds]) => {
    expect(millis(String(seconds))).toBe(waitFor(seconds))
  })

  it.each([
    ["86400", day],
    ["86401", day],
    ["604800", day],
    ["604800.0", day],
    ["60000", 60_000],
    ["604800.001", undefined],
    ["604801", undefined],
    ["1764200000", undefined],
    ["1764200000000", undefined],
    ["99999999999", undefined],
    ["1".repeat(400), undefined]
  ] as const)("%j is %s seconds", (header, expected) => {
    expect(millis(header)).toBe(expected === undefined ? undefined : expected * 1_000)
  })

  it.each([["0", 0], ["1.5", 1_500], ["0.25", 250], [" 7 ", 7_000], ["007", 7_000]] as const)("%j is %i ms", (header, expected) => {
    expect(millis(header)).toBe(expected)
  })

  const instants = FastCheck.oneof(FastCheck.nat(2 * day), FastCheck.nat(2 * week), FastCheck.integer({ min: 0, max: 2_000_000_000 }))
  const hours = FastCheck.integer({ min: -72 * 3_600, max: 72 * 3_600 })

  it.prop("as an HTTP date is compared with the service's clock, with any skew", [instants, hours], ([seconds, ahead]) => {
    const sentAt = receivedAt + ahead * 1_000
    const header = new Date(sentAt + seconds * 1_000).toUTCString()
    const wait = retryAfter(header, receivedAt, new Date(sentAt).toUTCString())
    expect(Option.map(wait, Duration.toMillis)).toEqual(Option.fromNullable(waitFor(seconds)))
  })

  it.prop("in seconds doesn't depend on any clock", [secondsOfAnySize, hours], ([seconds, ahead]) => {
    const wait = retryAfter(String(seconds), receivedAt, new Date(receivedAt + ahead * 1_000).toUTCString())
    expect(Option.map(wait, Duration.toMillis)).toEqual(Option.fromNullable(waitFor(seconds)))
  })

  it.prop("as an HTTP date without a Date header is compared with the local clock", [instants], ([seconds]) => {
    expect(millis(new Date(receivedAt + seconds * 1_000).toUTCString())).toBe(waitFor(seconds))
  })

  it.each(["", "yesterday", "2026-10-01T12:00:30Z", "0", "Thu, 99 Oct 2026 12:00:00 GMT"])("a Date header %j counts as none", (date) => {
    expect(Option.map(retryAfter("Thu, 01 Oct 2026 12:00:30 GMT", receivedAt, date), Duration.toMillis)).toEqual(Option.some(30_000))
    expect(parseHttpDate(date)).toBeUndefined()
  })

  it.prop("as an HTTP date in the past is a wait of zero", [FastCheck.integer({ min: 0, max: 900_000_000 })], ([seconds]) => {
    expect(millis(new Date(receivedAt - seconds * 1_000).toUTCString())).toBe(0)
  })

  it.each(["Thu, 01 Oct 2026 12:00:30 GMT", "Thursday, 01-Oct-26 12:00:30 GMT", "Thu Oct  1 12:00:30 2026"])("%j is a date too",
    (header) => {
      expect(millis(header)).toBe(30_000)
    })

  it.each([
    undefined,
    "",
    " ",
    "soon",
    "-5",
    "+5",
    "1e3",
    "0x10",
    "5s",
    "5 s",
    ".5",
    "5.",
    "1,5",
    "1 2",
    "60, 60",
    "Thu, 01 Oct 2026 12:00:30 GMT, Thu, 01 Oct 2026 12:00:30 GMT",
    "Infinity",
    "NaN",
    "null",
    "abc 9999",
    "May 1",
    "Mon, 99 Oct 2026 12:00:00 GMT",
    "2026-10-01T12:00:30Z",
    "Thu, 01 Oct 2026 12:00:30",
    "Thu, 01 Oct 2026",
    "99999999999999999999",
    "9".repeat(400)
  ])("%j tells no time", (header) => {
    expect(millis(header)).toBeUndefined()
  })

  it.prop("with any text is none or a wait of at most a day", [
    FastCheck.oneof(
      FastCheck.string(),
      FastCheck.double().map(String),
      FastCheck.date({ noInvalidDate: true }).map((date) => date.toUTCString())
    ),
    FastCheck.option(FastCheck.oneof(FastCheck.string(), FastCheck.date({ noInvalidDate: true }).map((date) => date.toUTCString())), {
      nil: undefined
    })
  ], ([header, date]) => {
    const wait = Option.getOrElse(Option.map(retryAfter(header, receivedAt, date), Duration.toMillis), () => 0)
    expect(wait).toBeGreaterThanOrEqual(0)
    expect(wait).toBeLessThanOrEqual(day * 1_000)
  })

  describe("on a machine that isn't set to UTC", () => {
    const zone = process.env["TZ"]
    afterEach(() => {
      if (zone === undefined) {
        delete process.env["TZ"]
      } else {
        process.env["TZ"] = zone
      }
    })

    it("a date without a zone is still in GMT", () => {
      process.env["TZ"] = "Asia/Tokyo"
      expect(new Date(receivedAt).getHours()).toBe(21)
      expect(millis("Thu Oct  1 12:00:30 2026")).toBe(30_000)
    })
  })
})
