/** Records the spans of an effect. */
import { Effect, Tracer } from "effect"

/** A tracer, and the spans that it has started, in this order. */
export const recordSpans = Effect.map(Effect.tracer, (native) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = native.span(options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
})
