/** Standard output and standard error as a service, with a layer for tests. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { isatty } from "node:tty"
import { wordsOfNode } from "./FileProblem.ts"

/** The reader closed the stream, as `head` does. The program ends silently. */
export class OutputClosed extends Schema.TaggedError<OutputClosed>()("OutputClosed", {}) {
  override get message(): string {
    return "the reader of the output went away"
  }
}

/** The output can't be written: a full disk, for example. */
export class OutputFailed extends Schema.TaggedError<OutputFailed>()("OutputFailed", { message: Schema.String }) {}

export type OutputError = OutputClosed | OutputFailed

export interface Stream {
  readonly isTerminal: boolean
  /** Whether to use colours: on a terminal, without `NO_COLOR`. */
  readonly colour: boolean
  /** The current width in characters. */
  readonly columns: () => number
  /** Completes when the stream accepts the text, which gives back-pressure. */
  readonly write: (text: string) => Effect.Effect<void, OutputError>
  /** The Node stream, for a library that draws itself; undefined if nothing can draw. */
  readonly node: NodeJS.WritableStream | undefined
}

export class Streams extends Context.Service<Streams, {
  readonly stdout: Stream
  readonly stderr: Stream
}>()("@plaza/cli-kit/Streams") {}

const isClosed = (error: Error): boolean => "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED")

const fromNode = (node: typeof process.stdout | typeof process.stderr, colourWelcome: boolean): Stream => {
  // A failed write also emits an event, which would end the process without a listener.
  node.on("error", () => {})
  const isTerminal = isatty(node.fd)
  return {
    isTerminal,
    colour: isTerminal && colourWelcome,
    // A terminal without a size, as in some containers, reports 0.
    columns: () => node.columns > 0 ? node.columns : 80,
    node,
    write: (text) =>
      Effect.callback((resume) => {
        node.write(text, (error) =>
          resume(
            error === null || error === undefined
              ? Effect.void
              : Effect.fail(
                isClosed(error)
                  ? new OutputClosed()
                  : new OutputFailed({ message: `the output can't be written: ${wordsOfNode(error) ?? error.message}` })
              )
          ))
      })
  }
}

const colourWelcome = Config.all([Config.withDefault(Config.String("NO_COLOR"), ""), Config.withDefault(Config.String("TERM"), "")]).pipe(
  Config.map(([noColour, terminal]) => noColour === "" && terminal !== "dumb")
)

/** The streams of this process. */
export const make: Effect.Effect<Streams["Service"]> = Effect.map(
  Effect.orElseSucceed(colourWelcome, () => true),
  (colour) => ({ stdout: fromNode(process.stdout, colour), stderr: fromNode(process.stderr, colour) })
)

/** Streams that record their output, for tests. */
export const layerTest = (options: {
  readonly stdout: Array<string>
  readonly stderr: Array<string>
  /** The width in characters. Without it the streams are not a terminal. */
  readonly columns?: number
  readonly colour?: boolean
}): Layer.Layer<Streams> => {
  const to = (kept: Array<string>): Stream => ({
    isTerminal: options.columns !== undefined,
    colour: options.colour ?? false,
    columns: () => options.columns ?? 80,
    node: undefined,
    write: (text) => Effect.sync(() => void kept.push(text))
  })
  return Layer.succeed(Streams, { stdout: to(options.stdout), stderr: to(options.stderr) })
}
