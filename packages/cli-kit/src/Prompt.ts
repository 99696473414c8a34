/**
 * Prompts on a terminal, and reads piped input otherwise. Prompts go to standard error, because standard output may
 * be a pipe. The platform's prompts write to standard output.
 */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { isatty } from "node:tty"
import { UsageError } from "./CliError.ts"
import { Streams } from "./Streams.ts"
import { decode, visible } from "./Text.ts"

/** Whether standard input is a terminal. */
export const isTerminal: Effect.Effect<boolean> = Effect.sync(() => isatty(0))

const readLine = (question: string, isHidden: boolean): Effect.Effect<string, UsageError, Streams> =>
  Effect.flatMap(Streams, ({ stderr: { node } }) =>
    Effect.callback<string, UsageError>((resume) => {
      // Readline shows the line that it edits. Without any of its output, even the length of a secret is hidden.
      const output = new Writable({
        write: (chunk: Uint8Array, _encoding, done) => {
          if (!isHidden) node?.write(chunk)
          done()
        }
      })
      // The terminal stops echoing here. The prompt is printed later, so that early input is hidden too.
      const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0, prompt: visible(question) })
      const prompt = () => isHidden ? node?.write(reader.getPrompt()) : reader.prompt(true)
      let isClosed = false
      const takeTerminal = () => {
        if (isClosed) return
        // A shell changes the mode of the terminal, which Node does not notice.
        process.stdin.setRawMode(false)
        process.stdin.setRawMode(true)
      }
      // Readline would stop this process only, not those that the shell started with it, and would stop reading when it continues.
      const stop = () => {
        process.stdin.setRawMode(false)
        process.kill(0, "SIGTSTP")
        // Without a shell, nothing stops, and the terminal would show what is typed. With one, this runs when the process continues.
        takeTerminal()
      }
      const continued = () => {
        takeTerminal()
        // Nobody remembers how much of a hidden line was typed.
        if (isHidden) {
          reader.write(null, { ctrl: true, name: "e" })
          reader.write(null, { ctrl: true, name: "u" })
        }
        prompt()
      }
      // Keep readline's listeners until it is closed: they detach it from the input, which would echo later text.
      const close = () => {
        isClosed = true
        process.off("SIGCONT", continued)
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
      reader.on("SIGTSTP", stop)
      reader.once("close", () => end(Effect.fail(new UsageError({ message: "the prompt was closed without an answer" }))))
      process.on("SIGCONT", continued)
      prompt()
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
    const input: AsyncIterable<string | Uint8Array> = process.stdin
    const parts: Array<Uint8Array> = []
    let length = 0
    for await (const part of input) {
      const bytes = typeof part === "string" ? Buffer.from(part) : part
      parts.push(bytes)
      length += bytes.length
      if (length > maxLength) break
    }
    return decode(Buffer.concat(parts)).trim()
  },
  catch: () => new UsageError({ message: "standard input can't be read: pipe the key to the command, or run it in a terminal" })
})
