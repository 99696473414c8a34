/** The settings of one account: what an operator writes, what the database stores, and what a worker gets. */
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect, FileSystem, Layer, Option, PlatformError, Redacted, Schema } from "effect"
import { settings } from "../../src/fleet/AccountOptionNames.ts"
import { AccountOptions, type ClientDefaults, layer, layerConfig, type WrittenAccount } from "../../src/fleet/AccountOptions.ts"
import * as FleetSecret from "../../src/fleet/FleetSecret.ts"
import * as SourceReference from "../../src/fleet/SourceReference.ts"

const key = "plaza_0123456789012345678901234567890123456789"
const password = "hunter2hunter2"

const client: ClientDefaults = {
  timeout: Duration.seconds(20),
  rateLimit: 100,
  rateWindow: Duration.seconds(30),
  allowInsecureHttp: false
}

const files = FileSystem.layerNoop({
  readFile: (path) =>
    path === "/run/key"
      ? Effect.succeed(Buffer.from(`${key}\n`))
      : Effect.fail(
        PlatformError.systemError({ module: "FileSystem", method: "readFile", _tag: "NotFound", pathOrDescriptor: path })
      )
})

const environment = {
  SHOP_KEY: key,
  SHOP_SOURCE: `postgres://sync:${password}@db.example/shop`,
  SHOP_HEADER: `Bearer ${password}`,
  // None of these applies to an account.
  AWS_ACCESS_KEY_ID: "key_of_the_runner",
  AWS_SECRET_ACCESS_KEY: "secret_of_the_runner",
  AWS_REGION: "region-of-the-runner",
  STOCK_SYNC_SOURCE_PASSWORD: "of_the_runner",
  STOCK_SYNC_POLL: "7s",
  STOCK_SYNC_STOCK_COLUMN: "of_the_runner",
  STOCK_SYNC_SOURCE: "of_the_runner.csv",
  STOCK_SYNC_SOURCE_AUTHORIZATION: "Bearer of_the_runner",
  PLAZA_API_KEY: "key_of_the_runner",
  PLAZA_BASE_URL: "https://runner.example/open/v1"
}

// Deriving the cipher's key is slow on purpose, so it is derived once.
const secret = Effect.runSync(Effect.cached(Effect.provide(FleetSecret.FleetSecret, FleetSecret.layer("the secret of the fleet"))))

const using = <A, E>(use: (options: AccountOptions["Service"]) => Effect.Effect<A, E>, hasSecret = true) =>
  Effect.gen(function*() {
    const service = hasSecret ? Option.some(yield* secret) : Option.none()
    return yield* Effect.provide(Effect.flatMap(AccountOptions, use), Layer.provide(layer(service, client), files))
  }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: environment })))

const written = (more: Partial<WrittenAccount> = {}): WrittenAccount => ({
  id: "shop-1",
  baseUrl: "https://api.example/open/v1/",
  key: "env:SHOP_KEY",
  source: "stock.csv",
  options: {},
  ...more
})

const resolved = (more: Partial<WrittenAccount> = {}) =>
  using((options) => Effect.flatMap(options.accept(written(more)), (account) => options.resolve(account)))

const messageOf = (more: Partial<WrittenAccount>, hasSecret = true) =>
  using((options) => Effect.flatMap(options.accept(written(more)), options.resolve), hasSecret).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "accepted" }),
    Effect.tap((message) =>
      Effect.sync(() => {
        for (const hidden of [key.slice(6), password]) expect(message).not.toContain(hidden)
      })
    )
  )

describe("an account", () => {
  it.effect("has the defaults of the single store, and nothing of the runner but the settings of its client", () =>
    Effect.gen(function*() {
      const account = yield* resolved()
      expect(account.client).toMatchObject({ ...client, baseUrl: "https://api.example/open/v1" })
      expect(Redacted.value(account.client.apiKey)).toBe(key)
      expect(account.source).toMatchObject({ source: "stock.csv", idColumn: "productId", stockColumn: "stock", negative: "zero" })
      expect(account.source.authorization).toBeUndefined()
      expect(Duration.toSeconds(account.sync.poll)).toBe(60)
      expect(account.source.poll).toEqual(account.sync.poll)
      expect(Duration.toSeconds(account.ledger.lateWrites)).toBe(40)
      expect(account.ledger.rateWindow).toEqual(client.rateWindow)
      expect(account.policy.guard).toMatchObject({ share: 0.2, count: 10 })
      expect(account.send.concurrency).toBe(8)
    }))

  it.effect("has its own options, by the names of the single store", () =>
    Effect.gen(function*() {
      const account = yield* resolved({
        options: {
          "stock-column": "qty",
          poll: "5m",
          gone: "zero",
          "max-bad-rows": "5%",
          "accept-partial": "has_more, meta.next",
          concurrency: "2",
          "late-writes": "10s",
          buffer: "3",
          "source-includes-sales": "true",
          query: " "
        }
      })
      expect(account.source).toMatchObject({ stockColumn: "qty", query: undefined, rules: { all: { buffer: 3 } } })
      expect(account.policy).toMatchObject({ missing: "zero", maxBadRows: 0.05 })
      expect(account.source.acceptPartial).toEqual(["has_more", "meta.next"])
      expect(Duration.toMinutes(account.sync.poll)).toBe(5)
      expect(account.sync.sourceIncludesSales).toBe(true)
      expect(account.send.concurrency).toBe(2)
      expect(Duration.toSeconds(account.ledger.lateWrites)).toBe(10)
    }))

  it.effect("adds and subtracts columns, also those with a comma or a minus in their names", () =>
    Effect.gen(function*() {
      const columnsOf = (text: string) =>
        Effect.map(resolved({ options: { "stock-column": text } }), ({ source: { stockColumn } }) =>
          typeof stockColumn === "string" ? stockColumn : stockColumn.map(({ column, sign }) => `${sign > 0 ? "+" : "-"}${column}`))
      for (
        const [text, columns] of [
          ["Available (not editable)", "Available (not editable)"],
          ["\"Stock, total\"", "Stock, total"],
          ["\"-x\"", "-x"],
          ["available,-reserved,warehouse2", ["+available", "-reserved", "+warehouse2"]],
          [" available , + b , - \"reserved, old\" ", ["+available", "+b", "-reserved, old"]],
          ["\"a \"\"b\"\"\",c", ["+a \"b\"", "+c"]]
        ] as const
      ) {
        expect([text, yield* columnsOf(text)]).toEqual([text, columns])
      }
      for (const text of ["-reserved", "a,", ",a", "a,,b", "-"]) {
        expect([text, yield* messageOf({ options: { "stock-column": text } })]).toEqual([
          text,
          expect.stringContaining("is not a list of columns with commas between them")
        ])
      }
    }))

  it.effect("accepts every option of the single store that is not one of its process", () =>
    Effect.gen(function*() {
      expect(settings.length).toBeGreaterThan(25)
      for (const { flag } of settings) {
        // "1" is valid for some of them. The others are refused by their value, and not by their name.
        expect([flag, yield* messageOf({ options: { [flag]: "1" } })]).not.toEqual([flag, expect.stringContaining("is not an option")])
      }
    }))

  it.effect("that is invalid is refused with its name and its option", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [Partial<WrittenAccount>, string]> = [
        [{ options: { poll: "soon" } }, "account shop-1: \"soon\" is not a duration such as 30s: change the option poll"],
        [
          { options: { "id-column": "a", "stock-column": "a" } },
          "account shop-1: the id and the stock can't both come from the column \"a\": change the option id-column or the option stock-column"
        ],
        [
          { options: { "id-column": "a", "stock-column": "b,-a" } },
          "account shop-1: the id and the stock can't both come from the column \"a\": change the option id-column or the option stock-column"
        ],
        [
          { options: { decimal: ",", thousands: "," } },
          "account shop-1: \",\" can't both begin a fraction and group thousands: change the option decimal or the option thousands"
        ],
        [
          { options: { unmapped: "reject" } },
          "account shop-1: the option unmapped reject needs a rules file: name one with the option rules"
        ],
        [{ options: { "stock-colum": "a" } }, "account shop-1: stock-colum is not an option of an account: did you mean stock-column?"],
        [
          { options: { colour: "a" } },
          "account shop-1: colour is not an option of an account: see plaza-stock-sync fleet accounts add --help for the options"
        ],
        [
          { options: { port: "1" } },
          "account shop-1: port is not an option of an account: it is a setting of the runner: set --port of fleet run instead"
        ],
        [{ options: { "log-level": "debug" } }, "set --log-level of fleet run instead"],
        [{ options: { "concurrent-reads": "1" } }, "set --concurrent-reads of fleet run instead"],
        [
          { options: { "stop-within": "1m" } },
          "account shop-1: stop-within is not an option of an account: it is a setting of the runner: set --stop-within of fleet run instead"
        ],
        [{ options: { webhook: "https://x" } }, "a fleet has no webhook"],
        [{ options: { ledger: "x" } }, "the fleet's database holds the ledgers of all accounts"],
        [{ options: { config: "x" } }, "set its options one by one"],
        [{ options: { "rate-limit": "1" } }, "set PLAZA_RATE_LIMIT for the runner"],
        [{ options: { "base-url": "x" } }, "set the base URL of the account instead"],
        [{ options: { "source-headers": "no header" } }, "account shop-1: the option source-headers is invalid: header 1 is not"],
        [
          { options: { "source-headers": "Authorization: Bearer x" } },
          "account shop-1: the option source-headers is invalid: the header authorization belongs into the option source-authorization"
        ],
        [{ options: { "source-authorization": "Bearer ü" } }, "the option source-authorization is invalid"],
        [{ options: { "source-authorization": "env:A B" } }, "the name behind env: is not a variable name"],
        [{ options: { "source-authorization": "env:MISSING" } }, "the variable MISSING with its source-authorization is not set"],
        [{ id: " " }, "the id of an account must have 1 to 200 characters"],
        [{ baseUrl: "" }, "account shop-1: its base URL"],
        [{ baseUrl: "http://api.example/open/v1" }, "account shop-1: its base URL"],
        [{ key: "" }, "account shop-1: the key is missing"],
        [{ key: "two words" }, "account shop-1: its key is invalid"],
        [{ key: `evn:${key}` }, "account shop-1: the key has an unknown prefix: did you mean env:?"],
        [{ key: "file:/missing" }, "the file /missing with its key can't be read"],
        [{ source: "" }, "account shop-1: the source is missing"],
        [{ source: "-" }, "account shop-1: its source is standard input, which a runner can't read"],
        [{ source: "ftp://shop/stock.csv" }, "account shop-1: its source has an unknown scheme"],
        [{ source: "file:/stock.csv" }, "account shop-1: its source has an unknown scheme"],
        [{ source: "sealed:x y" }, "account shop-1: the source begins with sealed:"],
        [{ source: "env:" }, "the name behind env: is not a variable name"],
        [{ source: "env:MISSING" }, "the variable MISSING with its source is not set"],
        [{ source: "env:SHOP_SOURCE" }, "account shop-1: its source is a database: set the option query to one SELECT"],
        [
          { source: "https://shop.example/graphql", options: { graphql: "stock.graphql", next: "next" } },
          "account shop-1: the option next has no effect on a query, whose pages are followed by its cursor: remove it, or the option graphql"
        ],
        [{ options: { graphql: "stock.graphql" } }, "the option graphql needs a source that is an http: or https: address"],
        [
          { source: "env:SHOP_SOURCE", options: { graphql: "stock.graphql" } },
          "account shop-1: the option graphql needs a source that is an http: or https: address"
        ],
        [{ source: "sqlite:stock.db" }, "account shop-1: its source is a database"],
        [{ source: "https://" }, "account shop-1: its source is not a valid address"],
        [{ source: `https://sync:${password}@shop.example/stock` }, "move them to the option source-authorization"],
        [{ options: { query: `SELECT ${String.fromCharCode(0)}` } }, "contains the character NUL"]
      ]
      for (const [more, message] of cases) expect(yield* messageOf(more)).toContain(message)
    }))

  it.effect("may have a GraphQL query for an address, also for one that only the runners know", () =>
    Effect.gen(function*() {
      const options = { graphql: "stock.graphql", items: "data.products.nodes" }
      const account = yield* resolved({ source: "https://shop.example/graphql", options })
      expect(account.source).toMatchObject({ graphql: "stock.graphql", source: "https://shop.example/graphql" })
      const unknown = yield* using((service) => service.accept(written({ source: "env:ELSEWHERE", options })))
      expect(unknown.options).toEqual(options)
    }))

  it.effect("is the same in the configuration of a runner, whose own mistakes are its own", () =>
    Effect.gen(function*() {
      const provide = (more: Readonly<Record<string, string>>) =>
        Effect.flatMap(AccountOptions, (options) => Effect.flatMap(options.accept(written()), options.resolve)).pipe(
          Effect.provide(Layer.provide(layerConfig, files)),
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { ...environment, ...more } }))
        )
      const account = yield* provide({ PLAZA_RATE_LIMIT: "60", PLAZA_TIMEOUT: "5s" })
      expect(account.client).toMatchObject({ rateLimit: 60, allowInsecureHttp: false, baseUrl: "https://api.example/open/v1" })
      expect(yield* Effect.flip(Effect.asVoid(provide({ PLAZA_RATE_LIMIT: "many" })))).toBeInstanceOf(Config.ConfigError)
      expect(yield* Effect.flip(Effect.asVoid(provide({ STOCK_SYNC_FLEET_SECRET: "short" })))).toMatchObject({ _tag: "UsageError" })
    }))
})

describe("a secret of an account", () => {
  const address = `postgres://sync:${password}@db.example:5432/shop?sslmode=require`
  const secrets = {
    key,
    source: address,
    options: { query: "SELECT 1", "source-authorization": `Bearer ${password}`, "source-headers": "x-shop: env:SHOP_HEADER" }
  }
  const stored = Schema.encodeSync(SourceReference.FromText)

  it.effect("is sealed before it is stored, and opened for the worker", () =>
    using((options) =>
      Effect.gen(function*() {
        const account = yield* options.accept(written(secrets))
        const text = JSON.stringify([account, stored(account.source)])
        for (const hidden of [key, password, "sync:", "env:SHOP_HEADER"]) expect(text).not.toContain(hidden)
        expect(SourceReference.display(account.source)).toBe("postgres://db.example:5432/shop")
        expect(Schema.decodeSync(SourceReference.FromText)(stored(account.source))).toEqual(account.source)
        const opened = yield* options.resolve(account)
        expect(Redacted.value(opened.client.apiKey)).toBe(key)
        expect(opened.source.source).toBe(address)
        expect(opened.source.authorization && Redacted.value(opened.source.authorization)).toBe(`Bearer ${password}`)
        expect(opened.source.headers && Redacted.value(opened.source.headers)).toEqual({ "x-shop": "env:SHOP_HEADER" })
      })
    ))

  it.effect("stays sealed as it is if it is written again, so that nothing changes", () =>
    using((options) =>
      Effect.gen(function*() {
        const before = yield* options.accept(written(secrets))
        expect(yield* options.accept(written(secrets), before)).toEqual(before)
        const after = yield* options.accept(written({ ...secrets, key: `${key}x` }), before)
        expect(after.key).not.toEqual(before.key)
        expect({ ...after, key: before.key }).toEqual(before)
      })
    ))

  it.effect("logs in to a server of files, and none of the runner does", () =>
    Effect.gen(function*() {
      const options = { "source-password": password, "host-key": `SHA256:${"a".repeat(43)}`, "known-hosts": "known", "source-key": "key" }
      const source = "sftp://me@sftp.example/stock-*.csv"
      const account = yield* using(({ accept }) => accept(written({ source, options })))
      expect(JSON.stringify(account)).not.toContain(password)
      const { source: settings } = yield* using((service) => service.resolve(account))
      expect(settings.sftp).toEqual({ keyFile: "key", knownHosts: "known", hostKeys: [options["host-key"]] })
      expect(settings.remoteSecrets?.sftp.password?.pipe(Redacted.value)).toBe(password)
      const s3 = {
        "s3-access-key-id": "env:SHOP_KEY",
        "s3-secret-access-key": password,
        "s3-endpoint": "https://s3.example",
        "s3-region": "eu"
      }
      const { source: bucket } = yield* resolved({ source: "s3://bucket/stock.csv", options: s3 })
      expect(bucket.s3).toEqual({ endpoint: "https://s3.example", region: "eu" })
      expect(bucket.remoteSecrets?.credentials).toMatchObject({ accessKeyId: key })
      // Those of the runner are in its variables.
      const { source: bare } = yield* resolved({ source: "s3://bucket/stock.csv" })
      expect(bare.s3).toEqual({ endpoint: undefined, region: "us-east-1" })
      expect(bare.remoteSecrets?.credentials?.accessKeyId).toBe(undefined)
      for (
        const [address, reason] of [
          ["sftp://me:hunter2hunter2@sftp.example/x", "put the password into the option source-password"],
          ["sftp://sftp.example/x", "the address lacks the user"],
          ["s3://bucket", "it names a folder"]
        ] as const
      ) {
        const { message } = yield* Effect.flip(using(({ accept }) => accept(written({ source: address }))))
        expect(message).toContain(`account shop-1: its source: ${reason}`)
        expect(message).not.toContain(password)
      }
    }))

  it.effect("can be in the environment or in a file of the runner", () =>
    Effect.gen(function*() {
      const account = yield* resolved({
        key: "file:/run/key",
        source: "env:SHOP_SOURCE",
        options: { query: "SELECT 1", "source-authorization": "env:SHOP_HEADER" }
      })
      expect(Redacted.value(account.client.apiKey)).toBe(key)
      expect(account.source.source).toBe(environment.SHOP_SOURCE)
      expect(account.source.authorization && Redacted.value(account.source.authorization)).toBe(environment.SHOP_HEADER)
    }))

  it.effect("is refused in the clear without the secret of the fleet", () =>
    Effect.gen(function*() {
      const says = "STOCK_SYNC_FLEET_SECRET"
      expect(yield* messageOf({ key }, false)).toContain(says)
      expect(yield* messageOf({ source: address, options: { query: "SELECT 1" } }, false)).toContain(says)
      expect(yield* messageOf({ source: `https://shop.example/stock?token=${password}` }, false)).toContain(says)
      expect(yield* messageOf({ options: { "source-authorization": `Bearer ${password}` } }, false)).toContain(says)
      const plain = [
        "postgres://sync@db.example/shop?sslmode=require",
        "https://shop.example/stock.csv",
        "sqlite:stock.db",
        "C:\\stock.csv"
      ]
      for (const source of plain) {
        const account = yield* using((options) => options.accept(written({ source, options: { query: "SELECT 1" } })), false)
        expect(account.source).toEqual({ _tag: "Plain", text: source })
        expect(SourceReference.display(account.source)).toBe(source.replace(/sync@|\?.*/g, ""))
      }
    }))
})
