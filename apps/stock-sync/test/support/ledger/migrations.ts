/** Ledgers of earlier versions, with every state in them, and what becomes of them. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, TestClock } from "effect"
import { at, collect, entryOf, type Fresh, inDatabase, options, receive, row, settle, stateOf, take, using } from "./using.js"

interface Dialect {
  readonly integer: string
  readonly text: string
  readonly keyed: string
  readonly plain: string
  readonly generated: string
  readonly after: (version: number) => ReadonlyArray<string>
}

const sqlite: Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  keyed: " STRICT, WITHOUT ROWID",
  plain: " STRICT",
  generated: "VIRTUAL",
  after: (version) => [`PRAGMA application_id = ${0x504c5a53}`, `PRAGMA user_version = ${version}`]
}

const postgres: Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  keyed: "",
  plain: "",
  generated: "STORED",
  after: (version) => [
    "CREATE TABLE version (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)",
    `INSERT INTO version VALUES (1, ${version})`
  ]
}

// As these versions created them.
const tables: Readonly<Record<1 | 2, (dialect: Dialect) => ReadonlyArray<string>>> = {
  1: ({ after, integer, keyed, plain, text }) => [
    `CREATE TABLE account (one ${integer} PRIMARY KEY CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text} NOT NULL)${plain}`,
    `CREATE TABLE product (
      id ${text} PRIMARY KEY NOT NULL, wanted ${integer} NOT NULL, confirmed ${integer}, confirmed_at ${integer}, sent ${integer}, doubt ${integer},
      attempts ${integer} NOT NULL, state ${text} NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
      refusal_tag ${text}, refusal_code ${text}, refusal_message ${text}, refused ${integer},
      line ${integer} NOT NULL, snapshot ${integer} NOT NULL, updated_at ${integer} NOT NULL
    )${keyed}`,
    `CREATE TABLE set_aside (line ${integer} NOT NULL, product_id ${text}, reason ${text} NOT NULL)${plain}`,
    `CREATE TABLE snapshot (one ${integer} PRIMARY KEY CHECK (one = 1), number ${integer} NOT NULL, taken_at ${integer})${plain}`,
    "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
    ...after(1),
    "INSERT INTO snapshot VALUES (1, 7, 500)",
    "INSERT INTO set_aside VALUES (9, 'X', 'is odd')"
  ],
  2: ({ after, generated, integer, keyed, plain, text }) => [
    `CREATE TABLE account (one ${integer} PRIMARY KEY CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text} NOT NULL)${plain}`,
    `CREATE TABLE product (
      id ${text} PRIMARY KEY NOT NULL, wanted ${integer} NOT NULL, confirmed ${integer}, confirmed_at ${integer}, sent ${integer}, doubt ${integer},
      attempts ${integer} NOT NULL, state ${text} NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
      part ${text} NOT NULL CHECK (part IN ('named', 'zeroed', 'left')), since ${integer} NOT NULL,
      refusal_tag ${text}, refusal_code ${text}, refusal_message ${text}, refused ${integer},
      line ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      urgency ${integer} GENERATED ALWAYS AS (CASE WHEN part = 'left' OR state IN ('sending', 'quarantined') THEN NULL WHEN state = 'settled' THEN 5 ELSE 3 END) ${generated}
    )${keyed}`,
    `CREATE TABLE set_aside (place ${integer} PRIMARY KEY, line ${integer} NOT NULL, product_id ${text}, reason ${text} NOT NULL)${plain}`,
    `CREATE TABLE snapshot (one ${integer} PRIMARY KEY CHECK (one = 1), taken_at ${integer}, held_since ${integer}, held_at ${integer},
      zeroed ${integer}, dropped ${integer}, catalogue ${integer})${plain}`,
    `CREATE TABLE holder (one ${integer} PRIMARY KEY CHECK (one = 1), host ${text} NOT NULL, pid ${integer} NOT NULL, since ${integer} NOT NULL)${plain}`,
    "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
    "CREATE INDEX product_special ON product (state, id) WHERE state IN ('sending', 'doubtful', 'quarantined')",
    "CREATE INDEX product_left ON product (state, id) WHERE part = 'left'",
    "CREATE INDEX product_due ON product (urgency, since, id) WHERE urgency IS NOT NULL",
    ...after(2),
    "INSERT INTO snapshot VALUES (1, 500, 600, 700, 90, 0, 100)",
    "INSERT INTO set_aside VALUES (1, 9, 'X', 'is odd')",
    "INSERT INTO holder VALUES (1, 'old', 1, 1)"
  ]
}

const columns =
  "id, wanted, confirmed, confirmed_at, sent, doubt, attempts, state, refusal_tag, refusal_code, refusal_message, refused, line, updated_at"
const products: ReadonlyArray<readonly [values: string, named: boolean]> = [
  ["'settled', 4, 4, 100, 4, NULL, 0, 'settled', NULL, NULL, NULL, NULL, 2, 100", true],
  ["'pending', 0, 3, 100, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 3, 200", true],
  ["'never', 1, NULL, NULL, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 3, 300", true],
  ["'sending', 5, 2, 100, 5, NULL, 1, 'sending', NULL, NULL, NULL, NULL, 4, 300", true],
  ["'doubtful', 5, 2, 100, 9, NULL, 1, 'doubtful', 'AttemptTimeout', NULL, 'no response', 9, 4, 300", true],
  ["'quarantined', 9, NULL, NULL, 9, NULL, 1, 'quarantined', 'NotFound', 'NOT_FOUND', 'no', 9, 5, 300", true],
  ["'doubted', 9, 3, 100, 9, 7, 1, 'quarantined', 'NotFound', 'NOT_FOUND', 'no', 9, 5, 300", true],
  ["'left', 1, NULL, NULL, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 6, 50", false],
  ["'left settled', 1, 1, 20, 1, NULL, 0, 'settled', NULL, NULL, NULL, NULL, 6, 50", false]
]

const rows = (version: 1 | 2): ReadonlyArray<string> => [
  "INSERT INTO account VALUES (1, 'https://one.example/open/v1', '1001')",
  ...products.map(([values, named]) =>
    version === 1
      ? `INSERT INTO product (${columns}, snapshot) VALUES (${values}, ${named ? 7 : 3})`
      : `INSERT INTO product (${columns}, part, since) VALUES (${values}, '${named ? "named" : "left"}', 90)`
  ),
  ...(version === 1
    ? []
    : [
      `INSERT INTO product (${columns}, part, since) VALUES ('zeroed', 0, 4, 100, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 7, 300, 'zeroed', 80)`
    ])
]

export const migrations = (fresh: Fresh, versions: ReadonlyArray<1 | 2>): void => {
  for (const version of versions) {
    describe(`a ledger of version ${version}`, () => {
      const old = (place: string) =>
        Effect.gen(function*() {
          const isPostgres = place.startsWith("postgres:")
          yield* inDatabase(place, (sql) =>
            Effect.gen(function*() {
              if (isPostgres) yield* sql.unsafe(`CREATE SCHEMA ${new URL(place).searchParams.get("schema") ?? ""}`)
              for (const statement of [...tables[version](isPostgres ? postgres : sqlite), ...rows(version)]) yield* sql.unsafe(statement)
            }))
        })

      it.effect("is brought up to date by the worker and loses nothing; readers ask for that", () =>
        at(fresh, (place) =>
          Effect.gen(function*() {
            yield* old(place)
            yield* TestClock.setTime(100_000)
            for (const how of ["layerReader", "layerBeside", "layerCopy"] as const) {
              expect((yield* Effect.flip(using(place, () => Effect.void, how))).message).toContain(
                "`plaza-stock-sync once` brings it up to date"
              )
            }
            const until = 100_000 + Duration.toMillis(options.lateWrites)
            const zeroed = version === 1 ? 0 : 1
            yield* using(place, (ledger) =>
              Effect.gen(function*() {
                expect(yield* ledger.account).toEqual(
                  Option.some({ baseUrl: "https://one.example/open/v1", id: "1001", keyFingerprint: "" })
                )
                expect(yield* ledger.snapshot).toEqual({ takenAt: 500, rows: undefined, unit: "line", held: Option.none() })
                expect(yield* ledger.counts)
                  .toEqual({
                    settled: 2,
                    pending: 3 + zeroed,
                    sending: 0,
                    doubtful: 2,
                    quarantined: 2,
                    missing: 2 + zeroed,
                    rejectedRows: 1,
                    negativeRows: 0
                  })
                expect(yield* collect(ledger.rowIssues)).toEqual([{ line: 9, productId: "X", kind: "rejected", reason: "is odd" }])
                expect(yield* entryOf(ledger, "settled")).toMatchObject({
                  wanted: 4,
                  confirmed: 4,
                  confirmedAt: 100,
                  state: "settled",
                  doubt: undefined
                })
                expect(yield* entryOf(ledger, "sending")).toMatchObject({ state: "doubtful", doubt: { lowest: 5, highest: 5, until } })
                expect(yield* entryOf(ledger, "doubtful")).toMatchObject({
                  doubt: { lowest: 9, highest: 9, until },
                  refusal: { tag: "AttemptTimeout", value: 9 }
                })
                expect(yield* entryOf(ledger, "doubted")).toMatchObject({ state: "quarantined", doubt: { lowest: 7, highest: 7, until } })
                expect(yield* entryOf(ledger, "quarantined")).toMatchObject({
                  state: "quarantined",
                  doubt: undefined,
                  refusal: { code: "NOT_FOUND", value: 9 }
                })
                expect((yield* ledger.backlog).waiting).toMatchObject({ soldOut: 1 + zeroed })
                expect(yield* collect(ledger.history(Option.none()))).toEqual([])
              }))
            yield* using(place, () => Effect.void, "layerReader")
            // And everything in it can be sent.
            yield* using(place, (ledger) =>
              Effect.gen(function*() {
                // Any key of the account becomes its key, as none is known.
                yield* ledger.bind({ baseUrl: "https://one.example/open/v1", id: undefined, keyFingerprint: "k1" })
                for (let taken = yield* take(ledger); taken !== undefined; taken = yield* take(ledger)) yield* ledger.confirm(taken)
                yield* TestClock.setTime(until)
                for (let taken = yield* take(ledger); taken !== undefined; taken = yield* take(ledger)) yield* ledger.confirm(taken)
                expect(yield* ledger.counts).toMatchObject({ settled: 9 + zeroed, pending: 0, doubtful: 0, quarantined: 0 })
                yield* receive(ledger, row("settled", 4), row("left", 2))
                yield* settle(ledger, "left")
                expect(yield* stateOf(ledger, "left")).toBe("settled")
                expect(yield* collect(ledger.history(Option.some("left")))).toHaveLength(2)
              }))
          })))
    })
  }
}
