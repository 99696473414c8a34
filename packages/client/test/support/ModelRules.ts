/**
 * What has to hold after a program of the model: the claims of the client against what the sandbox holds. It knows what
 * is right, and nothing of how the client comes to its claims.
 */
import type { State } from "@plaza/sandbox"
import { Failures } from "@plaza/client"
import { Predicate } from "effect"
import { allowance, texts } from "./ModelProgram.js"
import type { Observation, Observed } from "./ModelRun.js"
import { carrier, mark, media, stockOf, targets, textOf } from "./ModelRun.js"

/**
 * - `done`: the client says that it happened.
 * - `not done`: the client says that it did not happen.
 * - `open`: it says neither, or nobody was left to tell.
 */
type Standing = "done" | "not done" | "open"

const repeatable = new Set(["upload", "like", "follow", "stock"])
const once = new Set(["comment", "message", "story"])

const standingOf = ({ claim, write }: Observed): Standing => {
  if (claim._tag !== "Failure") {
    return claim._tag === "Success" ? "done" : "open"
  }
  const { failure } = claim
  if (failure._tag === "OutcomeUnknown") {
    return "open"
  }
  if (failure._tag === "UnreadableSuccess") {
    return "done"
  }
  const ambiguous = Failures.isServiceError(failure)
    ? failure.category === "ServiceFault"
    : failure._tag === "ConnectionLost" || failure._tag === "AttemptTimeout"
  return ambiguous && repeatable.has(write.kind) ? "open" : "not done"
}

export const nameOf = ({ claim }: Observed): string => claim._tag === "Failure" ? claim.failure._tag : claim._tag

const tell = (call: Observed): string =>
  `${mark(call.number)} (${call.write.kind}${"target" in call.write ? ` ${call.write.target}` : ""}, ${nameOf(call)})`

/** How often something may be there, by what was claimed of the calls that could have made it. */
const bounds = (calls: ReadonlyArray<Observed>): readonly [least: number, most: number] => [
  calls.filter((call) => standingOf(call) === "done").length,
  calls.filter((call) => standingOf(call) !== "not done").length
]

const counted = (what: string, found: number, [least, most]: readonly [number, number]): ReadonlyArray<string> =>
  found < least || found > most ? [`${what}: there ${found} times, claimed ${least} to ${most} times`] : []

const valueOf = (call: Observed, field: string): unknown =>
  call.claim._tag === "Success" && Predicate.hasProperty(call.claim.value, field) ? call.claim.value[field] : undefined

const postRules = (calls: ReadonlyArray<Observed>, { after, before }: Observation): ReadonlyArray<string> => {
  const old = new Set(before.posts.map(({ id }) => id))
  const made = after.posts.filter(({ id }) => !old.has(id))
  const groupOf = (text: string, mediaCount: number) =>
    `${texts.find((entry) => entry[1] === text)?.[0] ?? text} with ${mediaCount} media`
  const groups = new Map<string, Array<Observed>>()
  for (const call of calls) {
    if (call.write.kind === "post") {
      const group = groupOf(textOf(call.write, call.number), call.write.media ? 1 : 0)
      groups.set(group, [...(groups.get(group) ?? []), call])
    }
  }
  return [
    ...made.flatMap((post) =>
      groups.has(groupOf(post.text, post.mediaIds.length)) && post.mediaIds.every((id) => id === media)
        ? []
        : [`a post "${post.text}" that nobody asked for`]
    ),
    ...[...groups].flatMap(([group, members]) => {
      const there = made.filter((post) => groupOf(post.text, post.mediaIds.length) === group)
      const ids = members.flatMap((call) => call.claim._tag === "Success" ? [valueOf(call, "id")] : [])
      return [
        ...counted(`post ${group}`, there.length, bounds(members)),
        ...(new Set(ids).size === ids.length ? [] : [`post ${group}: two calls claim one post`]),
        ...ids.flatMap((id) => there.some((post) => post.id === id) ? [] : [`post ${group}: ${String(id)} is claimed and isn't there`])
      ]
    })
  ]
}

/** What bears the mark of its call. */
const markedRules = (call: Observed, { after }: Observation): ReadonlyArray<string> => {
  const own = mark(call.number)
  const made = {
    comment: after.comments.filter(({ text }) => text === own),
    message: after.messages.filter(({ text }) => text === own),
    story: after.stories.filter(({ payload }) => Predicate.hasProperty(payload, "mark") && payload.mark === own)
  }
  const { kind } = call.write
  return kind === "comment" || kind === "message" || kind === "story"
    ? counted(tell(call), made[kind].length, bounds([call]))
    : []
}

/** A spare upload is harmless, but not one of a call that is said not to have happened. */
const uploadRules = (call: Observed, { after }: Observation): ReadonlyArray<string> => {
  if (call.write.kind !== "upload") {
    return []
  }
  const own = mark(call.number)
  const there = after.media.filter(({ name, size }) => name === own && size === own.length)
  const id = valueOf(call, "mediaId")
  return [
    ...counted(tell(call), Math.min(1, there.length), bounds([call])),
    ...(id === undefined || there.some((file) => file.id === id) ? [] : [`${tell(call)}: the file isn't there`])
  ]
}

/** What is there or isn't, however often it was asked for. */
const flagRules = (
  kind: "like" | "follow",
  calls: ReadonlyArray<Observed>,
  isThere: (target: number) => boolean
): ReadonlyArray<string> =>
  [0, 1].flatMap((target) => {
    const [least, most] = bounds(calls.filter(({ write }) => write.kind === kind && write.target === target))
    return counted(`${kind} ${target}`, isThere(target) ? 1 : 0, [Math.min(1, least), Math.min(1, most)])
  })

const stockIn = (state: State, target: number) =>
  state.products.find(({ id }) => id === targets.stock(target))?.stock

/** The last value stands: none may be there that was set before another one was begun and done. */
const stockRules = (calls: ReadonlyArray<Observed>, { after, before }: Observation): ReadonlyArray<string> =>
  [0, 1].flatMap((target) => {
    const sets = calls.filter(({ write }) => write.kind === "stock" && write.target === target)
    const done = sets.filter((call) => standingOf(call) === "done")
    const possible = sets.filter((call) =>
      standingOf(call) !== "not done" && done.every((other) => other === call || other.startedAs < call.endedAs)
    ).map(({ number }) => stockOf(number))
    const initial = stockIn(before, target)
    const found = stockIn(after, target)
    return found !== undefined && (possible.includes(found) || (done.length === 0 && found === initial))
      ? []
      : [`stock ${target} is ${found}, and could be ${possible.join(", ")}${done.length === 0 ? `, ${initial}` : ""}`]
  })

const shipRules = (calls: ReadonlyArray<Observed>, { after, requests }: Observation): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    if (call.write.kind !== "ship") {
      return []
    }
    const id = targets.ship(call.write.target)
    const shipment = after.orders.find((order) => order.id === id)?.shipment
    const own = shipment?.trackingNumber === mark(call.number) && shipment.carrier === carrier
    // A fault that turned the refusal of this order into a success told the client a lie.
    const lied = requests.some(({ deliveredStatus, operation, params, status }) =>
      operation === "shipOrder" && params["id"] === id && status !== null && status >= 400 && deliveredStatus === 200
    )
    return lied ? [] : counted(tell(call), own ? 1 : 0, bounds([call]))
  })

const isAmbiguous = (ended: number | string): boolean => typeof ended !== "number" || ended >= 500

/** What was sent, and whether the claim follows from it. */
const sendingRules = (call: Observed): ReadonlyArray<string> => {
  const writes = call.sent.filter(({ method }) => method !== "GET").map(({ ended }) => ended)
  const answered = writes.findIndex((ended) => typeof ended === "number" && ended < 300)
  const doubtful = writes.findIndex(isAmbiguous)
  const claim = nameOf(call)
  const problem = answered >= 0 && answered < writes.length - 1
    ? "sent again after a success"
    : once.has(call.write.kind) && doubtful >= 0 && doubtful < writes.length - 1
    ? "sent again without knowing"
    : answered >= 0 && !["Success", "UnreadableSuccess", "Interrupted"].includes(claim)
    ? "the service said that it did it"
    : claim === "UnreadableSuccess" && answered < 0
    ? "the service never said that it did it"
    : claim === "OutcomeUnknown" && doubtful < 0
    ? "there was no doubt"
    : claim === "Success" && answered < 0 && doubtful < 0
    ? "nothing can have made it"
    : writes.length > 5
    ? "sent more often than five times"
    : undefined
  return problem === undefined ? [] : [`${tell(call)}: ${problem} (${writes.join(", ")})`]
}

/** An unknown outcome is right only where nothing could have told: else a client that knows nothing would pass. */
const knowingRules = (call: Observed, { calls, requests }: Observation): ReadonlyArray<string> => {
  const { claim, write } = call
  if (claim._tag !== "Failure" || claim.failure._tag !== "OutcomeUnknown") {
    return []
  }
  const rivals = calls.filter((other) =>
    other !== call && write.kind === "ship" && other.write.kind === "ship" && other.write.target === write.target
  )
  // A status alone doesn't tell which conflict it is; the code goes with the rest of an answer that is cut short.
  const conflicted = write.kind === "ship" && rivals.length === 0 && call.sent.at(-1)?.ended === 409 &&
    requests.every(({ delivered, operation }) => operation !== "shipOrder" || delivered !== "cut")
  const listedWell = write.kind === "post" && claim.failure.cause._tag !== "RateLimitWaitExceeded" &&
    requests.every(({ faults, operation }) => operation !== "listPosts" || faults.length === 0)
  return conflicted
    ? [`${tell(call)}: the conflict told that it took`]
    : listedWell
    ? [`${tell(call)}: the account's posts could tell`]
    : []
}

const window = 60_000

const rateRules = ({ requests }: Observation): ReadonlyArray<string> => {
  const moments = requests.map(({ at }) => at.epochMillis)
  return [
    ...requests.flatMap(({ id, path, status }) => status === 429 ? [`${id} ${path} was beyond the allowance`] : []),
    ...moments.flatMap((end) => {
      const within = moments.filter((at) => at <= end && at > end - window).length
      return within > allowance ? [`${within} requests in the window up to ${end}`] : []
    })
  ]
}

/** All that is wrong, in sentences; nothing when all is right. */
export const violations = (observation: Observation): ReadonlyArray<string> => {
  const { after, calls } = observation
  return [
    ...postRules(calls, observation),
    ...calls.flatMap((call) => [
      ...markedRules(call, observation),
      ...uploadRules(call, observation),
      ...sendingRules(call),
      ...knowingRules(call, observation)
    ]),
    ...flagRules("like", calls, (target) => after.likes.some(({ postId }) => postId === targets.like(target))),
    ...flagRules("follow", calls, (target) =>
      after.relations.some(({ follows, from, to }) =>
        follows && from === after.keys[0]?.accountId && to === targets.follow(target))),
    ...stockRules(calls, observation),
    ...shipRules(calls, observation),
    ...rateRules(observation)
  ]
}
