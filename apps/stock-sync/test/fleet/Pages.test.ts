/** The pages of a fleet: what they show, how they escape, and which requests they refuse. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { AccountActivity } from "../../src/fleet/FleetRunner.ts"
import * as KeyReference from "../../src/fleet/KeyReference.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as FleetText from "../../src/fleet/operations/FleetText.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import * as DatabaseProxy from "../support/databaseProxy.ts"
import { eventually } from "../support/eventually.ts"
import * as Pages from "../support/fleetPages.ts"
import * as Support from "../support/fleetStatus.ts"
import { utc } from "../support/utc.ts"

const { accounts, heldSnapshot, products, runnerRow } = Support

const inFleet = Pages.fleets()

const some = Effect.gen(function*() {
  yield* runnerRow(Support.runner)
  yield* runnerRow("runner-2", 60_000)
  yield* accounts({
    alpha: { runner: Support.runner },
    beta: { runner: Support.runner, source: `sealed:${Support.sealed} https://shop.example/stock`, problem: "the variable KEY is not set" },
    gamma: { paused: true },
    "shop/1": { runner: "runner-2", source: "postgres://stock:hunter2@db.example/shop?sslmode=require" }
  })
  yield* products("alpha", [{ as: "soldOut", count: 3 }, { as: "settled", count: 4 }, { as: "quarantined", count: 1 }])
  yield* heldSnapshot("shop/1", 0)
})

/** The text of a page, without its markup. */
const textOf = (html: string) =>
  html.replace(/<\/?(?:a|bdi|code|span|strong|time)\b[^>]*>/g, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").replaceAll("&#39;", "'")

const headlineOf = (html: string) => textOf(/<h2 class="headline"[^>]*>(.*?)<\/h2>/.exec(html)?.[1] ?? "")

describe("the page of the fleet", () => {
  it.live("shows the runner, the accounts by state, what waits, and all runners", () =>
    inFleet(some, (request) =>
      Effect.gen(function*() {
        const { body, headers, status } = yield* request("/")
        expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
        const text = textOf(body)
        expect(text).toContain("Ready runner-1 works on its share of the accounts.")
        expect(headlineOf(body)).toBe("0 of 4 accounts running without trouble, 3 need you, 1 paused")
        expect(body).toContain("<title>3 need you: plaza-stock-sync fleet</title>")
        expect(text).toContain("Accounts 4 Need you 3 Running 2 Paused by an operator 1 Pending, without a live runner 1 With a problem 1")
        expect(text).toContain("Sold out 3")
        expect(text).toContain("The sold-out product soldOut-1 of alpha waits longest")
        expect(text).toContain("alpha Needs you 3 3 runner-1")
        expect(text).toContain("beta Needs you 0 0 runner-1 the variable KEY is not set")
        expect(text).toContain("gamma Paused 0 0 –")
        expect(text).toMatch(/shop\/1 Pending 0 0 runner-2 snapshot held [\d,]+ days ago/)
        expect(text).toMatch(/runner-2 1\.2\.3 Lost last seen 1 minute ago 100 1 1 2 3 [\d,]+ days ago/)
        expect(body).toContain(`href="/accounts/shop%2F1"`)
      })))

  it.live("begins with the accounts that need a person, with what helps", () =>
    inFleet(some, (request) =>
      Effect.gen(function*() {
        const { body } = yield* request("/")
        expect(body.indexOf("needing-rows")).toBeLessThan(body.indexOf("overview-list"))
        const text = textOf(body)
        expect(text).toMatch(/alpha 1 product refused or uncertain The page of the account says what helps\. [\d,]+ days ago beta/)
        expect(text).toMatch(/beta problem the variable KEY is not set\. [\d,]+ days ago shop\/1/)
        expect(text).toMatch(
          /shop\/1 snapshot 3 held Correct the source\. If it is right, run plaza-stock-sync fleet accounts confirm shop\/1 3\. [\d,]+ days ago/
        )
        const troubled = textOf((yield* request("/?state=troubled")).body)
        expect(troubled).toMatch(/Problem alpha Needs you .* beta Needs you .* shop\/1 Pending/)
        expect(troubled).not.toContain("gamma Paused 0 0")
      })))

  it.live("has the first twenty of them, and leads to the others", () =>
    inFleet(
      accounts(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`shop-${100 + index}`, { problem: "no key" }]))),
      (request) =>
        Effect.gen(function*() {
          const { body } = yield* request("/")
          expect(headlineOf(body)).toBe("Nothing is sent: no runner is alive")
          expect(textOf(body)).toContain("0 of 30 accounts running without trouble, 30 need you")
          expect(body).toContain("<a href=\"/?state=troubled#accounts\">And 10 more</a>")
        })
    ))

  it.live("collapses what is empty while every account is well", () =>
    inFleet(
      Effect.andThen(runnerRow(Support.runner), accounts({ alpha: { runner: Support.runner }, beta: { runner: Support.runner } })),
      (request) =>
        Effect.gen(function*() {
          const { body } = yield* request("/")
          expect(headlineOf(body)).toBe("All 2 accounts running without trouble")
          expect(body).toContain("<title>plaza-stock-sync fleet</title>")
          for (const id of ["needing", "waiting-section", "worst-section"]) expect(body).toMatch(new RegExp(`id="${id}"[^>]* hidden>`))
        })
    ))

  it.live("says so if there is no account yet", () =>
    inFleet(Effect.void, (request) =>
      Effect.gen(function*() {
        expect(headlineOf((yield* request("/")).body)).toBe("No accounts yet")
      })))

  it.live("lists accounts by prefix and state, page by page", () =>
    inFleet(
      accounts(Object.fromEntries(Array.from({ length: FleetStatus.pageSize + 1 }, (_, index) => [`shop-${100 + index}`, {}]))),
      (request) =>
        Effect.gen(function*() {
          const first = (yield* request("/")).body
          expect(first).toContain("shop-100<")
          expect(first).not.toContain("shop-150<")
          const next = /<a href="([^"]*)">Next page<\/a>/.exec(first)?.[1]?.replace("#accounts", "") ?? ""
          expect(next).toBe("/?after=shop-149")
          const second = (yield* request(next)).body
          expect(second).toContain("shop-150<")
          expect(second).not.toContain("shop-149<")
          expect(/<a href="([^"]*)">Previous page<\/a>/.exec(second)?.[1]).toBe("/?before=shop-150#accounts")
          const found = (yield* request("/?prefix=shop-15&state=pending")).body
          expect(found).toContain("shop-150<")
          expect(found).not.toContain("shop-149<")
          expect(found).toContain(`<option value="pending" selected>`)
          expect(found).toContain(`value="shop-15"`)
          expect((yield* request("/?prefix=none")).body).toContain("No account matches.")
        })
    ))

  it.live("refuses parameters that no account can match", () =>
    inFleet(Effect.void, (request) =>
      Effect.gen(function*() {
        for (const query of ["state=unknown", "after=%00", "before=%ED%A0%80%00", `prefix=${"x".repeat(201)}`]) {
          expect([query, (yield* request(`/?${query}`)).status]).toEqual([query, 400])
        }
      })))
})

describe("the page of an account", () => {
  it.live("shows its state and its ledger, without the password of its source", () =>
    inFleet(some, (request) =>
      Effect.gen(function*() {
        const alpha = textOf((yield* request("/accounts/alpha")).body)
        expect(alpha).toContain("State Running Runner runner-1 Epoch 1 Service https://shop.example/open/v1 Source stock.csv")
        expect(alpha).toContain("4 of 8 products in sync, 3 waiting, 1 needs you")
        expect(alpha).toContain("run plaza-stock-sync fleet accounts retry alpha quarantined-1.")
        expect(alpha).toContain("Settled 4 Pending 3 Sending 0 Doubtful 0 Uncertain 0 Quarantined 1")
        expect(alpha).toContain("soldOut-1 waits longest")
        expect(alpha).toContain("NOT_FOUND: no such product")
        const shop = textOf((yield* request("/accounts/shop%2F1")).body)
        expect(shop).toContain("Source postgres://db.example/shop ")
        expect(shop).toContain("Held snapshot 3")
        expect(shop).not.toContain("plaza-stock-sync confirm")
        expect(headlineOf((yield* request("/accounts/shop%2F1")).body)).toBe("Nothing is sent: no live runner works on the account")
        expect(shop).toContain("If it is right, run plaza-stock-sync fleet accounts confirm shop/1 3.")
        const gamma = (yield* request("/accounts/gamma")).body
        expect(headlineOf(gamma)).toBe("Nothing is sent: an operator paused the account")
        expect(textOf(gamma)).toContain("To resume it, run plaza-stock-sync fleet accounts resume gamma.")
        expect(headlineOf((yield* request("/accounts/beta")).body)).toBe("The account has a problem")
        const missing = yield* request("/accounts/nobody")
        expect([missing.status, textOf(missing.body)]).toEqual([404, expect.stringContaining("there is no account with this id")])
        for (const path of ["/accounts/", "/accounts/%", "/accounts/%00", "/accounts/%ED%A0%80"]) {
          expect([path, (yield* request(path)).status]).toEqual([path, 404])
        }
      })))
})

describe("the live state on the page of an account", () => {
  const name = "it's <b>"
  const activity = Effect.map(MonotonicClock.now, (now) => Support.idleUntil(now + 3_600_000))
  const pages = (activities: Readonly<Record<string, AccountActivity>>, ...ids: ReadonlyArray<string>) =>
    inFleet(
      Effect.andThen(some, accounts({ [name]: { runner: Support.runner } })),
      (request) => Effect.forEach(ids, (id) => Effect.map(request(FleetText.accountPath(id)), ({ body }) => body)),
      activities
    )

  it.live("is that of its worker if this runner owns the account", () =>
    Effect.gen(function*() {
      const idle = yield* activity
      const failure = { at: utc(0), about: "account", productId: undefined, tag: "InvalidApiKey", code: "INVALID_API_KEY" } as const
      const status: SyncStatus.State = {
        ...SyncStatus.initial(utc(0)),
        source: { ...SyncStatus.initial(utc(0)).source, readAt: utc(60_000) },
        account: { _tag: "Paused", since: utc(0), failure: { ...failure, message: "<i>revoked" }, nextProbe: utc(60_000) },
        errors: [{ ...failure, message: "<i>revoked" }]
      }
      const setKey = KeyReference.setKey(name, { _tag: "Sealed", text: "v1" })
      const [alpha = "", refused = ""] = yield* pages({ alpha: idle, [name]: { ...idle, active: true, setKey, status } }, "alpha", name)
      expect(textOf(alpha)).toMatch(
        /Worker Idle Nothing is due. Source last read – Source read next in \d+ \w+ Next product due – Requests of this runner 0 /
      )
      expect(textOf(alpha)).not.toContain("Recent errors")
      expect(headlineOf(refused)).toBe("Nothing is sent: the account is paused")
      const text = textOf(refused)
      expect(text).toContain(
        "Worker Paused by an error The service refuses all requests: INVALID_API_KEY: &lt;i&gt;revoked. The first was refused "
      )
      expect(text).toContain("and set it with &quot;plaza-stock-sync fleet accounts update --key - 'it'\\''s &lt;b&gt;'&quot;")
      expect(refused).toContain("title=\"1970-01-01 00:01:00 UTC\"")
      expect(text).toMatch(/Recent errors .* account INVALID_API_KEY: &lt;i&gt;revoked/)
    }))

  it.live("names the runner otherwise", () =>
    Effect.gen(function*() {
      const [alpha = "", gamma = "", shop = ""] = yield* pages({}, "alpha", "gamma", "shop/1")
      expect(textOf(alpha)).toContain("Runner runner-1 Epoch")
      expect(textOf(alpha)).toContain("This runner does not own the account any more, or not yet again.")
      expect(textOf(gamma)).toContain("No runner works on it.")
      expect(textOf(shop)).toContain("Runner runner-2 Epoch")
      expect(textOf(shop)).toContain("Its last runner, runner-2, is lost. Another runner takes the account over within seconds.")
    }))
})

const hostile = [
  "<script>alert(1)</script>",
  "\"'><img src=x onerror=alert(1)>",
  "&amp;&lt;",
  "../../metrics",
  ".",
  "..",
  "a b?c#d%20&e=f+g",
  "\u202Eevil\u2066",
  "</bdi></title></option>",
  "שלום",
  "\u{1F4A9}\u{10FFFF}",
  "${1}`",
  "javascript:alert(1)"
]

describe("hostile ids and messages", () => {
  it.live("are text on every page, and their links lead to their accounts", () =>
    inFleet(
      Effect.gen(function*() {
        yield* runnerRow("<b>runner</b>", 0, [{ reason: "<i>", message: "<script>reason</script>" }])
        yield* accounts(Object.fromEntries(hostile.map((id) => [id, { runner: "<b>runner</b>", problem: `<script>${id}</script>\u0007` }])))
        yield* products(hostile, [{ as: "soldOut", count: 1 }])
      }),
      (request) =>
        Effect.gen(function*() {
          const page = (yield* request(`/?prefix=${encodeURIComponent("<script>")}`)).body
          const whole = (yield* request("/")).body
          const links = Array.from(whole.matchAll(/href="(\/accounts\/[^"]*)"/g), ([, link = ""]) => link.replaceAll("&#39;", "'"))
          const pages = yield* Effect.forEach(hostile, (id) =>
            Effect.gen(function*() {
              expect(links).toContain(FleetText.accountPath(id))
              // As a browser requests it.
              const { pathname, search } = new URL(FleetText.accountPath(id), "http://localhost")
              const { body, status } = yield* request(`${pathname}${search}`)
              expect([id, status]).toEqual([id, 200])
              return body
            }))
          for (const body of [page, whole, ...pages]) {
            expect(body.match(/<script/g)).toHaveLength(1)
            expect(body).not.toMatch(/<img|<b>|<i>|onerror=[^&]*>|href="javascript/)
            for (const character of ["\u202E", "\u2066", "\u0007"]) expect(body).not.toContain(character)
            expect(body.match(/<bdi>/g)?.length).toBe(body.match(/<\/bdi>/g)?.length)
          }
        })
    ), 30_000)
})

describe("requests", () => {
  const paths = ["/", "/accounts/alpha", "/metrics", "/healthz", "/readyz", "/assets/status.css", "/nothing"]

  it.live("have the security headers, and HEAD has the same status", () =>
    inFleet(some, (request) =>
      Effect.gen(function*() {
        for (const path of paths) {
          const { headers, status } = yield* request(path)
          expect([path, status]).toEqual([path, path === "/nothing" ? 404 : 200])
          expect([path, (yield* request(path, { method: "HEAD" })).status]).toEqual([path, status])
          expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*form-action 'self'; .*frame-ancestors 'none'$/)
          expect([headers.get("cache-control"), headers.get("referrer-policy"), headers.get("x-content-type-options")]).toEqual(
            ["no-store", "no-referrer", "nosniff"]
          )
        }
      })))

  it.live("that are not allowed have a page that says so", () =>
    inFleet(Effect.void, (request) =>
      Effect.gen(function*() {
        const post = yield* request("/", { method: "POST" })
        expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"])
        expect(textOf(post.body)).toContain("only GET and HEAD are allowed")
        const other = yield* request("/", { headers: { host: "shop.example" } })
        expect([other.status, textOf(other.body)]).toEqual([403, expect.stringContaining("accepts requests for localhost only")])
        const nothing = yield* request("/nothing")
        expect([nothing.status, textOf(nothing.body)]).toEqual([404, expect.stringContaining("there is no page at this address")])
      })))

  it.live("never return a key or a password", () =>
    inFleet(some, (request) =>
      Effect.gen(function*() {
        for (const path of [...paths, "/?prefix=shop", "/accounts/shop%2F1", "/accounts/beta", "/metrics?top=10"]) {
          const { body } = yield* request(path)
          expect(body).not.toContain(Support.sealed)
          expect(body).not.toContain("hunter2")
          expect(body).not.toContain("sslmode")
        }
      })))
})

describe("without the database", () => {
  const Readiness = Schema.fromJsonString(Schema.Struct({ ready: Schema.Boolean, reasons: Schema.Array(Schema.Unknown) }))

  it.live("pages say so, health, readiness and metrics still respond, and pages return with it", () =>
    Effect.gen(function*() {
      const own = yield* Support.server
      yield* Effect.gen(function*() {
        const request = yield* Pages.requests
        yield* own.stop
        const page = yield* request("/")
        expect([page.status, textOf(page.body)]).toEqual([
          503,
          expect.stringMatching(/No data from the fleet's database The fleet's database .*\. Ready runner-1 /)
        ])
        const account = yield* request("/accounts/alpha")
        expect([account.status, textOf(account.body)]).toEqual([503, expect.stringMatching(/No data the fleet's database .*\./)])
        expect((yield* request("/healthz")).status).toBe(200)
        expect((yield* request("/metrics")).status).toBe(200)
        expect((yield* Schema.decodeEffect(Readiness)((yield* request("/readyz")).body)).ready).toBe(true)
        yield* own.start
        yield* eventually(request("/"), ({ status }) => status === 200)
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Pages.layer(some), own.database))))
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")), 30_000)

  it.effect("pages say so if it does not respond, and return when it does", () =>
    Effect.gen(function*() {
      const own = yield* Support.server
      const network = yield* DatabaseProxy.start(own.url)
      yield* Effect.gen(function*() {
        const request = yield* Pages.requests
        yield* network.set("stalled")
        const page = yield* Effect.forkChild(request("/"))
        yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => page.pollUnsafe() !== undefined })
        const { body, status } = yield* Fiber.join(page)
        expect([status, textOf(body)]).toEqual([
          503,
          expect.stringMatching(/No data from the fleet's database The fleet's database did not respond in time/)
        ])
        yield* network.set("open")
        expect((yield* request("/")).status).toBe(200)
      }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(Pages.layer(some), Support.prepared(network.url)))))
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")), 30_000)
})
