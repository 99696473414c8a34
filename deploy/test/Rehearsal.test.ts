/** The image of the Dockerfile runs as a container engine would run it. Requires root on Linux. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { stderr } from "node:process"
import { missing, rehearse } from "../src/Rehearsal.js"
import { image } from "./support/program.js"

if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

describe.runIf(missing === undefined)("the image", () => {
  it.scopedLive("runs the worker as an unprivileged user on a read-only root, and stops with 0 after SIGTERM", () =>
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
      expect(report.program.bytes).toBeLessThan(32 * 1024 * 1024)
    }).pipe(Effect.provide(Sandbox.layerServer())))
})
