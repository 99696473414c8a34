/**
 * The side of a program in its talk with the process that started it: one question, one answer, and an end when nobody
 * listens any longer. Knows nothing of what is asked.
 */

export const answering = (answer: (question: unknown) => Promise<unknown>): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", (question) => {
    answer(question).then(
      (ok) => process.send?.({ ok }),
      (cause: unknown) => process.send?.({ error: cause instanceof Error ? cause.message : String(cause) })
    )
  })
  process.send?.("ready")
}
