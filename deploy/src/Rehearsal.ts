/**
 * Builds the image of `deploy/docker/Dockerfile` without a container engine and runs the worker of one store in it, against a sandbox:
 * start, readiness, health check, a change that reaches the store, SIGTERM.
 */
import { Sandbox } from "@plaza/sandbox"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Container from "./Container.ts"
import * as Dockerfile from "./Dockerfile.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Why this machine can't rehearse; undefined if it can. */
export const missing: string | undefined = (() => {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "only root on Linux can run a program in a root file system of its own"
  try {
    execFileSync("unshare", ["--mount", "--pid", "--fork", "mount", "--make-rprivate", "/"], { stdio: "pipe" })
    return undefined
  } catch {
    return "this user may not create namespaces or mount: run it as root of a machine"
  }
})()

export class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}

const within = Duration.seconds(60)

/** Repeats a look until it finds what it wants. */
const until = <A, E>(look: Effect.Effect<A, E>, so: (found: A) => boolean, what: string) =>
  look.pipe(
    Effect.filterOrFail(so, (found) => new NotYet({ message: `${what}: ${JSON.stringify(found)}` })),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: within })))
  )

const get = (url: string) =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(url)
      return { status: response.status, body: await response.text() }
    },
    catch: (error) => new NotYet({ message: `${url} does not respond: ${String(error)}` })
  })

const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-image-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const changes = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
  [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file))

const listTmp = "process.stdout.write(JSON.stringify(require('node:fs').readdirSync('/tmp')))"
const tryToWrite =
  "try { require('node:fs').writeFileSync(process.argv[1], ''); console.log('written') } catch ({ code }) { console.log(code) }"

export interface Options {
  /** The Node of the base image (default: this one if it has SQLite, or the one of the Dockerfile). */
  readonly node?: string
}

export const rehearse = ({ node = process.execPath }: Options = {}) =>
  Effect.gen(function*() {
    const { apiKey, baseUrl, state } = yield* Sandbox.Sandbox
    const folder = yield* temporaryFolder
    const image = Dockerfile.parse(readFileSync(Path.join(repository, "deploy/docker/Dockerfile"), "utf8"))
    const [buildTime, built] = yield* Effect.timed(Effect.sync(() => Container.build({ context: repository, folder, node }, image)))
    const program = Container.sizeOf(Path.join(built.root, "opt"))

    const [uid = 0, gid = 0] = image.settings.user.split(":").map(Number)
    const volume = Path.join(folder, "volume")
    const source = Path.join(folder, "source")
    const key = Path.join(folder, "key")
    for (const made of [volume, source]) mkdirSync(made)
    writeFileSync(Path.join(source, "stock.csv"), "productId,stock\nMUG-BLUE-250,0\nMUG-BLUE-350,7\n")
    writeFileSync(key, Redacted.value(apiKey))
    chmodSync(key, 0o400)
    for (const owned of [volume, key]) chownSync(owned, uid, gid)

    const port = yield* freePort
    const container = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Container.start(built, {
          env: {
            PLAZA_API_KEY_FILE: "/run/secrets/plaza-key",
            PLAZA_BASE_URL: baseUrl,
            STOCK_SYNC_PORT: String(port),
            STOCK_SYNC_SETTLE: "0s",
            STOCK_SYNC_SOURCE: "/source/stock.csv"
          },
          mounts: [
            { from: volume, to: image.settings.workdir },
            { from: source, to: "/source", readOnly: true },
            { from: key, to: "/run/secrets/plaza-key", readOnly: true }
          ]
        })
      ),
      ({ ended, kill }) => Effect.andThen(Effect.sync(() => kill("SIGKILL")), Effect.promise(() => ended))
    )
    // After the mount points exist.
    const before = Container.listing(built.root)
    const startedAt = yield* Clock.currentTimeMillis
    const since = Effect.map(Clock.currentTimeMillis, (now) => Duration.millis(now - startedAt))
    const url = `http://127.0.0.1:${port}`
    const stopped = Effect.flatMap(Effect.promise(() => container.ended),
      (status) => Effect.fail(new NotYet({ message: `it stopped with ${status}` })))
    const reported = <A>(wait: Effect.Effect<A, NotYet>) =>
      Effect.mapError(Effect.raceFirst(wait, stopped), ({ message }) => new NotYet({ message: `${message}\n${container.output()}` }))
    yield* reported(until(get(`${url}/healthz`), ({ status }) => status === 200, "not alive"))
    const aliveAfter = yield* since
    yield* reported(until(get(`${url}/readyz`), ({ status }) => status === 200, "not ready"))
    const readyAfter = yield* since
    yield* reported(until(
      Effect.map(state,
        ({ products }) => products.filter(({ id }) => id === "MUG-BLUE-250" || id === "MUG-BLUE-350").map(({ stock }) => stock)),
      (stocks) => stocks.join(" ") === "0 7",
      "the store has another stock"
    ))

    const confinement = Container.confinement(container.pid() ?? 0)
    const healthcheck = container.exec(image.settings.healthcheck)
    const failingHealthcheck = container.exec(["env", "STOCK_SYNC_PORT=1", ...image.settings.healthcheck])
    const tmp: unknown = JSON.parse(container.exec(["node", "-e", listTmp]).output)
    const probes = ["/opt/plaza-stock-sync/program.cjs", "/etc/probe", "/source/stock.csv", "/tmp/probe", `${image.settings.workdir}/probe`]
    const writes = Object.fromEntries(
      probes.map((path) => [path, container.exec(["node", "-e", tryToWrite, path], "root").output.trim()])
    )
    const status = container.exec(["plaza-stock-sync", "status", "--json"])
    const [stopTime, ended] = yield* Effect.timed(Effect.suspend(() => {
      container.kill("SIGTERM")
      return Effect.promise(() => container.ended)
    }))
    return {
      node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
      baseImage: image.stages.at(-1)?.image,
      program,
      buildTime,
      aliveAfter,
      readyAfter,
      stopTime,
      exit: ended,
      healthcheck: healthcheck.status,
      /** The health check where nothing listens. */
      failingHealthcheck: failingHealthcheck.status,
      status: status.status,
      confinement,
      /** Files that changed outside of the volume and /tmp. */
      changed: changes(before, Container.listing(built.root)).filter((file) => !file.startsWith(`${image.settings.workdir}/`)),
      volume: readdirSync(volume).toSorted(),
      tmp,
      /** The results of root's attempts to write. */
      writes,
      log: container.output()
    }
  })
