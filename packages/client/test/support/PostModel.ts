/**
 * Random programs of new posts on random services, and the rules that hold for each: no post is created twice, none is claimed that does not
 * exist, and none exists whose call failed definitely.
 */
import { type ClientError, Posts } from "@plaza/client"
import * as TestTime from "@plaza/client/TestTime"
import { MediaId } from "@plaza/domain"
import { arrayOf, between, boolean, elementOf, weighted } from "@plaza/testing/Generators"
import { Arbitrary, Cause, Clock, Effect, Exit, Fiber, Option, References } from "effect"
import { TestClock } from "effect/testing"
import * as PostService from "./PostService.ts"
import type { Commit, Handling, Variant } from "./PostService.ts"

interface Call {
  readonly text: string
  readonly mediaIds: ReadonlyArray<string>
  readonly at: number
  /** When its caller interrupts it, after its start. */
  readonly leavesAfter: number | undefined
}

export interface Program {
  readonly variant: Omit<Variant, "rewrite">
  /** How the service changes texts, in this order. */
  readonly rewrites: ReadonlyArray<keyof typeof rewrites>
  /** The moment of its start within a second. */
  readonly phase: number
  readonly calls: ReadonlyArray<Call>
  readonly creates: ReadonlyArray<Handling>
  readonly lists: ReadonlyArray<Handling>
  /** Posts of another client. */
  readonly others: ReadonlyArray<{ readonly text: string; readonly at: number }>
}

const cut = (length: number, ending: string) => (text: string) => {
  const characters = Array.from(text)
  return characters.length <= length ? text : characters.slice(0, length - ending.length).join("") + ending
}

/** Changes of a stored text. */
const rewrites = {
  shortenedLinks: (text: string) => text.replace(/https?:\/\/\S+/g, (link) => `https://sho.rt/${link.length}`),
  emojiNames: (text: string) => text.replace(/\p{Extended_Pictographic}/gu, (emoji) => emoji === "\u{1f389}" ? ":tada:" : ":fire:"),
  punctuation: (text: string) => text.replaceAll("'", "\u2019").replace(/"([^"]*)"/g, "\u201c$1\u201d").replaceAll("--", "\u2014"),
  trimmed: (text: string) => text.trim(),
  lines: (text: string) => text.replaceAll(/\r\n?/g, "\n"),
  collapsed: (text: string) => text.replaceAll(/\s+/g, " "),
  composed: (text: string) => text.normalize("NFC"),
  escaped: (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;"),
  numbered: (text: string) => text.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`),
  entities: (text: string) => text.replaceAll("\u00fc", "&uuml;").replaceAll("\u00e9", "&eacute;").replaceAll("\u00f6", "&ouml;"),
  cut9: cut(9, ""),
  cut9ellipsis: cut(9, "\u2026"),
  cut30dots: cut(30, "...")
} satisfies Record<string, (text: string) => string>

const texts = [
  "good morning",
  " good  morning\r\n",
  "good morning everybody",
  "Blue mugs are back: 12 left",
  "Red mugs are back: 7 left",
  "caf\u00e9 & <br> \"today\"",
  "cafe\u0301 & <br> \"today\"",
  "sch\u00f6ne Gr\u00fc\u00dfe",
  "read https://example.org/a/long/path?x=1&y=2 now",
  "https://example.org/a/long/path",
  "https://example.org/another/long/path",
  "the party \u{1f389} is \"on\" -- it's at 8",
  "the party :tada: is \"on\" -- it's at 8",
  "\u{1f389}\u{1f525}",
  ""
]

/** One of these values, and twice as often the first. */
const usually = <A>(usual: A, ...others: ReadonlyArray<A>) =>
  weighted<A>([2, Arbitrary.Constant(usual)], [1, elementOf([usual, ...others])])

const rarely = <A>(usual: A, ...others: ReadonlyArray<A>) => weighted<A>([6, Arbitrary.Constant(usual)], [1, elementOf([usual, ...others])])

const hour = 3_600_000

const variant = Arbitrary.all({
  servers: Arbitrary.map(
    Arbitrary.all([rarely(0, 700, -600_000, 5 * hour), arrayOf(between(-500, 500), { minLength: 1, maxLength: 3 })]),
    ([offset, servers]) => servers.map((server) => offset + server)
  ),
  // At most one large step, because two opposite ones can hide each other.
  steps: Arbitrary.map(
    Arbitrary.all([
      arrayOf(Arbitrary.all({ at: between(0, 120_000), by: elementOf([-50, 40, 300]) }), { maxLength: 1 }),
      arrayOf(Arbitrary.all({ at: between(0, 120_000), by: elementOf([60_000, -60_000, 4_000, -4_000, 9_000, hour, -hour]) }), {
        maxLength: 1
      })
    ]),
    (steps) => steps.flat()
  ),
  stampOffset: rarely(0, 400, -400, 1_500, -1_500, 3_000, -3_000, 9_000, -9_000, 60_000, -60_000, hour, -hour, 14 * hour, -14 * hour,
    -24 * hour),
  stampUnit: usually(1, 1_000, 1_000, 60_000, hour, 24 * hour),
  date: usually<Variant["date"]>("present", "present", "absent"),
  listLag: usually(0, 500, 2_000, 5_000),
  order: usually<Variant["order"]>("newestFirst", "oldestFirst", "repeated"),
  media: usually<Variant["media"]>("asSent", "reversed", "renamed"),
  omitted: rarely<Variant["omitted"]>([], ["text"], ["mediaIds"], ["createdAt"], ["text", "mediaIds"]),
  stampInResponse: usually(true, false)
})

const pause = rarely(0, 20, 900, 4_000)

/** The handling of a request for a new post: what ends it agrees with what becomes of the post. */
const creating: Arbitrary.Arbitrary<Handling> = Arbitrary.map(
  Arbitrary.all({
    before: pause,
    head: weighted<number>([6, elementOf([0, 15, 90])], [1, elementOf([900, 4_000, 8_000])]),
    body: weighted<number>([6, Arbitrary.Constant(0)], [1, elementOf([1_000, 9_000])]),
    end: weighted<Handling["end"]>(
      [3, Arbitrary.Constant("response")],
      [8, elementOf<Handling["end"]>([500, 503, 503, "drop", "drop", "drop", "hang", 504])],
      [2, elementOf<Handling["end"]>(["garbage", "refuse", 429, 403])]
    ),
    commit: elementOf<Handling["commit"]>(["now", "now", "never", "never", "never", { late: 300 }, { late: 3_000 }, { late: 9_000 }])
  }),
  (handling) => ({
    ...handling,
    commit: handling.end === "response" || handling.end === "garbage"
      ? "now"
      : handling.end === "refuse" || handling.end === 429 || handling.end === 403
      ? "never"
      : handling.commit
  })
)

const listing: Arbitrary.Arbitrary<Handling> = Arbitrary.all({
  before: pause,
  head: rarely(0, 90, 900, 4_000, 8_000),
  body: rarely(0, 900, 5_000, 10_000),
  commit: Arbitrary.Constant("never"),
  end: rarely<Handling["end"]>("response", "response", "response", 503, "drop")
})

const mediaOf: Arbitrary.Arbitrary<ReadonlyArray<string>> = rarely<ReadonlyArray<string>>([], ["m1"], ["m1", "m2"])

const call: Arbitrary.Arbitrary<Call> = Arbitrary.map(
  Arbitrary.all({
    text: elementOf(texts),
    mediaIds: mediaOf,
    at: elementOf([0, 0, 50, 2_000, 20_000, 20_000, 21_500, 40_000, 60_000, 60_100, 90_000]),
    leavesAfter: rarely<number | undefined>(undefined, 0, 1, 40, 800, 4_000, 17_000, 31_000)
  }),
  // The client refuses a post without text and media.
  (call) => call.text === "" && call.mediaIds.length === 0 ? { ...call, mediaIds: ["m1"] } : call
)

/** Equal and similar posts at about the same time, which can be taken for each other. */
const crowd = Arbitrary.flatMap(
  elementOf([texts.slice(0, 1), texts.slice(0, 3), texts.slice(3, 5), texts.slice(8, 11), texts.slice(11, 13)]),
  (group) =>
    arrayOf(
      Arbitrary.all({
        text: elementOf(group),
        mediaIds: mediaOf,
        at: elementOf([0, 0, 10, 700, 2_000, 15_000, 30_000]),
        leavesAfter: weighted<number | undefined>([2, Arbitrary.Constant(undefined)], [1, elementOf([1, 40, 800, 4_000])])
      }),
      { minLength: 2, maxLength: 5 }
    )
)

const calls = weighted<ReadonlyArray<Call>>([1, arrayOf(call, { minLength: 1, maxLength: 5 })], [1, crowd])

export const program: Arbitrary.Arbitrary<Program> = Arbitrary.flatMap(calls, (calls) =>
  Arbitrary.all({
    variant,
    rewrites: weighted<Program["rewrites"]>(
      [1, Arbitrary.Constant([])],
      [
        1,
        Arbitrary.map(arrayOf(elementOf(Object.keys(rewrites) as ReadonlyArray<keyof typeof rewrites>), { maxLength: 3 }), (names) =>
          // In the order of the list, because a service shortens a link before it cuts the text.
          (Object.keys(rewrites) as ReadonlyArray<keyof typeof rewrites>).filter((name) => names.includes(name)))
      ]
    ),
    phase: between(0, 999),
    calls: Arbitrary.Constant(calls),
    // A first post that succeeds shows the clocks of the service.
    creates: Arbitrary.map(Arbitrary.all([boolean, arrayOf(creating, { minLength: 1, maxLength: 8 })]),
      ([isFirst, handlings]) => isFirst ? [PostService.prompt, ...handlings] : handlings),
    lists: weighted<ReadonlyArray<Handling>>([2, Arbitrary.Constant([])], [1, arrayOf(listing, { maxLength: 8 })]),
    others: weighted<Program["others"]>(
      [1, Arbitrary.Constant([])],
      [
        1,
        arrayOf(
          Arbitrary.map(
            Arbitrary.all([
              elementOf(calls),
              elementOf([-hour, -70_000, -16_000, -9_000, -6_500, -5_000, -4_300, -3_600, -2_500, -1_500, -300, 10, 1_500, 4_000, 9_000])
            ]),
            ([{ at, text }, distance]) => ({ text, at: at + distance })
          ),
          { maxLength: 2 }
        )
      ]
    )
  }))

interface Observed extends Call {
  readonly number: number
  readonly from: number
  readonly to: number
  readonly exit: Exit.Exit<{ readonly id: string }, ClientError.Failure>
}

export interface Observation {
  readonly program: Program
  readonly calls: ReadonlyArray<Observed>
  readonly commits: ReadonlyArray<Commit>
  readonly requests: ReadonlyArray<PostService.Request>
  /** How far the servers' clocks are ahead of the caller's within a time. */
  readonly offsets: (from: number, to: number) => readonly [least: number, most: number]
}

/** Runs a program from its beginning, on a clock of its own. */
export const run = (program: Program): Effect.Effect<Observation, ReadonlyArray<string>> =>
  Effect.gen(function*() {
    const shift = -Math.min(0, ...program.others.map(({ at }) => at))
    yield* TestClock.adjust(program.phase)
    const rewrite = (text: string) => program.rewrites.reduce((text, name) => rewrites[name](text), text)
    const service = yield* PostService.make({
      ...program.variant,
      rewrite,
      steps: program.variant.steps.map(({ at, by }) => ({ at: at + shift, by }))
    })
    service.onCreate(...program.creates)
    service.onList(...program.lists)
    const observe = (call: Call, index: number): Effect.Effect<Observed, never, Posts> =>
      Effect.gen(function*() {
        yield* Effect.sleep(call.at + shift)
        const from = yield* Clock.currentTimeMillis
        const { create } = yield* Posts
        const fiber = yield* Effect.forkChild(
          Effect.provideService(
            create({ text: call.text, mediaIds: call.mediaIds.map((id) => MediaId.make(id)) }),
            PostService.CurrentCall,
            index + 1
          )
        )
        if (call.leavesAfter !== undefined) {
          yield* Effect.forkDetach(Effect.delay(Fiber.interrupt(fiber), call.leavesAfter))
        }
        const exit = yield* Fiber.await(fiber)
        return { ...call, number: index + 1, from, to: yield* Clock.currentTimeMillis, exit }
      })
    const calls = yield* Effect.all([
      Effect.forEach(program.calls, observe, { concurrency: "unbounded" }),
      Effect.forEach(program.others, ({ at, text }) => Effect.andThen(Effect.sleep(at + shift), service.add(text)), {
        concurrency: "unbounded"
      })
    ], { concurrency: 2 }).pipe(
      Effect.map(([calls]) => calls),
      Effect.tap(() => Effect.sleep("1 minute")),
      Effect.provide(service.layer({ timeout: "20 seconds" })),
      Effect.timeoutOrElse({ duration: "3 hours", orElse: () => Effect.fail(["a call never ended"]) }),
      TestTime.advancing
    )
    return {
      program,
      calls,
      commits: service.commits,
      requests: service.requests,
      offsets: service.offsets
    }
  }).pipe(Effect.provideService(References.MinimumLogLevel, "None"), Effect.provide(TestClock.layer()))

export const tagOf = ({ exit }: Observed): string =>
  Exit.isSuccess(exit)
    ? "Success"
    : Option.match(Cause.findErrorOption(exit.cause), {
      onNone: () => Cause.hasInterruptsOnly(exit.cause) ? "Interrupted" : "Defect",
      onSome: ({ _tag }) => _tag
    })

/** Failures that claim that the call created no post. */
const isDefinite = (tag: string): boolean => !["Success", "OutcomeUnknown", "UnreadableSuccess", "Interrupted", "Defect"].includes(tag)

/**
 * Whether another client's post may be taken for the post of a call: its text is equal, and its stamp is at most two seconds from the time of
 * the call by some server, and by a `Date` that has whole seconds and travels for a while.
 */
const mayBeTaken = (commit: Commit, call: Observed, { offsets, program, requests }: Observation): boolean => {
  const travel = Math.max(0,
    ...requests.filter((request) => request.call === call.number).map(({ handling }) => handling.before + handling.head))
  const unit = Math.min(program.variant.stampUnit, 1_000)
  const [least, most] = offsets(call.from, call.to)
  return commit.stamp + unit >= call.from + least - 3_000 - travel && commit.stamp <= call.to + most + 3_000 + travel
}

// Apart from changes that keep the meaning of each character. The client doesn't distinguish such posts.
const groupOf = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim()

const similar: ReadonlyArray<ReadonlySet<string>> = [texts.slice(0, 3), texts.slice(3, 5), texts.slice(5, 7)].map((group) => new Set(group))

const isSimilar = (one: string, other: string): boolean => one === other || similar.some((group) => group.has(one) && group.has(other))

const harmless = new Set<string>(["trimmed", "lines", "collapsed", "composed", "escaped", "numbered"])

/** Whether the service shows enough to find a post, and no other post is like this one. Then an unknown outcome needs a reason. */
const isClear = (call: Observed, { program: { calls, lists, others, rewrites, variant }, requests }: Observation): boolean =>
  variant.date === "present" && Math.abs(variant.stampOffset) <= 400 && variant.stampUnit <= 1_000 &&
  variant.steps.every(({ by }) => Math.abs(by) <= 300) && variant.media !== "renamed" && variant.omitted.length === 0 &&
  rewrites.every((name) => harmless.has(name)) && lists.length === 0 && others.length === 0 &&
  texts.indexOf(call.text) < 9 && call.leavesAfter === undefined &&
  calls.filter(({ text }) => isSimilar(text, call.text) || texts.indexOf(text) >= 9).length === 1 &&
  requests.every(({ handling }) => handling.before + handling.head <= 1_000)

/** Statuses after which the service may still be at work, and ends that the client can't check, or that are no failure. */
const endsCall = new Set<Handling["end"]>(["hang", 504, 403, 429, "garbage"])

const hasReason = (call: Observed, { requests }: Observation): boolean => {
  const writes = requests.filter((request) => request.call === call.number && request.method === "POST")
  const last = writes.at(-1)
  return last === undefined || endsCall.has(last.handling.end) || writes.length >= 5 || call.to - call.from > 100_000
}

/** Whether the client saw no `Date` until the end of a call. Then a step of the clock can move its post to the time of an equal call. */
const sawNoClock = ({ to }: Observed, { program, requests }: Observation): boolean =>
  program.variant.steps.length > 0 &&
  requests.every(({ at, handling: { before, end, head } }) =>
    at + before + head >= to || end === "drop" || end === "hang" || end === "refuse"
  )

const groupRules = (observation: Observation): ReadonlyArray<string> => {
  const { calls, commits } = observation
  return [...new Set(calls.map(({ text }) => groupOf(text)))].flatMap((group) => {
    const members = calls.filter(({ text }) => groupOf(text) === group)
    const claims = members.flatMap((call) => {
      const { exit } = call
      return Exit.isSuccess(exit) ? [{ call, commit: commits.find(({ id }) => id === exit.value.id) }] : []
    })
    const made = commits.filter(({ call }) => members.some(({ number }) => number === call))
    const taken = claims.filter(({ call, commit }) =>
      commit !== undefined && commit.call === undefined && groupOf(commit.sent) === group && mayBeTaken(commit, call, observation)
    )
    return [
      ...claims.flatMap((claim) =>
        taken.includes(claim) || claim.commit?.call === claim.call.number || made.some((commit) =>
            commit === claim.commit &&
            // A call that returns a post of another client leaves its own post to an equal call.
            (taken.length > 0 || members.some((other) => other.number === commit.call && sawNoClock(other, observation)))
          )
          ? []
          : [`call ${claim.call.number} returns ${JSON.stringify(claim.commit)}`]
      ),
      ...(made.length < claims.length - taken.length ? [`"${group}": ${claims.length} claimed, ${made.length} created`] : [])
    ]
  })
}

/** The violations of the rules, in sentences. */
export const violations = (observation: Observation): ReadonlyArray<string> => {
  const { calls, commits } = observation
  const returned = calls.flatMap(({ exit }) => Exit.isSuccess(exit) ? [exit.value.id] : [])
  return [
    ...(new Set(returned).size === returned.length ? [] : ["two calls return one post"]),
    ...groupRules(observation),
    ...calls.flatMap((call) => {
      const own = commits.filter((commit) => commit.call === call.number)
      const tag = tagOf(call)
      const name = `call ${call.number} (${tag})`
      return [
        ...(own.length > 1 ? [`${name} created ${own.length} posts`] : []),
        ...(isDefinite(tag) && own.length > 0 ? [`${name} created a post`] : []),
        ...(tag === "Defect" ? [name] : []),
        ...(tag === "OutcomeUnknown" && isClear(call, observation) && !hasReason(call, observation)
          ? [`${name} could be found or sent again`]
          : [])
      ]
    })
  ]
}
