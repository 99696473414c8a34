/**
 * Prompts on a terminal, and reads piped input otherwise. Prompts go to standard error, because standard output may
 * be a pipe.
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { isatty } from "node:tty"
import { UsageError } from "../errors/CliError.ts"
import { Streams } from "../output/Streams.ts"
import { visible } from "../output/Text.ts"

/** Whether standard input is a terminal. */
export const isTerminal: Effect.Effect<boolean> = Effect.sync(() => isatty(0))

/** A writable that discards output once it is silenced, which hides even the length of the input. */
const silenceable = (node: NodeJS.WritableStream | undefined) => {
  let isSilent = false
  return {
    silence: () => {
      isSilent = true
    },
    output: new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        if (!isSilent) node?.write(chunk)
        done()
      }
    })
  }
}

const readLine = (question: string, isHidden: boolean): Effect.Effect<string, UsageError, Streams> =>
  Effect.flatMap(Streams, ({ stderr: { node } }) =>
    Effect.async<string, UsageError>((resume) => {
      const { output, silence } = silenceable(node)
      // The terminal stops echoing here. The prompt is printed later, so that early input is hidden too.
      const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
      let isClosed = false
      // Keep readline's listeners until it is closed: they detach it from the input, which would echo later text.
      const close = () => {
        isClosed = true
        reader.close()
      }
      const end = (result: Effect.Effect<string, UsageError>) => {
        if (isClosed) return
        close()
        if (isHidden) node?.write("\n")
        resume(result)
      }
      reader.once("line", (text) => end(Effect.succeed(text.trim())))
      // A terminal in raw mode sends no signals.
      reader.once("SIGINT", () => end(Effect.interrupt))
      reader.once("close", () => end(Effect.fail(new UsageError({ message: "the prompt was closed without an answer" }))))
      reader.setPrompt(visible(question))
      reader.prompt()
      if (isHidden) silence()
      return Effect.sync(close)
    }))

/** Reads a line with echo. */
export const ask = (question: string): Effect.Effect<string, UsageError, Streams> => readLine(question, false)

/** Reads a line without echo, for a secret. */
export const askHidden = (question: string): Effect.Effect<string, UsageError, Streams> => readLine(question, true)

// Longer than any secret. Limits endless input.
const maxLength = 65_536

/** Reads all piped input, trimmed. */
export const piped: Effect.Effect<string, UsageError> = Effect.tryPromise({
  try: async () => {
    let text = ""
    process.stdin.setEncoding("utf8")
    for await (const part of process.stdin) {
      text += String(part)
      if (text.length > maxLength) break
    }
    return text.replace(/^\ufeff/, "").trim()
  },
  catch: () => new UsageError({ message: "standard input can't be read: pipe the key to the command, or run it in a terminal" })
})
