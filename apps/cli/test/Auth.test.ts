/**
 * Logging in, choosing and logging out with the built program: at a terminal and through pipes, with what is stronger than what, and the
 * key in nothing that is said.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, FileSystem, Layer, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { expect } from "vitest"
import { dist, environment, finished, run, start } from "./support/Plaza.ts"
import * as Terminal from "./support/Terminal.ts"

const services = Layer.merge(Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000 } }), NodeFileSystem.layer)

const wrong = `key_${"w".repeat(40)}`

/** A home for profiles, two accounts, and the program in it; nothing it says may hold a key. */
const home = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const fs = yield* FileSystem.FileSystem
  const config = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-auth-" })
  const { PLAZA_API_KEY: shop, PLAZA_BASE_URL: baseUrl } = yield* environment
  yield* sandbox.reset
  const other = yield* Effect.flatMap(Effect.orDie(sandbox.createAccount({ username: "other" })),
    ({ id }) => Effect.orDie(sandbox.createKey(id)))
  const keys = { shop, other: Redacted.value(other.apiKey) }
  const plaza = (argv: ReadonlyArray<string>, options: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> } = {}) =>
    Effect.gen(function*() {
      const ended = yield* run(argv, { ...options, env: { XDG_CONFIG_HOME: config, ...options.env } })
      for (const key of [keys.shop, keys.other, wrong]) expect(`${ended.stdout}${ended.stderr}`).not.toContain(key)
      return ended
    })
  const login = (name: string, key: string) => plaza(["auth", "login", "--profile", name, "--base-url", baseUrl], { stdin: `${key}\n` })
  return { baseUrl, config, keys, plaza, login, file: `${config}/plaza/config.json` }
})

const mask = (key: string) => `****${key.slice(-4)}`
const accountOf = (stdout: string) => /^id\t(.+)\n/.exec(stdout)?.[1]

layer(services, { excludeTestServices: true })("plaza auth", (it) => {
  it.effect("login keeps a key that is piped in, once the service accepts it; status tells the account and where all comes from", () =>
    Effect.gen(function*() {
      const { baseUrl, file, keys, plaza } = yield* home
      const fs = yield* FileSystem.FileSystem
      const { code, stderr, stdout } = yield* plaza(["auth", "login", "--base-url", baseUrl, "--json"], {
        stdin: `\ufeff ${keys.shop} \r\n`
      })
      expect({ code, stderr, output: JSON.parse(stdout) as unknown }).toEqual({
        code: 0,
        stderr: "",
        output: { profile: "default", default: true, baseUrl, account: { id: "1001", username: "corner-shop" } }
      })
      expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      expect(yield* plaza(["me"])).toEqual({ code: 0, stdout: "id\t1001\nusername\tcorner-shop\n", stderr: "" })
      expect((yield* plaza(["auth", "status"])).stdout).toBe(
        `profile\tdefault\naccount\t1001\nusername\tcorner-shop\nkey\t${
          mask(keys.shop)
        } from profile default\nbase URL\t${baseUrl} from profile default\n`
      )
      expect(JSON.parse((yield* plaza(["auth", "status", "--json"], { env: { PLAZA_API_KEY: keys.other } })).stdout)).toMatchObject({
        account: { username: "other" },
        key: { masked: mask(keys.other), from: "PLAZA_API_KEY" },
        baseUrl: { value: baseUrl, from: "profile default" }
      })
    }))

  it.effect("login keeps nothing that the service doesn't accept, that is no key, or that isn't there", () =>
    Effect.gen(function*() {
      const { baseUrl, config, keys, login, plaza } = yield* home
      const refused = yield* login("a", wrong)
      expect(refused).toMatchObject({ code: 4, stdout: "" })
      expect(refused.stderr).toMatch(
        /^plaza: the service rejects the API key\n {2}401 INVALID_API_KEY: .+\n {2}The profile was not saved\. .+\n$/
      )
      const noService = yield* plaza(["auth", "login", "--base-url", baseUrl.replace("/open/v1", "")], { stdin: keys.shop })
      expect(noService).toMatchObject({ code: 3, stdout: "" })
      expect(noService.stderr).toContain("The profile was not saved. The base URL has no GET /me: check that it ends with /open/v1.")
      expect(yield* login("a", "key_1 key_2")).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: the API key is invalid: an API key is one word of printable ASCII characters, without spaces or line breaks\n"
      })
      expect(yield* login("a", "key_short")).toMatchObject({ code: 4, stdout: "" })
      expect(yield* login("a", `${keys.shop}\n${keys.other}`)).toMatchObject({ code: 2, stdout: "" })
      expect(yield* login("a", "")).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no API key was given: pipe it to the command, or run the command in a terminal\n"
      })
      expect((yield* login("no/name", keys.shop)).stderr).toMatch(/^plaza: "no\/name" is not a valid profile name: .+\n$/)
      expect((yield* plaza(["auth", "login"], { stdin: keys.shop })).stderr).toMatch(/^plaza: no base URL is set: .+\n$/)
      expect((yield* plaza(["auth", "login", "--base-url", "host/open/v1"], { stdin: keys.shop })).stderr).toBe(
        "plaza: the base URL must be an address such as https://host/open/v1\n"
      )
      expect((yield* plaza(["auth", "login", keys.shop.slice(0, 8), "--base-url", baseUrl])).code).toBe(2)
      expect(readdirSync(config)).toEqual([])
    }))

  it.effect("several profiles: list shows them, use chooses, --profile and PLAZA_PROFILE name one, logout removes", () =>
    Effect.gen(function*() {
      const { baseUrl, keys, login, plaza } = yield* home
      expect(yield* plaza(["auth", "list"])).toEqual({
        code: 0,
        stdout: "",
        stderr: "There are no profiles. Run plaza auth login to create one.\n"
      })
      yield* login("shop", keys.shop)
      expect((yield* login("second", keys.other)).stdout).toContain("Saved as profile second: select it with --profile second.")
      expect((yield* plaza(["auth", "list"])).stdout.split("\n").map((line) => line.split("\t"))).toEqual([
        ["", "second", expect.any(String), "other", baseUrl, mask(keys.other)],
        ["*", "shop", "1001", "corner-shop", baseUrl, mask(keys.shop)],
        [""]
      ])
      const me = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
        Effect.map(plaza(["me", ...argv], { env }), ({ stdout }) => accountOf(stdout))
      const second = yield* me(["--profile", "second"])
      expect(second).not.toBe("1001")
      expect(yield* me([])).toBe("1001")
      expect(yield* me([], { PLAZA_PROFILE: "second" })).toBe(second)
      expect(yield* me(["--profile", "shop"], { PLAZA_PROFILE: "second" })).toBe("1001")
      expect((yield* plaza(["auth", "use", "second"])).code).toBe(0)
      expect(yield* me([])).toBe(second)
      for (const argv of [["auth", "use", "third"], ["me", "--profile", "third"], ["auth", "logout", "--profile", "third"]]) {
        expect(yield* plaza(argv)).toMatchObject({
          code: 2,
          stdout: "",
          stderr: expect.stringMatching(/^plaza: profile "third" does not exist \(existing: second, shop\): .+\n$/) as unknown
        })
      }
      const out = yield* plaza(["auth", "logout"])
      expect(out).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Profile second is removed\. Its key stays valid: revoke it .+\n$/) as unknown
      })
      expect(yield* plaza(["me"])).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no profile is selected: use --profile or plaza auth use with one of these: \"shop\"\n"
      })
      expect(yield* me(["--profile", "shop"])).toBe("1001")
      expect(out.stderr).toBe("There is no default profile now. Select one with plaza auth use.\n")
      expect((yield* plaza(["auth", "logout", "--profile", "shop"])).stderr).toBe(
        "There are no profiles now. Run plaza auth login to create one.\n"
      )
    }))

  it.effect("a flag beats the environment, which beats the profile; a profile that a flag names is a flag", () =>
    Effect.gen(function*() {
      const { baseUrl, keys, login, plaza } = yield* home
      yield* login("shop", keys.shop)
      const nowhere = "http://127.0.0.1:1/open/v1"
      const me = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
        Effect.map(plaza(["me", ...argv], { env }), ({ code, stdout }) => accountOf(stdout) ?? code)
      expect(yield* me([], { PLAZA_BASE_URL: nowhere })).toBe(7)
      expect(yield* me(["--base-url", baseUrl], { PLAZA_BASE_URL: nowhere })).toBe("1001")
      expect(yield* me([], { PLAZA_API_KEY: wrong })).toBe(4)
      expect(yield* me([], { PLAZA_API_KEY: keys.other })).not.toBe("1001")
      expect(yield* me(["--profile", "shop"], { PLAZA_API_KEY: wrong, PLAZA_BASE_URL: nowhere })).toBe("1001")
      expect(yield* me([], { PLAZA_API_KEY: keys.shop, PLAZA_BASE_URL: baseUrl, PLAZA_PROFILE: "nobody", XDG_CONFIG_HOME: "/dev/null" }))
        .toBe("1001")
    }))

  it.effect("a profile stays with its account, and takes a new key of it", () =>
    Effect.gen(function*() {
      const { keys, login, plaza } = yield* home
      yield* login("shop", keys.shop)
      const other = yield* login("shop", keys.other)
      expect(other).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/^plaza: profile shop belongs to account 1001, but this key belongs to account \d+: .+\n$/) as unknown
      })
      const { apiKey } = yield* Effect.flatMap(Sandbox.Sandbox, (sandbox) => Effect.orDie(sandbox.createKey("1001")))
      expect((yield* plaza(["auth", "login", "--profile", "shop"], { stdin: Redacted.value(apiKey) })).code).toBe(0)
      expect((yield* plaza(["auth", "list"])).stdout).toContain(mask(Redacted.value(apiKey)))
    }))

  it.effect("a file that others can open stops every command that would take a key from it, and no other", () =>
    Effect.gen(function*() {
      const { baseUrl, file, keys, login, plaza } = yield* home
      const fs = yield* FileSystem.FileSystem
      yield* login("shop", keys.shop)
      yield* fs.chmod(file, 0o644)
      for (const argv of [["me"], ["auth", "list"], ["auth", "status"], ["auth", "use", "shop"], ["auth", "logout"]]) {
        expect(yield* plaza(argv)).toEqual({
          code: 2,
          stdout: "",
          stderr: `plaza: other users can read ${file}, which contains keys: run chmod 600 ${file}\n`
        })
      }
      expect(yield* plaza(["me"], { env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: keys.shop } })).toMatchObject({ code: 0 })
      yield* fs.chmod(file, 0o600)
      yield* fs.writeFileString(file, `{"version":1,"profiles":{"shop":{"apiKey":"${keys.shop}",,`)
      for (const env of [{}, { PLAZA_DEBUG: "1", PLAZA_LOG_LEVEL: "All" }]) {
        expect(yield* plaza(["me", "--json"], { env })).toMatchObject({
          code: 2,
          stdout: "",
          stderr: expect.stringContaining("is not a valid profiles file") as unknown
        })
      }
    }))

  it.effect("logins of several processes at once are all kept", () =>
    Effect.gen(function*() {
      const { keys, login, plaza } = yield* home
      const names = ["a", "b", "c", "d", "e", "f"]
      expect((yield* Effect.forEach(names, (name) => login(name, keys.shop), { concurrency: "unbounded" })).map(({ code }) => code))
        .toEqual(names.map(() => 0))
      expect((yield* plaza(["auth", "list"])).stdout.match(/\t[a-f]\t/g)).toHaveLength(names.length)
    }))

  it.effect("the key is in no argument and no environment of the process that is given it", () =>
    Effect.gen(function*() {
      const { baseUrl, config, keys } = yield* home
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 20_000, method: "GET", path: "/me" })
      const before = (yield* sandbox.faults)[0]?.hits ?? 0
      const child = yield* start(["auth", "login", "--base-url", baseUrl], { env: { XDG_CONFIG_HOME: config }, stdin: keys.shop })
      const end = yield* Effect.forkChild(finished(child))
      yield* Effect.repeat(Effect.delay(sandbox.faults, "20 millis"), {
        until: (faults) => faults.length === 0 || (faults[0]?.hits ?? 0) > before
      })
      for (const kind of ["cmdline", "environ"]) {
        expect(readFileSync(`/proc/${child.pid}/${kind}`, "utf8")).not.toContain(keys.shop)
      }
      yield* Effect.sync(() => child.kill("SIGINT"))
      expect(yield* Fiber.join(end)).toEqual({ code: 130, stdout: "", stderr: "" })
      expect(readdirSync(config)).toEqual([])
      yield* sandbox.clearFaults
    }))

  it.effect("login at a terminal asks for address and key, and shows no character of the key", () =>
    Effect.gen(function*() {
      const { baseUrl, config, keys, plaza } = yield* home
      const terminal = yield* Terminal.open(["auth", "login"], { env: { XDG_CONFIG_HOME: config }, columns: 200 })
      yield* terminal.shows(/Base URL .*:$/m)
      yield* terminal.type(`${baseUrl}\r`)
      yield* terminal.shows(/API key .*:/)
      // With a wrong character that is taken back, as people type.
      yield* terminal.type(`${keys.shop}x\u007f\r`)
      const { code, screen } = yield* terminal.ended
      expect({ code, screen }).toMatchObject({
        code: 0,
        screen: expect.stringContaining("Logged in as corner-shop (account 1001)") as unknown
      })
      const raw = yield* terminal.raw
      for (const part of [keys.shop, keys.shop.slice(0, 6), keys.shop.slice(-6), "*"]) expect(raw).not.toContain(part)
      expect((yield* plaza(["me"])).code).toBe(0)
    }))

  it.effect.each(
    [["\u0003", 130, "API key (hidden):\n"], [
      "\u0004",
      2,
      "API key (hidden):\nplaza: the prompt was closed without an answer\n"
    ]] as const
  )(
    "login at a terminal ends at %j with status %i and keeps nothing",
    ([keyPressed, code, screen]) =>
      Effect.gen(function*() {
        const { baseUrl, config } = yield* home
        const terminal = yield* Terminal.open(["auth", "login", "--base-url", baseUrl], { env: { XDG_CONFIG_HOME: config } })
        yield* terminal.shows(/API key/)
        yield* terminal.type(keyPressed)
        expect(yield* terminal.ended).toEqual({ code, screen })
        expect(readdirSync(config)).toEqual([])
      })
  )

  /** An interactive shell at a terminal, which runs `plaza auth login` until it asks for the key. */
  const loggingIn = (lineOf: (command: string) => string = (command) => command) =>
    Effect.gen(function*() {
      const account = yield* home
      const { baseUrl, config } = account
      const terminal = yield* Terminal.open(["--noprofile", "--norc", "-i"], {
        program: ["bash"],
        columns: 200,
        env: { XDG_CONFIG_HOME: config, PS1: "ready> ", HISTFILE: "/dev/null" }
      })
      yield* terminal.shows(/ready>/)
      yield* terminal.type(`${lineOf(`"${process.execPath}" "${dist}/plaza.cjs" auth login --base-url ${baseUrl}`)}\r`)
      yield* terminal.shows(/API key \(hidden\):$/m)
      return { ...account, ...terminal }
    })
  const suspended = /Stopped[^]*ready>$/m
  const asksAgain = /Stopped[^]*API key \(hidden\):$/m

  it.effect("login that is suspended by Ctrl-Z at its prompt reads the key after fg, and shows no part of it", () =>
    Effect.gen(function*() {
      const { keys, plaza, raw, shows, type } = yield* loggingIn()
      yield* type(`${keys.shop.slice(0, 20)}\u001a`)
      yield* shows(suspended)
      // The shell has the terminal in its own mode.
      yield* type("echo typed\r")
      yield* shows(/^typed$/m)
      yield* type("fg\r")
      yield* shows(asksAgain)
      // Nobody knows how much was typed before.
      yield* type(`${keys.shop}\r`)
      yield* shows(/Logged in as corner-shop \(account 1001\)[^]*ready>$/m)
      for (const part of [keys.shop.slice(0, 8), keys.shop.slice(12, 20), keys.shop.slice(20, 28), keys.shop.slice(-8)]) {
        expect(yield* raw).not.toContain(part)
      }
      expect((yield* plaza(["me"])).code).toBe(0)
    }))

  it.effect("login that is suspended twice ends by Ctrl-C with 130", () =>
    Effect.gen(function*() {
      const { config, shows, type } = yield* loggingIn()
      yield* type("\u001a")
      yield* shows(suspended)
      yield* type("fg\r")
      yield* shows(asksAgain)
      yield* type("\u001a")
      yield* shows(/Stopped[^]*Stopped[^]*ready>$/m)
      yield* type("fg\r")
      yield* shows(/Stopped[^]*Stopped[^]*API key \(hidden\):$/m)
      yield* type("\u0003")
      yield* shows(/Stopped[^]*Stopped[^]*API key[^]*ready>$/m)
      yield* type("echo code $?\r")
      yield* shows(/^code 130$/m)
      expect(readdirSync(config)).toEqual([])
    }))

  it.effect("login in a script stops with the script by Ctrl-Z, and reads the key after fg", () =>
    Effect.gen(function*() {
      const { keys, plaza, shows, type } = yield* loggingIn((command) => `bash -c '${command} && echo done in the script'`)
      yield* type("\u001a")
      yield* shows(suspended)
      yield* type("fg\r")
      yield* shows(asksAgain)
      yield* type(`${keys.shop}\r`)
      yield* shows(/^done in the script$/m)
      expect((yield* plaza(["me"])).code).toBe(0)
    }))

  it.effect("login that another terminal stops and continues reads the key without showing it", () =>
    Effect.gen(function*() {
      const { keys, plaza, raw, shows, type } = yield* loggingIn()
      yield* type("\u001a")
      yield* shows(suspended)
      yield* type("jobs -p\r")
      const pid = Number(/^\d+$/m.exec(yield* shows(/^\d+$/m))?.[0])
      yield* type("fg\r")
      yield* shows(asksAgain)
      yield* Effect.sync(() => process.kill(pid, "SIGSTOP"))
      yield* shows(/Stopped[^]*Stopped[^]*ready>$/m)
      yield* type("fg\r")
      yield* shows(/Stopped[^]*Stopped[^]*API key \(hidden\):$/m)
      yield* type(`${keys.shop}\r`)
      yield* shows(/Logged in as corner-shop/)
      expect(yield* raw).not.toContain(keys.shop.slice(0, 8))
      expect((yield* plaza(["me"])).code).toBe(0)
    }))

  it.effect("login hides the key after Ctrl-Z also where no shell stops it", () =>
    Effect.gen(function*() {
      const { baseUrl, config, keys } = yield* home
      const terminal = yield* Terminal.open(["auth", "login", "--base-url", baseUrl], { env: { XDG_CONFIG_HOME: config }, columns: 200 })
      yield* terminal.shows(/API key/)
      yield* terminal.type("\u001a")
      yield* terminal.type(`${keys.shop}\r`)
      expect(yield* terminal.ended).toMatchObject({ code: 0, screen: expect.stringContaining("Logged in as corner-shop") as unknown })
      expect(yield* terminal.raw).not.toContain(keys.shop.slice(0, 8))
    }))
})
