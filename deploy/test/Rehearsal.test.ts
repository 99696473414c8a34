/** The images of the Dockerfile run as a container engine would run them. Requires root on Linux. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schedule } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import * as Container from "../src/Container.ts"
import * as Dockerfile from "../src/Dockerfile.ts"
import { missing, rehearse } from "../src/Rehearsal.ts"
import { image, repository } from "./support/program.ts"

if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

const confined = { user: "10001", group: "10001", capabilities: [], noNewPrivileges: true, processId: 1, readOnlyRoot: true }
const megabyte = 1_000_000

describe.runIf(missing === undefined)("the images", () => {
  it.live("run as an unprivileged user on a read-only root, stop with 0 after SIGTERM, and are small", () =>
    Effect.gen(function*() {
      const { plaza, sizes, worker } = yield* rehearse({ level: 1 })
      expect(plaza).toMatchObject({
        exit: 0,
        healthcheck: 0,
        failingHealthcheck: 7,
        // Another container reaches it by the name that this one has there, makes a world and calls it.
        world: "http://sandbox:4010/worlds/w1/open/v1",
        me: 200,
        confinement: confined,
        changed: [],
        tmp: []
      })
      expect(plaza.writes).toEqual({ "/usr/local/bin/plaza": "EROFS", "/etc/probe": "EROFS", "/data/probe": "EROFS" })
      expect(worker).toMatchObject({
        exit: 0,
        healthcheck: 0,
        failingHealthcheck: 1,
        status: 0,
        confinement: confined,
        changed: [],
        tmp: []
      })
      expect(worker.writes).toEqual({
        "/usr/local/bin/plaza-stock-sync": "EROFS",
        "/etc/probe": "EROFS",
        "/source/stock.csv": "EROFS",
        "/tmp/probe": "written",
        [`${image.settings.workdir}/probe`]: "written"
      })
      expect(worker.volume).toContain("plaza-stock-sync.sqlite")
      for (const event of ["page.listening", "account.running", "snapshot.accepted", "worker.stopping"]) expect(worker.log).toContain(event)
      // They have no base, so this is all that is transferred.
      for (const { gzip } of Object.values(sizes)) expect(gzip).toBeLessThan(60 * megabyte)
    }).pipe(Effect.provide(Sandbox.layerServer())))

  it.live("would be reported if it ran as root, wrote to its root or ignored SIGTERM", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-image-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const wrong = Dockerfile.parse(`FROM node:1.2.3-slim
RUN ["install", "-d", "/data"]
USER 0:0
ENTRYPOINT ["/usr/local/bin/node", "-e", "console.log('up'); setInterval(() => {}, 1000)"]`)
      const built = Container.builder({ context: repository, folder, node: process.execPath })(wrong)
      const data = Path.join(built.root, "data")
      const container = yield* Effect.acquireRelease(
        Effect.sync(() => Container.start(built, { mounts: [{ from: data, to: "/data" }] })),
        ({ ended, kill }) => Effect.andThen(Effect.sync(() => kill("SIGKILL")), Effect.promise(() => ended))
      )
      // After the places of mounts exist.
      const before = Container.listing(built.root)
      yield* Effect.sync(container.output).pipe(
        Effect.repeat({
          until: (output) => output.includes("up"),
          schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))
        })
      )
      const confinement = Container.confinement(container.pid() ?? 0)
      expect(confinement).toMatchObject({ user: "0", group: "0" })
      expect(confinement.capabilities.length).toBeGreaterThan(0)
      expect(container.exec(["/usr/local/bin/node", "-e", "require('node:fs').writeFileSync('/data/probe', '')"]).status).toBe(0)
      expect([...Container.listing(built.root).keys()].filter((file) => !before.has(file))).toEqual(["/data/probe"])
      // Process 1 gets no signal that it does not handle.
      container.kill("SIGTERM")
      expect(container.exec(["/usr/local/bin/node", "-e", "0"]).status).toBe(0)
      container.kill("SIGKILL")
      expect(yield* Effect.promise(() => container.ended)).not.toBe(0)
    }))
})
