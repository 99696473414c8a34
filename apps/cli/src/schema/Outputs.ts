/** The schema of what each command prints with `--json`, and of a failure. A test runs every command against them. */
import * as Resources from "@plaza-legacy/domain/Resources"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export interface Output {
  /** The schema of the one value, or of each line. */
  readonly schema: Effect.Effect<Schema.Schema.AnyNoContext>
  /** Whether the command prints one value per line, and none for an empty list. */
  readonly lines: boolean
}

const value = (schema: Schema.Schema.AnyNoContext): Output => ({ schema: Effect.succeed(schema), lines: false })
const lines = (schema: Schema.Schema.AnyNoContext): Output => ({ schema: Effect.succeed(schema), lines: true })

const described = <A, I>(schema: Schema.Schema<A, I>, description: string) => schema.annotations({ description })

const count = Schema.NonNegativeInt.annotations({ jsonSchema: { type: "integer", minimum: 0 } })
const optional = Schema.optionalWith(Schema.String, { exact: true })
const texts = Schema.Array(Schema.String)
const json = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const account = Schema.Struct({ id: optional, username: optional })

const importResult = (kind: "stock" | "orders", columns: Record<string, typeof Schema.String>) =>
  value(Schema.Union(
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
        dryRun: Schema.Literal(true),
        rows: count,
        inPlace: count,
        doubtful: described(count, "Rows whose outcome is unknown since an earlier run"),
        send: Schema.Array(Schema.Struct(columns))
      }),
      "The plan of an import, with --dry-run"
    )
  ))

const check = Schema.Struct({
  name: Schema.String,
  status: Schema.Literal("ok", "warning", "failed", "unknown"),
  message: Schema.String,
  remedy: Schema.NullOr(Schema.String)
})

const verified = Schema.Union(
  described(
    Schema.Struct({
      baseUrl: Schema.String,
      startedAt: Schema.String,
      requests: count,
      rules: Schema.Array(Schema.Struct({
        id: Schema.String,
        section: Schema.String,
        rule: Schema.String,
        status: Schema.Literal("confirmed", "contradicted", "notObservable"),
        detail: Schema.String
      })),
      learnt: Schema.Struct({
        assumptions: json,
        latitude: json,
        operations: Schema.Record({ key: Schema.String, value: Schema.Literal("succeeded", "insufficientScope", "failed") }),
        successStatuses: Schema.Record({ key: Schema.String, value: Schema.Array(count) }),
        defaultPageSizes: Schema.Record({ key: Schema.String, value: count }),
        fields: Schema.Record({ key: Schema.String, value: texts })
      })
    }),
    "The report of a run"
  ),
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
)

// Loaded only for this schema, because the sandbox loads its database.
const activeFault: Output = {
  schema: Effect.map(Effect.promise(() => import("@plaza-legacy/sandbox")), ({ ActiveFault }) => ActiveFault),
  lines: true
}

/** The output of each command, by its words. `mcp` is missing: its standard output is a protocol. */
export const byCommand: Readonly<Record<string, Output>> = {
  "auth login": value(Schema.Struct({ profile: Schema.String, default: Schema.Boolean, baseUrl: Schema.String, account })),
  "auth status": value(Schema.Struct({
    profile: Schema.NullOr(Schema.String),
    account,
    key: Schema.Struct({ masked: Schema.String, from: Schema.String }),
    baseUrl: Schema.Struct({ value: Schema.String, from: Schema.String })
  })),
  "auth list": lines(Schema.Struct({
    profile: Schema.String,
    default: Schema.Boolean,
    account,
    baseUrl: Schema.String,
    key: described(Schema.String, "The last characters of the key")
  })),
  "auth use": value(
    Schema.Struct({ profile: Schema.String, default: Schema.Literal(true), account: Schema.optionalWith(account, { exact: true }) })
  ),
  "auth logout": value(Schema.Struct({ profile: Schema.String, removed: Schema.Literal(true) })),
  me: value(Resources.Profile),
  "users get": value(Resources.Profile),
  "users find": value(Resources.Profile),
  "users follow": value(Schema.Struct({ userId: Schema.String, following: Schema.Literal(true) })),
  "media upload": lines(Schema.Struct({ file: Schema.String, ...Resources.Media.fields })),
  "posts create": value(Resources.Post),
  "posts list": lines(Resources.Post),
  "posts like": value(Schema.Struct({ postId: Schema.String, liked: Schema.Literal(true) })),
  "posts comment": value(Resources.Comment),
  "stories create": value(
    described(Schema.Unknown, "The response of the service, whose shape is not documented; null for a response without a body")
  ),
  "stock set": value(Resources.Product),
  "stock import": importResult("stock", { productId: Schema.String, stock: Schema.String }),
  "orders ship": value(Resources.Order),
  "orders import": importResult("orders", { orderId: Schema.String, carrier: Schema.String, trackingNumber: Schema.String }),
  "chat list": lines(Resources.Conversation),
  "chat send": value(Resources.Message),
  api: {
    ...value(described(
      Schema.Unknown,
      "The body of the response, or null without a body; an object with status, headers and body with --include; an item of the list with " +
        "--paginate"
    )),
    lines: true
  },
  "sandbox start": value(
    Schema.Struct({ baseUrl: Schema.String, controlUrl: Schema.String, webUrl: Schema.String, apiKey: Schema.String })
  ),
  "sandbox reset": value(Schema.Struct({ reset: Schema.Literal(true) })),
  "sandbox seed": value(Schema.Struct({ generated: Schema.Record({ key: Schema.String, value: count }) })),
  "sandbox faults list": activeFault,
  "sandbox faults add": value(Schema.Struct({ id: Schema.String })),
  "sandbox faults remove": value(Schema.Struct({ removed: Schema.String })),
  "sandbox faults clear": value(Schema.Struct({ cleared: Schema.Literal(true) })),
  "sandbox snapshot save": value(Schema.Struct({ saved: Schema.String, rows: count })),
  "sandbox snapshot restore": value(Schema.Struct({ restored: Schema.String })),
  "sandbox snapshot list": lines(Schema.Struct({ name: Schema.String, createdAt: Schema.String, rows: count })),
  "sandbox snapshot remove": value(Schema.Struct({ removed: Schema.String })),
  verify: value(verified),
  schema: value(described(json, "A JSON Schema, draft-07")),
  "skills install": lines(Schema.Struct({ skill: Schema.String, file: Schema.String, changed: Schema.Boolean })),
  doctor: value(Schema.Struct({ ok: Schema.Boolean, checks: Schema.Array(check) })),
  completions: value(Schema.Struct({ shell: Schema.Literal("bash", "zsh", "fish"), script: Schema.String }))
}

/** The failure of any command: one line on standard error. */
export const failure = Schema.Struct({
  error: Schema.Struct({
    tag: described(Schema.String, "The kind of the failure, such as NotFound or OutcomeUnknown"),
    code: described(Schema.NullOr(Schema.String), "The error code of the service, if it responded with one"),
    status: described(Schema.NullOr(Schema.Int.annotations({ jsonSchema: { type: "integer" } })), "The HTTP status of the response"),
    message: Schema.String,
    details: described(json, "Further fields, which depend on the failure")
  })
}).annotations({ description: "A failure with --json: one line on standard error" })
