/** The invariants after a program of the model: the client's results agree with the sandbox's record of commits. */
import { type Commit, Latitude, type StateSnapshot } from "@plaza/sandbox"
import { Predicate } from "effect"
import { allowance, texts } from "./ModelProgram.ts"
import type { Observation, Observed } from "./ModelRun.ts"
import { carrier, mark, media, othersQuery, stockOf, targets, textOf } from "./ModelRun.ts"

/**
 * - `done`: the client claims that it happened.
 * - `not done`: the client claims that it did not happen.
 * - `open`: the client claims neither, or the call was interrupted.
 */
type ClaimKind = "done" | "not done" | "open"

type Kind = Observed["write"]["kind"]

const operations: Readonly<Record<Kind, string>> = {
  post: "createPost",
  comment: "createComment",
  message: "sendMessage",
  story: "createStory",
  upload: "uploadMedia",
  like: "likePost",
  follow: "followUser",
  stock: "setStock",
  ship: "shipOrder"
}

const repeatable = new Set<Kind>(["upload", "like", "follow", "stock"])
const once = new Set<Kind>(["comment", "message", "story"])

// The document shows neither redirects nor 408, so what became of a write is open.
const isAmbiguous = (ended: number | string): boolean =>
  typeof ended !== "number" || ended >= 500 || (ended >= 300 && ended < 400) || ended === 408

const writesOf = ({ sent }: Observed): ReadonlyArray<number | string> =>
  sent.filter(({ method }) => method !== "GET").map(({ ended }) => ended)

export const nameOf = ({ claim }: Observed): string => claim._tag === "Failure" ? claim.failure._tag : claim._tag

const claimOf = (call: Observed): ClaimKind => {
  const { claim, write } = call
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
  // A repeatable write fails as what it met last, which says nothing of the attempts before.
  return repeatable.has(write.kind) && writesOf(call).some(isAmbiguous) ? "open" : "not done"
}

const describe = (call: Observed): string =>
  `${mark(call.number)} (${call.write.kind}${"target" in call.write ? ` ${call.write.target}` : ""}, ${nameOf(call)})`

/** How often something may have been done, by what is claimed of the calls that asked for it. */
const bounds = (calls: ReadonlyArray<Observed>): readonly [least: number, most: number] => [
  calls.filter((call) => claimOf(call) === "done").length,
  calls.filter((call) => claimOf(call) !== "not done").length
]

const counted = (what: string, found: number, [least, most]: readonly [number, number]): ReadonlyArray<string> =>
  found < least || found > most ? [`${what}: done ${found} times, claimed ${least} to ${most} times`] : []

const valueOf = (call: Observed, field: string): unknown =>
  call.claim._tag === "Success" && Predicate.hasProperty(call.claim.value, field) ? call.claim.value[field] : undefined

const fieldOf = (payload: unknown, field: string): unknown => Predicate.hasProperty(payload, field) ? payload[field] : undefined

const commitsOf = (kind: Kind, { commits }: Observation): ReadonlyArray<Commit> =>
  commits.filter(({ operation }) => operation === operations[kind])

/** Whether a fault turned a refusal of this operation into a success: then the service told the client a lie. */
const isLie = (kind: Kind, { requests }: Observation): boolean =>
  requests.some(({ deliveredStatus, operation, status }) =>
    operation === operations[kind] && status !== null && status >= 400 && deliveredStatus !== null && deliveredStatus < 300
  )

/** The posts of another client of the account. */
const othersPosts = ({ commits, requests }: Observation): ReadonlyArray<Commit> => {
  const others = new Set(requests.flatMap(({ id, query }) => query === othersQuery ? [id] : []))
  return commits.filter(({ operation, requestId }) => operation === operations.post && others.has(requestId))
}

/** What a stamp of two seconds before the call can't be told from, and more where stamps are ahead of `Date`. */
const mayBeTaken = (commit: Commit, { from, to }: Observed, { latitude }: Observation): boolean => {
  const at = commit.at.epochMilliseconds
  return at >= from - 2_000 - Math.abs(latitude.createdAtOffsetMillis) && at <= to
}

const groupOf = (text: string): string => texts.find((entry) => entry[1] === text)?.[0] ?? text

const postRules = (calls: ReadonlyArray<Observed>, observation: Observation): ReadonlyArray<string> => {
  const others = othersPosts(observation)
  const made = commitsOf("post", observation).filter((commit) => !others.includes(commit))
  const groups = new Map<string, Array<Observed>>()
  for (const call of calls) {
    if (call.write.kind === "post") {
      const group = groupOf(textOf(call.write, call.number))
      groups.set(group, [...(groups.get(group) ?? []), call])
    }
  }
  const groupOfCommit = ({ payload }: Commit) => groupOf(String(fieldOf(payload, "text")))
  return [
    ...made.flatMap((commit) => groups.has(groupOfCommit(commit)) ? [] : ["a post that no call asked for"]),
    ...[...groups].flatMap(([group, members]) => {
      const there = made.filter((commit) => groupOfCommit(commit) === group)
      const claimed = members.flatMap((call) => call.claim._tag === "Success" ? [{ call, id: valueOf(call, "id") }] : [])
      const taken = claimed.flatMap(({ call, id }) => {
        const commit = others.find(({ createdId }) => createdId === id)
        return commit === undefined ? [] : [{ call, commit }]
      })
      const [least, most] = bounds(members)
      return [
        ...counted(`post ${group}`, there.length, [least - taken.length, most]),
        ...taken.flatMap(({ call, commit }) =>
          mayBeTaken(commit, call, observation) ? [] : [`${describe(call)}: the post of another client is claimed`]
        ),
        ...(new Set(claimed.map(({ id }) => id)).size === claimed.length ? [] : [`post ${group}: two calls claim one post`]),
        ...claimed.filter(({ call }) => !taken.some((other) => other.call === call)).flatMap(({ call, id }) => {
          const commit = there.find(({ createdId }) => createdId === id)
          return commit === undefined
            ? [`${describe(call)}: ${String(id)} is claimed and was not made for it`]
            : call.write.kind === "post" && call.write.media !== (fieldOf(commit.payload, "mediaIds") !== undefined)
            ? [`${describe(call)}: the post of another call with ${media} is claimed`]
            : []
        })
      ]
    })
  ]
}

/** What carries the mark of its call. */
const markedRules = (call: Observed, observation: Observation): ReadonlyArray<string> => {
  const { kind } = call.write
  if (!once.has(kind) || isLie(kind, observation)) {
    return []
  }
  const own = mark(call.number)
  const done = commitsOf(kind, observation).filter(({ payload }) => fieldOf(payload, "text") === own || fieldOf(payload, "mark") === own)
  return counted(describe(call), done.length, bounds([call]))
}

/** A spare upload is harmless, but not one of a call that claims that it did not happen. */
const uploadRules = (call: Observed, observation: Observation): ReadonlyArray<string> => {
  if (call.write.kind !== "upload" || isLie("upload", observation)) {
    return []
  }
  const own = mark(call.number)
  const done = commitsOf("upload", observation).filter(({ payload }) =>
    fieldOf(payload, "name") === own && fieldOf(payload, "size") === own.length
  )
  const id = valueOf(call, "mediaId")
  return [
    ...counted(describe(call), Math.min(1, done.length), bounds([call])),
    ...(id === undefined || done.some(({ createdId }) => createdId === id) ? [] : [`${describe(call)}: the file is not there`])
  ]
}

/** What is there or is not, however often it was asked for. */
const flagRules = (
  kind: "like" | "follow",
  calls: ReadonlyArray<Observed>,
  observation: Observation,
  isThere: (target: number) => boolean
): ReadonlyArray<string> =>
  isLie(kind, observation) ? [] : [0, 1].flatMap((target) => {
    const [least, most] = bounds(calls.filter(({ write }) => write.kind === kind && write.target === target))
    return counted(`${kind} ${target}`, isThere(target) ? 1 : 0, [Math.min(1, least), Math.min(1, most)])
  })

const stockIn = (state: StateSnapshot, target: number) => state.products.find(({ id }) => id === targets.stock(target))?.stock

/** The value of the last call stands, unless the service carried out an attempt that it had given up on. */
const stockRules = (calls: ReadonlyArray<Observed>, observation: Observation): ReadonlyArray<string> => {
  const { after, before, latitude } = observation
  return isLie("stock", observation) ? [] : [0, 1].flatMap((target) => {
    const sets = calls.filter(({ write }) => write.kind === "stock" && write.target === target)
    const done = sets.filter((call) => claimOf(call) === "done")
    const mayBeLate = (call: Observed) => latitude.lateCommitMillis > 0 && writesOf(call).some(isAmbiguous)
    const possible = sets.filter((call) =>
      claimOf(call) !== "not done" && (mayBeLate(call) || done.every((other) => other.startedAs <= call.startedAs))
    ).map(({ number }) => stockOf(number))
    const initial = stockIn(before, target)
    const found = stockIn(after, target)
    return found !== undefined && (possible.includes(found) || (done.length === 0 && found === initial))
      ? []
      : [`stock ${target} is ${found}, and could be ${possible.join(", ")}${done.length === 0 ? `, ${initial}` : ""}`]
  })
}

const shipRules = (calls: ReadonlyArray<Observed>, observation: Observation): ReadonlyArray<string> =>
  isLie("ship", observation) ? [] : calls.flatMap((call) => {
    if (call.write.kind !== "ship") {
      return []
    }
    const id = targets.ship(call.write.target)
    const shipment = observation.after.orders.find((order) => order.id === id)?.shipment
    const own = shipment?.trackingNumber === mark(call.number) && shipment.carrier === carrier
    const { claim } = call
    const likely = claim._tag === "Failure" && claim.failure._tag === "OutcomeUnknown" && claim.failure.likely === "done"
    return [
      ...counted(describe(call), own ? 1 : 0, bounds([call])),
      ...(likely && shipment === null ? [`${describe(call)}: most likely done, and the order is not shipped`] : [])
    ]
  })

/** Whether a 429 was cut, which shows no code. Then the client can't know that the service sent it, and did nothing. */
const isCutRefusal = ({ delivered, deliveredStatus }: Observation["requests"][number]): boolean =>
  delivered === "cut" && deliveredStatus === 429

/** What was sent, and whether the claim follows from it. */
const sendingRules = (call: Observed, { requests }: Observation): ReadonlyArray<string> => {
  const writes = writesOf(call)
  const answered = writes.findIndex((ended) => typeof ended === "number" && ended < 300)
  const doubtful = writes.findIndex(isAmbiguous)
  const claim = nameOf(call)
  const problem = answered >= 0 && answered < writes.length - 1
    ? "sent again after a success"
    : once.has(call.write.kind) && doubtful >= 0 && doubtful < writes.length - 1
    ? "sent again without knowing"
    : call.write.kind === "post" && writes.slice(0, -1).some((ended) => ended === "given up" || (typeof ended === "number" && ended >= 504))
    ? "sent again while the service may still be at work"
    : answered >= 0 && !["Success", "UnreadableSuccess", "Interrupted"].includes(claim)
    ? "the service reported success"
    : claim === "UnreadableSuccess" && answered < 0
    ? "the service never reported success"
    : claim === "OutcomeUnknown" && doubtful < 0 && !requests.some(isCutRefusal)
    ? "there was no doubt"
    : claim === "Success" && answered < 0 && doubtful < 0
    ? "nothing can have made it"
    : writes.filter((ended) => ended !== 429).length > 5
    ? "sent more often than five times"
    : undefined
  return problem === undefined ? [] : [`${describe(call)}: ${problem} (${writes.join(", ")})`]
}

const isDefault = (latitude: Latitude.Latitude): boolean => JSON.stringify(latitude) === JSON.stringify(Latitude.defaults)

// No repeat of a call begins later than this, as the client ships.
const longestRetrying = 120_000

/** Under the default latitude an unknown outcome of a post needs a reason: else a client that gives up at once would pass. */
const knowingRules = (call: Observed, observation: Observation): ReadonlyArray<string> => {
  const { attempts, calls, latitude, requests } = observation
  const { claim, write } = call
  if (!isDefault(latitude) || write.kind !== "post" || claim._tag !== "Failure" || claim.failure._tag !== "OutcomeUnknown") {
    return []
  }
  const { cause } = claim.failure
  const writes = writesOf(call)
  const last = writes.at(-1)
  const group = groupOf(textOf(write, call.number))
  const hasReason = last === "given up" || writes.length >= attempts ||
    call.to - call.from > longestRetrying ||
    (typeof last === "number" && (last < 500 || last >= 504)) || cause._tag === "RateLimitWaitExceeded" ||
    // The last attempt had no slot in time.
    claim.failure.attempts > writes.length ||
    requests.some(({ faults, operation }) => operation === "listPosts" && faults.length > 0) ||
    othersPosts(observation).length > 0 ||
    // A service may replace the whole of such a text.
    group === "bare link" || group === "emoji" ||
    calls.some((other) =>
      other !== call && other.write.kind === "post" && claimOf(other) === "open" && groupOf(textOf(other.write, other.number)) === group
    )
  return hasReason ? [] : [`${describe(call)}: it could be found or sent again (${writes.join(", ")})`]
}

const window = 60_000

const rateRules = ({ latitude, requests: all }: Observation): ReadonlyArray<string> => {
  const requests = all.filter(({ query }) => query !== othersQuery)
  // What is refused for the rate is counted by some services only; of a bucket it takes what is not there.
  const countsRefused = latitude.countRefused === true && latitude.rateCounting !== "tokenBucket"
  const moments = requests.filter(({ deliveredStatus }) => countsRefused || deliveredStatus !== 429).map(({ at }) => at.epochMilliseconds)
  // A bucket may be smaller than the allowance of a window, which a client learns by a 429 only.
  const mayRefuse = latitude.dailyQuota !== null || latitude.rateCounting === "tokenBucket"
  return [
    ...requests.flatMap(({ id, path, status }) => status === 429 && !mayRefuse ? [`${id} ${path} was beyond the allowance`] : []),
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
    ...(isLie("post", observation) ? [] : postRules(calls, observation)),
    ...calls.flatMap((call) => [
      ...markedRules(call, observation),
      ...uploadRules(call, observation),
      ...sendingRules(call, observation),
      ...knowingRules(call, observation)
    ]),
    ...flagRules("like", calls, observation, (target) => after.likes.some(({ postId }) => postId === targets.like(target))),
    ...flagRules("follow", calls, observation,
      (target) =>
        after.relations.some(({ follows, from, to }) => follows && from === after.keys[0]?.accountId && to === targets.follow(target))),
    ...stockRules(calls, observation),
    ...shipRules(calls, observation),
    ...rateRules(observation)
  ]
}
