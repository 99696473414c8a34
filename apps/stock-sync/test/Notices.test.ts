/** Which problems are worth a message to a person, when, and what the message says. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration } from "effect"
import * as FleetNotify from "../src/fleet/operations/FleetNotify.ts"
import type * as FleetStatus from "../src/fleet/operations/FleetStatus.ts"
import { ofStore } from "../src/ledger/LedgerCommands.ts"
import * as Notices from "../src/observability/Notices.ts"
import * as NoticeText from "../src/observability/NoticeText.ts"
import * as Notify from "../src/observability/Notify.ts"
import { initial, type State } from "../src/sync/SyncStatus.ts"
import { failure } from "./support/events.ts"
import { before, needing, now } from "./support/statusPage.ts"
import { held } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

const minute = Duration.toMillis("1 minute")
const hour = 60 * minute
const day = 24 * hour

const lists = "plaza-stock-sync status"
const problem = (kind: Notices.Kind, more: Partial<Notices.Problem> = {}): Notices.Problem => ({
  key: kind,
  kind,
  account: undefined,
  name: kind,
  text: `${kind} is wrong.`,
  delay: Notices.delays[kind],
  ...more
})

/** An account of a fleet that needs nobody. */
const needy: FleetStatus.NeedyAccount = {
  id: "shop",
  problem: null,
  held: null,
  products: 0,
  rejectedRows: 0,
  rejectedWithoutId: 0,
  rejectedIds: []
}

interface Sent {
  readonly at: number
  readonly text: string
}

/** Follows what is wrong at each minute until a time, and returns the messages. */
const follow = (
  until: number,
  problemsAt: (at: number) => ReadonlyArray<Notices.Problem>,
  isDelivered: (at: number) => boolean = () => true
) => {
  const sent: Array<Sent> = []
  let state = Notices.initial
  for (let at = 0; at <= until; at += minute) {
    const next = Notices.step(state, problemsAt(at), at, { isBusy: false, lists })
    state = next.state
    if (next.message === undefined) continue
    if (isDelivered(at)) sent.push({ at, text: next.message.text })
    else state = Notices.undelivered(state, next.message, at + Duration.toMillis(Notices.retriesAfter))
  }
  return sent
}

const between = (from: number, to: number, ...problems: ReadonlyArray<Notices.Problem>) => (at: number) =>
  at >= from && at < to ? problems : []

describe("a problem", () => {
  it.each(Object.entries(Notices.delays))("of the kind %s is announced once it has lasted %s, and not before", (name, delay) => {
    // True because the names are those of the delays.
    const kind = name as Notices.Kind
    const millis = Duration.toMillis(delay)
    expect(follow(millis - minute, () => [problem(kind)])).toEqual([])
    expect(follow(millis, () => [problem(kind)]).map(({ at }) => at)).toEqual([millis])
    expect(follow(day, between(0, millis, problem(kind)))).toEqual([])
  })

  it("is announced once, again once a day, and its end once", () => {
    const sent = follow(3 * day, between(0, 2 * day + hour, problem("paused")))
    expect(sent.map(({ at, text }) => [at, text])).toEqual([
      [minute, "paused is wrong. (for 1 min)"],
      [day + minute, "paused is wrong. (still, after 1 d)"],
      [2 * day + minute, "paused is wrong. (still, after 2 d)"],
      [2 * day + hour + 5 * minute, "Over after 2 d 1 h: the service refused all requests."]
    ])
  })

  it("that nobody was told about ends in silence", () => {
    expect(follow(day, between(0, 10 * minute, problem("source")))).toEqual([])
  })

  it("that comes and goes within minutes is one problem", () => {
    const flapping = (at: number) => at < 2 * hour && Math.floor(at / minute) % 4 < 2 ? [problem("unavailable")] : []
    expect(follow(day, flapping).map(({ text }) => text)).toEqual([
      "unavailable is wrong. (for 16 min)",
      "Over after 1 h 58 min: the service was unavailable."
    ])
  })

  it("joins those that are due at the same time in one message, those that stop everything first", () => {
    const [one, ...others] = follow(hour, () => [problem("held", { delay: Duration.minutes(5) }), problem("ledger")])
    expect(one?.text).toBe("ledger is wrong. (for 5 min)\nheld is wrong. (for 5 min)")
    expect(others).toEqual([])
  })

  it("with further products is announced again, at most once an hour", () => {
    const sent = follow(4 * hour, (at) => [
      problem("products", { products: new Set(Array.from({ length: Math.min(90, Math.floor(at / minute)) }, (_, index) => `P${index}`)) })
    ])
    expect(sent.map(({ at }) => at / minute)).toEqual([10, 70, 130])
  })

  it("whose message was not delivered is announced later, if it still lasts", () => {
    const late = follow(2 * hour, () => [problem("paused")], (at) => at > 20 * minute)
    expect(late.map(({ at, text }) => [at / minute, text])).toEqual([[31, "paused is wrong. (for 31 min)"]])
    expect(follow(2 * hour, between(0, 10 * minute, problem("paused")), () => false)).toEqual([])
    // Its end is said if its beginning was.
    const ended = follow(2 * hour, between(0, 10 * minute, problem("paused")), (at) => at < 5 * minute || at > 20 * minute)
    expect(ended.map(({ at }) => at / minute)).toEqual([1, 30])
  })
})

describe("the messages", () => {
  it.prop(
    "are at most six within any hour, whatever happens and whether they arrive or not",
    [
      Arbitrary.array(Arbitrary.all([Generate.between(0, 7), Generate.between(0, 600), Generate.between(1, 300), Generate.between(0, 3)])),
      Arbitrary.array(Generate.between(0, 1))
    ],
    ([spans, arrivals]) => {
      const kinds = Object.keys(Notices.delays) as ReadonlyArray<Notices.Kind>
      const at: Array<number> = []
      follow(10 * hour,
        (moment) =>
          spans.flatMap(([kind, from, length, key], index) =>
            moment >= from * minute && moment < (from + length) * minute
              ? [problem(kinds[kind] ?? "paused", {
                key: key === 0 ? String(index) : String(kind),
                products: new Set([`P${Math.floor(moment / minute / (key + 1))}`]),
                delay: Duration.zero
              })]
              : []
          ), (moment) => {
        at.push(moment)
        return arrivals.length === 0 || arrivals[at.length % arrivals.length] === 1
      })
      for (const first of at)
        expect(at.filter((each) => each >= first && each - first < hour).length).toBeLessThanOrEqual(Notices.mostAnHour)
    }
  )

  it("of many accounts of a fleet are one line, which names some of them and the command that lists all", () => {
    const many = Array.from({ length: 10_000 },
      (_, index) =>
        FleetNotify.problemsOf({ ...needy, id: `shop-${index}`, problem: "ServiceUnavailable: maintenance. Check the network." })).flat()
    const sent = follow(day, between(0, 2 * hour, ...many))
    expect(sent.map(({ text }) => text)).toEqual([
      "10,000 accounts: not up to date (shop-0, shop-1, shop-2 and 9,997 more). All: ServiceUnavailable: maintenance. Check the network. `plaza-stock-sync status` lists them.",
      "Over for 10,000 accounts: not up to date (shop-0, shop-1, shop-2 and 9,997 more)."
    ])
  })

  it.prop(
    "never mention anyone, and are never longer than a chat accepts, whatever is in ids and messages",
    [Arbitrary.array(Generate.text), Generate.text],
    ([ids, message]) => {
      const hostile = ["<!channel>", "@here", "@everyone", "<https://evil.example|click>", "`code`", "&lt;!channel&gt;", ...ids]
      const sent = follow(hour, () => [
        ...Notify.problemsOf(
          {
            ...state,
            account: { _tag: "Paused", since: before(3), failure: failure({ message: `${message} <!channel> @channel` }), nextProbe: now }
          },
          { ...Notify.nothingKnown, needing: hostile.map((id) => needing(id)) },
          now,
          options
        ),
        ...FleetNotify.problemsOf({ ...needy, id: "<!here> @all", problem: "<!everyone> `x`", held: 3, products: 2 })
      ])
      const all = sent.map(({ text }) => text).join("\n")
      expect(all).not.toMatch(/[<>]|@(?!\u200b)/)
      expect(all.replaceAll(/&(amp|lt|gt);/g, "")).not.toContain("&")
      // Each opens or closes a command.
      expect((all.match(/`/g) ?? []).length % 2).toBe(0)
      for (const { text } of sent) expect(text.length).toBeLessThanOrEqual(NoticeText.mostCharacters)
    }
  )
})

const options: Notify.Options = { poll: Duration.minutes(1), commands: ofStore(), place: { host: "web-1", folder: "/var/lib/shop" } }
const state: State = {
  ...initial(utc(0)),
  account: { _tag: "Running", since: utc(0) },
  ledger: { _tag: "Open", since: utc(0), path: "stock.sqlite" },
  source: { readAt: now, takenAt: now, rows: 9, failing: undefined, held: undefined },
  owner: { baseUrl: "https://shop.example/open/v1", id: "acc_1", keyFingerprint: "" }
}
/** The kind of the first problem, and its delay in minutes. */
const first = (...given: Parameters<typeof problems>) => problems(...given)[0]?.slice(0, 2)
const problems = (more: Partial<State>, products: Notify.Needing = [], poll = options.poll) =>
  Notify.problemsOf({ ...state, ...more }, { ...Notify.nothingKnown, needing: products }, now, { ...options, poll }).map((
    { account, delay, kind, text }
  ) => [
    kind,
    Duration.toMillis(delay) / minute,
    account,
    text
  ])

describe("a running worker", () => {
  it("has no problem while all is well", () => {
    expect(problems({})).toEqual([])
  })

  it("needs a person when the service refuses all requests", () => {
    expect(problems({ account: { _tag: "Paused", since: before(3), failure: failure({ code: "STORE_BLOCKED" }), nextProbe: now } }))
      .toEqual([[
        "paused",
        1,
        "acc_1",
        "Nothing is sent: the account is paused. The service refuses all requests: STORE_BLOCKED: the key is revoked. The first was refused 1970-01-01 23:57:00 UTC. Changes wait in the ledger. Next check 1970-01-02 00:00:00 UTC. Ask the owner of the store to lift the block. Sending then resumes without a restart."
      ]])
  })

  it("is named by its machine and its ledger while the service has not confirmed its account", () => {
    const account = { _tag: "Paused", since: before(3), failure: failure(), nextProbe: now } as const
    const nameWith = (ledger: State["ledger"]) => problems({ owner: undefined, account, ledger }).at(-1)?.[2]
    expect(nameWith(state.ledger)).toBe("web-1:/var/lib/shop/stock.sqlite")
    const open = { _tag: "Open", since: utc(0) } as const
    expect(nameWith({ ...open, path: "/srv/other.sqlite" })).toBe("web-1:/srv/other.sqlite")
    expect(nameWith({ ...open, path: "postgres://db/shop" })).toBe("postgres://db/shop")
    expect(nameWith({ _tag: "Failing", since: before(3), failure: failure(), nextTry: now })).toBe("web-1:/var/lib/shop")
    // Also if `GET /me` has no id.
    expect(problems({ owner: { baseUrl: "https://shop.example/open/v1", id: undefined, keyFingerprint: "" }, account })[0]?.[2])
      .toBe("web-1:/var/lib/shop/stock.sqlite")
  })

  it("needs a person when the service is unavailable, a quota is used up, or the ledger is unavailable", () => {
    const trouble = failure({ tag: "ConnectionLost", code: undefined, message: "the connection was lost" })
    expect(first({ account: { _tag: "Trouble", since: before(3), failure: trouble, nextTry: now } })).toEqual(["unavailable", 15])
    expect(first({ account: { _tag: "Quota", since: before(3), failure: trouble, until: now } })).toEqual(["quota", 60])
    expect(first({ ledger: { _tag: "Failing", since: before(3), failure: trouble, nextTry: now } })).toEqual(["ledger", 5])
    expect(first({ account: { _tag: "Starting", since: before(3) } })).toEqual(["unavailable", 15])
  })

  it("needs a person when a snapshot is held, with the command that confirms it", () => {
    const [one] = problems({ source: { ...state.source, held } })
    expect(one?.slice(0, 3)).toEqual(["held", 10, "acc_1"])
    expect(one?.[3]).toContain("If it is right, run `plaza-stock-sync confirm 3`.")
    expect(problems({ source: { ...state.source, held: { ...held, confirmed: true } } })).toEqual([])
  })

  it("needs a person when the source can't be read, for three polls or a quarter of an hour", () => {
    const failing = { since: before(3), failure: failure({ about: "source", message: "there is no file stock.csv" }) }
    expect(problems({ source: { ...state.source, failing } })).toEqual([[
      "source",
      15,
      "acc_1",
      "The source can't be read. There is no file stock.csv. The first read failed 1970-01-01 23:57:00 UTC. The stock of the previous snapshot stays in effect. Correct the source. It is read again without a restart."
    ]])
    expect(first({ source: { ...state.source, failing } }, [], Duration.hours(2))).toEqual(["source", 360])
  })

  it("needs a person when a read of the source does not end", () => {
    expect(problems({ source: { ...state.source, readAt: before(15) } })).toEqual([])
    expect(problems({ source: { ...state.source, readAt: before(16) } })[0]).toMatchObject([
      "source",
      0,
      "acc_1",
      expect.stringMatching(/^The source was last read 16 minutes ago\. /)
    ])
    expect(problems({ startedAt: before(16), source: { ...state.source, readAt: undefined } })[0]).toMatchObject([
      "source",
      0,
      "acc_1",
      expect.stringMatching(/^The first read of the source has not ended\. /)
    ])
  })

  it("needs a person for products that the service refuses: five are named with what helps, in one message", () => {
    const [one] = problems({}, Array.from({ length: 12 }, (_, index) => needing(`MUG-${index}`)))
    expect(one?.slice(0, 2)).toEqual(["products", 10])
    const lines = String(one?.[3]).split("\n")
    expect(lines).toHaveLength(7)
    expect(lines[0]).toBe("12 products need you:")
    expect(lines[1]).toMatch(/^• MUG-0: NOT_FOUND: .*run `plaza-stock-sync retry MUG-0`\.$/)
    expect(lines[6]).toBe("`plaza-stock-sync status` lists all of them.")
    const [long] = follow(hour, () => {
      const long = Array.from({ length: 5 }, (_, index) => needing(`${index}${" <&> `".repeat(60)}`))
      return Notify.problemsOf(state, { ...Notify.nothingKnown, needing: long }, now, options)
    })
    expect(long?.text.length).toBeLessThanOrEqual(NoticeText.mostCharacters)
    expect(long?.text).toMatch(/\n… and more: `plaza-stock-sync status`$/)
    expect(problems({}, [needing("A")])[0]?.[3]).toMatch(/^1 product needs you:\n/)
  })
})

describe("the runner that speaks for a fleet", () => {
  const runner = (name: string, alive: boolean, seconds: number) => ({ name, alive, startedAt: utc(seconds * 1_000) })
  it("is the live one that runs the longest", () => {
    expect(FleetNotify.speakerOf([runner("a", true, 3), runner("b", false, 1), runner("d", true, 2), runner("c", true, 2)])).toBe("c")
    expect(FleetNotify.speakerOf([])).toBeUndefined()
  })

  it("announces a database that does not respond for five minutes", () => {
    const loop = { lastTurnAt: 0, lastReachedAt: 0 }
    expect(FleetNotify.ofDatabase({ loop }, 4 * minute)).toEqual([])
    expect(FleetNotify.ofDatabase({ loop }, 5 * minute)[0]?.text).toBe(
      "The database of the fleet is unavailable since 5 min. Nothing is sent. Check the database and the network of the runners."
    )
  })

  it("names the account and the command of the fleet that helps", () => {
    expect(FleetNotify.problemsOf({ ...needy, id: "shop 1", held: 4, products: 2 }).map(({ account, text }) => [account, text]))
      .toEqual([
        [
          "shop 1",
          "Snapshot 4 of the source is held. If the source is wrong, correct it. If it is right, run `plaza-stock-sync fleet accounts confirm 'shop 1' 4`; `plaza-stock-sync fleet status 'shop 1'` shows its changes."
        ],
        ["shop 1", "2 products need you. `plaza-stock-sync fleet status 'shop 1'` shows what helps."]
      ])
  })
})
