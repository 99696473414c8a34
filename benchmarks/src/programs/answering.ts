/**
 * The child's side of the protocol with the parent process: one request, one response, and an exit when the parent
 * disconnects.
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
