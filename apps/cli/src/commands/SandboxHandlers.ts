/** What `plaza sandbox` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Text from "@plaza/cli-kit/Text"
import { type ActiveFault, FaultId, faultPresets } from "@plaza/sandbox"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Rec from "effect/Record"
import * as Stream from "effect/Stream"
import { connection } from "../Globals.ts"
import { configProvider } from "../profiles/Connection.ts"
import { variables } from "../profiles/ConnectionSettings.ts"
import * as SandboxControl from "../sandbox/SandboxControl.ts"
import * as Input from "./Input.ts"

/** A number is a seed; a file whose name is a number needs its folder, for example `./42`. */
const readLatitude = (given: string) =>
  /^-?\d{1,15}$/.test(given)
    ? Effect.succeed({ origin: given, value: { seed: Number(given) } })
    : Effect.mapBoth(Input.json(given), {
      onFailure: (error) =>
        error._tag === "UsageError"
          ? error
          : new UsageError({
            message: `the service variant ${given} can't be read: ${FileProblem.wordsOf(error)}; use a whole number or a JSON file`
          }),
      onSuccess: (value) => ({ origin: given, value })
    })

interface StartInput {
  readonly port: number
  readonly host: Option.Option<string>
  readonly allowedHosts: ReadonlyArray<string>
  readonly control: Option.Option<"loopback" | "anyone">
  readonly data: Option.Option<string>
  readonly seed: Option.Option<number>
  readonly freezeClock: boolean
  readonly freezeAt: Option.Option<DateTime.Utc>
  readonly fixtures: Option.Option<string>
  readonly assumptions: Option.Option<string>
  readonly documentOnly: boolean
  readonly latitude: Option.Option<string>
  readonly exitWithStdin: boolean
}

/** Waits for the end of standard input. What it contains is not used. */
const stdinEnded: Effect.Effect<void> = Effect.callback((resume) => {
  const ended = () => resume(Effect.void)
  process.stdin.once("end", ended).once("close", ended).once("error", ended).resume()
})

export const start = Effect.fnUntraced(function*(
  { allowedHosts, assumptions, control, data, documentOnly, exitWithStdin, fixtures, freezeAt, freezeClock, host, latitude, port, seed }:
    StartInput
) {
  yield* Program.untilStopped
  const latitudeValue = Option.isNone(latitude) ? undefined : yield* readLatitude(latitude.value)
  const { serve } = yield* Effect.promise(() => import("../sandbox/SandboxServer.ts"))
  const { apiKey, baseUrl, controlUrl, webUrl } = yield* serve({
    port,
    allowedHosts,
    latitude: latitudeValue,
    ...(Option.isNone(host) ? {} : { host: host.value }),
    ...(Option.isNone(control) ? {} : { control: control.value }),
    ...(documentOnly ? { assumptions: false as const } : {}),
    ...(Option.isNone(assumptions) ? {} : { assumptionsFile: assumptions.value }),
    ...(Option.isNone(data) ? {} : { data: data.value }),
    ...(Option.isSome(freezeAt) ? { freezeClock: freezeAt.value } : freezeClock ? { freezeClock } : {}),
    ...(Option.isNone(fixtures) ? {} : { fixtures: fixtures.value }),
    ...(Option.isNone(seed) ? {} : { seed: seed.value })
  })
  const output = yield* Output
  yield* output.note(
    `The sandbox listens at ${baseUrl}. Press Ctrl-C to stop it.\nOpen ${webUrl} in a browser, or run this in another terminal:\n`
  )
  yield* output.json
    ? output.value({ baseUrl, controlUrl, webUrl, apiKey })
    : output.text(`export PLAZA_BASE_URL=${baseUrl} PLAZA_API_KEY=${apiKey}`)
  return yield* exitWithStdin ? stdinEnded : Effect.never
})

const defaultBaseUrl = "http://127.0.0.1:4010/open/v1"

/** The client of the sandbox or the world at the base URL of the flags, the environment or the profile. */
const control = Effect.gen(function*() {
  const provider = yield* configProvider(yield* connection)
  const baseUrl = yield* Effect.provideService(
    Config.withDefault(Config.String(variables.baseUrl), defaultBaseUrl),
    ConfigProvider.ConfigProvider,
    provider
  )
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    return yield* new UsageError({ message: `"${baseUrl}" is not the base URL of a sandbox: use a URL such as ${defaultBaseUrl}` })
  }
  // A world has a prefix.
  return yield* SandboxControl.make(url.origin + url.pathname.replace(/\/open\/v1\/?$/, "").replace(/\/$/, ""))
})

/** A command that calls the sandbox, and reports what it did as JSON and as a sentence. */
const change = <I, A>(
  call: (client: SandboxControl.Client, input: I) => Effect.Effect<A, unknown>,
  report: (input: I, result: A) => readonly [value: unknown, sentence: string]
) =>
  Effect.fnUntraced(function*(input: I) {
    const result = yield* (yield* control)((client) => call(client, input))
    const output = yield* Output
    yield* output.done(...report(input, result))
  })

export const health = change(
  (client, _: object) => client.health(),
  (_, { seed, status }) => [{ status, seed }, `The sandbox is ready. Its seed is ${seed}.`]
)

export const reset = change((client, _: object) => client.reset(), () => [{ reset: true }, "The sandbox is reset."])

const generate = change(
  (client, generate: Readonly<Record<string, number>>) => client.seeding.addFixtures({ payload: { generate } }),
  (generated) => [
    { generated },
    `Added to the sandbox: ${Object.entries(generated).map(([name, count]) => `${count} ${name}`).join(", ")}.`
  ]
)

export const seed = (options: Readonly<Record<string, Option.Option<number>>>) => {
  const quantities = Rec.getSomes(options)
  return Rec.isEmptyRecord(quantities)
    ? Effect.fail(new UsageError({ message: `nothing to add: use one of ${Object.keys(options).map((name) => `--${name}`).join(", ")}` }))
    : generate(quantities)
}

type AnyFault = ActiveFault["fault"]
type Sequence = Extract<AnyFault, { readonly kind: "sequence" }>
type Outcome = Exclude<AnyFault, Sequence> | Sequence["outcomes"][number]

const millisOf = (millis: number | object): string =>
  Predicate.isNumber(millis)
    ? `${millis} ms`
    : Object.entries(millis).filter(([name]) => name !== "distribution").map(([name, value]) => `${name} ${value} ms`).join(", ")

/** The fields that say which calls a fault hits, and when. */
const targetFields = ["method", "path", "key", "account", "nth", "every", "times", "lastsMillis", "rate"]

/** What happens to a call, such as `status 429 before, retryAfter "5"`. */
const outcomeOf = (outcome: Outcome): string => {
  const { kind, millis, status, when, ...others }: {
    readonly kind: string
    readonly millis?: number | object | undefined
    readonly status?: number | undefined
    readonly when?: string | undefined
  } = outcome
  return [
    [kind, status, when].filter((word) => word !== undefined).join(" "),
    ...(millis === undefined ? [] : [millisOf(millis)]),
    ...Object.entries(others).flatMap(([name, value]: readonly [string, unknown]) =>
      value === undefined || targetFields.includes(name)
        ? []
        : [`${name} ${JSON.stringify(Predicate.isString(value) ? Text.excerpt(value) : value)}`]
    )
  ].join(", ")
}

/** What a fault does. */
const effectOf = ({ fault }: ActiveFault): string =>
  fault.kind === "sequence" ? `sequence: ${fault.outcomes.map(outcomeOf).join("; ")}` : outcomeOf(fault)

/** Which calls it hits. */
const targetOf = ({ fault: { account, key, method, path } }: ActiveFault): string =>
  [
    [method, path].filter((part) => part !== undefined && part !== "*").join(" ") || "every call",
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(key === undefined ? [] : [`key ${key}`])
  ].join(", ")

/** When it hits them. */
const whenOf = ({ fault: { every, lastsMillis, nth, rate, times } }: ActiveFault): string =>
  Object.entries({
    "from call": nth,
    every,
    rate,
    times,
    lasts: lastsMillis === undefined ? undefined : Duration.format(Duration.millis(lastsMillis))
  }).flatMap(([name, value]) => value === undefined ? [] : [`${name} ${value}`]).join(", ")

export const listFaults = Effect.fnUntraced(function*() {
  const { data } = yield* (yield* control)((client) => client.listFaults())
  const output = yield* Output
  yield* output.list(
    Stream.fromIterable(data),
    [
      { head: "id", whole: true },
      { head: "fault", overflow: "wrap" },
      { head: "calls", overflow: "wrap" },
      { head: "when", overflow: "wrap" },
      { head: "hits", align: "right", whole: true },
      { head: "left", align: "right", whole: true }
    ],
    (active) => [active.id, effectOf(active), targetOf(active), whenOf(active), active.hits, active.remaining ?? "unlimited"],
    { empty: "The sandbox has no active faults." }
  )
})

/** The fault of a JSON object or of a preset. */
const faultOf = (written: string) =>
  written.trimStart().startsWith("{")
    ? Effect.flatMap(Effect.fromResult(Input.parse(written, "the fault")), SandboxControl.asFault)
    : Object.hasOwn(faultPresets, written) && faultPresets[written] !== undefined
    ? Effect.succeed(faultPresets[written].fault)
    : Effect.fail(
      new UsageError({
        message: `"${written}" is neither a JSON object nor a preset: use one of ${Object.keys(faultPresets).join(", ")}`
      })
    )

interface FaultInput {
  readonly fault: Option.Option<string>
  readonly input: Option.Option<string>
}

export const addFault = Effect.fnUntraced(function*({ fault, input }: FaultInput) {
  if (Option.isSome(fault) === Option.isSome(input)) {
    return yield* new UsageError({ message: "FAULT and --input are alternatives: use one of them" })
  }
  const payload = yield* Option.isSome(fault)
    ? faultOf(fault.value)
    : Effect.flatMap(Input.json(Option.getOrElse(input, () => "-")), SandboxControl.asFault)
  const { id } = yield* (yield* control)((client) => client.addFault({ payload }))
  const output = yield* Output
  yield* output.one({ id }, [["id", id]])
})

interface Named {
  readonly name: string
}

export const removeFault = change(
  (client, { id }: { readonly id: string }) => client.removeFault({ params: { id: FaultId.make(id) } }),
  ({ id }) => [{ removed: id }, `The fault ${id} is removed.`]
)

export const clearFaults = change((client, _: object) => client.clearFaults(), () => [{ cleared: true }, "All faults are removed."])

export const saveSnapshot = change(
  (client, { name }: Named) => client.snapshots.save({ payload: { name } }),
  ({ name }, { rows }) => [{ saved: name, rows }, `Saved the snapshot ${name} with ${Text.count(rows, "row")}.`]
)

export const restoreSnapshot = change(
  (client, { name }: Named) => client.snapshots.restore({ params: { name } }),
  ({ name }) => [{ restored: name }, `Restored the snapshot ${name}.`]
)

export const removeSnapshot = change(
  (client, { name }: Named) => client.snapshots.remove({ params: { name } }),
  ({ name }) => [{ removed: name }, `Removed the snapshot ${name}.`]
)

export const listSnapshots = Effect.fnUntraced(function*() {
  const { data } = yield* (yield* control)((client) => client.snapshots.list())
  const output = yield* Output
  yield* output.list(
    Stream.fromIterable(data.map(({ createdAt, name, rows }) => ({ name, createdAt: DateTime.formatIso(createdAt), rows }))),
    [{ head: "name", whole: true }, { head: "created at" }, { head: "rows", align: "right" }],
    ({ createdAt, name, rows }) => [name, createdAt, rows],
    { empty: "The sandbox has no snapshots." }
  )
})
