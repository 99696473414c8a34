/**
 * Builds the images of `deploy/docker/Dockerfile` without a container engine and runs them: the sandbox of `plaza`, called as from another
 * container, and the worker of one store in `plaza-stock-sync`, against a sandbox. Start, health check, SIGTERM.
 */
import { Sandbox } from "@plaza/sandbox"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { createServer } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
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

const gzip = (root: string, level: number): number =>
  Number(
    execFileSync("sh", ["-c", `tar -C "$ROOT" -c . | gzip -${level} | wc -c`], { encoding: "utf8", env: { ...process.env, ROOT: root } })
  )

/** Mounts an engine makes are no part of the image. */
const sizeOf = (root: string, level: number) => ({ ...Container.sizeOf(root), gzip: gzip(root, level) })

interface Images {
  /** The image of `plaza`. */
  readonly plaza: Container.Built
  /** The image of `plaza-stock-sync`. */
  readonly worker: Container.Built
}

const started = (built: Container.Built, options: Container.RunOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => Container.start(built, options)),
    ({ ended, kill }) => Effect.andThen(Effect.sync(() => kill("SIGKILL")), Effect.promise(() => ended))
  )

/** Waits for something of a running container. Fails with its output if it stops. */
const reported = (container: Container.Container) => <A>(wait: Effect.Effect<A, NotYet>) =>
  Effect.raceFirst(
    wait,
    Effect.flatMap(Effect.promise(() => container.ended), (status) => Effect.fail(new NotYet({ message: `it stopped with ${status}` })))
  ).pipe(Effect.mapError(({ message }) => new NotYet({ message: `${message}\n${container.output()}` })))

/** What root among the mounts of the container can write. */
const writes = (container: Container.Container, paths: ReadonlyArray<string>) =>
  Object.fromEntries(paths.map((path) => {
    const { status, output } = container.shell(`: > "$ROOT${path}"`)
    return [path, status === 0 ? "written" : /Read-only file system/.test(output) ? "EROFS" : output.trim()]
  }))

const stopped = (container: Container.Container) =>
  Effect.timed(Effect.suspend(() => {
    container.kill("SIGTERM")
    return Effect.promise(() => container.ended)
  }))

/** What holds for every image while it runs. */
const look = (
  container: Container.Container,
  { settings }: Container.Built,
  healthy: Readonly<Record<string, string>>,
  failing: typeof healthy
) => ({
  confinement: Container.confinement(container.pid() ?? 0),
  healthcheck: container.exec(settings.healthcheck, healthy).status,
  /** The health check where nothing listens. */
  failingHealthcheck: container.exec(settings.healthcheck, failing).status,
  tmp: container.shell(`ls -A "$ROOT/tmp"`).output.trim().split("\n").filter((name) => name !== "")
})

/** An address of this machine that is not loopback, as that of another container is not. */
const ownAddress = (): string =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ address, family, internal }) => family === "IPv4" && !internal ? [address] : [])
  )[0] ?? "127.0.0.1"

/** Calls the sandbox by the name that other containers have for it. */
const call = (method: string, host: string, url: string, headers: Readonly<Record<string, string>> = {}, body = "") =>
  Effect.callback<{ readonly status: number | undefined; readonly body: string }, NotYet>((resume) => {
    const sent = request(url, { method, headers: { host, ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part)).on("end", () =>
        resume(Effect.succeed({ status: response.statusCode, body: text })))
    })
    sent.on("error", (error) => resume(Effect.fail(new NotYet({ message: `${url} does not respond: ${error.message}` })))).end(body)
  })

const World = Schema.fromJsonString(Schema.Struct({ apiKey: Schema.String, baseUrl: Schema.String }))

/** The image of `plaza` runs the sandbox, as the service of a job or the container of a test. */
export const rehearseSandbox = Effect.fnUntraced(function*(built: Container.Built) {
  const port = yield* freePort
  const { command, workdir } = built.settings
  const container = yield* started(built, { command: command.map((word) => word === "4010" ? String(port) : word) })
  const before = Container.listing(built.root)
  const startedAt = yield* Clock.currentTimeMillis
  const origin = `http://${ownAddress()}:${port}`
  const host = `sandbox:${port}`
  yield* reported(container)(until(call("GET", host, `${origin}/sandbox/health`), ({ status }) => status === 200, "not ready"))
  const readyAfter = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
  const json = { "content-type": "application/json" }
  const created = yield* call("POST", host, `${origin}/sandbox/worlds`, json, "{}")
  const world = yield* Schema.decodeEffect(World)(created.body)
  const me = yield* call("GET", host, `${origin}${new URL(world.baseUrl).pathname}/me`, { authorization: `Bearer ${world.apiKey}` })
  const observed = look(container, built, { PLAZA_BASE_URL: `http://127.0.0.1:${port}/open/v1` }, {
    PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1"
  })
  const attempts = writes(container, ["/usr/local/bin/plaza", "/etc/probe", `${workdir}/probe`])
  const [stopTime, exit] = yield* stopped(container)
  return {
    ...observed,
    /** Where other containers reach the world that one of them made. */
    world: world.baseUrl.replace(String(port), "4010"),
    me: me.status,
    writes: attempts,
    changed: changes(before, Container.listing(built.root)),
    readyAfter,
    stopTime,
    exit,
    log: container.output()
  }
})

/** The image of `plaza-stock-sync` runs the worker of one store. */
export const rehearseWorker = Effect.fnUntraced(function*(built: Container.Built) {
  const { apiKey, baseUrl, state } = yield* Sandbox.Sandbox
  const folder = yield* temporaryFolder
  const { settings } = built
  const [uid = 0, gid = 0] = settings.user.split(":").map(Number)
  const volume = Path.join(folder, "volume")
  const source = Path.join(folder, "source")
  const key = Path.join(folder, "key")
  for (const made of [volume, source]) mkdirSync(made)
  writeFileSync(Path.join(source, "stock.csv"), "productId,stock\nMUG-BLUE-250,0\nMUG-BLUE-350,7\n")
  writeFileSync(key, Redacted.value(apiKey))
  chmodSync(key, 0o400)
  for (const owned of [volume, key]) chownSync(owned, uid, gid)

  const port = yield* freePort
  const container = yield* started(built, {
    env: {
      PLAZA_API_KEY_FILE: "/run/secrets/plaza-key",
      PLAZA_BASE_URL: baseUrl,
      STOCK_SYNC_PORT: String(port),
      STOCK_SYNC_SETTLE: "0s",
      STOCK_SYNC_SOURCE: "/source/stock.csv"
    },
    mounts: [
      { from: volume, to: settings.workdir },
      { from: source, to: "/source", readOnly: true },
      { from: key, to: "/run/secrets/plaza-key", readOnly: true }
    ]
  })
  // After the mount points exist.
  const before = Container.listing(built.root)
  const startedAt = yield* Clock.currentTimeMillis
  const since = Effect.map(Clock.currentTimeMillis, (now) => Duration.millis(now - startedAt))
  const url = `http://127.0.0.1:${port}`
  yield* reported(container)(until(get(`${url}/healthz`), ({ status }) => status === 200, "not alive"))
  const aliveAfter = yield* since
  yield* reported(container)(until(get(`${url}/readyz`), ({ status }) => status === 200, "not ready"))
  const readyAfter = yield* since
  yield* reported(container)(until(
    Effect.map(state,
      ({ products }) => products.filter(({ id }) => id === "MUG-BLUE-250" || id === "MUG-BLUE-350").map(({ stock }) => stock)),
    (stocks) => stocks.join(" ") === "0 7",
    "the store has another stock"
  ))

  const observed = look(container, built, {}, { STOCK_SYNC_PORT: "1" })
  const attempts = writes(container, [
    "/usr/local/bin/plaza-stock-sync",
    "/etc/probe",
    "/source/stock.csv",
    "/tmp/probe",
    `${settings.workdir}/probe`
  ])
  const status = container.exec(["plaza-stock-sync", "status", "--json"])
  const [stopTime, exit] = yield* stopped(container)
  return {
    ...observed,
    status: status.status,
    /** The results of root's attempts to write. */
    writes: attempts,
    /** Files that changed outside of the volume and /tmp. */
    changed: changes(before, Container.listing(built.root)).filter((file) => !file.startsWith(`${settings.workdir}/`)),
    volume: readdirSync(volume).toSorted(),
    aliveAfter,
    readyAfter,
    stopTime,
    exit,
    log: container.output()
  }
})

/** Builds both images by the Node of their build. */
export const build = (node: string = process.execPath) =>
  Effect.gen(function*() {
    const folder = yield* temporaryFolder
    const text = readFileSync(Path.join(repository, "deploy/docker/Dockerfile"), "utf8")
    const [buildTime, images] = yield* Effect.timed(Effect.sync((): Images => {
      const built = Container.builder({ context: repository, folder, node })
      return { plaza: built(Dockerfile.parse(text, "plaza")), worker: built(Dockerfile.parse(text, "plaza-stock-sync")) }
    }))
    return { buildTime, images }
  })

export interface Options {
  /** The Node of the build (default: this one). */
  readonly node?: string
  /** How well the sizes of images are compressed, from 1 to 9 (default: 6, as engines do). */
  readonly level?: number
}

export const rehearse = ({ level = 6, node }: Options = {}) =>
  Effect.gen(function*() {
    const { buildTime, images } = yield* build(node)
    const sizes = { plaza: sizeOf(images.plaza.root, level), "plaza-stock-sync": sizeOf(images.worker.root, level) }
    return { buildTime, sizes, plaza: yield* rehearseSandbox(images.plaza), worker: yield* rehearseWorker(images.worker) }
  })
