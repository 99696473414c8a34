/**
 * A model of a shop and of what is wanted in it, against which every ledger is compared after each step: settled products have their stock at
 * the shop for good, and everything that is wanted arrives once the service accepts requests, or is uncertain because the last response
 * showed another stock.
 */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Context, Duration, Effect, Exit, Layer, Option, Result, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { mismatchTag } from "../../../src/ledger/Entry.ts"
import { Ledger, type Send } from "../../../src/ledger/Ledger.ts"
import type { SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import { at, bad, collect, id, intake, negative, opened, options, type Place, policy, refusal, row } from "./using.ts"

const ids = ["A", "B", "C", "D"] as const
const late = Duration.toMillis(options.lateWrites)
const hour = Duration.toMillis("1 hour")

/** What becomes of a request without response, from its end on: it takes effect at once, never, or so much later. */
type Fate = "once" | "never" | number

type Command =
  | {
    readonly _tag: "Snapshot"
    readonly rows: ReadonlyArray<
      { readonly id: (typeof ids)[number] | undefined; readonly kind: "good" | "negative" | "bad"; readonly stock: number }
    >
    readonly excluded: ReadonlyArray<string>
    readonly missing: "leave" | "zero"
    readonly duplicates: "sum" | "reject"
    readonly guarded: boolean
  }
  | { readonly _tag: "ConfirmHeld" }
  | { readonly _tag: "Take"; readonly how: "due" | "assert" | "trial"; readonly arrives: boolean }
  | { readonly _tag: "Confirm"; readonly which: number }
  | {
    readonly _tag: "Doubtful"
    readonly which: number
    readonly fate: Fate
    readonly retryIn: number
    /** `uncertain`: refused by a proxy. */
    readonly state: "doubtful" | "uncertain"
  }
  | {
    readonly _tag: "Refused"
    readonly which: number
    readonly state: "pending" | "quarantined"
    readonly retryIn: number
    readonly absent: boolean
  }
  /** The shop has the sent stock, and shows another one; or it has a third one. */
  | {
    readonly _tag: "Mismatch"
    readonly which: number
    readonly shown: number
    readonly atShop: number | "sent"
    readonly retryIn: number | undefined
  }
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Crash"; readonly fates: ReadonlyArray<Fate>; readonly millis: number; readonly jump: number }
  | { readonly _tag: "SetClock"; readonly jump: number }
  | { readonly _tag: "Release" }
  | { readonly _tag: "RetryNow" }
  /** `shown`: the list is out of date. */
  | { readonly _tag: "Observe"; readonly resend: boolean; readonly shown: number | undefined }

const stock = Generate.between(0, 3)
const which = Generate.between(0, 3)
const retryIn = Generate.elementOf([0, 500, 60_000])
const fate = Generate.oneOf<Fate>(Generate.anyOf(["once", "never"]), Generate.between(1, late - 1))
const jump = Generate.elementOf([0, -hour, hour, -1_000, 30_000])
const millis = Generate.oneOf(Generate.elementOf([1, late - 1, late, late + 1]), Generate.between(0, 2 * late))

const command = Generate.weighted<Command>(
  [
    4,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Snapshot"),
      rows: Generate.arrayOf(
        Arbitrary.all({
          id: Generate.weighted<(typeof ids)[number] | undefined>([12, Generate.anyOf(ids)], [1, Arbitrary.Constant(undefined)]),
          kind: Generate.weighted<"good" | "negative" | "bad">([8, Arbitrary.Constant("good")], [1, Generate.anyOf(["negative", "bad"])]),
          stock
        }),
        { minLength: 1, maxLength: 5 }
      ),
      excluded: Generate.weighted<ReadonlyArray<string>>([3, Arbitrary.Constant([])], [
        1,
        Arbitrary.map(Generate.arrayOf(Generate.anyOf(ids), { maxLength: 2 }), (some) => [...new Set(some)])
      ]),
      missing: Generate.anyOf(["leave", "zero"]),
      duplicates: Generate.anyOf(["sum", "reject"]),
      guarded: Generate.weighted<boolean>([4, Arbitrary.Constant(false)], [1, Arbitrary.Constant(true)])
    })
  ],
  [1, Arbitrary.Constant({ _tag: "ConfirmHeld" })],
  [
    7,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Take"),
      how: Generate.elementOf(["due", "due", "assert", "trial"] as const),
      arrives: Generate.boolean
    })
  ],
  [5, Arbitrary.all({ _tag: Arbitrary.Constant("Confirm"), which })],
  [
    4,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Doubtful"),
      which,
      fate,
      retryIn,
      state: Generate.elementOf(["doubtful", "doubtful", "uncertain"] as const)
    })
  ],
  [
    2,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Refused"),
      which,
      state: Generate.anyOf(["pending", "quarantined"]),
      retryIn,
      absent: Generate.boolean
    })
  ],
  [
    3,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Mismatch"),
      which,
      shown: stock,
      atShop: Generate.weighted<number | "sent">([3, Arbitrary.Constant("sent")], [1, stock]),
      retryIn: Generate.elementOf([undefined, undefined, 0, 2_000])
    })
  ],
  [3, Arbitrary.all({ _tag: Arbitrary.Constant("Pass"), millis })],
  [
    2,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Crash"),
      fates: Generate.arrayOf(fate, { minLength: ids.length, maxLength: ids.length }),
      millis,
      jump
    })
  ],
  [1, Arbitrary.all({ _tag: Arbitrary.Constant("SetClock"), jump })],
  [1, Arbitrary.Constant({ _tag: "Release" })],
  [1, Arbitrary.Constant({ _tag: "RetryNow" })],
  [
    1,
    Arbitrary.all({
      _tag: Arbitrary.Constant("Observe"),
      resend: Generate.boolean,
      shown: Generate.oneOf<number | undefined>(Arbitrary.Constant(undefined), stock)
    })
  ]
)

interface InFlight {
  readonly taken: Send
  arrived: boolean
}

const run = (place: Place, commands: ReadonlyArray<Command>) =>
  Effect.gen(function*() {
    let real = 1_000_000_000
    let offset = 0
    const wanted = new Map<string, number>()
    const excluded = new Set<string>()
    const shop = new Map<string, number>()
    let landings: ReadonlyArray<{ readonly productId: string; readonly stock: number; readonly at: number }> = []
    let inFlight: ReadonlyArray<InFlight> = []
    /** The last response showed another stock than the one that is still wanted. */
    const mismatched = new Set<string>()
    const want = (productId: string, stock: number) => {
      if (wanted.get(productId) !== stock) mismatched.delete(productId)
      wanted.set(productId, stock)
    }

    const land = () => {
      const due = landings.filter(({ at }) => at <= real).sort((a, b) => a.at - b.at)
      landings = landings.filter(({ at }) => at > real)
      for (const { productId, stock } of due) shop.set(productId, stock)
    }
    const setClock = Effect.suspend(() => TestClock.setTime(real + offset))
    const pass = (millis: number) =>
      Effect.suspend(() => {
        real += millis
        land()
        return setClock
      })

    let scope = yield* Scope.make()
    const open = Effect.gen(function*() {
      const context = yield* Layer.buildWithScope(opened(place), scope)
      const ledger = Context.get(context, Ledger)
      yield* ledger.clockChanged(0)
      return ledger
    })
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    yield* setClock
    let ledger = yield* open

    const pick = (which: number) => inFlight[which % Math.max(1, inFlight.length)]
    const ended = (request: InFlight) => {
      mismatched.delete(request.taken.productId)
      inFlight = inFlight.filter((each) => each !== request)
    }
    const meets = ({ arrived, taken: { productId, value } }: InFlight, fate: Fate) => {
      if (arrived) return
      if (fate === "once") shop.set(productId, value)
      else if (fate !== "never") landings = [...landings, { productId, stock: value, at: real + fate }]
    }
    const confirm = (request: InFlight) =>
      Effect.suspend(() => {
        ended(request)
        if (!request.arrived) shop.set(request.taken.productId, request.taken.value)
        return ledger.confirm(request.taken)
      })

    const begin = (how: "due" | "assert" | "trial") =>
      Effect.gen(function*() {
        const now = real + offset
        const taken = Option.getOrUndefined(
          yield* how === "trial"
            ? ledger.take({ _tag: "HalfOpen", except: [] })
            : ledger.take({ _tag: "Due", confirmedBefore: how === "assert" ? Option.some(utc(now)) : Option.none() })
        )
        if (taken === undefined) return undefined
        expect(taken.value).toBe(wanted.get(taken.productId))
        expect(excluded.has(taken.productId)).toBe(false)
        expect(inFlight.some((each) => each.taken.productId === taken.productId)).toBe(false)
        const request: InFlight = { taken, arrived: false }
        inFlight = [...inFlight, request]
        return request
      })

    const snapshot = ({ duplicates, excluded: without, guarded, missing, rows }: Extract<Command, { readonly _tag: "Snapshot" }>) =>
      Effect.gen(function*() {
        const named = rows.filter((each) => each.id === undefined || !without.includes(each.id))
        const on: SnapshotPolicy = {
          ...policy,
          missing,
          duplicates,
          guard: { ...policy.guard, ...(guarded ? { share: 0, count: 0 } : { share: 1, count: 1_000 }) }
        }
        const asRows = named.map((each): Row =>
          each.id === undefined || each.kind === "bad"
            ? bad(each.id, "is odd")
            : each.kind === "negative"
            ? negative(each.id)
            : row(each.id, each.stock)
        )
        const received = yield* Effect.result(ledger.applySnapshot(intake(Stream.fromIterable(asRows), without), on))
        if (Result.isFailure(received)) return expect(["SnapshotHeld", "SourceError"]).toContain(received.failure._tag)
        const good = new Map<string, number>()
        for (const each of new Set(named.flatMap((one) => one.id ?? []))) {
          const all = named.filter((one) => one.id === each)
          if (all.some(({ kind }) => kind === "bad") || (all.length > 1 && duplicates === "reject")) continue
          good.set(each, all.reduce((sum, one) => sum + (one.kind === "negative" ? 0 : one.stock), 0))
        }
        for (const each of wanted.keys()) {
          if (without.includes(each)) excluded.add(each)
          else if (!named.some((one) => one.id === each)) {
            excluded.delete(each)
            if (missing === "zero" && !received.success.missingKept) want(each, 0)
          }
        }
        for (const [each, stock] of good) {
          want(each, stock)
          excluded.delete(each)
        }
      })

    const step = (each: Command) =>
      Effect.gen(function*() {
        switch (each._tag) {
          case "Snapshot":
            return yield* snapshot(each)
          case "ConfirmHeld": {
            const { held } = yield* ledger.snapshot
            if (Option.isSome(held)) yield* ledger.confirmHeld(held.value.number)
            return
          }
          case "Take": {
            const request = yield* begin(each.how)
            if (request === undefined || !each.arrives) return
            request.arrived = true
            shop.set(request.taken.productId, request.taken.value)
            return
          }
          case "Pass":
            return yield* pass(each.millis)
          case "SetClock":
            offset += each.jump
            yield* setClock
            return yield* ledger.clockChanged(each.jump)
          case "Release":
            return void (yield* ledger.release(Option.none()))
          case "RetryNow":
            return yield* ledger.retryNow
          case "Observe": {
            const seen = [...shop].map(([productId, stock]) => ({ productId: id(productId), stock: each.shown ?? stock }))
            const differing = yield* ledger.observe(seen, utc(real + offset), each.resend)
            // A settled product has its stock at the shop.
            if (each.shown === undefined) expect(differing).toBe(0)
            return
          }
          case "Crash": {
            for (const [index, request] of inFlight.entries()) meets(request, each.fates[index] ?? "never")
            inFlight = []
            yield* Scope.close(scope, Exit.void)
            offset += each.jump
            yield* pass(each.millis)
            scope = yield* Scope.make()
            ledger = yield* open
            return
          }
          case "Confirm":
          case "Doubtful":
          case "Refused":
          case "Mismatch": {
            const request = pick(each.which)
            if (request === undefined) return
            const { productId, value } = request.taken
            // A request that took effect was not refused.
            if (
              each._tag === "Confirm" || (each._tag === "Refused" && request.arrived) || (each._tag === "Mismatch" && each.shown === value)
            ) {
              return yield* confirm(request)
            }
            ended(request)
            switch (each._tag) {
              case "Doubtful":
                meets(request, each.fate)
                return yield* ledger.fail(request.taken, {
                  state: each.state,
                  refusal: refusal(value),
                  retryIn: Duration.millis(each.retryIn)
                })
              case "Refused":
                if (each.absent) {
                  shop.delete(productId)
                  landings = landings.filter((landing) => landing.productId !== productId)
                }
                return yield* ledger.fail(request.taken, {
                  state: each.state,
                  refusal: refusal(value),
                  retryIn: Duration.millis(each.retryIn),
                  ...(each.absent ? { observed: "absent" as const } : {})
                })
              case "Mismatch":
                shop.set(productId, each.atShop === "sent" ? value : each.atShop)
                if (wanted.get(productId) === value) mismatched.add(productId)
                return yield* ledger.fail(request.taken, {
                  state: "uncertain",
                  refusal: { ...refusal(value), tag: mismatchTag },
                  retryIn: each.retryIn === undefined ? undefined : Duration.millis(each.retryIn),
                  observed: each.shown
                })
            }
          }
        }
      })

    const holds = Effect.gen(function*() {
      const entries = yield* collect(ledger.all)
      expect(new Map(entries.map((entry) => [entry.productId, entry.wanted]))).toEqual(wanted)
      expect(new Set(entries.flatMap((entry) => entry.state === "sending" ? [entry.productId] : []))).toEqual(
        new Set(inFlight.map((each) => each.taken.productId))
      )
      for (const { productId, state, wanted } of entries) {
        if (state !== "settled") continue
        expect({ productId, atShop: shop.get(productId) }).toEqual({ productId, atShop: wanted })
        // And no request may still change that.
        expect(landings.filter((landing) => landing.productId === productId && landing.stock !== wanted)).toEqual([])
      }
    })

    for (const each of commands) {
      yield* step(each)
      yield* holds
    }

    const uncertain = Effect.map(collect(ledger.uncertain), (entries) =>
      new Set<string>(entries.flatMap((entry) => entry.dueAt === undefined && !excluded.has(entry.productId) ? [entry.productId] : [])))
    /** The service accepts every request, and nothing else happens. */
    const recovers = Effect.gen(function*() {
      for (const request of inFlight) yield* confirm(request)
      const begun = real
      for (let steps = 0;; steps++) {
        expect(steps).toBeLessThan(100)
        const request = yield* begin("due")
        if (request !== undefined) {
          yield* confirm(request)
          yield* holds
          continue
        }
        const resting = yield* uncertain
        const parked = (yield* collect(ledger.unsettled)).flatMap((entry) =>
          excluded.has(entry.productId) || resting.has(entry.productId) ? [] : [entry.dueAt?.epochMilliseconds ?? 0]
        )
        if (parked.length === 0) break
        yield* pass(Math.min(...parked) - real - offset)
      }
      expect(real - begun).toBeLessThan(10 * 60_000)
      yield* pass(late)
      const unknown = yield* uncertain
      for (const productId of unknown) expect({ productId, mismatched: mismatched.has(productId) }).toEqual({ productId, mismatched: true })
      for (const [productId, stock] of wanted) {
        if (excluded.has(productId) || unknown.has(productId)) continue
        expect({ productId, atShop: shop.get(productId) }).toEqual({ productId, atShop: stock })
      }
      yield* holds
    })

    yield* recovers
    // A stock that is wanted anew is sent, whatever was shown before.
    const changed = ids.flatMap((each) => wanted.has(each) ? [{ id: each, kind: "good" as const, stock: (wanted.get(each) ?? 0) + 1 }] : [])
    yield* snapshot({ _tag: "Snapshot", rows: changed, excluded: [], missing: "leave", duplicates: "reject", guarded: false })
    yield* recovers
    expect(yield* uncertain).toEqual(new Set())
    expect(yield* ledger.nextDue(Option.none())).toEqual(Option.none())
    expect(Object.values((yield* ledger.backlog).waiting)).toEqual([0, 0, 0, 0, 0])
  })

export const model = (kind: Kind, runs: number): void => {
  describe("a ledger and a store", () => {
    it.effect.prop("agree on what is settled, and on everything once the service accepts requests", [
      Generate.arrayOf(command, { maxLength: 40 })
    ], ([commands]) => at(kind, (place) => run(place, commands)), { arbitrary: { runs } })
  })
}
