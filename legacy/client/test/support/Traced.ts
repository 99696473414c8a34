/** Runs programs with a tracer that records their spans. */
import { Effect, Tracer } from "effect"

/** Runs a program with a tracer that keeps every span, and gives these beside how the program ended. */
export const run = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const spans: Array<Tracer.Span> = []
    const native = yield* Effect.tracer
    const tracer = Tracer.make({
      context: (run, fiber) => native.context(run, fiber),
      span: (...parts) => {
        const span = native.span(...parts)
        spans.push(span)
        return span
      }
    })
    const exit = yield* Effect.exit(Effect.withTracer(program, tracer))
    return { exit, spans }
  })
