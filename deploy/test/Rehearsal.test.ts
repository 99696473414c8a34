/** The image of the Dockerfile runs as a container engine would run it. Requires root on Linux. */
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

describe.runIf(missing === undefined)("the image", () => {
  it.live("runs the worker as an unprivileged user on a read-only root, and stops with 0 after SIGTERM", () =>
    Effect.gen(function*() {
      const report = yield* rehearse()
      expect(report).toMatchObject({
        exit: 0,
        healthcheck: 0,
        failingHealthcheck: 1,
        status: 0,
        confinement: { user: "10001", group: "10001", capabilities: [], noNewPrivileges: true, processId: 1, readOnlyRoot: true },
        changed: [],
        tmp: []
      })
      expect(report.writes).toEqual({
        "/opt/plaza-stock-sync/program.cjs": "EROFS",
        "/etc/probe": "EROFS",
        "/source/stock.csv": "EROFS",
        "/tmp/probe": "written",
        [`${image.settings.workdir}/probe`]: "written"
      })
      expect(report.volume).toContain("plaza-stock-sync.sqlite")
      for (const event of ["page.listening", "account.running", "snapshot.accepted", "worker.stopping"]) expect(report.log).toContain(event)
      expect(report.program.bytes).toBeLessThan(8 * 1024 * 1024)
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
      const built = Container.build({ context: repository, folder, node: process.execPath }, wrong)
      const before = Container.listing(built.root)
      const data = Path.join(built.root, "data")
      const container = yield* Effect.acquireRelease(
        Effect.sync(() => Container.start(built, { mounts: [{ from: data, to: "/data" }] })),
        ({ ended, kill }) => Effect.andThen(Effect.sync(() => kill("SIGKILL")), Effect.promise(() => ended))
      )
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
