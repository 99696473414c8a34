/** What the program and its image fix, for comparison with the files of this folder. */
import { variables as runVariables } from "@plaza/stock-sync/config/Configuration"
import * as FleetDatabase from "@plaza/stock-sync/fleet/FleetDatabase"
import * as FleetSecret from "@plaza/stock-sync/fleet/FleetSecret"
import { pages } from "@plaza/stock-sync/manual"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Dockerfile from "../../src/Dockerfile.ts"

export const repository = fileURLToPath(new URL("../../..", import.meta.url))
export const folder = fileURLToPath(new URL("../..", import.meta.url))
export const read = (path: string): string => readFileSync(`${folder}/${path}`, "utf8")

export const dockerfile = read("docker/Dockerfile")
/** The image of `plaza-stock-sync`. */
export const image = Dockerfile.parse(dockerfile, "plaza-stock-sync")

// The cast is true: the file is the manifest of the program.
export const manifest = JSON.parse(readFileSync(`${repository}/apps/stock-sync/package.json`, "utf8")) as {
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
}

export const port = 9464

/** How long a stop waits for requests in flight unless a setting changes it. */
export const stopWithin: Duration.Duration = pages.flatMap(({ flags }) => flags).flatMap(({ description, name }) => {
  const [, seconds] = name === "stop-within" ? /\(default: (\d+) seconds\)/.exec(description) ?? [] : []
  return seconds === undefined ? [] : [Duration.seconds(Number(seconds))]
})[0] ?? Duration.infinity

/** The stop with the five seconds for waiting webhook deliveries. A process manager must wait longer. */
export const longestStop: Duration.Duration = Duration.sum(stopWithin, Duration.seconds(5))

const clientVariables = ["PLAZA_API_KEY_FILE", "PLAZA_BASE_URL", "PLAZA_TIMEOUT", "PLAZA_RATE_LIMIT", "PLAZA_RATE_WINDOW"]
const secrets = [FleetDatabase.variable, FleetSecret.variable]

/** Variables that a deployment may set. Those that hold a secret are set by a file only. */
export const variables: ReadonlySet<string> = new Set([
  ...[...runVariables].filter((name) => !/_(SECRET|AUTHORIZATION|HEADERS)$/.test(name)),
  ...clientVariables,
  ...secrets.map((name) => `${name}_FILE`)
])

/** The paths that the rehearsal requests from the running program. */
export const paths: ReadonlyArray<string> = ["/healthz", "/readyz"]

/** Problems of a command in an image, without the name of the program. */
export const commandProblems = (words: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  ["run", "fleet migrate", `fleet run --port ${port}`, "health", `health --port ${port} --ready`].includes(words.join(" "))
    ? []
    : [`the program has no command "${words.join(" ")}"`]

/** A text with one place changed. Throws if the place is not there, so that a test of a wrong file can't pass by accident. */
export const changed = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`the file does not contain ${from}`)
  return text.replace(from, () => to)
}
