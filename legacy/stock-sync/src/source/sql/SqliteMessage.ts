/** What the process that reads an SQLite file prints: a JSON value for each line. */
import * as Schema from "effect/Schema"

/** Its standard input. */
export const Request = Schema.parseJson(Schema.Struct({ path: Schema.String, query: Schema.String }))

export const Message = Schema.Union(
  // Integers are texts, so that no digit is lost.
  Schema.Struct({ rows: Schema.Array(Schema.Unknown) }),
  /** All columns, before the rows, if some of them have the same name. A row has only the last of these. */
  Schema.Struct({ columns: Schema.Array(Schema.String) }),
  Schema.Struct({ error: Schema.Literal("moreThanOne", "noSelect") }),
  /** `code` is that of SQLite. */
  Schema.Struct({ error: Schema.Literal("database"), code: Schema.optional(Schema.String), message: Schema.String }),
  /** The last row was before. */
  Schema.Struct({ isComplete: Schema.Literal(true) })
)
