/** What every command prints with `--json` is valid by the schema that `plaza schema` prints, and has no other fields. */
import { NodeFileSystem } from "@effect/platform-node"
import { it as itAlone, layer } from "@effect/vitest"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import * as Manual from "@plaza/cli-kit/Manual"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { expect } from "vitest"
import { program } from "../../src/Cli.ts"
import { outputsOf } from "../../src/commands/Definition.ts"
import { pages } from "../../src/manual.ts"
import * as JsonSchema from "../../src/schema/JsonSchema.ts"
import * as Outputs from "../../src/schema/Outputs.ts"
import { plaza } from "../support/InProcess.ts"
import { environment, plazaWith, start, written } from "../support/Plaza.ts"
import * as Verifying from "../support/Verifying.ts"

const services = Layer.merge(Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000 } }), NodeFileSystem.layer)

const outputs = outputsOf(program)

const validator = new AjvJsonSchemaValidator()

/** The problems of a JSON value. */
const problemsOf = (schema: JsonSchema.JsonSchema, json: unknown): string | undefined => validator.getValidator(schema)(json).errorMessage

/** Validates the output of a command. Further properties are problems. */
const validate = (command: string, stdout: string) =>
  Effect.gen(function*() {
    const output = outputs.get(command)
    if (output === undefined) return yield* Effect.die(`plaza ${command} has no schema`)
    const { lines, schema } = yield* Outputs.get(output, "strict")
    const texts = stdout.split("\n").filter((line) => line !== "")
    expect({ command, stdout, problems: texts.map((text) => problemsOf(schema, JSON.parse(text))) })
      .toEqual({ command, stdout, problems: texts.map(() => undefined) })
    expect(lines ? texts.length > 0 : texts.length === 1).toBe(true)
  })

layer(services, { excludeTestServices: true })("plaza schema", (it) => {
  it.effect("describes the output of every command", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sandbox = yield* Sandbox.Sandbox
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-schema-" })
      const write = (name: string, text: string) => Effect.as(fs.writeFileString(`${folder}/${name}`, text), `${folder}/${name}`)
      const { orders, posts } = yield* sandbox.state
      const post = posts[0]?.id ?? ""
      const open = orders.flatMap(({ id, shipment }) => shipment === null ? [id] : [])
      const checked = new Set<string>()
      const state = { XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder }
      const validated = (command: string, stdout: string) =>
        Effect.andThen(Effect.sync(() => checked.add(command)), validate(command, stdout))
      /** Runs a command: its words, then its arguments. */
      const checkWith = (env: Readonly<Record<string, string>>, command: string, ...args: ReadonlyArray<string>) =>
        Effect.flatMap(plaza([...command.split(" "), ...args, "--json", "--quiet"], env), ({ code, stderr, stdout }) => {
          expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" })
          return validated(command, stdout)
        })
      const connected = { ...yield* environment, ...state }
      const check = (command: string, ...args: ReadonlyArray<string>) => checkWith(connected, command, ...args)

      const login = yield* plazaWith(["auth", "login", "--profile", "shop", "--json"], {
        env: state,
        stdin: Redacted.value(sandbox.apiKey)
      })
      yield* validated("auth login", login.stdout)
      // Its texts are part of the bundle.
      yield* validated("skills install", (yield* plazaWith(["skills", "install", "--dir", folder, "--json"])).stdout)
      const project = `${folder}/project`
      yield* fs.makeDirectory(`${project}/.cursor`, { recursive: true })
      for (const flags of [["--dry-run"], []]) {
        const ended = yield* plazaWith(["agent", "setup", "--json", "--quiet", ...flags], { cwd: project, env: { HOME: folder } })
        expect({ ...ended, stdout: "" }).toEqual({ code: 0, stdout: "", stderr: "" })
        yield* validated("agent setup", ended.stdout)
      }
      expect(yield* fs.exists(`${project}/.cursor/mcp.json`)).toBe(true)
      yield* checkWith(state, "auth status")
      yield* checkWith(state, "auth list")
      yield* checkWith(state, "auth use", "shop")
      yield* checkWith(state, "auth logout")

      const mug = yield* write("mug.png", "mug")
      const story = yield* write("story.json", `{"frames":[1]}`)
      const stock = yield* write("stock.csv", "productId,stock\n0042,3\n")
      const shipments = yield* write("orders.csv", `orderId,carrier,trackingNumber\n${open[1]},DHL,0034\n`)
      yield* Effect.all([
        check("auth status"),
        check("me"),
        check("users get", "1002"),
        check("users find", "corner-shop"),
        check("users follow", "1005"),
        check("media upload", mug),
        check("posts create", "--text", "Hello"),
        check("posts list"),
        check("posts like", post),
        check("posts comment", post, "--text", "Lovely"),
        check("stories create", "--input", story),
        check("stock set", "0042", "7"),
        Effect.andThen(check("stock import", stock, "--dry-run"), check("stock import", stock)),
        check("orders ship", open[0] ?? "", "--carrier", "DHL", "--tracking-number", "0034"),
        Effect.andThen(check("orders import", shipments, "--dry-run"), check("orders import", shipments)),
        check("chat list"),
        check("chat send", "conv_301", "--text", "Hello"),
        check("api", "GET", "/me"),
        check("schema", "me"),
        check("completions", "bash"),
        check("version"),
        check("verify", "--plan"),
        check("doctor")
      ], { concurrency: 2 })

      yield* check("sandbox snapshot save", "before")
      yield* check("sandbox snapshot list")
      yield* check("sandbox snapshot restore", "before")
      yield* check("sandbox snapshot remove", "before")
      yield* check("sandbox seed", "--posts", "1")
      const fault = `{"kind":"status","when":"after","status":500,"method":"DELETE","path":"/nothing"}`
      yield* check("sandbox faults add", fault)
      const [active] = yield* sandbox.faults
      yield* check("sandbox faults list")
      yield* check("sandbox faults remove", active?.id ?? "")
      yield* check("sandbox faults clear")
      yield* check("sandbox health")
      yield* check("sandbox reset")
      const started = yield* start(["sandbox", "start", "--port", "0", "--json", "--quiet"])
      yield* validated("sandbox start", yield* written(started, /\n/))

      const leaves = pages.flatMap((page) => Manual.isRunnable(page) ? [page.path.slice(1).join(" ")] : [])
      expect([...checked, "mcp"].toSorted()).toEqual(leaves.toSorted())
      expect([...outputs.keys()].toSorted()).toEqual([...checked].toSorted())
    }))

  it.effect("describes every failure, and names the commands that it can describe", () =>
    Effect.gen(function*() {
      const connected = yield* environment
      const failures = yield* Effect.all([
        plaza(["users", "get", "nobody", "--json"], connected),
        plaza(["posts", "nothing", "--json"], connected),
        plaza(["me", "--json"], {}),
        plaza(["schema", "posts", "--json"], connected)
      ])
      const schema = JsonSchema.make(Outputs.failure, "strict")
      for (const { code, stderr, stdout } of failures) {
        expect(code).toBeGreaterThan(1)
        expect({ stdout, problems: problemsOf(schema, JSON.parse(stderr)) }).toEqual({ stdout: "", problems: undefined })
      }
      expect(failures[3].stderr).toContain("use one of posts create, posts list, posts like, posts comment")
      const printed = yield* plaza(["schema", "--failure"], {})
      expect(JSON.parse(printed.stdout)).toMatchObject({ $schema: JsonSchema.dialect, required: ["error"] })
    }))
})

itAlone.effect("plaza schema verify describes a report", () =>
  Effect.gen(function*() {
    yield* Verifying.addPosts(25)
    const { report } = yield* Verifying.verify(Verifying.objects)
    yield* validate("verify", JSON.stringify(report))
  }).pipe(Effect.provide(Sandbox.layerHttpClient())))
