/** What `plaza sandbox` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Text from "@plaza/cli-kit/Text"
import type { ActiveFault } from "@plaza/sandbox"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
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
          : new UsageError({ message: `the latitude ${given} can't be read: use a whole number or a JSON file` }),
      onSuccess: (value) => ({ origin: given, value })
    })

interface Start {
  readonly port: number
  readonly host: Option.Option<string>
  readonly allowedHosts: ReadonlyArray<string>
  readonly data: Option.Option<string>
  readonly seed: Option.Option<number>
  readonly freezeClock: boolean
  readonly freezeAt: Option.Option<DateTime.Utc>
  readonly fixtures: Option.Option<string>
  readonly assumptions: Option.Option<string>
  readonly documentOnly: boolean
  readonly latitude: Option.Option<string>
}

export const start = Effect.fnUntraced(function*(
  { allowedHosts, assumptions, data, documentOnly, fixtures, freezeAt, freezeClock, host, latitude, port, seed }: Start
) {
  yield* Program.untilStopped
  const latitudeValue = Option.isNone(latitude) ? undefined : yield* readLatitude(latitude.value)
  const { serve } = yield* Effect.promise(() => import("../sandbox/SandboxServer.ts"))
  const { apiKey, baseUrl, controlUrl, webUrl } = yield* serve({
    port,
    allowedHosts,
    latitude: latitudeValue,
    ...(Option.isNone(host) ? {} : { host: host.value }),
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
  return yield* Effect.never
})

const defaultBaseUrl = "http://127.0.0.1:4010/open/v1"

/** The control of the sandbox at the base URL of the flags, the environment or the profile. */
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
  return yield* SandboxControl.make(url.origin)
})

export const reset = Effect.fnUntraced(function*() {
  const { reset } = yield* control
  yield* reset
  const output = yield* Output
  yield* output.done({ reset: true }, "The sandbox is reset.")
})

export const seed = Effect.fnUntraced(function*(options: Readonly<Record<string, Option.Option<number>>>) {
  const quantities = Object.entries(options).flatMap(([name, value]) => Option.isSome(value) ? [[name, value.value] as const] : [])
  if (quantities.length === 0) {
    return yield* new UsageError({ message: `nothing to add: use one of ${Object.keys(options).map((name) => `--${name}`).join(", ")}` })
  }
  const generated = Object.fromEntries(quantities)
  const { generate } = yield* control
  yield* generate(generated)
  const output = yield* Output
  yield* output.done({ generated }, `Added to the sandbox: ${quantities.map(([name, count]) => `${count} ${name}`).join(", ")}.`)
})

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
  [
    ...(nth === undefined ? [] : [`from call ${nth}`]),
    ...(every === undefined ? [] : [`every ${every}`]),
    ...(rate === undefined ? [] : [`rate ${rate}`]),
    ...(times === undefined ? [] : [`times ${times}`]),
    ...(lastsMillis === undefined ? [] : [`lasts ${Duration.format(Duration.millis(lastsMillis))}`])
  ].join(", ")

export const listFaults = Effect.fnUntraced(function*() {
  const { listFaults } = yield* control
  const output = yield* Output
  yield* output.list(
    Stream.fromIterable(yield* listFaults),
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

interface NewFault {
  readonly fault: Option.Option<string>
  readonly input: Option.Option<string>
}

export const addFault = Effect.fnUntraced(function*({ fault, input }: NewFault) {
  if (Option.isSome(fault) === Option.isSome(input)) {
    return yield* new UsageError({ message: "FAULT and --input are alternatives: use one of them" })
  }
  const { addFault, addPreset } = yield* control
  const id = Option.isSome(fault) && !fault.value.trimStart().startsWith("{")
    ? yield* addPreset(fault.value)
    : yield* addFault(
      Option.isSome(fault)
        ? yield* Effect.fromResult(Input.parse(fault.value, "the fault"))
        : yield* Input.json(Option.getOrElse(input, () => "-"))
    )
  const output = yield* Output
  yield* output.one({ id }, [["id", id]])
})

export const removeFault = Effect.fnUntraced(function*({ id }: { readonly id: string }) {
  const { removeFault } = yield* control
  yield* removeFault(id)
  const output = yield* Output
  yield* output.done({ removed: id }, `The fault ${id} is removed.`)
})

export const clearFaults = Effect.fnUntraced(function*() {
  const { clearFaults } = yield* control
  yield* clearFaults
  const output = yield* Output
  yield* output.done({ cleared: true }, "All faults are removed.")
})

export const saveSnapshot = Effect.fnUntraced(function*({ name }: { readonly name: string }) {
  const { saveSnapshot } = yield* control
  const { rows } = yield* saveSnapshot(name)
  const output = yield* Output
  yield* output.done({ saved: name, rows }, `Saved the snapshot ${name} with ${rows} rows.`)
})

export const restoreSnapshot = Effect.fnUntraced(function*({ name }: { readonly name: string }) {
  const { restoreSnapshot } = yield* control
  yield* restoreSnapshot(name)
  const output = yield* Output
  yield* output.done({ restored: name }, `Restored the snapshot ${name}.`)
})

export const listSnapshots = Effect.fnUntraced(function*() {
  const { listSnapshots } = yield* control
  const snapshots = (yield* listSnapshots).map(({ createdAt, name, rows }) => ({ name, createdAt: DateTime.formatIso(createdAt), rows }))
  const output = yield* Output
  yield* output.list(
    Stream.fromIterable(snapshots),
    [{ head: "name", whole: true }, { head: "created at" }, { head: "rows", align: "right" }],
    ({ createdAt, name, rows }) => [name, createdAt, rows],
    { empty: "The sandbox has no snapshots." }
  )
})

export const removeSnapshot = Effect.fnUntraced(function*({ name }: { readonly name: string }) {
  const { removeSnapshot } = yield* control
  yield* removeSnapshot(name)
  const output = yield* Output
  yield* output.done({ removed: name }, `Removed the snapshot ${name}.`)
})
