/**
 * The schema of what commands print with `--json`, and of a failure. Commands that print the response of an operation have its schema of
 * the catalogue. A test runs every command against them.
 */
import { type OperationName, operations } from "@plaza/domain/Operations"
import * as Resources from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as JsonSchema from "./JsonSchema.ts"

interface Output {
  /** The schema of the one value, or of each line. */
  readonly schema: Effect.Effect<Schema.Constraint>
  /** Whether the command prints one value per line, and none for an empty list. */
  readonly lines: boolean
}

const value = (schema: Schema.Constraint): Output => ({ schema: Effect.succeed(schema), lines: false })
const lines = (schema: Schema.Constraint): Output => ({ schema: Effect.succeed(schema), lines: true })

const described = <S extends Schema.Top>(schema: S, description: string) => schema.annotate({ description })

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const texts = Schema.Array(Schema.String)
const json = Schema.Record(Schema.String, Schema.Unknown)
const yes = Schema.Literal(true)

const account = Schema.Struct({ id: Schema.optionalKey(Schema.String), username: Schema.optionalKey(Schema.String) })

const importResult = (kind: "stock" | "orders", columns: Record<string, typeof Schema.String>) =>
  value(Schema.Union([
    described(
      Schema.Struct({
        import: Schema.Literal(kind),
        rows: count,
        inPlace: described(count, "Rows confirmed in an earlier run"),
        sent: described(count, "Rows confirmed in this run"),
        alreadyShipped: described(texts, "Orders that were already shipped, not by this import"),
        unverified: described(texts, "Orders that are shipped, perhaps with another carrier or number"),
        failed: count,
        left: described(count, "Rows that were not sent"),
        report: described(Schema.NullOr(Schema.String), "The file with the failed rows")
      }),
      "The result of an import"
    ),
    described(
      Schema.Struct({
        import: Schema.Literal(kind),
        dryRun: yes,
        rows: count,
        inPlace: count,
        doubtful: described(count, "Rows whose outcome is unknown since an earlier run"),
        isRunning: described(Schema.Boolean, "Whether an import of the kind is running, whose rows in flight count as doubtful"),
        send: Schema.Array(Schema.Struct(columns))
      }),
      "The plan of an import, with --dry-run"
    )
  ]))

const check = Schema.Struct({
  name: Schema.String,
  status: Schema.Literals(["ok", "warning", "failed", "unknown"]),
  message: Schema.String,
  remedy: Schema.NullOr(Schema.String),
  details: described(json, "The facts of the check, which depend on it")
})

const verifyReport = described(
  Schema.Struct({
    baseUrl: Schema.String,
    startedAt: Schema.String,
    requests: count,
    rules: Schema.Array(Schema.Struct({
      id: Schema.String,
      section: Schema.String,
      rule: Schema.String,
      status: Schema.Literals(["confirmed", "contradicted", "notObservable"]),
      detail: Schema.String
    })),
    learnt: Schema.Struct({
      assumptions: json,
      latitude: json,
      operations: Schema.Record(Schema.String, Schema.Literals(["succeeded", "insufficientScope", "failed"])),
      successStatuses: Schema.Record(Schema.String, Schema.Array(count)),
      defaultPageSizes: Schema.Record(Schema.String, count),
      fields: Schema.Record(Schema.String, texts)
    })
  }),
  "The report of a run"
)

/** The report of `plaza verify`. */
export type VerifyReport = typeof verifyReport.Type

const verified = Schema.Union([
  verifyReport,
  described(
    Schema.Struct({
      intervalMillis: count,
      maxAttempts: count,
      requests: Schema.Array(Schema.Struct({
        id: Schema.String,
        method: Schema.String,
        path: Schema.String,
        hasKey: Schema.Boolean,
        body: Schema.NullOr(Schema.String),
        effect: Schema.NullOr(Schema.String)
      }))
    }),
    "The requests of a run, with --plan"
  )
])

const own = {
  login: value(Schema.Struct({ profile: Schema.String, default: Schema.Boolean, baseUrl: Schema.String, account })),
  status: value(Schema.Struct({
    profile: Schema.NullOr(Schema.String),
    account,
    key: Schema.Struct({ masked: Schema.String, from: Schema.String }),
    baseUrl: Schema.Struct({ value: Schema.String, from: Schema.String })
  })),
  profile: lines(Schema.Struct({
    profile: Schema.String,
    default: Schema.Boolean,
    account,
    baseUrl: Schema.String,
    key: described(Schema.String, "The last characters of the key")
  })),
  use: value(Schema.Struct({ profile: Schema.String, default: yes, account: Schema.optionalKey(account) })),
  logout: value(Schema.Struct({ profile: Schema.String, removed: yes })),
  follow: value(Schema.Struct({ userId: Schema.String, following: yes })),
  like: value(Schema.Struct({ postId: Schema.String, liked: yes })),
  upload: lines(Schema.Struct({ file: Schema.String, ...Resources.Media.fields })),
  stockImport: importResult("stock", { productId: Schema.String, stock: Schema.String }),
  ordersImport: importResult("orders", { orderId: Schema.String, carrier: Schema.String, trackingNumber: Schema.String }),
  api: lines(described(
    Schema.Unknown,
    "The body of the response, or null without a body; an object with status, headers and body with --include; an item of the list with " +
      "--paginate"
  )),
  sandboxStart: value(
    Schema.Struct({ baseUrl: Schema.String, controlUrl: Schema.String, webUrl: Schema.String, apiKey: Schema.String })
  ),
  sandboxHealth: value(Schema.Struct({ status: Schema.Literal("ok"), seed: count })),
  sandboxReset: value(Schema.Struct({ reset: yes })),
  sandboxSeed: value(Schema.Struct({ generated: Schema.Record(Schema.String, count) })),
  // Loaded only for this schema, because the sandbox loads its database.
  faults: { schema: Effect.map(Effect.promise(() => import("@plaza/sandbox")), ({ ActiveFault }) => ActiveFault), lines: true },
  faultId: value(Schema.Struct({ id: Schema.String })),
  faultRemoved: value(Schema.Struct({ removed: Schema.String })),
  faultsCleared: value(Schema.Struct({ cleared: yes })),
  snapshotSaved: value(Schema.Struct({ saved: Schema.String, rows: count })),
  snapshotRestored: value(Schema.Struct({ restored: Schema.String })),
  snapshots: lines(Schema.Struct({ name: Schema.String, createdAt: Schema.String, rows: count })),
  snapshotRemoved: value(Schema.Struct({ removed: Schema.String })),
  verify: value(verified),
  schema: value(described(json, "A JSON Schema, draft-07")),
  agentSetup: lines(Schema.Struct({
    agents: texts,
    scope: Schema.Literals(["project", "user"]),
    kind: Schema.Literals(["mcp", "skill"]),
    file: Schema.String,
    action: described(
      Schema.Literals(["create", "add", "none", "keep"]),
      "create: the file is new; add: it gets an entry; none: it has everything; keep: it has other content, which stays"
    ),
    written: described(Schema.Boolean, "Whether the file was written; false with --dry-run"),
    added: described(Schema.NullOr(Schema.String), "What is added to a configuration file")
  })),
  skills: lines(Schema.Struct({ skill: Schema.String, file: Schema.String, changed: Schema.Boolean })),
  doctor: value(Schema.Struct({ ok: Schema.Boolean, checks: Schema.Array(check) })),
  completions: value(Schema.Struct({ shell: Schema.Literals(["bash", "zsh", "fish", "powershell"]), script: Schema.String })),
  version: value(Schema.Struct({ version: Schema.String }))
} satisfies Readonly<Record<string, Output>>

/** The name of an output that is no response of an operation. */
export type OutputName = keyof typeof own

const isOperation = (name: OperationName | OutputName): name is OperationName => Object.hasOwn(operations, name)

// The document doesn't show it.
const story = {
  ...value(described(Schema.Unknown, "The response of the service, whose shape is not documented; null for a response without a body"))
}

/** The JSON Schema of an output, and whether it is that of each line. */
export const get = (
  name: OperationName | OutputName,
  additionalProperties: "allow" | "strict" = "allow"
): Effect.Effect<{ readonly schema: JsonSchema.JsonSchema; readonly lines: boolean }> =>
  Effect.gen(function*() {
    const output = !isOperation(name) ? own[name] : name === "createStory" ? story : value(operations[name].success)
    const schema = JsonSchema.make(yield* output.schema, additionalProperties)
    const item = isOperation(name) ? JsonSchema.itemOf(schema) : undefined
    return item === undefined ? { schema, lines: output.lines } : { schema: item, lines: true }
  })

/** The fields of an output; undefined if it may have any. */
export const fieldsOf = (name: OperationName | OutputName): Effect.Effect<ReadonlyArray<string> | undefined> =>
  Effect.map(get(name), ({ schema }) => JsonSchema.propertiesOf(schema))

/** The failure of any command: one line on standard error. */
export const failure = Schema.Struct({
  error: Schema.Struct({
    tag: described(Schema.String, "The kind of the failure, such as NotFound or OutcomeUnknown"),
    code: described(Schema.NullOr(Schema.String), "The error code of the service, if it responded with one"),
    status: described(Schema.NullOr(Schema.Int), "The HTTP status of the response"),
    message: Schema.String,
    details: described(json, "Further fields, which depend on the failure")
  })
}).annotate({ description: "A failure with --json: one line on standard error" })
