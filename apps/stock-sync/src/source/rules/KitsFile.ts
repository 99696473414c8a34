/** Reads the CSV file of kits: the columns `kit`, `component` and `quantity`, a row for each component. */
import { ProductId } from "@plaza/domain/Ids"
import * as Csv from "@plaza/tabular/Csv"
import * as Identity from "@plaza/tabular/Identity"
import type { RowSchema } from "@plaza/tabular/RowSchema"
import * as SourceError from "@plaza/tabular/SourceError"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import * as Utf8 from "@plaza/tabular/Utf8"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import type { Kits } from "./ProductRules.ts"

interface Line {
  readonly line: number
  readonly content: Result.Result<{ readonly kit: string; readonly component: string; readonly quantity: number }, string>
}

const readId = Identity.decoder(ProductId)

const quantityOf = (text: string): Result.Result<number, string> =>
  /^0*[1-9]\d{0,8}$/.test(text)
    ? Result.succeed(Number(text))
    : Result.fail(`quantity ${JSON.stringify(text)} is not a whole number, 1 or more`)

/** Without its kits, the source's own stock of each would be sent. `setting` names that of the file. */
const schemaOf = (setting: string): RowSchema<Line> => ({
  columns: [{ name: "kit" }, { name: "component" }, { name: "quantity" }],
  empty: `more likely a broken export than a shop without kits: omit ${setting} to have none`,
  reject: (line, _, reason) => ({ line, content: Result.fail(reason) }),
  decode: (line, values) => {
    const [kit = "", component = "", quantity = ""] = values.map((value) => typeof value === "string" ? value.trim() : "")
    return {
      line,
      content: Result.all({ kit: readId("kit", kit), component: readId("component", component), quantity: quantityOf(quantity) })
    }
  }
})

/** The kits in the bytes of a file, by the ids in the source. Fails at the first mistake, with its line and reason. */
export const read = Effect.fnUntraced(function*<E>(path: string, bytes: Stream.Stream<Uint8Array, E>) {
  const schema = schemaOf((yield* Wording).named("kits"))
  const text = StreamingParser.decode(() => Utf8.parser(path))(bytes)
  const kits = new Map<string, Map<string, number>>()
  const componentLines = new Map<string, number>()
  const invalid = (line: number) => (reason: string) => SourceError.content(path, reason, line)
  yield* Stream.runForEach(Csv.rows(schema, { source: path })(text), ({ content, line }) =>
    Effect.fromResult(content).pipe(
      Effect.filterOrFail(
        ({ component, kit }) => kits.get(kit)?.has(component) !== true,
        ({ component, kit }) => `${JSON.stringify(component)} is on an earlier line of the kit ${JSON.stringify(kit)} as well`
      ),
      Effect.mapBoth({
        onFailure: invalid(line),
        onSuccess: ({ component, kit, quantity }) => {
          kits.set(kit, (kits.get(kit) ?? new Map<string, number>()).set(component, quantity))
          componentLines.set(component, line)
        }
      })
    ))
  for (const [component, line] of componentLines) {
    if (kits.has(component)) {
      return yield* invalid(line)(`${JSON.stringify(component)} is a kit itself: list its components instead of it`)
    }
  }
  return kits satisfies Kits
})
