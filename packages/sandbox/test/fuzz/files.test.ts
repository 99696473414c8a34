/**
 * Files of the sandbox: a defect, or an error that does not name the file, is a mistake. Fixtures that are accepted can be stored.
 */
import { Sandbox } from "@plaza/sandbox"
import * as Fuzz from "@plaza/testing/Fuzz"
import { Cause, Effect, Exit } from "effect"
import * as FileSystem from "effect/FileSystem"
import { describe, expect, it } from "vitest"
import * as AssumptionsFile from "../../src/AssumptionsFile.ts"
import { read as readFixtures } from "../../src/seeding/Fixtures.ts"
import { layerInProcess } from "../support.ts"

/** A file system with this content in every file. */
const files = (bytes: Uint8Array) =>
  FileSystem.layerNoop({
    // Nothing else of it is read.
    stat: () => Effect.succeed({ type: "File" } as FileSystem.File.Info),
    readFile: () => Effect.succeed(bytes)
  })

const refusal = (file: string) => `${file} can't be used: `

/** The message of a failure; undefined for a success. */
const messageOf = (exit: Exit.Exit<unknown, { readonly message: string }>) =>
  Exit.match(exit, { onFailure: (cause) => Cause.prettyErrors(cause)[0]?.message, onSuccess: () => undefined })

const fixtures = {
  "data.json": [
    JSON.stringify({
      generate: { people: 2, posts: 3 },
      accounts: [{ id: "007x", username: "bond", photo: false }],
      relations: [{ from: "007x", to: "1001", follows: true, blocksFromStore: true }],
      posts: [{ accountId: "007x", text: "shaken", createdAt: "2026-01-02T03:04:05.006Z" }],
      products: [{ id: "SKU/1", name: "Martini", stock: 7 }],
      orders: [{ id: "O-1" }],
      conversations: [{ peerId: "007x", messages: [{ text: "stirred?" }] }]
    })
  ],
  "data.yaml": ["accounts:\n  - { id: &a \"007x\", username: bond }\nproducts:\n  - &p { id: SKU/1, stock: 7 }\norders: [{ id: *a }]\n"]
}

describe.each(Object.entries(fixtures))("fixtures in %s", (file, seeds) => {
  it("are stored, or refused by an error with the name of the file", () =>
    Fuzz.run({
      seeds,
      words: ["*a", "&b", "<<: *a", "!!binary", "!!js/function", "- ", "\t", "id: ", "\"id\":", "\"people\":1e9"],
      check: (bytes) =>
        Effect.gen(function*() {
          const read = yield* Fuzz.outcome(Effect.provide(readFixtures(file), files(bytes)))
          expect(messageOf(read) ?? refusal(file)).toContain(refusal(file))
          if (Exit.isFailure(read)) return
          // Fails with a SandboxError, or not at all.
          yield* Fuzz.outcome(
            Effect.provide(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), layerInProcess({ fixtures: read.value }))
          )
        })
    }))
})

it("assumptions and a latitude are used, or refused by an error with the name of the file", () =>
  Fuzz.run({
    seeds: [
      JSON.stringify({ requestsPerWindow: 10, latitude: { text: "trimmed", listLagMillis: 5 } }),
      JSON.stringify({ firstAccountId: "1001", scopes: { createPost: ["posts:write"] } })
    ],
    words: ["\"latitude\":", "\"seed\":1,", "-1", "{}"],
    check: (bytes) =>
      Effect.map(
        Fuzz.outcome(Effect.provide(AssumptionsFile.read("assumed.json"), files(bytes))),
        (read) => expect(messageOf(read) ?? refusal("assumed.json")).toContain(refusal("assumed.json"))
      )
  }))
