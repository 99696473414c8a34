/** Files that a person writes are read in each encoding in which editors and shells save them. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { encodings } from "@plaza/testing/Encodings"
import { ConfigProvider, Effect, FileSystem, Redacted, Stream } from "effect"
import * as ConfigFile from "../src/config/ConfigFile.ts"
import * as AccountFile from "../src/fleet/AccountFile.ts"
import * as FleetSecret from "../src/fleet/FleetSecret.ts"
import * as KeyReference from "../src/fleet/KeyReference.ts"
import * as KitsFile from "../src/source/rules/KitsFile.ts"
import * as RulesFile from "../src/source/rules/RulesFile.ts"

const key = `key_${"s3cret".repeat(8)}`

for (const [name, encode] of encodings) {
  /** Each as one chunk, and byte by byte. */
  const streams = (text: string): ReadonlyArray<Stream.Stream<Uint8Array>> => {
    const bytes = encode(text)
    return [Stream.make(bytes), Stream.fromIterable(Array.from(bytes, (byte) => Uint8Array.of(byte)))]
  }
  const written = (file: string, text: string) =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/${file}`
      yield* files.writeFile(path, encode(text))
      return path
    })

  describe(`in ${name}`, () => {
    it.effect("a rules file is read", () =>
      Effect.gen(function*() {
        for (const bytes of streams("id,productId,max\nMÜTZE,CAP,3\n")) {
          const rules = yield* RulesFile.read("rules.csv", bytes)
          expect([...rules]).toMatchObject([["MÜTZE", { productId: "CAP", max: 3 }]])
        }
      }))

    it.effect("a kits file is read", () =>
      Effect.gen(function*() {
        for (const bytes of streams("kit,component,quantity\nSÄT,MÜTZE,2\n")) {
          const kits = yield* KitsFile.read("kits.csv", bytes)
          expect(JSON.stringify([...kits].map(([kit, components]) => [kit, [...components]]))).toBe(`[["SÄT",[["MÜTZE",2]]]]`)
        }
      }))

    for (
      const [file, text] of [
        ["sync.toml", "# Lager\nsource = \"Bestände.csv\"\n"],
        ["sync.json", "{\n  \"source\": \"Bestände.csv\"\n}\n"]
      ] as const
    ) {
      it.effect(`a config file ${file} is read`, () =>
        Effect.gen(function*() {
          const path = yield* written(file, text)
          const names = { variables: new Map([["source", "STOCK_SYNC_SOURCE"]]), refused: new Map<string, string>() }
          expect([...yield* ConfigFile.read(path, names)]).toEqual([["STOCK_SYNC_SOURCE", { name: "source", text: "Bestände.csv" }]])
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
    }

    it.effect("a file of accounts is read", () =>
      Effect.gen(function*() {
        const path = yield* written("accounts.csv", "id,baseUrl,key,source\n7,https://host/open/v1,env:KEY_7,Bestände.csv\n")
        const rows = yield* Stream.runCollect(AccountFile.read(path))
        expect(JSON.stringify(rows)).toContain("Bestände.csv")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    it.effect("the key of an account is read", () =>
      Effect.gen(function*() {
        const path = yield* written("key", `${key}\n`)
        const found = yield* KeyReference.resolve("7", { _tag: "File", path }, yield* FleetSecret.fromConfig)
        expect(Redacted.value(found)).toBe(key)
      }).pipe(
        Effect.scoped,
        Effect.provide(NodeServices.layer),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({}))
      ))
  })
}
