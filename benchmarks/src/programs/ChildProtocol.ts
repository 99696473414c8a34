/**
 * The child's side of the protocol with the parent process: one response to each request.
 */

/** Answers requests of the parent process with a handler, and exits when the parent disconnects. */
export const onRequest = (handle: (request: unknown) => Promise<unknown>): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", (request) => {
    handle(request).then(
      (ok) => process.send?.({ ok }),
      (cause: unknown) => process.send?.({ error: cause instanceof Error ? cause.message : String(cause) })
    )
  })
  process.send?.("ready")
}
