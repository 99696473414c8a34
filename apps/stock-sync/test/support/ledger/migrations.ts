/** Ledgers that earlier programs wrote, with products in every state. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, TestClock } from "effect"
import { containing } from "../reading.js"
import { utc } from "../utc.js"
import { at, collect, entryOf, type Fresh, inDatabase, options, receive, row, settle, stateOf, take, using } from "./using.js"

interface Dialect {
  readonly integer: string
  readonly text: string
  readonly keyed: string
  readonly plain: string
  readonly generated: string
  readonly serial: string
  readonly after: (version: number) => ReadonlyArray<string>
}

const sqlite: Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  keyed: " STRICT, WITHOUT ROWID",
  plain: " STRICT",
  generated: "VIRTUAL",
  serial: "INTEGER PRIMARY KEY",
  after: (version) => [`PRAGMA application_id = ${0x504c5a53}`, `PRAGMA user_version = ${version}`]
}

const postgres: Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  keyed: "",
  plain: "",
  generated: "STORED",
  serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  after: (version) => [
    "CREATE TABLE version (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)",
    `INSERT INTO version VALUES (1, ${version})`
  ]
}

type Version = 1 | 2 | 3

// As the programs of these versions created them. Version 3 had no record of its migrations at first.
const tables: Readonly<Record<Version, (dialect: Dialect) => ReadonlyArray<string>>> = {
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
  ],
  3: ({ after, generated, integer, keyed, plain, serial, text }) => [
    `CREATE TABLE account (one ${integer} PRIMARY KEY CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text}, key_fingerprint ${text} NOT NULL)${plain}`,
    `CREATE TABLE product (
      id ${text} PRIMARY KEY NOT NULL, wanted ${integer} NOT NULL, confirmed ${integer}, confirmed_at ${integer}, sent ${integer}, sent_at ${integer},
      doubt_low ${integer}, doubt_high ${integer}, doubt_until ${integer}, attempts ${integer} NOT NULL,
      state ${text} NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
      part ${text} NOT NULL CHECK (part IN ('named', 'zeroed', 'left', 'excluded')),
      left_at ${integer}, base ${integer}, base_at ${integer}, since ${integer} NOT NULL, due_at ${integer},
      refusal_tag ${text}, refusal_code ${text}, refusal_message ${text}, refused ${integer},
      line ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      priority ${integer} GENERATED ALWAYS AS (CASE
        WHEN state = 'sending' OR part = 'excluded' THEN NULL
        WHEN state = 'settled' THEN CASE WHEN part IN ('named', 'zeroed') THEN 5 END
        WHEN wanted = 0 AND (confirmed IS NULL OR confirmed <> 0 OR doubt_high > 0) THEN 0
        WHEN doubt_low = wanted AND doubt_high = wanted THEN 4
        WHEN confirmed > wanted OR doubt_high > wanted THEN 1
        WHEN wanted > 0 AND (confirmed = 0 OR doubt_low = 0) THEN 2
        ELSE 3
      END) ${generated}
    )${keyed}`,
    `CREATE TABLE snapshot (one ${integer} PRIMARY KEY CHECK (one = 1), taken_at ${integer}, row_count ${integer}, unit ${text}, held_number ${integer} NOT NULL DEFAULT 0,
      held_since ${integer}, held_at ${integer}, confirmed_number ${integer}, catalogue ${integer}, sold_out ${integer}, fell ${integer},
      rose ${integer}, missing ${integer}, zeroed ${integer})${plain}`,
    `CREATE TABLE held_change (id ${text} PRIMARY KEY NOT NULL, kind ${text} NOT NULL, was ${integer} NOT NULL, wanted ${integer} NOT NULL)${keyed}`,
    `CREATE TABLE row_issue (place ${integer} PRIMARY KEY, line ${integer} NOT NULL, product_id ${text}, kind ${text} NOT NULL, reason ${text} NOT NULL)${plain}`,
    `CREATE TABLE history (n ${serial}, product_id ${text} NOT NULL, value ${integer} NOT NULL, priority ${integer} NOT NULL, sent_at ${integer} NOT NULL,
      ended_at ${integer} NOT NULL, outcome ${text} NOT NULL, code ${text}, message ${text})${plain}`,
    `CREATE TABLE request (at ${integer} NOT NULL)${plain}`,
    `CREATE TABLE lock_owner (one ${integer} PRIMARY KEY CHECK (one = 1), host ${text} NOT NULL, pid ${integer} NOT NULL, since ${integer} NOT NULL,
      token ${text} NOT NULL)${plain}`,
    "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
    "CREATE INDEX product_special ON product (state, id) WHERE state IN ('sending', 'doubtful', 'quarantined')",
    "CREATE INDEX product_due ON product (priority, since, id) WHERE priority IS NOT NULL AND due_at IS NULL",
    "CREATE INDEX product_parked ON product (due_at, id) WHERE due_at IS NOT NULL",
    "CREATE INDEX product_doubt ON product (doubt_until) WHERE doubt_until IS NOT NULL",
    "CREATE INDEX product_left ON product (left_at) WHERE left_at IS NOT NULL",
    "CREATE INDEX product_base ON product (base_at) WHERE base_at IS NOT NULL",
    "CREATE INDEX request_at ON request (at)",
    ...after(3),
    "INSERT INTO snapshot (one, taken_at) VALUES (1, 500)",
    "INSERT INTO row_issue VALUES (1, 9, 'X', 'rejected', 'is odd')",
    "INSERT INTO lock_owner VALUES (1, 'old', 1, 1, 'token')"
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

/** The columns and values of a product that differ from those of version 1. */
const added = (version: Version, doubt: string, part: "named" | "left" | "zeroed") => {
  if (version === 1) return { columns: "snapshot", values: part === "named" ? "7" : "3" }
  if (version === 2) return { columns: "part, since", values: `'${part}', 90` }
  const until = doubt === "NULL" ? "NULL" : "400"
  return {
    columns: "part, since, doubt_high, doubt_until, left_at",
    values: `'${part}', 90, ${doubt}, ${until}, ${part === "named" ? "NULL" : "1"}`
  }
}

const insert = (version: Version, values: string, part: "named" | "left" | "zeroed") => {
  const doubt = values.split(", ")[5] ?? "NULL"
  // Since version 3 a doubtful product has the range of its doubt.
  const ranged = version === 3 && values.includes("'doubtful', 'AttemptTimeout'")
    ? values.replace("9, NULL, 1, 'doubtful'", "9, 9, 1, 'doubtful'")
    : values
  const further = added(version, ranged === values ? doubt : "9", part)
  return `INSERT INTO product (${
    version === 3 ? columns.replace("doubt", "doubt_low") : columns
  }, ${further.columns}) VALUES (${ranged}, ${further.values})`
}

const rows = (version: Version): ReadonlyArray<string> => [
  version === 3
    ? "INSERT INTO account VALUES (1, 'https://one.example/open/v1', '1001', '')"
    : "INSERT INTO account VALUES (1, 'https://one.example/open/v1', '1001')",
  ...products.map(([values, named]) => insert(version, values, named ? "named" : "left")),
  ...(version === 1 ? [] : [insert(version, "'zeroed', 0, 4, 100, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 7, 300", "zeroed")])
]

export const migrations = (fresh: Fresh, versions: ReadonlyArray<Version>): void => {
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

      it.effect("is migrated by the worker and keeps its content; a reader of an outdated one asks for that", () =>
        at(fresh, (place) =>
          Effect.gen(function*() {
            yield* old(place)
            yield* TestClock.setTime(100_000)
            for (const how of ["layerReadOnly", "layerWithoutLock", "layerTemporaryCopy"] as const) {
              const opened = yield* Effect.either(using(place, (ledger) => ledger.account, how))
              if (version === 3) expect(opened).toMatchObject({ _tag: "Right", right: { _tag: "Some" } })
              else expect(opened).toMatchObject({ left: { message: containing("`plaza-stock-sync once` brings it up to date") } })
            }
            const until = 100_000 + Duration.toMillis(options.lateWrites)
            const zeroed = version === 1 ? 0 : 1
            yield* using(place, (ledger) =>
              Effect.gen(function*() {
                expect(yield* ledger.account).toEqual(
                  Option.some({ baseUrl: "https://one.example/open/v1", id: "1001", keyFingerprint: "" })
                )
                expect(yield* ledger.snapshot).toEqual({ takenAt: utc(500), rows: undefined, unit: "line", held: Option.none() })
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
                  confirmedAt: utc(100),
                  state: "settled",
                  doubt: undefined
                })
                expect(yield* entryOf(ledger, "sending")).toMatchObject({
                  state: "doubtful",
                  doubt: { lowest: 5, highest: 5, until: utc(until) }
                })
                expect(yield* entryOf(ledger, "doubtful")).toMatchObject({
                  doubt: { lowest: 9, highest: 9, until: utc(until) },
                  refusal: { tag: "AttemptTimeout", value: 9 }
                })
                expect(yield* entryOf(ledger, "doubted")).toMatchObject({
                  state: "quarantined",
                  doubt: { lowest: 7, highest: 7, until: utc(until) }
                })
                expect(yield* entryOf(ledger, "quarantined")).toMatchObject({
                  state: "quarantined",
                  doubt: undefined,
                  refusal: { code: "NOT_FOUND", value: 9 }
                })
                expect((yield* ledger.backlog).waiting).toMatchObject({ soldOut: 1 + zeroed })
                expect(yield* collect(ledger.history(Option.none()))).toEqual([])
              }))
            yield* using(place, () => Effect.void, "layerReadOnly")
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
