/** The service's clock comes from a valid `Date` header only. */
import { expect, it } from "@effect/vitest"
import { Profiles } from "@plaza-legacy/client"
import { DateTime, Effect } from "effect"
import { Operations } from "../src/internal/contract/Operations.ts"
import * as Fake from "./support/FakeService.ts"

const noon = Date.UTC(2026, 9, 1, 12)
const headers: ReadonlyArray<readonly [header: string | undefined, date: number | undefined]> = [
  ["Thu, 01 Oct 2026 12:00:00 GMT", noon],
  ["Thursday, 01-Oct-26 12:00:00 GMT", noon],
  ["Thu Oct  1 12:00:00 2026", noon],
  [undefined, undefined],
  ["0", undefined],
  ["cache 7", undefined],
  ["2026-10-01T12:00:00", undefined],
  ["Thu, 99 Oct 2026 12:00:00 GMT", undefined]
]

for (const [header, date] of headers) {
  it.effect(`the clock of a service with the Date ${String(header)} is ${date === undefined ? "unknown" : "that moment"}`, () =>
    Effect.gen(function*() {
      const { serviceClock } = yield* Operations
      const { me } = yield* Profiles
      yield* me
      const clock = yield* serviceClock
      expect(clock.date === undefined ? undefined : DateTime.toEpochMillis(clock.date)).toBe(date)
    }).pipe(Effect.provide(Fake.scripted([Fake.json({ id: "1" }, 200, header === undefined ? {} : { date: header })]).layer)))
}
