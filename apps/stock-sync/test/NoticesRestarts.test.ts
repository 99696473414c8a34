/** What is announced once and not again, whenever the process ends and starts: a model over virtual time. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Option } from "effect"
import * as Notices from "../src/observability/Notices.ts"

const minute = Duration.toMillis("1 minute")
const hour = 60 * minute
const day = 24 * hour

const lists = "plaza-stock-sync status"
const problem = (kind: Notices.Kind, more: Partial<Notices.Problem> = {}): Notices.Problem => ({
  key: kind,
  kind,
  account: kind,
  name: kind,
  text: `${kind} is wrong.`,
  delay: Notices.delays[kind],
  ...more
})

/** What a process knows once it has read what an earlier one has stored. */
const restored = (text: string, now: number, offset: number, state = Notices.initial) =>
  Option.match(Notices.fromText(text, now, offset), {
    onNone: () => state,
    onSome: (stored) => Notices.merge(state, stored, Notices.initial)
  })

interface Sent {
  readonly at: number
  readonly text: string
}

interface World {
  readonly problemsAt: (at: number) => ReadonlyArray<Notices.Problem>
  /** Whether a process runs; a new one starts when it runs again. */
  readonly runsAt?: (at: number) => boolean
  /** The process is replaced by a new one at this time. */
  readonly restartsAt?: (at: number) => boolean
  readonly isDelivered?: (at: number) => boolean
  /** The process ends after a message has arrived, and before it knows that. */
  readonly crashesAfterMessage?: (at: number) => boolean
  readonly unknownAt?: (at: number) => ReadonlySet<Notices.Kind>
}

/** Each minute until a time. The monotonic clock of a process begins with it. */
const follow = (
  until: number,
  {
    crashesAfterMessage = () => false,
    isDelivered = () => true,
    problemsAt,
    restartsAt = () => false,
    runsAt = () => true,
    unknownAt = () => new Set()
  }: World
) => {
  const sent: Array<Sent> = []
  let stored: string | undefined
  let running: { readonly startedAt: number; state: Notices.State } | undefined
  for (let at = 0; at <= until; at += minute) {
    if (!runsAt(at) || restartsAt(at)) running = undefined
    if (!runsAt(at)) continue
    running ??= {
      startedAt: at,
      state: stored === undefined ? Notices.initial : restored(stored, 0, at)
    }
    const { startedAt } = running
    const now = at - startedAt
    const next = Notices.step(running.state, problemsAt(at), now, { isBusy: false, lists, unknown: unknownAt(at) })
    running.state = next.state
    if (next.message === undefined) {
      if (next.hasEnded) stored = Notices.toText(running.state, startedAt)
      continue
    }
    // Before the request.
    stored = Notices.toText(Notices.undelivered(running.state, next.message, running.state.notBefore), startedAt)
    const arrives = isDelivered(at)
    if (arrives) sent.push({ at, text: next.message.text })
    else running.state = Notices.undelivered(running.state, next.message, now + Duration.toMillis(Notices.retriesAfter))
    if (crashesAfterMessage(at)) running = undefined
    else stored = Notices.toText(running.state, startedAt)
  }
  return sent
}

const between = (from: number, to: number, ...problems: ReadonlyArray<Notices.Problem>) => (at: number) =>
  at >= from && at < to ? problems : []
const every = (period: number) => (at: number) => at > 0 && at % period === 0

describe("after a restart", () => {
  it("a problem that lasts is announced again once a day, however often the process starts", () => {
    const sent = follow(3 * day, { problemsAt: between(0, 2 * day + hour, problem("paused")), restartsAt: every(7 * minute) })
    expect(sent.map(({ at, text }) => [at, text])).toEqual([
      [minute, "paused: paused is wrong. (for 1 min)"],
      [day + minute, "paused: paused is wrong. (still, after 1 d)"],
      [2 * day + minute, "paused: paused is wrong. (still, after 2 d)"],
      // The process that starts after five minutes counts the absence anew.
      [2 * day + hour + 5 * minute, "paused: Over after 2 d 1 h: the service refused all requests."]
    ])
  })

  it("the end of a problem that ended while no process ran is announced", () => {
    const sent = follow(day, {
      problemsAt: between(0, 2 * hour, problem("held")),
      runsAt: (at) => at < hour || at >= 5 * hour
    })
    expect(sent.map(({ at, text }) => [at / minute, text])).toEqual([
      [10, "held: held is wrong. (for 10 min)"],
      [305, "held: Over after 5 h: a snapshot was held."]
    ])
  })

  it("a problem is over only once it is known that it is, and the same one if it is still there", () => {
    const restart = {
      restartsAt: every(2 * hour),
      unknownAt: (at: number) => new Set<Notices.Kind>(at >= 2 * hour && at < 3 * hour ? ["held"] : [])
    }
    const over = follow(4 * hour - minute, { ...restart, problemsAt: between(0, 2 * hour, problem("held")) })
    expect(over.map(({ at }) => at / minute)).toEqual([10, 185])
    const same = follow(4 * hour - minute, {
      ...restart,
      problemsAt: (at) => at < 2 * hour || at >= 3 * hour ? [problem("held")] : []
    })
    expect(same.map(({ at }) => at / minute)).toEqual([10])
  })

  it("the pause that a chat asked for goes on", () => {
    const sent = follow(2 * hour, {
      problemsAt: () => [problem("paused")],
      isDelivered: (at) => at > 5 * minute,
      restartsAt: every(3 * minute)
    })
    expect(sent.map(({ at }) => at / minute)).toEqual([16])
  })

  it("further products are announced an hour after the last ones", () => {
    const sent = follow(3 * hour, {
      problemsAt: (at) => [problem("products", { products: new Set(at < 20 * minute ? ["A"] : ["A", "B"]) })],
      restartsAt: every(25 * minute)
    })
    expect(sent.map(({ at }) => at / minute)).toEqual([10, 70])
  })

  it("nothing that another version has stored is in the way", () => {
    for (const text of ["", "{}", "[1]", "{\"problems\":[{\"key\":\"x\",\"kind\":\"unheard\"}],\"messages\":[],\"notBefore\":null}"]) {
      expect(Notices.fromText(text, 0, 0)).toEqual(Option.none())
    }
  })

  it("of a process whose wall clock was set back, no time lies in the future", () => {
    const { state } = Notices.step(Notices.initial, [problem("paused", { delay: Duration.zero })], 0, { isBusy: false, lists })
    const { messages, tracked } = restored(Notices.toText(state, 10 * day), 5, 0)
    expect(messages).toEqual([5])
    expect(tracked.get("paused")).toMatchObject({ since: 5, announcedAt: 5 })
  })

  it("what is announced while nothing could be restored is kept, beside what an earlier process has announced", () => {
    const step = (state: Notices.State, at: number, ...problems: ReadonlyArray<Notices.Problem>) =>
      Notices.step(state, problems, at, { isBusy: false, lists })
    const earlier = step(Notices.initial, 0, problem("held", { delay: Duration.zero })).state
    const alone = step(step(Notices.initial, 0, problem("ledger"), problem("held")).state, 5 * minute, problem("ledger"), problem("held"))
    expect(alone.message?.text).toMatch(/^ledger: /)
    const both = restored(Notices.toText(earlier, 0), 6 * minute, hour, alone.state)
    expect(both.messages).toHaveLength(2)
    expect(step(both, 20 * minute, problem("ledger"), problem("held")).message).toBeUndefined()
  })

  it("what another process has announced and ended meanwhile is taken over, beside what this one has announced alone", () => {
    const step = (state: Notices.State, at: number, ...kinds: ReadonlyArray<Notices.Kind>) =>
      Notices.step(state, kinds.map((kind) => problem(kind, { delay: Duration.zero })), at, { isBusy: false, lists })
    const last = step(step(Notices.initial, 0, "paused", "held").state, 0, "paused", "held").state
    const other = step(step(restored(Notices.toText(last, 0), 0, 0), 0, "held", "source").state, 5 * minute, "held", "source")
    expect(other.message?.text).toMatch(/^paused: Over after/)
    const alone = step(last, minute, "paused", "held", "ledger")
    const stored = Notices.fromText(Notices.toText(other.state, 0), 6 * minute, 0)
    const both = Notices.merge(alone.state, Option.getOrThrow(stored), last)
    expect(Array.from(both.tracked.keys())).toEqual(["held", "ledger", "source"])
    // One of the beginning, two of the other process, and one of its own.
    expect(both.messages).toHaveLength(4)
    // Begins again.
    expect(step(both, 7 * minute, "paused", "held", "ledger", "source").message?.text).toBe("paused: paused is wrong. (for 0 s)")
  })

  it("what ended in a message that could not be stored ends once", () => {
    const step = (state: Notices.State, at: number, ...problems: ReadonlyArray<Notices.Problem>) =>
      Notices.step(state, problems, at, { isBusy: false, lists })
    const last = step(Notices.initial, 0, problem("held", { delay: Duration.zero })).state
    const ended = step(step(last, minute).state, 6 * minute)
    expect(ended.message?.text).toMatch(/^held: Over/)
    const stored = Notices.fromText(Notices.toText(last, 0), 7 * minute, 0)
    const both = Notices.merge(ended.state, Option.getOrThrow(stored), last)
    expect(both.tracked.size).toBe(0)
  })
})

const kinds = ["paused", "held", "ledger", "source"] as const
const spans = Arbitrary.array(Arbitrary.all([Generate.between(0, 3), Generate.between(0, 900), Generate.between(1, 400)]))
const times = Arbitrary.array(Generate.between(0, 1_500))

const problemsOf = (spans: ReadonlyArray<readonly [number, number, number]>) => (at: number) =>
  kinds.flatMap((kind, index) =>
    spans.some(([each, from, length]) => each === index && at >= from * minute && at < (from + length) * minute) ? [problem(kind)] : []
  )

const within = (minutes: ReadonlyArray<number>) => {
  const all = new Set(minutes)
  return (at: number) => all.has(at / minute)
}

/** What was said of a kind, in its order. */
const phasesOf = (sent: ReadonlyArray<Sent>, kind: Notices.Kind) =>
  sent.flatMap(({ at, text }) =>
    text.split("\n").filter((line) => line.startsWith(`${kind}: `)).map((line) => ({
      at,
      phase: line.includes("Over after") ? "ends" : line.includes("(still,") ? "lasts" : "begins"
    }))
  )

describe("however processes end and start", () => {
  it.prop(
    "no problem begins twice before it ends, none is repeated within a day, and each that began ends",
    [spans, times, times],
    ([problems, restarts, failures]) => {
      const failing = within(failures)
      const sent = follow(1_600 * minute, {
        problemsAt: problemsOf(problems),
        restartsAt: within(restarts),
        isDelivered: (at) => !failing(at)
      })
      for (const kind of kinds) {
        const phases = phasesOf(sent, kind)
        phases.forEach(({ at, phase }, index) => {
          const before = phases[index - 1]
          const isOpen = before !== undefined && before.phase !== "ends"
          expect({ kind, phase, isOpen }).toEqual({ kind, phase, isOpen: phase !== "begins" })
          if (phase === "lasts") expect(at - (before?.at ?? 0)).toBeGreaterThanOrEqual(day)
        })
        expect(phases.at(-1)?.phase ?? "ends").toBe("ends")
      }
    }
  )

  it.prop(
    "there are at most six messages within any hour, also if each one is the last act of its process",
    [spans, times, times, Generate.between(1, 30)],
    ([problems, restarts, crashes, period]) => {
      const restartsAt = within(restarts)
      const crashing = within(crashes)
      const at = follow(1_600 * minute, {
        problemsAt: (moment) => problemsOf(problems)(moment).map((each) => ({ ...each, delay: Duration.zero })),
        restartsAt: (moment) => restartsAt(moment) || moment % (period * minute) === 0,
        crashesAfterMessage: (moment) => period % 2 === 0 || crashing(moment)
      }).map((message) => message.at)
      for (const first of at)
        expect(at.filter((each) => each >= first && each - first < hour).length).toBeLessThanOrEqual(Notices.mostAnHour)
    }
  )
})

const rejected = (...ids: ReadonlyArray<string>) => ids.length === 0 ? [] : [problem("rejected", { products: new Set(ids) })]

describe("rejected rows", () => {
  it("are announced after an hour, once, and their end is no message", () => {
    const sent = follow(20 * day, { problemsAt: (at) => at < 10 * day ? rejected("A", "B") : [] })
    expect(sent).toEqual([{ at: hour, text: "rejected: rejected is wrong. (for 1 h)" }])
  })

  it("that are corrected within the hour are no message, also if there are others each time", () => {
    expect(follow(5 * day, { problemsAt: (at) => rejected(`P${Math.floor(at / (50 * minute))}`) })).toEqual([])
  })

  it("that are new are announced with the next message, a day after the last one", () => {
    const sent = follow(5 * day, {
      problemsAt: (at) => rejected("A", ...at >= 3 * hour ? ["B"] : [], ...at >= 2 * day + 3 * hour ? ["C"] : []),
      restartsAt: every(5 * hour)
    })
    // A process that starts waits for an hour again.
    expect(sent.map(({ at }) => at / hour)).toEqual([1, 26, 52])
  })

  it("that go away are no message, and one that comes back after a day is a new one", () => {
    const sent = follow(5 * day, { problemsAt: (at) => rejected("A", ...at >= 2 * day && at < 3 * day ? [] : ["B"]) })
    expect(sent.map(({ at }) => at / hour)).toEqual([1, 73])
  })

  it("that a person knows are no message again when they were away for less than a day", () => {
    const away = (at: number) => Math.floor(at / hour) % 30 < 20
    expect(follow(20 * day, { problemsAt: (at) => away(at) ? rejected("A") : [] }).map(({ at }) => at / hour)).toEqual([1])
    const one = follow(20 * day, { problemsAt: (at) => rejected("A", ...away(at) ? ["B"] : []), restartsAt: every(7 * day) })
    expect(one.map(({ at }) => at / hour)).toEqual([1])
  })

  it.prop(
    "are at most one message a day, whatever changes and whenever the process starts",
    [
      Arbitrary.array(Arbitrary.all([Generate.between(0, 9), Generate.between(0, 6_000), Generate.between(1, 3_000)])),
      Arbitrary.array(Generate.between(0, 8_000))
    ],
    ([rows, restarts]) => {
      const at = follow(8_000 * minute, {
        problemsAt: (moment) =>
          rejected(
            ...new Set(
              rows.flatMap(([row, from, length]) => moment >= from * minute && moment < (from + length) * minute ? [`P${row}`] : [])
            )
          ),
        restartsAt: within(restarts)
      }).map((message) => message.at)
      at.forEach((each, index) => index > 0 && expect(each - (at[index - 1] ?? 0)).toBeGreaterThanOrEqual(day))
    }
  )
})
