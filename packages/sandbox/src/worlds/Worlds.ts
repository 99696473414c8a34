/** Creates, finds and removes the worlds of a process. The sandbox defines what a world consists of. */
import { Conflict, type NotFound } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { basePath as controlPath } from "../control/Control.ts"
import { ConnectionReset } from "../http/FaultyResponse.ts"
import { basePath as interfacePath } from "../InterfaceApi.ts"
import type { SandboxError } from "../SandboxError.ts"
import { unknown } from "../Validation.ts"
import type { WorldFiles } from "./WorldFiles.ts"
import { basePath, type CreatedWorld, type NewWorld, type WorldInfo } from "./WorldModels.ts"

/** The target of a request, without the prefix of a world. */
export interface Target {
  readonly path: string
  readonly query: string
}

type Respond = (
  target: Target
) => Effect.Effect<HttpServerResponse, HttpServerError | ConnectionReset, HttpServerRequest | Scope.Scope>

/** A sandbox as it serves requests. */
export interface Running {
  readonly seed: number
  readonly apiKey: () => Redacted.Redacted
  /** Responds to calls of the interface and the control API. */
  readonly respond: Respond
  /** Responds with a page. */
  readonly page: Respond
}

export interface World<R extends Running = Running> {
  readonly id: string
  readonly createdAt: DateTime.Utc
  readonly running: R
}

export class Worlds extends Context.Service<Worlds, {
  /** Oldest first. */
  readonly list: () => ReadonlyArray<World>
  readonly find: (id: string) => World | undefined
  readonly create: (options: NewWorld) => Effect.Effect<World, Conflict | SandboxError>
  /**
   * Closes the connections of its requests, and deletes everything behind it. Fails with `SandboxError` if its files can't be deleted: the
   * world has ended all the same, and can be removed again.
   */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | SandboxError>
}>()("@plaza/sandbox/Worlds") {}

/** What people read as the name of the main sandbox, beside worlds. */
export const mainWorld = "main"

/** The sandbox that a service belongs to: the main one has no id and no prefix. */
export class CurrentWorld extends Context.Service<CurrentWorld, { readonly id: string | undefined; readonly prefix: string }>()(
  "@plaza/sandbox/CurrentWorld"
) {
  static readonly main: CurrentWorld["Service"] = { id: undefined, prefix: "" }
  static readonly named = (id: string): CurrentWorld["Service"] => ({ id, prefix: `${basePath}/${id}` })
}

/** The description of a world for a caller that reaches the sandbox at this origin. */
export const describe = ({ createdAt, id, running }: World, origin: string): WorldInfo => {
  const { prefix } = CurrentWorld.named(id)
  return {
    id,
    baseUrl: `${origin}${prefix}${interfacePath}`,
    controlUrl: `${origin}${prefix}${controlPath}`,
    webUrl: `${origin}${prefix}/`,
    seed: running.seed,
    createdAt
  }
}

/** With its key. */
export const describeCreated = (world: World, origin: string): CreatedWorld =>
  Object.assign(describe(world, origin), { apiKey: world.running.apiKey() })

/** The world of a path and the rest of the path; undefined for a path outside of worlds. */
export const split = (path: string): { readonly id: string; readonly rest: string } | undefined => {
  const [, id, rest] = /^\/worlds\/([^/]*)(\/.*)?$/s.exec(path) ?? []
  return id === undefined ? undefined : { id, rest: rest ?? "" }
}

interface Entry<R extends Running> {
  readonly world: World<R>
  /** Closes the connections of requests that wait, waits for the others, and releases everything. */
  readonly close: Effect.Effect<void>
}

/** A world that is being removed answers no further requests. */
const removed = (id: string) => new ConnectionReset({ message: `the world ${id} was removed` })

const opened = <R extends Running>(id: string, createdAt: DateTime.Utc, running: R, scope: Scope.Closeable): Entry<R> => {
  const isRemoved = Deferred.makeUnsafe<never, ConnectionReset>()
  const isIdle = Deferred.makeUnsafe<void>()
  let inFlight = 0
  let isClosing = false
  const tell = () => isClosing && inFlight === 0 ? Effect.asVoid(Deferred.succeed(isIdle, undefined)) : Effect.void
  const during = (respond: Respond): Respond => (target) =>
    Effect.suspend(() => {
      if (isClosing) return Effect.fail(removed(id))
      inFlight++
      return Effect.ensuring(
        Effect.raceFirst(respond(target), Deferred.await(isRemoved)),
        Effect.suspend(() => {
          inFlight--
          return tell()
        })
      )
    })
  return {
    world: { id, createdAt, running: { ...running, respond: during(running.respond), page: during(running.page) } },
    close: Effect.suspend(() => {
      isClosing = true
      return Effect.andThen(Deferred.fail(isRemoved, removed(id)), tell()).pipe(
        Effect.andThen(Deferred.await(isIdle)),
        Effect.andThen(Scope.close(scope, Exit.void))
      )
    })
  }
}

/** The worlds, as the module that builds them sees them. */
export interface Registry<R extends Running> {
  readonly list: () => ReadonlyArray<World<R>>
  readonly find: (id: string) => World<R> | undefined
  readonly create: (options: NewWorld) => Effect.Effect<World<R>, Conflict | SandboxError>
  readonly remove: (id: string) => Effect.Effect<void, NotFound | SandboxError>
  /** Starts the worlds that the data file has. */
  readonly restore: Effect.Effect<void, SandboxError>
}

/**
 * The worlds of a sandbox, until its scope closes.
 *
 * `build`: a sandbox with these options and this data file, until its scope closes.
 */
export const make = Effect.fnUntraced(function*<R extends Running>(
  build: (world: CurrentWorld["Service"], options: NewWorld, data: string) => Effect.Effect<R, SandboxError, Scope.Scope>,
  files: WorldFiles
) {
  const entries = new Map<string, Entry<R>>()
  /** All ids, including worlds that are being created or removed. */
  const used = new Set<string>()
  /** Ids of ended worlds whose files still exist. */
  const ended = new Set<string>()
  let next = 1

  const start = Effect.fnUntraced(function*(id: string, options: NewWorld, createdAt: DateTime.Utc) {
    const scope = yield* Scope.make()
    const running = yield* Effect.onError(Scope.provide(build(CurrentWorld.named(id), options, files.dataOf(id)), scope),
      () => Scope.close(scope, Exit.void))
    const entry = opened(id, createdAt, running, scope)
    entries.set(id, entry)
    return entry.world
  })

  const create = Effect.fnUntraced(function*({ id: wanted, ...options }: NewWorld) {
    while (wanted === undefined && used.has(`w${next}`)) next++
    const id = wanted ?? `w${next}`
    if (id === mainWorld) return yield* new Conflict({ message: `"${mainWorld}" is the sandbox itself: name the world differently` })
    if (used.has(id)) return yield* new Conflict({ message: `there is a world "${id}" already: remove it first, or leave the id out` })
    used.add(id)
    const createdAt = yield* DateTime.now
    return yield* Effect.andThen(files.save(id, { createdAt, options }), start(id, options, createdAt)).pipe(
      Effect.onError(() => Effect.andThen(Effect.ignore(files.remove(id)), Effect.sync(() => used.delete(id))))
    )
  }, Effect.uninterruptible)

  const remove = Effect.fnUntraced(function*(id: string) {
    const entry = entries.get(id)
    if (entry === undefined && !ended.has(id)) return yield* unknown("world", id)
    if (entry !== undefined) {
      entries.delete(id)
      yield* entry.close
      ended.add(id)
    }
    yield* files.remove(id)
    ended.delete(id)
    used.delete(id)
  }, Effect.uninterruptible)

  yield* Effect.addFinalizer(() => Effect.forEach([...entries.values()], ({ close }) => close, { discard: true }))
  const restore = Effect.flatMap(files.read, (stored) =>
    Effect.forEach(stored, ({ createdAt, id, options }) => {
      used.add(id)
      return start(id, options, createdAt)
    }, { discard: true }))
  const registry: Registry<R> = {
    list: () => Array.from(entries.values(), ({ world }) => world),
    find: (id) => entries.get(id)?.world,
    create,
    remove,
    restore
  }
  return registry
})
