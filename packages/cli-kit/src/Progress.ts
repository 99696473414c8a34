/** A progress bar on standard error. It is shown only on a terminal, and not with `--quiet` or `--json`. */
import type { SingleBar } from "cli-progress"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Streams } from "./Streams.ts"
import { oneLine } from "./Text.ts"

export interface BarOptions {
  /** The label, for example `Uploading`. */
  readonly label: string
  /** The total; 0 while it is unknown. */
  readonly total: number
  /** The unit (default: `count`). */
  readonly unit?: "bytes" | "count"
  /** Whether to show the estimated time left (default: true). Set to false for work that comes in bursts. */
  readonly estimate?: boolean
}

export interface Bar {
  /** Adds to the amount done (default: 1). */
  readonly tick: (by?: number) => Effect.Effect<void>
  /** Sets the amount done. */
  readonly set: (done: number) => Effect.Effect<void>
  /** Sets the total. */
  readonly total: (total: number) => Effect.Effect<void>
  /** Sets the text behind the bar. */
  readonly status: (text: string) => Effect.Effect<void>
  /** Hides the bar while something else is written. */
  readonly beside: <A, E, R>(writing: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export class Progress extends Context.Service<Progress, {
  /** Whether a bar is visible. If not, a program need not find out what it would show. */
  readonly isShown: boolean
  /** Shows a bar until the scope closes, then clears its line. One bar at a time. */
  readonly bar: (options: BarOptions) => Effect.Effect<Bar, never, Scope.Scope>
}>()("@plaza/cli-kit/Progress") {}

const unseen: Bar = {
  tick: () => Effect.void,
  set: () => Effect.void,
  total: () => Effect.void,
  status: () => Effect.void,
  beside: (writing) => writing
}

const silent: Progress["Service"] = { isShown: false, bar: () => Effect.succeed(unseen) }

/** Shows nothing. */
export const layerSilent: Layer.Layer<Progress> = Layer.succeed(Progress, silent)

const units = ["B", "kB", "MB", "GB", "TB"]

/** Formats a size in powers of a thousand: `12.3 MB`. */
export const size = (bytes: number): string => {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ""}`
}

const draw = async (options: BarOptions, node: NodeJS.WritableStream, columns: () => number): Promise<SingleBar> => {
  // Loaded here, because few commands show a bar.
  const { default: CliProgress } = await import("cli-progress")
  const label = oneLine(options.label)
  return new CliProgress.SingleBar({
    stream: node,
    clearOnComplete: true,
    hideCursor: true,
    etaBuffer: 50,
    format: (_, { eta, progress, total, value }, payload: { readonly status?: string }) => {
      const amount = options.unit === "bytes" ? size : String
      const counts = total === 0 ? amount(value) : `${amount(value)} of ${amount(total)}`
      // The library estimates by its own clock. Nothing depends on the estimate.
      const left = options.estimate !== false && total > value && Number.isFinite(eta) && eta > 0 ? ` · ${Math.ceil(eta)} s left` : ""
      const words = payload.status === undefined ? "" : ` · ${payload.status}`
      const tail = ` ${counts}${left}${words}`
      const width = Math.max(8, Math.min(30, columns() - label.length - tail.length - 4))
      const full = Math.round(width * (total === 0 ? 0 : progress))
      return `${label} ${"█".repeat(full)}${"░".repeat(width - full)}${tail}`.slice(0, Math.max(1, columns() - 1))
    }
  })
}

/** Shows bars where a person sees them. */
export const make = (
  settings: { readonly json: boolean; readonly quiet: boolean }
): Effect.Effect<Progress["Service"], never, Streams> =>
  Effect.map(Streams, ({ stderr }) => {
    const { node } = stderr
    if (settings.json || settings.quiet || !stderr.isTerminal || node === undefined) return silent
    return {
      isShown: true,
      bar: (options) =>
        Effect.acquireRelease(
          Effect.tap(Effect.promise(() => draw(options, node, stderr.columns)), (bar) => Effect.sync(() => bar.start(options.total, 0))),
          (bar) => Effect.sync(() => bar.stop())
        ).pipe(Effect.map((bar): Bar => {
          // A hidden bar ignores updates, so they are applied when it is shown again.
          let done = 0
          let { total } = options
          const set = (value: number) =>
            Effect.sync(() => {
              done = value
              bar.update(value)
            })
          return {
            tick: (by) => Effect.suspend(() => set(done + (by ?? 1))),
            set,
            total: (value) =>
              Effect.sync(() => {
                total = value
                bar.setTotal(value)
              }),
            status: (text) => Effect.sync(() => bar.update({ status: oneLine(text) })),
            beside: (writing) =>
              Effect.acquireUseRelease(Effect.sync(() => bar.stop()), () => writing, () => Effect.sync(() => bar.start(total, done)))
          }
        }))
    }
  })
