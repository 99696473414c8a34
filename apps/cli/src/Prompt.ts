/**
 * What a person is asked at a terminal, and what is piped in instead where there is none. Questions go to standard error, for standard
 * output may be a pipe. Knows nothing of what is asked for.
 */
import { UsageError } from "@plaza/terminal/Problem"
import { Streams } from "@plaza/terminal/Streams"
import { visible } from "@plaza/terminal/Text"
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { isatty } from "node:tty"

/** Whether somebody sits there who can be asked. */
export const isTerminal: Effect.Effect<boolean> = Effect.sync(() => isatty(0))

/** Passes on what is written until it is told to be silent, which hides even how much is typed. */
const curtain = (node: NodeJS.WritableStream | undefined) => {
  let isDrawn = false
  return {
    draw: () => {
      isDrawn = true
    },
    output: new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        if (!isDrawn) node?.write(chunk)
        done()
      }
    })
  }
}

const line = (question: string, isHidden: boolean): Effect.Effect<string, UsageError, Streams> =>
  Effect.flatMap(Streams, ({ stderr: { node } }) =>
    Effect.async<string, UsageError>((resume) => {
      const { draw, output } = curtain(node)
      // From here on the terminal itself shows no key; the question comes later, so that who types at once is not seen either.
      const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
      let isOver = false
      // Its own listeners have to stay until it is closed: they take it away from the input, which would show through it what comes next.
      const close = () => {
        isOver = true
        reader.close()
      }
      const end = (result: Effect.Effect<string, UsageError>) => {
        if (isOver) return
        close()
        if (isHidden) node?.write("\n")
        resume(result)
      }
      reader.once("line", (text) => end(Effect.succeed(text.trim())))
      // A terminal that is read key by key gives no signals.
      reader.once("SIGINT", () => end(Effect.interrupt))
      reader.once("close", () => end(Effect.fail(new UsageError({ message: "the question was not answered: nothing is done" }))))
      reader.setPrompt(visible(question))
      reader.prompt()
      if (isHidden) draw()
      return Effect.sync(close)
    }))

/** A line that is seen while it is typed. */
export const ask = (question: string): Effect.Effect<string, UsageError, Streams> => line(question, false)

/** A line that nobody sees, for a secret. */
export const askHidden = (question: string): Effect.Effect<string, UsageError, Streams> => line(question, true)

// Far beyond any secret; what goes on for ever must not be read for ever.
const most = 65_536

/** Everything that is piped in, without space around it. */
export const piped: Effect.Effect<string, UsageError> = Effect.tryPromise({
  try: async () => {
    let text = ""
    process.stdin.setEncoding("utf8")
    for await (const part of process.stdin) {
      text += String(part)
      if (text.length > most) break
    }
    return text.replace(/^\ufeff/, "").trim()
  },
  catch: () => new UsageError({ message: "standard input can't be read: pipe the key in, or run this at a terminal" })
})
