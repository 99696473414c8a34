/**
 * Every shell block of the documentation runs as a reader would run it, with the built programs on the PATH, or declares why not in a
 * comment before it. A program that serves until it is stopped is stopped when it is ready.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import { root } from "../src/Paths.ts"
import { type Block, blocks } from "./support/Blocks.ts"

/** Commands for people who change this repository. `scripts/test/Documentation.test.ts` checks that the scripts and files that they name exist. */
const isForContributors = ({ code }: Block) => code.trim().split("\n").every((line) => line.startsWith("npx -y pnpm@"))

const shell = blocks("sh").filter((block) => block.page.startsWith("docs/") && !isForContributors(block))
const runnable = shell.filter(({ notRun }) => notRun === undefined)

/** The commands of a block, without comments. */
const commandsOf = ({ code }: Block) =>
  code.split("\n").map((line) => line.replace(/(?:^|\s)#.*$/, "").trim()).filter((line) => line !== "")

/** Without blocks whose commands all run in a longer block as well. */
const run = runnable.filter((block) => {
  const commands = commandsOf(block)
  return !runnable.some((other) =>
    commandsOf(other).length > commands.length && commands.every((command) => commandsOf(other).includes(command))
  )
})

const untilReady = fileURLToPath(new URL("support/untilReady.mjs", import.meta.url))

const files: Readonly<Record<string, string>> = {
  "bin/plaza": `#!/bin/sh
[ "$1 $2" != "sandbox start" ] || exec node ${untilReady} PLAZA_API_KEY ${root}apps/cli/dist/plaza.cjs "$@"
exec node ${root}apps/cli/dist/plaza.cjs "$@"
`,
  "bin/plaza-stock-sync": `#!/bin/sh
[ "$1" != run ] || exec node ${untilReady} snapshot.accepted ${root}apps/stock-sync/dist/plaza-stock-sync.cjs "$@" --settle 0s
exec node ${root}apps/stock-sync/dist/plaza-stock-sync.cjs "$@"
`,
  // The packages of the workspace, without a build.
  "bin/node": `#!/bin/sh
exec ${process.execPath} --conditions=@plaza/source "$@"
`,
  // A response with an error status fails the block.
  "bin/curl": `#!/bin/sh
PATH="\${PATH#*:}" exec curl --fail --silent --show-error "$@"
`,
  "bin/inventory": `#!/bin/sh
echo '{"productId":"MUG-BLUE-350","stock":5}'
`,
  "stock.csv": "productId,stock\nMUG-BLUE-350,4\nCAP/RED L,0\n",
  "shipments.csv": "orderId,carrier,trackingNumber\n500002,DHL,00340434161094042557\n500003,DHL,00340434161094042558\n",
  "mug.jpg": "a picture",
  "shelf.jpg": "another one",
  "latitude.json": "{ \"listLagMillis\": 700 }"
}

/** A home folder with the files that the blocks name, and the installed packages. */
const home = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* Effect.forEach(Object.entries(files), ([name, text]) =>
    Effect.gen(function*() {
      const path = `${folder}/${name}`
      yield* fs.makeDirectory(path.slice(0, path.lastIndexOf("/")), { recursive: true })
      yield* fs.writeFileString(path, text)
      yield* fs.chmod(path, 0o755)
    }))
  yield* fs.symlink(`${root}node_modules`, `${folder}/node_modules`)
  yield* fs.symlink(`${root}${"site/guides/Hello.ts"}`, `${folder}/Hello.ts`)
  yield* fs.symlink(`${root}${"site/guides/HelloEffect.ts"}`, `${folder}/HelloEffect.ts`)
  return folder
})

const execute = ({ code }: Block, folder: string) =>
  Effect.gen(function*() {
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const script = code.replaceAll("http://127.0.0.1:4010", new URL(baseUrl).origin)
    const child = yield* ChildProcess.make("sh", ["-e", "-c", script], {
      cwd: folder,
      extendEnv: true,
      env: {
        HOME: folder,
        PATH: `${folder}/bin:${process.env["PATH"]}`,
        PLAZA_BASE_URL: baseUrl,
        PLAZA_API_KEY: apiKey,
        XDG_CONFIG_HOME: undefined,
        XDG_STATE_HOME: undefined
      }
    })
    const [output, errors, status] = yield* Effect.all(
      [Stream.mkString(Stream.decodeText(child.stdout)), Stream.mkString(Stream.decodeText(child.stderr)), child.exitCode],
      { concurrency: "unbounded" }
    )
    return { output, errors, status: Number(status) }
  })

describe("the shell blocks", () => {
  it("are found, and most of them run", () => {
    expect(runnable.length).toBeGreaterThan(25)
    // The blocks of this page need systemd, a cluster or a container engine. `deploy/test` checks the files that they name.
    const others = shell.filter(({ page }) => page !== "docs/deploy.md")
    expect(others.filter((block) => runnable.includes(block)).length).toBeGreaterThan(others.length * 0.6)
  })
})

layer(Layer.mergeAll(Sandbox.layerServer(), NodeServices.layer), { excludeTestServices: true })("a shell block", (it) => {
  const failing = run.filter(({ code, page }) => page === "docs/getting-started.md" && code.includes("faults add"))

  for (const block of run.filter((other) => !failing.includes(other))) {
    it.effect(`runs: ${block.page}, line ${block.line}`, () =>
      Effect.gen(function*() {
        yield* (yield* Sandbox.Sandbox).reset
        const { errors, output, status } = yield* execute(block, yield* home)
        expect({ status, output: status === 0 ? "" : output, errors: status === 0 ? "" : errors }).toEqual({
          status: 0,
          output: "",
          errors: ""
        })
      }))
  }

  it.effect("of the first program creates one post, although the service fails after it has stored the post", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      expect(failing).toHaveLength(1)
      const results = yield* Effect.forEach(failing, (block) => Effect.flatMap(home, (folder) => execute(block, folder)))
      const { posts } = yield* sandbox.state
      const created = posts.filter(({ text }) => text?.startsWith("Hello at "))
      expect(created).toHaveLength(1)
      expect(results.map(({ output }) => output).join("")).toContain(`created the post ${created[0]?.id}`)
      expect((yield* sandbox.requests).filter(({ faults }) => faults.length > 0)).toHaveLength(1)
    }))
})
