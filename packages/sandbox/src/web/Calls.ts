/**
 * Groups requests into calls: a request, its repetitions after a failure, and the lists that look for a post whose creation failed. The
 * interface has no header that connects them, so a call is inferred from what was sent and what came back.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Envelope from "../http/Envelope.ts"
import type { RequestRecord } from "../http/RequestLog.ts"
import type { Original } from "../http/RequestMessages.ts"

/** A repetition or a check starts at most this long after the failed response. A client waits at most a minute for a rate limit. */
export const maxPause = Duration.minutes(2)

export interface Attempt {
  readonly record: RequestRecord
  /**
   * - `send`: the request of the call, or a repetition.
   * - `check`: a list of the account's posts after a creation whose outcome is unknown.
   */
  readonly role: "send" | "check"
  /** Whether a check lists a post of the call, if known. */
  readonly isFound?: boolean | undefined
}

/** The requests of a call, oldest first. */
export type Call = readonly [Attempt, ...Array<Attempt>]

/** What the grouping reads besides the records. */
export interface Sources {
  /** The request as it was sent; undefined if it is no longer kept. */
  readonly original: (requestId: string) => Original | undefined
  /** Whether a list contains a post that one of the requests created, if known. */
  readonly lists: (listId: string, createdBy: ReadonlyArray<string>) => boolean | undefined
}

/** A call that can go on. */
interface OpenCall {
  readonly attempts: [Attempt, ...Array<Attempt>]
  /** What was sent first. Each repetition has the same body. */
  readonly sent: Original | undefined
  /** The ids of all but the checks. */
  readonly sends: Array<string>
  /** When its latest response came, in milliseconds since 1970. */
  respondedAt: number
  /** Whether a check found its post: an equal request that follows creates another one. */
  isDone: boolean
}

/** At most so many calls of one caller are open at the same time. */
const maxOpen = 100

/** Whether the caller can have sent a request again after this response: none, a broken one, 408, 429 or 5xx. */
const hasFailed = ({ delivered, deliveredStatus }: RequestRecord): boolean =>
  deliveredStatus === null
    ? delivered !== "waiting"
    : deliveredStatus >= 500 || deliveredStatus === 429 || deliveredStatus === 408 || delivered === "cut" ||
      // Such as a 200 whose body is not JSON.
      (delivered === "replaced" && deliveredStatus < 400)

/** What the repetitions of a request have in common besides the body. */
const sameness = ({ method, path, query }: RequestRecord, sent: Original | undefined): string =>
  `${method} ${path}?${query} ${sent?.headers["content-length"] ?? sent?.hasBody}`

/** Whether two requests are known to have the same body. Of an upload only type and size are kept, and its boundary differs each time. */
const hasSameBody = (one: Original | undefined, other: Original | undefined, method: string): boolean => {
  if (one === undefined || other === undefined) return method === "GET"
  if (!one.hasBody && !other.hasBody) return true
  return one.body !== undefined && other.body !== undefined
    ? one.bodySize === other.bodySize && Buffer.compare(one.body, other.body) === 0
    : one.upload !== undefined && one.upload.size === other.upload?.size && one.upload.contentType === other.upload.contentType
}

/** The records must be oldest first. The calls come in the order of their newest requests. */
export const group = (records: ReadonlyArray<RequestRecord>, { lists, original }: Sources): ReadonlyArray<Call> => {
  const calls = new Set<OpenCall["attempts"]>()
  /** Open calls by what retries and checks share with them, latest last. */
  const open = new Map<string, Array<OpenCall>>()

  const find = (key: string, { at }: RequestRecord, fits: (call: OpenCall) => boolean): OpenCall | undefined =>
    open.get(key)?.findLast((call) =>
      !call.isDone && call.respondedAt <= at.epochMilliseconds &&
      at.epochMilliseconds - call.respondedAt <= Duration.toMillis(maxPause) && fits(call)
    )
  const set = (key: string, call: OpenCall, isOpen: boolean) => {
    const others = (open.get(key) ?? []).filter((other) => other !== call)
    open.set(key, isOpen ? [...others.slice(-maxOpen), call] : others)
  }

  for (const record of records) {
    const sent = original(record.id)
    // As it was sent: a request that a fault stopped has no known key.
    const caller = `${sent?.headers["authorization"] ?? record.keyId} ${sent?.headers["user-agent"]}`
    const ofRepetitions = `${caller} ${sameness(record, sent)}`
    const ofChecks = `${caller} check`

    const repeated = find(ofRepetitions, record, (call) => hasSameBody(call.sent, sent, record.method))
    const checked = repeated === undefined && record.operation === "listPosts" ? find(ofChecks, record, () => true) : undefined
    const call: OpenCall = repeated ?? checked ??
      { attempts: [{ record, role: "send" }], sent, sends: [record.id], respondedAt: 0, isDone: false }
    call.respondedAt = record.at.epochMilliseconds + (record.durationMillis ?? 0)
    if (checked !== undefined) {
      const isFound = record.delivered === "complete" && record.deliveredStatus === 200 ? lists(record.id, checked.sends) : undefined
      checked.attempts.push({ record, role: "check", isFound })
      checked.isDone = isFound === true
    } else {
      if (repeated !== undefined) {
        repeated.attempts.push({ record, role: "send" })
        repeated.sends.push(record.id)
      }
      set(ofRepetitions, call, hasFailed(record))
      // After a 429 the caller knows that no post was created.
      set(ofChecks, call, record.operation === "createPost" && hasFailed(record) && record.deliveredStatus !== 429)
    }
    // The newest request decides the order.
    calls.delete(call.attempts)
    calls.add(call.attempts)
  }
  return [...calls]
}

const ListOfIds = Schema.fromJsonString(Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String })),
  next_cursor: Schema.optional(Schema.NullOr(Schema.String))
}))

/** What a page of a list shows. */
interface Listed {
  readonly ids: ReadonlySet<string>
  /** Whether no page follows it. */
  readonly isLast: boolean
}

/** Cached, because the console reads the whole log again and again. */
const readLists = new WeakMap<Original, Listed | "unreadable">()

/** What the caller can read in the response of a list; undefined if a fault has broken it. */
export const readList = (list: Original): Listed | undefined => {
  const known = readLists.get(list)
  if (known !== undefined) {
    return known === "unreadable" ? undefined : known
  }
  const bytes = list.streamed ?? (list.response && Envelope.bytesOf(list.response))
  const listed = Option.getOrUndefined(Option.map(
    Schema.decodeOption(ListOfIds)(new TextDecoder().decode(bytes)),
    ({ data, next_cursor: next }): Listed => ({
      ids: new Set(data.map(({ id }) => id)),
      isLast: next === undefined || next === null || next === ""
    })
  ))
  readLists.set(list, listed ?? "unreadable")
  return listed
}

/** A request as words: its status and how the response differed. */
const outcome = ({ isFound, record: { delivered, deliveredStatus, method, path }, role }: Attempt): string => {
  const status = deliveredStatus === null ? delivered : delivered === "complete" ? `${deliveredStatus}` : `${deliveredStatus} ${delivered}`
  return role === "send" ? status : `${method} ${path}, ${isFound === undefined ? status : isFound ? "found" : "not found"}`
}

/**
 * What happened in a call, such as "503 replaced, then GET /me/posts, found". `created`: how many resources its requests created. More than
 * one are a mistake of the caller.
 */
export const describe = (call: Call, created = 0): string => {
  const outcomes: Array<{ readonly text: string; count: number }> = []
  for (const attempt of call) {
    const text = outcome(attempt)
    const last = outcomes.at(-1)
    if (last?.text === text) last.count++
    else outcomes.push({ text, count: 1 })
  }
  return outcomes.map(({ count, text }) => count === 1 ? text : `${text} (${count} times)`).join(", then ") +
    (created > 1 ? `: created ${created} times` : "")
}
