/** The compose files, checked by dclint (the schema of the compose specification and its rules) and against the program. */
import * as FleetDatabase from "@plaza/stock-sync/fleet/FleetDatabase"
import * as FleetSecret from "@plaza/stock-sync/fleet/FleetSecret"
import * as dclint from "dclint"
import { Duration, Effect, Schema } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { changed, commandProblems, image, longestStop, manifest, read, variables } from "./support/program.ts"

const Service = Schema.Struct({
  image: Schema.optional(Schema.String),
  build: Schema.optional(
    Schema.Struct({
      context: Schema.Literal("../.."),
      dockerfile: Schema.Literal("deploy/docker/Dockerfile"),
      target: Schema.Literal("plaza-stock-sync")
    })
  ),
  command: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  depends_on: Schema.Record(Schema.String, Schema.Struct({ condition: Schema.String })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  ),
  environment: Schema.Record(Schema.String, Schema.String),
  secrets: Schema.Array(Schema.String),
  tmpfs: Schema.Array(Schema.String),
  volumes: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  read_only: Schema.Literal(true),
  cap_drop: Schema.Tuple([Schema.Literal("ALL")]),
  security_opt: Schema.Tuple([Schema.Literal("no-new-privileges:true")]),
  restart: Schema.Literals(["no", "unless-stopped"]),
  stop_grace_period: Schema.optional(Schema.String),
  healthcheck: Schema.Struct({ disable: Schema.optional(Schema.Boolean), test: Schema.optional(Schema.Array(Schema.String)) }),
  deploy: Schema.Struct({
    replicas: Schema.optional(Schema.Number),
    resources: Schema.Struct({ limits: Schema.Struct({ cpus: Schema.String, memory: Schema.String }) })
  })
})
const Compose = Schema.Struct({
  services: Schema.Record(Schema.String, Service),
  secrets: Schema.Record(Schema.String, Schema.Struct({ file: Schema.TemplateLiteral(["secrets/", Schema.String]) }))
})

const off = ["require-quotes-in-ports", "service-keys-order", "top-level-properties-order"]
interface Linter {
  readonly lintFiles: (
    paths: ReadonlyArray<string>,
    recursively: boolean
  ) => ReadonlyArray<{ readonly messages: ReadonlyArray<{ readonly line: number; readonly message: string }> }>
}
// True: this is the form in the declarations of the package, which the compiler can't follow, because their imports have no file endings.
const { DCLinter } = dclint as unknown as { readonly DCLinter: new(config: unknown) => Linter }
const linter = new DCLinter({ rules: Object.fromEntries(off.map((rule) => [rule, 0])), quiet: false, debug: false, exclude: [] })

const lint = (text: string): ReadonlyArray<string> => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-compose-"))
  try {
    const file = Path.join(folder, "compose.yaml")
    writeFileSync(file, text)
    return linter.lintFiles([file], false).flatMap(({ messages }) => messages.map(({ line, message }) => `line ${line}: ${message}`))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A time of the compose specification with one unit. */
const millisOf = (text: string): number => Number.parseInt(text, 10) * (text.endsWith("m") ? 60_000 : 1_000)

const secretVariables = ["PLAZA_API_KEY", FleetDatabase.variable, FleetSecret.variable]

const problems = (text: string): ReadonlyArray<string> => {
  const invalid = lint(text)
  if (invalid.length > 0) return invalid
  const { secrets, services } = Schema.decodeUnknownSync(Compose)(parse(text, { merge: true }))
  const check = (holds: boolean, problem: string) => holds ? [] : [problem]
  return Object.entries(services).flatMap(([name, service]) => {
    const isProgram = service.build !== undefined || service.image?.startsWith("plaza-stock-sync:") === true
    const of = (problem: string) => `${name}: ${problem}`
    const environment = Object.entries(service.environment)
    return [
      ...check(service.image === undefined || /:\d+\.\d+(\.\d+)?(-[a-z]+)?$/.test(service.image),
        of(`${service.image} is not an exact version`)),
      ...check(!isProgram || service.image === undefined || service.image.endsWith(`:${manifest.version}`),
        of("the image has another version than the program")),
      ...service.secrets.flatMap((secret) => check(secret in secrets, of(`the secret ${secret} has no file`))),
      ...environment.filter(([variable]) => variable.endsWith("_FILE")).flatMap(([variable, path]) =>
        check(service.secrets.some((secret) => path === `/run/secrets/${secret}`), of(`${variable} names no secret of the service`))
      ),
      ...secretVariables.flatMap((variable) => check(!(variable in service.environment), of(`${variable} is readable in the file`))),
      ...(isProgram ? environment : []).flatMap(([variable]) =>
        check(variables.has(variable), of(`${variable} is not a variable of the program`))
      ),
      ...(isProgram ? commandProblems(service.command).map(of) : []),
      ...check(!isProgram || service.tmpfs.some((mount) => mount.startsWith("/tmp:")), of("/tmp is not writable")),
      ...check(service.command.join() !== "run" || service.volumes.some((volume) => volume.endsWith(`:${image.settings.workdir}`)),
        of("the ledger has no volume")),
      ...check(
        service.restart === "no" ||
          (service.stop_grace_period !== undefined && millisOf(service.stop_grace_period) > Duration.toMillis(longestStop)),
        of("the grace period is too short")
      ),
      ...check(service.restart === "no" || service.healthcheck.test?.[0] === "CMD", of("there is no health check in the exec form")),
      ...(isProgram && service.healthcheck.test !== undefined ? commandProblems(service.healthcheck.test.slice(2)).map(of) : [])
    ]
  })
}

const files = { single: read("compose/single.yaml"), fleet: read("compose/fleet.yaml") }
type File = keyof typeof files

describe("the compose files", () => {
  it.each<File>(["single", "fleet"])("%s: is valid, confined and as the program requires", (file) => {
    expect(problems(files[file])).toEqual([])
  })

  it("start two runners after the migration, and the migration after the database", () => {
    const { services } = Schema.decodeUnknownSync(Compose)(parse(files.fleet, { merge: true }))
    expect(services["runner"]?.deploy.replicas).toBe(2)
    expect(services["runner"]?.depends_on["migrate"]?.condition).toBe("service_completed_successfully")
    expect(services["migrate"]?.depends_on["postgres"]?.condition).toBe("service_healthy")
    expect(services["migrate"]?.restart).toBe("no")
  })

  it.each<[File, ...Array<string>]>([
    ["single", "    pids_limit", "    pid_limit", "additional properties"],
    ["single", "STOCK_SYNC_SOURCE:", "STOCK_SYNC_SOURCES:", "STOCK_SYNC_SOURCES is not a variable"],
    ["single", "PLAZA_API_KEY_FILE:", "PLAZA_API_KEY:", "PLAZA_API_KEY is readable"],
    ["single", "/run/secrets/plaza-key", "/run/secrets/key", "names no secret"],
    ["single", "stop_grace_period: 30s", "stop_grace_period: 15s", "grace period"],
    ["single", "ledger:/var/lib/plaza-stock-sync", "ledger:/var/lib/plaza", "the ledger has no volume"],
    ["single", "      - run\n", "      - serve\n", "no command \"serve\""],
    ["fleet", "postgres:17.6-bookworm", "postgres:latest", "latest"],
    ["fleet", "plaza-stock-sync:0.1.0", "plaza-stock-sync:0.0.9", "another version than the program"],
    ["fleet", "\"--ready\"", "\"--readyz\"", "no command \"health --port 9464 --readyz\""],
    ["fleet", "  fleet-secret:\n    file: secrets/fleet-secret\n", "", "fleet-secret has no file"]
  ])("refuse %s with %j replaced by %j", (file, from = "", to = "", problem = "") => {
    expect(problems(changed(files[file], from, to)).join("\n")).toContain(problem)
  })

  it.each<[File, ...Array<string>]>([
    ["single", "read_only: true", "read_only: false", "read_only"],
    ["single", "      - ALL", "      - NET_RAW", "cap_drop"],
    ["fleet", "          memory: 512M\n", "", "limits"],
    ["fleet", "no-new-privileges:true", "no-new-privileges:false", "security_opt"]
  ])("refuse a service of %s that is less confined: %j replaced by %j", (file, from = "", to = "", place = "") => {
    expect(() => problems(changed(files[file], from, to))).toThrow(place)
  })
})
