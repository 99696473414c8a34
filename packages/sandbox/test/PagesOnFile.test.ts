/**
 * The pages of a sandbox with a data file: after a restart, and when the data can't be read.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import * as FileSystem from "effect/FileSystem"
import { DatabaseSync } from "node:sqlite"
import { layerInProcess, layerLogs, type LogEvent } from "./support.ts"
import { as, request } from "./WebPages.ts"

const withFile = <A, E>(use: (data: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
    Effect.flatMap((folder) => use(`${folder}/sandbox.db`)),
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )

const developers = "/settings/developers"

describe("the pages of a data file", () => {
  it.effect("show the same requests, decisions and keys after a restart", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const [id, before] = yield* Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          const { id } = yield* sandbox.createAccount({ access: "none" })
          const declined = yield* sandbox.requestAccess(id, { useCase: "first", botName: "one" })
          yield* sandbox.decideAccess(declined.id, "decline")
          const approved = yield* sandbox.requestAccess(id, { useCase: "second", website: "https://two.example/", botName: "two" })
          yield* sandbox.decideAccess(approved.id, "approve")
          const { id: key } = yield* sandbox.createKey(id, { name: "revoked", scopes: ["posts:read"] })
          yield* sandbox.revokeKey(key)
          yield* sandbox.createKey(id, { name: "kept", scopes: ["posts:write"] })
          return [id, (yield* request("GET", developers, as(id))).text] as const
        }).pipe(Effect.provide(layerInProcess({ data })))
        for (const shown of ["first", "declined", "https://two.example/", "approved", "revoked", "kept", "posts:write"]) {
          assert.include(before, shown)
        }
        const { text } = yield* Effect.provide(request("GET", developers, as(id)), layerInProcess({ data }))
        assert.strictEqual(text, before)
      })
    ))

  it.effect("show a visitor only that the sandbox failed, and log the cause", () =>
    withFile((data) =>
      Effect.gen(function*() {
        yield* Effect.provide(Sandbox.Sandbox, layerInProcess({ data }))
        const database = new DatabaseSync(data)
        database.exec("UPDATE keys SET scopes = 'no longer a list'")
        database.close()
        const logged: Array<LogEvent> = []
        const reply = yield* request("GET", developers, as("1001")).pipe(
          Effect.provide(Layer.provideMerge(layerInProcess({ data }), layerLogs(logged)))
        )
        assert.strictEqual(reply.status, 500)
        assert.include(reply.text, "The sandbox failed. Its log has the reason.")
        assert.notInclude(reply.text, "no longer a list")
        assert.notInclude(reply.text, "scopes")
        assert.lengthOf(logged, 1)
        assert.deepInclude(logged[0], { level: "Error", message: "sandbox.failed" })
        assert.include(logged[0]?.cause, "no longer a list")
      })
    ))
})
