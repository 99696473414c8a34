/** Secrets in files, which variables name. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Fiber, FileSystem, Option, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import * as ConfigIssue from "../src/ConfigIssue.ts"
import * as SecretFile from "../src/SecretFile.ts"

const key = `key_${"s3cret".repeat(8)}`

const inFolder = <A, E>(test: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.provide(
    Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    NodeFileSystem.layer
  )

const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))

const apiKey = (variables: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const environment = ConfigProvider.fromEnvRecord(variables)
    return yield* Config.String("PLAZA_API_KEY").parse(yield* SecretFile.withKeyFile(environment))
  })

/** The variable that an error names, and what it says. */
const refusal = (error: Config.ConfigError) => {
  const { message, variable } = ConfigIssue.of(error)
  return [variable, message.replace(`${variable} is invalid: `, "")] as const
}

describe("the key in a file", () => {
  it.effect("is the file's text without the end of its last line", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        for (const end of ["", "\n", "\r\n"]) {
          yield* write(`${folder}/key`, `${key}${end}`)
          expect(yield* apiKey({ PLAZA_API_KEY_FILE: `${folder}/key` })).toBe(key)
        }
      })
    ))

  it.effect("leaves the variable as it is where no file is named", () =>
    inFolder(() =>
      Effect.gen(function*() {
        expect(yield* apiKey({ PLAZA_API_KEY: key })).toBe(key)
        expect(yield* apiKey({ PLAZA_API_KEY: key, PLAZA_API_KEY_FILE: "" })).toBe(key)
        expect(ConfigIssue.of(yield* Effect.flip(apiKey({})))).toEqual({ variable: "PLAZA_API_KEY", message: "PLAZA_API_KEY is not set" })
      })
    ))

  it.effect("may come through a pipe, is waited for without a thread, and is not read from a device without end", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const pipe = `${folder}/pipe`
        execFileSync("mkfifo", [pipe])
        const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length
        const before = pipes()
        const waiting = yield* Effect.forkChild(apiKey({ PLAZA_API_KEY_FILE: pipe }))
        yield* Effect.repeat(Effect.yieldNow, { until: () => pipes() > before })
        yield* Fiber.interrupt(waiting)
        const reading = yield* Effect.forkChild(apiKey({ PLAZA_API_KEY_FILE: pipe }))
        yield* write(pipe, `${key}\n`)
        expect(yield* Fiber.join(reading)).toBe(key)
        expect(refusal(yield* Effect.flip(apiKey({ PLAZA_API_KEY_FILE: "/dev/zero" })))[1]).toBe(
          "the file that it names is too long for a secret"
        )
      })
    ))

  it.effect("is read once, and not before it is needed", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const environment = ConfigProvider.fromEnvRecord({ PLAZA_API_KEY_FILE: `${folder}/key`, PLAZA_BASE_URL: "https://shop.example" })
        const config = yield* SecretFile.withKeyFile(environment)
        expect(yield* Config.String("PLAZA_BASE_URL").parse(config)).toBe("https://shop.example")
        yield* write(`${folder}/key`, key)
        const read = Config.String("PLAZA_API_KEY").parse(config)
        expect(yield* read).toBe(key)
        yield* write(`${folder}/key`, "")
        expect(yield* read).toBe(key)
      })
    ))

  it.effect("is refused with the variable's name and without the secret", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        yield* write(`${folder}/empty`, "\n")
        yield* write(`${folder}/two`, `${key}\n${key}\n`)
        yield* write(`${folder}/long`, key.repeat(10_000))
        const wrong = [
          [{ PLAZA_API_KEY_FILE: key }, "the file that it names does not exist"],
          [{ PLAZA_API_KEY_FILE: folder }, "it names a folder: name the file in it"],
          [{ PLAZA_API_KEY_FILE: `${folder}/empty` }, "the file that it names is empty"],
          [{ PLAZA_API_KEY_FILE: `${folder}/two` }, expect.stringMatching(/^the file that it names does not hold a key: /)],
          [{ PLAZA_API_KEY_FILE: `${folder}/long` }, "the file that it names is too long for a secret"],
          [{ PLAZA_API_KEY_FILE: `${folder}/two`, PLAZA_API_KEY: key }, "PLAZA_API_KEY is set as well: unset one of them"]
        ] as const
        for (const [variables, message] of wrong) {
          const [variable, said] = refusal(yield* Effect.flip(apiKey(variables)))
          expect([variable, said]).toEqual(["PLAZA_API_KEY_FILE", message])
          expect(said).not.toContain("s3cret")
        }
      })
    ))
})

describe("another secret", () => {
  it.effect("comes from its variable or from a file", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        yield* write(`${folder}/secret`, "from a file\n")
        const secret = (variables: Readonly<Record<string, string>>) =>
          Effect.map(
            Effect.provideService(SecretFile.secret("HOOK_SECRET"), ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(variables)),
            Option.map(Redacted.value)
          )
        expect(yield* secret({ HOOK_SECRET: "plain" })).toEqual(Option.some("plain"))
        expect(yield* secret({ HOOK_SECRET_FILE: `${folder}/secret` })).toEqual(Option.some("from a file"))
        expect(yield* secret({ HOOK_SECRET: " " })).toEqual(Option.none())
      })
    ))
})
