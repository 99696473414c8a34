/**
 * The file of profiles: a defect, or a key in an error, is a mistake.
 */
import { NodeFileSystem } from "@effect/platform-node"
import * as Fuzz from "@plaza/testing/Fuzz"
import { Effect, FileSystem } from "effect"
import { expect, it } from "vitest"
import * as ProfilesFile from "../../src/profiles/ProfilesFile.ts"

const secret = "Zq7Rk2Vw9Xb4Nd6Tf8Gh1Jm3Lp5Sc0Yr7Ue2Ai4o"
const profile = { baseUrl: "https://host/open/v1", apiKey: `key_${secret}`, account: { id: "1", username: "shop" } }

it("has profiles, or an error, and neither shows a key", () =>
  Fuzz.run({
    seeds: [JSON.stringify({ default: "shop", profiles: { shop: profile } }), JSON.stringify({ profiles: { a: profile, b: profile } })],
    words: ["\"__proto__\":", "\"default\":", "{}"],
    check: (bytes) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const path = `${yield* files.makeTempDirectoryScoped()}/config.json`
        yield* files.writeFile(path, bytes, { mode: 0o600 })
        const read = yield* Fuzz.outcome(ProfilesFile.read(path))
        expect(Fuzz.shown(read)).not.toContain(secret)
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  }))
