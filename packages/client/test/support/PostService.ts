/**
 * A service of posts that uses the freedom of the document: clocks, lists, texts, media and faults are set for each test. In process, in
 * virtual time, without promises, so that `TestClock.adjust` runs any program.
 *
 * Source: interface v1, "Resources and their fields", "Endpoints", "List behaviour", "Errors".
 */
import { Plaza } from "@plaza/client"
import { Clock, Context, Effect, Layer, Predicate, Redacted, Stream } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { CurrentConnection } from "../../src/internal/transport/Connection.ts"

/** How the service uses its freedom. Times are in milliseconds. */
export interface Variant {
  /** How far the clock of each server is ahead of the caller's. Requests go to the servers in turn. */
  readonly servers: ReadonlyArray<number>
  /** Steps of all clocks: at this time since the start, by so much. */
  readonly steps: ReadonlyArray<{ readonly at: number; readonly by: number }>
  /** How far `createdAt` is ahead of the server's clock. */
  readonly stampOffset: number
  /** The precision of `createdAt`. */
  readonly stampUnit: number
  readonly date: "present" | "absent"
  /** How long after its creation a post is listed. */
  readonly listLag: number
  /** `mixed`: the oldest fifty first, and the newest post last. `repeated`: the newest first, and once more at the end. */
  readonly order: "newestFirst" | "oldestFirst" | "mixed" | "repeated"
  /** Applies to a text before it is stored. */
  readonly rewrite: (text: string) => string
  readonly media: "asSent" | "reversed" | "renamed"
  /** The fields that lists omit. */
  readonly omitted: ReadonlyArray<"text" | "mediaIds" | "createdAt">
  /** Whether the response to a new post has a `createdAt`. */
  readonly stampInResponse: boolean
}

export const plain: Variant = {
  servers: [0],
  steps: [],
  stampOffset: 0,
  stampUnit: 1,
  date: "present",
  listLag: 0,
  order: "newestFirst",
  rewrite: (text) => text,
  media: "asSent",
  omitted: [],
  stampInResponse: true
}

/** What the service does with one request. Times are in milliseconds. */
export interface Handling {
  /** From the arrival of the request to its handling. */
  readonly before: number
  /** From its handling, when `Date` is written, to the arrival of the head. */
  readonly head: number
  /** From the head to the end of the body. */
  readonly body: number
  /** When a new post is stored: when the request is handled, never, or so much later than the caller's failure. */
  readonly commit: "now" | "never" | { readonly late: number }
  /**
   * How it ends: with its response, an error status (a 429 asks for a wait of thirty seconds), a 2xx that is no JSON, a lost or refused
   * connection, or not at all, before or after it has a connection.
   */
  readonly end: "response" | "garbage" | "drop" | "refuse" | "hang" | "connecting" | number
}

export const prompt: Handling = { before: 0, head: 0, body: 0, commit: "now", end: "response" }

export const fault = (end: Handling["end"], commit: Handling["commit"]): Handling => ({ ...prompt, end, commit })

/** The number of the call that a request belongs to. Requests of another client have none. */
export const CurrentCall = Context.Reference<number | undefined>("test/CurrentCall", { defaultValue: () => undefined })

/** A stored post. */
export interface Commit {
  readonly id: string
  readonly call: number | undefined
  /** When, by the caller's clock. */
  readonly at: number
  readonly stamp: number
  /** As it was sent. */
  readonly sent: string
  readonly text: string
  readonly mediaIds: ReadonlyArray<string>
}

/** A request as the service saw it. */
export interface Request {
  readonly method: string
  readonly call: number | undefined
  readonly at: number
  readonly handling: Handling
}

export interface PostService {
  readonly commits: ReadonlyArray<Commit>
  readonly requests: ReadonlyArray<Request>
  /** The next requests for a new post are handled like this, then promptly. */
  readonly onCreate: (...handlings: ReadonlyArray<Handling>) => void
  /** The same for requests of a list. */
  readonly onList: (...handlings: ReadonlyArray<Handling>) => void
  /** Stores a post of another client now. */
  readonly add: (text: string, mediaIds?: ReadonlyArray<string>) => Effect.Effect<string>
  /** How far the clocks of the servers are ahead of the caller's, within a time of the caller. */
  readonly offsets: (from: number, to: number) => readonly [least: number, most: number]
  readonly layerHttpClient: Layer.Layer<HttpClient.HttpClient>
  /** A client of the service. */
  readonly layer: (options?: Partial<Plaza.Options>) => Layer.Layer<Plaza.Services>
}

/** The time of the service at the epoch of the caller. Their seconds don't begin at the same time. */
export const epoch = Date.UTC(2026, 9, 1, 12) + 420

const baseUrl = "https://service.test/open/v1"
const apiKey = Redacted.make(`key_${"k".repeat(40)}`)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const sentPost = (request: HttpClientRequest.HttpClientRequest): { readonly text: string; readonly mediaIds: ReadonlyArray<string> } => {
  const value: unknown = request.body._tag === "Uint8Array" ? JSON.parse(decoder.decode(request.body.body)) : {}
  const field = (name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined
  const [text, mediaIds] = [field("text"), field("mediaIds")]
  return { text: Predicate.isString(text) ? text : "", mediaIds: Array.isArray(mediaIds) ? mediaIds.map(String) : [] }
}

const changedMedia = (ids: ReadonlyArray<string>, how: Variant["media"]): ReadonlyArray<string> =>
  how === "reversed" ? ids.toReversed() : how === "renamed" ? ids.map((id) => `cdn/${id}`) : ids

export const make = (change: Partial<Variant> = {}): Effect.Effect<PostService> =>
  Effect.map(Clock.currentTimeMillis, (start) => {
    const variant: Variant = { ...plain, ...change }
    const commits: Array<Commit> = []
    const requests: Array<Request> = []
    const creates: Array<Handling> = []
    const lists: Array<Handling> = []

    const offsetOf = (server: number, now: number): number =>
      (variant.servers[server % variant.servers.length] ?? 0) +
      variant.steps.reduce((sum, { at, by }) => start + at <= now ? sum + by : sum, 0)

    const clockOf = (server: number, now: number): number => epoch + now + offsetOf(server, now)

    const commit = (server: number, call: number | undefined, sent: string, mediaIds: ReadonlyArray<string>) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const stamp = clockOf(server, now) + variant.stampOffset
        const post: Commit = {
          id: `post-${commits.length + 1}`,
          call,
          at: now,
          stamp: stamp - stamp % variant.stampUnit,
          sent,
          text: variant.rewrite(sent),
          mediaIds: changedMedia(mediaIds, variant.media)
        }
        commits.push(post)
        return post
      })

    const shown = ({ id, mediaIds, stamp, text }: Commit, omitted: ReadonlyArray<string>) =>
      Object.fromEntries(
        Object.entries({ id, text, mediaIds, createdAt: new Date(stamp).toISOString() }).filter(([name]) => !omitted.includes(name))
      )

    const page = (query: URLSearchParams, now: number) => {
      const listed = commits.filter(({ at }) => at + variant.listLag <= now)
      const newestFirst = listed.toReversed()
      const all = {
        newestFirst,
        oldestFirst: listed,
        mixed: [...newestFirst.slice(-50), ...newestFirst.slice(1, -50), ...newestFirst.slice(0, 1)],
        repeated: [...newestFirst, ...newestFirst.slice(0, 1)]
      }[variant.order]
      const start = all.findIndex(({ id }) => id === query.get("cursor")) + 1
      const data = all.slice(start, start + Number(query.get("limit") ?? 20))
      return {
        data: data.map((post) => shown(post, variant.omitted)),
        next_cursor: start + data.length < all.length ? data.at(-1)?.id ?? null : null
      }
    }

    /** A response whose body is made after a pause. */
    const respond = (
      request: HttpClientRequest.HttpClientRequest,
      status: number,
      date: string | undefined,
      pause: number,
      body: Effect.Effect<string>
    ) =>
      HttpServerResponse.toClientResponse(
        HttpServerResponse.stream(Stream.fromEffect(Effect.map(Effect.delay(body, pause), (text) => encoder.encode(text))), {
          status,
          contentType: "application/json",
          headers: { ...(date === undefined ? {} : { date }), ...(status === 429 ? { "retry-after": "30" } : {}) }
        }),
        { request }
      )

    const handle = (request: HttpClientRequest.HttpClientRequest, url: URL) =>
      Effect.gen(function*() {
        const call = yield* CurrentCall
        const isCreate = request.method === "POST"
        const server = requests.length
        const handling = (isCreate ? creates : lists).shift() ?? prompt
        requests.push({ method: request.method, call, at: yield* Clock.currentTimeMillis, handling })
        const { before, body, commit: when, end, head } = handling
        const broken = (code: string) =>
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error(code), { code }) })
          })
        if (end === "refuse") {
          return yield* broken("ECONNREFUSED")
        }
        if (end === "connecting") {
          const connection = yield* CurrentConnection
          if (connection !== undefined) {
            connection.isConnected = false
          }
          return yield* Effect.never
        }
        const { mediaIds, text } = sentPost(request)
        const store = commit(server, call, text, mediaIds)
        // The service carries out a request whose caller has left, too.
        const stored = when === "now" && isCreate ? yield* Effect.forkDetach(Effect.delay(store, before)) : undefined
        const date = variant.date === "absent"
          ? Effect.succeed(undefined)
          : Effect.map(Clock.currentTimeMillis, (now) => new Date(clockOf(server, now)).toUTCString())
        return yield* Effect.gen(function*() {
          yield* Effect.sleep(before)
          // After the commit of the same moment.
          yield* Effect.yieldNow
          const written = yield* date
          yield* Effect.sleep(head)
          if (end === "hang") {
            return yield* Effect.never
          }
          if (end === "drop") {
            return yield* broken("ECONNRESET")
          }
          if (end === "garbage") {
            return respond(request, 200, written, body, Effect.succeed("<html>"))
          }
          if (end !== "response") {
            const code = end === 429 ? "RATE_LIMITED" : end < 500 ? "FORBIDDEN" : "INTERNAL_ERROR"
            return respond(request, end, written, body, Effect.succeed(JSON.stringify({ error: { code, message: "refused" } })))
          }
          const created = stored === undefined ? undefined : commits.findLast((post) => post.call === call)
          return created === undefined
            ? respond(request, 200, written, body,
              Effect.map(Clock.currentTimeMillis, (now) => JSON.stringify(page(url.searchParams, now))))
            : respond(request, 201, written, body,
              Effect.succeed(JSON.stringify(shown(created, variant.stampInResponse ? [] : ["createdAt"]))))
        }).pipe(
          Effect.onExit(() =>
            isCreate && typeof when === "object" ? Effect.asVoid(Effect.forkDetach(Effect.delay(store, when.late))) : Effect.void
          )
        )
      })

    const layerHttpClient = Layer.succeed(HttpClient.HttpClient, HttpClient.make((request, url) => handle(request, url)))

    return {
      commits,
      requests,
      onCreate: (...handlings) => {
        creates.push(...handlings)
      },
      onList: (...handlings) => {
        lists.push(...handlings)
      },
      add: (text, mediaIds = []) => Effect.map(Effect.suspend(() => commit(requests.length, undefined, text, mediaIds)), ({ id }) => id),
      offsets: (from, to) => {
        const times = [from, to, ...variant.steps.map(({ at }) => start + at).filter((at) => at > from && at < to)]
        const all = times.flatMap((now) => variant.servers.map((_, server) => clockOf(server, now) - now))
        return [Math.min(...all), Math.max(...all)]
      },
      layerHttpClient,
      layer: (options = {}) =>
        Plaza.layer({ baseUrl, apiKey, rateLimit: 10_000, ...options }).pipe(Layer.orDie, Layer.provide(layerHttpClient))
    }
  })
