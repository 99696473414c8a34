/** Files that a person writes are read in each encoding in which editors and shells save them. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import { encodings } from "@plaza/testing/Encodings"
import { Config, ConfigProvider, Effect, FileSystem } from "effect"
import * as Input from "../src/commands/Input.ts"
import * as Importing from "./support/Importing.ts"

const key = `key_${"s3cret".repeat(8)}`

for (const [name, encode] of encodings) {
  const written = (file: string, text: string) =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/${file}`
      yield* files.writeFile(path, encode(text))
      return path
    })

  describe(`in ${name}`, () => {
    it.effect("the JSON of --input is read", () =>
      Effect.gen(function*() {
        expect(yield* Input.jsonObject(yield* written("story.json", "{\n  \"title\": \"Mützen\"\n}\n"))).toEqual({ title: "Mützen" })
      }).pipe(Effect.provide(NodeFileSystem.layer)))

    it.effect("the API key is read", () =>
      Effect.gen(function*() {
        const environment = ConfigProvider.fromEnvRecord({ PLAZA_API_KEY_FILE: yield* written("key", `${key}\n`) })
        expect(yield* Config.String("PLAZA_API_KEY").parse(yield* SecretFile.withKeyFile(environment))).toBe(key)
      }).pipe(Effect.provide(NodeFileSystem.layer)))

    for (const file of ["stock.csv", "stock.ndjson"]) {
      it.effect(`a file of an import is read, ${file}`, () =>
        Effect.gen(function*() {
          const text = file.endsWith("csv") ? "productId,stock\nMÜTZE,7\n" : `{"productId":"MÜTZE","stock":7}\n`
          const path = yield* written(file, text)
          const state = yield* Importing.home
          const ended = yield* Importing.run(state, "stock", path, { dryRun: true })
          expect(Importing.failureOf(ended)).toBeUndefined()
          expect(`${ended.stdout}${ended.stderr}`).toContain("MÜTZE")
        }).pipe(Effect.provide(Importing.inProcess())))
    }
  })
}
