/**
 * What is seen of a running loop from outside: its log, a page with health, readiness and metrics where a port is told, and OTLP where
 * a collector is. Reads `Standing` and the ledger behind it, and changes nothing. Knows nothing of how the loop works.
 *
 * @since 0.1.0
 */
import type { UsageError } from "@plaza/terminal/Problem"
import type { Streams } from "@plaza/terminal/Streams"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Journal from "./Seen/Journal.js"
import * as Logs from "./Seen/Logs.js"
import type { OtlpSettings } from "./Seen/OtlpSettings.js"
import type { Standing } from "./Standing.js"

/** @since 0.1.0 @category models */
export interface Told {
  readonly logs: Logs.Options
  /** Where the page listens; none: no page. */
  readonly server: Option.Option<{ readonly host: string; readonly port: number }>
  readonly otlp: Option.Option<OtlpSettings>
}

/** @since 0.1.0 @category models */
export interface Options extends Told {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** How often the source is looked at; undefined where it is read once. */
  readonly poll: Duration.Duration | undefined
}

const server = (options: Options) =>
  Option.match(options.server, {
    onNone: () => Layer.empty,
    onSome: (place) =>
      Layer.scopedDiscard(Effect.gen(function*() {
        const { listen } = yield* Effect.promise(() => import("./Seen/Server.js"))
        yield* Effect.annotateLogs(Effect.logInfo("the status page is there"), { address: yield* listen({ ...options, ...place }) })
      }))
  })

/** Nobody would see the gauges else. */
const watched = (options: Options) =>
  Option.isNone(options.server) && Option.isNone(options.otlp) ? Layer.empty : Layer.unwrapEffect(
    Effect.gen(function*() {
      const Lookout = yield* Effect.promise(() => import("./Seen/Lookout.js"))
      const { patienceWith } = yield* Effect.promise(() => import("./Seen/Readiness.js"))
      const sourcePatience = options.poll === undefined ? undefined : patienceWith(options.poll)
      return Layer.provide(server(options), Lookout.layer({ ...options, sourcePatience }))
    })
  )

const otlp = (settings: Option.Option<OtlpSettings>): Layer.Layer<never> =>
  Option.match(settings, {
    onNone: () => Layer.empty,
    onSome: (told) => Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./Seen/Otlp.js")), ({ layer }) => layer(told)))
  })

/**
 * Around everything that is to be seen: the log and the spans are those of what runs inside.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never, UsageError, Standing | Streams> =>
  watched(options).pipe(
    Layer.provideMerge(Layer.scopedDiscard(Journal.keep)),
    Layer.provideMerge(otlp(options.otlp)),
    Layer.provideMerge(Logs.layer(options.logs))
  )
