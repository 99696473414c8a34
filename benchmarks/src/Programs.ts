/**
 * Runs contenders and servers as separate processes, so that garbage collection and compilation of one do not affect another. The
 * programs are bundled first, because a loader for sources would add cost to every function.
 */
import { Effect, Schema, type Scope } from "effect"
import { type ChildProcess, fork, type Serializable } from "node:child_process"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", { program: Schema.String, cause: Schema.Unknown }) {
  override get message(): string {
    return `${this.program} failed: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Next to `node_modules`, from which the bundles load what is not in them. */
const folder = here("../.programs/")

// Our packages and their dependencies are bundled. Peers are loaded from node_modules, as an installed program loads them.
const bundled = /^(\.|\/|@plaza\/|@streamparser\/|csv-parse|numfmt|saxes|xmlchars|yauzl|pend|mime|multipasta|yaml|fastest-levenshtein)/

/**
 * Bundles programs by their paths under `programs` without extension, and returns the path of each bundle. With `installed`, a program
 * loads the built packages, as one that installed them does.
 */
export const bundle = (
  names: ReadonlyArray<string>,
  { installed = false }: { readonly installed?: boolean } = {}
): Effect.Effect<(name: string) => string, ProgramFailed> =>
  Effect.tryPromise({
    try: async () => {
      const build = await rolldown({
        input: Object.fromEntries(names.map((name) => [basename(name), here(`./programs/${name}.ts`)])),
        platform: "node",
        external: (id) => installed ? !/^[./]/.test(id) : !bundled.test(id),
        resolve: { conditionNames: ["@plaza/source", "node", "import", "default"], extensionAlias: { ".js": [".ts", ".js"] } },
        transform: { target: "node22" }
      })
      await build.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "chunks/[name]-[hash].mjs" })
      await build.close()
      return (name: string) => `${folder}${basename(name)}.mjs`
    },
    catch: (cause) => new ProgramFailed({ program: "the bundler", cause })
  })

// `error` comes first, because `ok` may be undefined and then be missing.
const Reply = Schema.Union([Schema.Struct({ error: Schema.String }), Schema.Struct({ ok: Schema.optional(Schema.Unknown) })])

/** A running program that answers one request at a time. */
export interface Program {
  readonly ask: <A>(request: Serializable, response: Schema.Decoder<A>) => Effect.Effect<A, ProgramFailed>
}

// Removes both handlers after the first of the two events, and on interruption.
const nextMessage = (child: ChildProcess, program: string): Effect.Effect<unknown, ProgramFailed> =>
  Effect.callback((resume) => {
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
      resume(new ProgramFailed({ program, cause: `it exited with ${String(code)} before it responded` }))
    }
    child.on("message", onMessage)
    child.on("exit", onExit)
    return Effect.sync(off)
  })

/** Starts a bundled program with arguments. It is killed when the scope closes. */
export const start = (path: string, args: ReadonlyArray<string> = []): Effect.Effect<Program, ProgramFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const program = basename(path, ".mjs")
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(path, args, { execArgv: ["--expose-gc"] })),
      (child) => Effect.sync(() => child.kill())
    )
    yield* nextMessage(child, program)
    const decode = <A>(schema: Schema.Decoder<A>) => (message: unknown) =>
      Effect.mapError(Schema.decodeUnknownEffect(schema)(message), (cause) => new ProgramFailed({ program, cause }))
    return {
      ask: (request, schema) =>
        Effect.gen(function*() {
          const message = yield* Effect.andThen(
            Effect.sync(() => child.send(request)),
            nextMessage(child, program)
          )
          const reply = yield* decode(Reply)(message)
          return "error" in reply ? yield* new ProgramFailed({ program, cause: reply.error }) : yield* decode(schema)(reply.ok)
        })
    }
  })

/** Starts the local service and returns its address without a path. */
export const service = (path: string): Effect.Effect<string, ProgramFailed, Scope.Scope> =>
  Effect.flatMap(start(path), ({ ask }) =>
    Effect.map(ask("port", Schema.Struct({ port: Schema.Number })), ({ port }) => `http://127.0.0.1:${port}`))
