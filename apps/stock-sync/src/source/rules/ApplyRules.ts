/** Applies product rules and kits to the snapshots of a source. An edit of their files applies to the next snapshot. */
import type { Row } from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import type { Source, SourceFailure } from "../Source.ts"
import * as WholeFile from "../WholeFile.ts"
import * as KitsFile from "./KitsFile.ts"
import * as ProductRules from "./ProductRules.ts"
import * as RulesFile from "./RulesFile.ts"

export interface RuleOptions {
  readonly all: ProductRules.Adjustment
  readonly unmapped: ProductRules.ProductRules["unmapped"]
  /** The path of the rules file. */
  readonly path: string | undefined
  /** The path of the file of kits. */
  readonly kits?: string | undefined
}

interface Opened<A> {
  readonly version: string
  readonly content: A
  /** Ends, or fails if the file has changed since. */
  readonly unchanged: Stream.Stream<never, SourceFailure>
}

type Finished = Omit<WholeFile.FinishedOptions, "doneMarker">

interface FileOptions<A> extends Finished {
  readonly path: string | undefined
  /** What stands for the content of no file. */
  readonly absent: A
  /** The setting that names the file. */
  readonly setting: string
  readonly read: (path: string, bytes: Stream.Stream<Uint8Array, SourceFailure>) => Effect.Effect<A, SourceFailure>
}

/** Reads a file again after each change. */
const follow = Effect.fnUntraced(function*<A>(options: FileOptions<A>) {
  const { absent, path, read, setting, settle, unfinishedWait, whileSettling } = options
  const { place } = yield* Wording
  if (path === undefined) return Effect.succeed<Opened<A>>({ version: "", content: absent, unchanged: Stream.empty })
  const file = yield* WholeFile.make({
    path,
    settle,
    unfinishedWait,
    whileSettling,
    lines: true,
    advice: `Name another file with ${place(setting)}`
  })
  let last: Opened<A> | undefined
  const open: Effect.Effect<Opened<A>, SourceFailure> = Effect.gen(function*() {
    const found = yield* file.open(Option.fromUndefinedOr(last?.version))
    if (Option.isNone(found) && last !== undefined) return last
    const { bytes, version } = Option.getOrThrow(found)
    const unchanged = file.unchanged(version)
    last = { version, content: yield* read(path, Stream.concat(bytes, unchanged)), unchanged }
    return last
  })
  return open
})

/** The source with the rules applied to its snapshots. An invalid file of rules or kits fails the whole snapshot. */
export const make = Effect.fnUntraced(
  function*(source: Source["Service"], { all, kits: kitsPath, path, unmapped, ...finished }: RuleOptions & Finished) {
    const { named } = yield* Wording
    const rulesFile = yield* follow({
      ...finished,
      path,
      absent: new Map<string, ProductRules.ProductRule>(),
      setting: "rules",
      read: RulesFile.read
    })
    const kitsFile = yield* follow<ProductRules.Kits>({
      ...finished,
      path: kitsPath,
      absent: new Map(),
      setting: "kits",
      read: KitsFile.read
    })
    const open: Source["Service"]["open"] = (accepted) =>
      Effect.gen(function*() {
        const rulesOpened = yield* rulesFile
        const kitsOpened = yield* kitsFile
        const rules = { all, unmapped, products: rulesOpened.content }
        const kits = ProductRules.kitsAtService(kitsOpened.content, rules)
        const apply = ProductRules.apply(rules, named("unmapped"), ProductRules.componentsOf(kits))
        // The same source under other rules is another snapshot.
        const prefix = `${rulesOpened.version}\n${kitsOpened.version}\n`
        const known = Option.filter(accepted, (before) => before.startsWith(prefix))
        const unused = new Set(rules.products.keys())
        // The rule of a kit needs no row.
        for (const kit of kitsOpened.content.keys()) unused.delete(kit)
        const map = (row: Row) => {
          if (row.productId !== undefined) unused.delete(row.productId)
          return Result.fromNullishOr(apply(row), () => undefined)
        }
        return Option.map(yield* source.open(Option.map(known, (before) => before.slice(prefix.length))), (snapshot) => ({
          ...snapshot,
          version: Option.map(snapshot.version, (own) => `${prefix}${own}`),
          excluded: ProductRules.excluded(rules),
          adjustments: ProductRules.adjustments(rules),
          kits,
          unusedRules: () =>
            Array.from(unused, (id) => ({ id, reason: `the rule matches no row: ${path} names it, and the source does not` })),
          rows: Stream.concat(Stream.filterMap(snapshot.rows, map), Stream.concat(rulesOpened.unchanged, kitsOpened.unchanged))
        }))
      })
    return { ...source, open }
  }
)
