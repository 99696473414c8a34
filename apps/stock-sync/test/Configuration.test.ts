import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect, FileSystem, Result } from "effect"
import { config, configured, variables } from "../src/config/Configuration.ts"
import { ledger, resolveLedger } from "../src/config/LedgerSettings.ts"
import * as SyncSettings from "../src/config/SyncSettings.ts"
import { pages } from "../src/manual.ts"
import { parse } from "./support/settings.ts"

const inFolder = <A, E>(test: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.provide(
    Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    NodeServices.layer
  )

const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))

interface Given {
  readonly file?: string
  readonly env?: Readonly<Record<string, string>>
}

const underConfig = <A, E, R>({ env = {}, file }: Given, read: Effect.Effect<A, E, R>) =>
  Effect.provideService(
    parse({ config }, file === undefined ? [] : ["--config", file], ({ config }) => configured(config)(read)),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env })
  )

const poll = (given: Given, ...argv: ReadonlyArray<string>) =>
  underConfig(given, parse({ poll: SyncSettings.options.poll }, argv, ({ poll }) => Effect.map(poll, Duration.format)))

const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), Result.match({ onFailure: ({ message }) => message, onSuccess: () => "accepted" }))

const string = (name: string) => Config.withDefault(Config.String(name), "none")

describe("the config file", () => {
  it.effect("is weaker than an option and a variable, and stronger than a default", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/sync.toml`
        yield* write(file, "poll = \"30s\"\n")
        expect(yield* poll({})).toBe("1m")
        expect(yield* poll({ file })).toBe("30s")
        expect(yield* poll({ file, env: { STOCK_SYNC_POLL: "20s" } })).toBe("20s")
        expect(yield* poll({ file, env: { STOCK_SYNC_POLL: "20s" } }, "--poll", "10s")).toBe("10s")
        // A blank variable is not set.
        expect(yield* poll({ file, env: { STOCK_SYNC_POLL: "" } })).toBe("30s")
        expect(yield* poll({ env: { STOCK_SYNC_CONFIG: file } })).toBe("30s")
      })
    ))

  it.effect("is TOML or JSON, with texts, numbers and booleans", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        yield* write(`${folder}/sync.toml`,
          "# comment\nconcurrency = 3\nreassert-share = 0.05\nsource-includes-sales = true\nrate-limit = 60\nallow-insecure-http = true\nbase-url = \"https://shop.example/open/v1\"\n")
        yield* write(`${folder}/sync.json`,
          "{ \"concurrency\": 3, \"reassert-share\": \"5%\", \"source-includes-sales\": true, \"rate-limit\": 60, \"allow-insecure-http\": true, \"base-url\": \"https://shop.example/open/v1\" }")
        for (const file of [`${folder}/sync.toml`, `${folder}/sync.json`]) {
          const read = Effect.all([
            parse(SyncSettings.sendOptions, [], ({ concurrency }) => concurrency),
            parse(SyncSettings.options, [], ({ reassertShare, sourceIncludesSales }) => Effect.all([reassertShare, sourceIncludesSales])),
            Config.Number("PLAZA_RATE_LIMIT"),
            Config.Boolean("PLAZA_ALLOW_INSECURE_HTTP"),
            Config.String("PLAZA_BASE_URL")
          ])
          expect(yield* underConfig({ file }, read)).toEqual([3, [0.05, true], 60, true, "https://shop.example/open/v1"])
        }
      })
    ))

  it.effect("names the key's file, unless the environment has a key", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/sync.toml`
        yield* write(`${folder}/key`, "key_of_the_file\n")
        yield* write(file, `api-key-file = "${folder}/key"\n`)
        expect(yield* underConfig({ file }, string("PLAZA_API_KEY"))).toBe("key_of_the_file")
        expect(yield* underConfig({ file, env: { PLAZA_API_KEY: "key_of_the_environment" } }, string("PLAZA_API_KEY"))).toBe(
          "key_of_the_environment"
        )
      })
    ))

  it.effect("has paths as they are, relative to the working directory", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/sync.toml`
        yield* write(file, "ledger = \"data/ledger.sqlite\"\n")
        expect(yield* underConfig({ file }, parse({ ledger }, [], (given) => resolveLedger(given.ledger)))).toBe("data/ledger.sqlite")
      })
    ))

  it.effect("is refused in one sentence that says what to change", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [name: string, content: string, message: string]> = [
          ["a.toml", "pol = \"30s\"", "pol in the config file FILE is not a setting: did you mean poll?"],
          [
            "b.toml",
            "colour = 1",
            "colour in the config file FILE is not a setting: remove it, or see plaza-stock-sync run --help for the names"
          ],
          // A value without its name may have a password.
          [
            "b.json",
            "{\"postgres://a:b@c/d\":\"x\"}",
            "an unusual name in the config file FILE is not a setting: remove it, or see plaza-stock-sync run --help for the names"
          ],
          ["c.toml", "poll = [\"30s\"]", "poll in the config file FILE is a list: it must be a text, a number, true or false"],
          ["d.json", "{ \"poll\": null }", "poll in the config file FILE is null: it must be a text, a number, true or false"],
          ["e.toml", "[poll]\nevery = 1", "poll in the config file FILE is a table: it must be a text, a number, true or false"],
          ["f.toml", "poll = 1979-05-27", "poll in the config file FILE is a date: it must be a text, a number, true or false"],
          ["g.toml", "poll = 30", "\"30\" is not a duration such as 30s: change poll in the config file FILE"],
          ["h.toml", "poll = true", "\"true\" is not a duration such as 30s: change poll in the config file FILE"],
          [
            "i.toml",
            "api-key = \"key_s3cret\"",
            "api-key can't be set in the config file FILE: put the key into a file of its own, and name that as api-key-file or by PLAZA_API_KEY_FILE"
          ],
          [
            "j.toml",
            "webhook-secret = \"whsec_s3cret\"",
            "webhook-secret can't be set in the config file FILE: put the secret into a file of its own, and name that as webhook-secret-file"
          ],
          [
            "k.toml",
            "source-authorization = \"Bearer s3cret\"",
            "source-authorization can't be set in the config file FILE: set STOCK_SYNC_SOURCE_AUTHORIZATION"
          ],
          ["l.toml", "json = true", "json can't be set in the config file FILE: give --json on the command line"],
          ["m.toml", "a = 1\nledger = \"s3cret", "the config file FILE is not valid TOML: see line 2"],
          ["n.json", "{\n\"poll\": \"30s\"\n\"ledger\": \"s3cret\"}", "the config file FILE is not valid JSON: see line 3"],
          ["o.json", "[1]", "the config file FILE must hold one object with a name for each setting"],
          ["p.yaml", "poll: 30s", "the config file FILE must end with .toml or .json"]
        ]
        for (const [name, content, message] of cases) {
          const file = `${folder}/${name}`
          yield* write(file, content)
          expect([name, yield* messageOf(poll({ file }))]).toEqual([name, message.replace("FILE", file)])
        }
        const file = `${folder}/missing.toml`
        expect(yield* messageOf(poll({ file }))).toBe(`the config file ${file} does not exist: correct --config or STOCK_SYNC_CONFIG`)
      })
    ))

  it.effect("is named where the client refuses a value of it", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/sync.toml`
        yield* write(file, "rate-limit = \"many\"\npoll = \"soon\"\n")
        const limit = Config.withDefault(Config.Number("PLAZA_RATE_LIMIT"), 120)
        expect(yield* messageOf(underConfig({ file }, limit))).toMatch(/^rate-limit in the config file .*\/sync\.toml can't be used: /)
        const env = { PLAZA_RATE_LIMIT: "more" }
        expect(yield* messageOf(underConfig({ file, env }, limit))).not.toContain("sync.toml")
        expect(yield* messageOf(poll({ file }, "--poll", "later"))).toBe(
          "\"later\" is not a duration such as 30s: change --poll or STOCK_SYNC_POLL"
        )
      })
    ))
})

describe("a misspelt variable", () => {
  const run = (env: Readonly<Record<string, string>>) => messageOf(underConfig({ env }, Effect.void))

  it.effect("is refused with the one that was probably meant", () =>
    Effect.provide(Effect.gen(function*() {
      expect(yield* run({ STOCK_SYNC_POL: "30s" })).toBe("STOCK_SYNC_POL is not a setting: did you mean STOCK_SYNC_POLL?")
      expect(yield* run({ STOCK_SYNC_SOURCE_TIMOUT: "" })).toBe(
        "STOCK_SYNC_SOURCE_TIMOUT is not a setting: did you mean STOCK_SYNC_SOURCE_TIMEOUT?"
      )
      expect(yield* run({ STOCK_SYNC_COLOUR: "red" })).toBe(
        "STOCK_SYNC_COLOUR is not a setting: unset it, or see plaza-stock-sync run --help for the names"
      )
    }), NodeServices.layer))

  it.effect("is none of those that some command knows, that are reserved, or that Kubernetes sets for a service", () =>
    Effect.provide(Effect.gen(function*() {
      const known = Object.fromEntries(Array.from(variables, (variable) => [variable, ""]))
      const kubernetes = {
        STOCK_SYNC_SERVICE_HOST: "10.0.0.1",
        STOCK_SYNC_SERVICE_PORT: "80",
        STOCK_SYNC_SERVICE_PORT_HTTP: "80",
        STOCK_SYNC_PORT_80_TCP: "tcp://10.0.0.1:80",
        STOCK_SYNC_PORT_80_TCP_ADDR: "10.0.0.1",
        STOCK_SYNC_REDIS_PORT: "tcp://10.0.0.2:6379"
      }
      expect(
        yield* run({
          ...known,
          ...kubernetes,
          STOCK_SYNC_FLEET_DATABASE: "postgres://db",
          STOCK_SYNCER: "x",
          PLAZA_COLOUR: "x",
          PATH: "/bin"
        })
      ).toBe("accepted")
    }), NodeServices.layer))
})

describe("an option of the help", () => {
  const commands = pages.filter(({ commands, path }) => commands.length === 0 && path[1] !== "fleet")
  const options = commands.flatMap(({ flags, path }) =>
    flags.map(({ description, name }) => ({ command: path.join(" "), flag: `--${name}`, description }))
  )
    // The `--format` of a report is not that of the source, which is a setting.
    .filter(({ command, flag }) => command !== "plaza-stock-sync report" || flag !== "--format")
  const withoutVariable = ["--confirm", "--dry-run", "--json", "--quiet", "--limit", "--ready", "--since"]

  it("has its variable in brackets, named like the option, and accepted by every command", () => {
    for (const { description, flag } of options.filter(({ flag }) => !withoutVariable.includes(flag))) {
      const variable = `STOCK_SYNC_${flag.slice(2).toUpperCase().replaceAll("-", "_")}`
      expect([flag, description.endsWith(`[${variable}]`), variables.has(variable)]).toEqual([flag, true, true])
    }
    const named = options.flatMap(({ description }) => description.match(/STOCK_SYNC_[A-Z0-9_]+/g) ?? [])
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((variable) => !variables.has(variable))).toEqual([])
  })

  it.effect("has a name in the config file, unless it is for the command line only", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        for (const flag of new Set(options.map(({ flag }) => flag))) {
          const file = `${folder}/one.toml`
          yield* write(file, `${flag.slice(2)} = "1"\n`)
          const message = yield* messageOf(underConfig({ file }, Effect.void))
          expect([flag, message]).toEqual([
            flag,
            [...withoutVariable, "--config"].includes(flag)
              ? `${flag.slice(2)} can't be set in the config file ${file}: give ${flag} on the command line`
              : "accepted"
          ])
        }
      })
    ))

  it("names the config file in every command", () => {
    for (const { path } of commands)
      expect(options.some(({ command, description }) => command === path.join(" ") && description.includes("[STOCK_SYNC_CONFIG]"))).toBe(
        true
      )
  })
})
