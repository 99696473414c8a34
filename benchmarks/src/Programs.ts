/**
 * Runs the contenders and the server as separate processes, so that none pays for another's garbage or compiled code.
 * They are bundled first, because running sources directly adds a cost to every function.
 */
import { Data, Effect, Either, Schema, type Scope } from "effect"
import { type ChildProcess, fork, type Serializable } from "node:child_process"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

export class ProgramFailed extends Data.TaggedError("ProgramFailed")<{ readonly program: string; readonly cause: unknown }> {
  override get message(): string {
    return `${this.program} failed: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const folder = here("../.programs/")

// Of ours everything goes in; peers stay files of their own, as they are when they are installed.
const ours = /^(\.|\/|@plaza\/|@streamparser\/|csv-parse|mime|multipasta|yaml)/

/** Bundles programs, by their paths under `programs` without ending, and tells where each one is then. */
export const bundle = (names: ReadonlyArray<string>): Effect.Effect<(name: string) => string, ProgramFailed> =>
  Effect.tryPromise({
    try: async () => {
      const build = await rolldown({
        input: Object.fromEntries(names.map((name) => [basename(name), here(`programs/${name}.ts`)])),
        platform: "node",
        external: (id) => !ours.test(id),
        resolve: { conditionNames: ["@plaza/source", "node", "import", "default"], extensionAlias: { ".js": [".ts", ".js"] } },
        transform: { target: "node20" }
      })
      await build.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "chunks/[name]-[hash].mjs" })
      await build.close()
      return (name: string) => `${folder}${basename(name)}.mjs`
    },
    catch: (cause) => new ProgramFailed({ program: "the bundler", cause })
  })

// Told apart by the error: what may be anything may also be missing.
const Answer = Schema.Union(Schema.Struct({ error: Schema.String }), Schema.Struct({ ok: Schema.Unknown }))

/** A program that runs and answers one question at a time. */
export interface Program {
  readonly ask: <A, I>(question: Serializable, answer: Schema.Schema<A, I>) => Effect.Effect<A, ProgramFailed>
}

// Handlers are taken off when either comes, or nobody waits any longer.
const nextMessage = (child: ChildProcess, program: string): Effect.Effect<unknown, ProgramFailed> =>
  Effect.async((resume) => {
    const off = () => {
      child.off("message", onMessage)
      child.off("exit", onExit)
    }
    const onMessage = (message: unknown) => {
      off()
      resume(Effect.succeed(message))
    }
    const onExit = (code: number | null) => {
      off()
      resume(new ProgramFailed({ program, cause: `it ended with ${String(code)} before it answered` }))
    }
    child.on("message", onMessage)
    child.on("exit", onExit)
    return Effect.sync(off)
  })

/** Starts a bundled program with arguments, which ends with the scope. */
export const start = (path: string, args: ReadonlyArray<string> = []): Effect.Effect<Program, ProgramFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const program = basename(path, ".mjs")
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(path, args, { execArgv: [] })),
      (child) => Effect.sync(() => child.kill())
    )
    yield* nextMessage(child, program)
    const decode = <A, I>(schema: Schema.Schema<A, I>) => (answer: unknown) =>
      Either.mapLeft(Schema.decodeUnknownEither(schema)(answer), (cause) => new ProgramFailed({ program, cause }))
    return {
      ask: (question, schema) =>
        Effect.gen(function*() {
          const answer = yield* Effect.zipRight(
            Effect.sync(() => child.send(question)),
            nextMessage(child, program)
          )
          const said = yield* decode(Answer)(answer)
          return "error" in said ? yield* new ProgramFailed({ program, cause: said.error }) : yield* decode(schema)(said.ok)
        })
    }
  })

/** Starts the local service and tells its address, to which a path is added. */
export const service = (path: string): Effect.Effect<string, ProgramFailed, Scope.Scope> =>
  Effect.flatMap(start(path), ({ ask }) =>
    Effect.map(ask("port", Schema.Struct({ port: Schema.Number })), ({ port }) => `http://127.0.0.1:${port}`))
