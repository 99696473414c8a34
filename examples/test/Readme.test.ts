/** README.md begins with a program, what it prints, and a picture that a script takes. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Browser from "@plaza/testing/Browser"
import { ConfigProvider, Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { restock } from "../src/Restock.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const readme = readFileSync(join(root, "README.md"), "utf8")

const run = (program: string, ...args: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, ["--conditions=@plaza/source", program, ...args], { cwd: root })

const blockOf = (language: string) => new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(readme)?.[1]

/** The size in pixels, from the header of a PNG. */
const sizeOf = (file: string) => {
  const bytes = readFileSync(file)
  expect(bytes.subarray(1, 4).toString()).toBe("PNG")
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

describe("README.md", () => {
  it("begins with a program of examples/src, which prints what it shows: one post, and an outcome that nobody can know", async () => {
    const program = "examples/src/PostOnce.ts"
    expect(readFileSync(join(root, program), "utf8").endsWith(`*/\n${blockOf("ts")}`)).toBe(true)
    expect(readme).toContain(`\`npx -y pnpm@12.21.0 exec node --conditions=@plaza/source ${program}\` prints`)
    const { stderr, stdout } = await run(program)
    expect({ stderr, stdout }).toEqual({ stderr: "", stdout: blockOf("text") })
    expect(stdout).toMatch(/^1 post\nOutcomeUnknown: /)
  })

  it.live("shows a program with Effect, which sets a stock", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl, state } = yield* Sandbox.Sandbox
      const env = { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: Redacted.value(apiKey) }
      const { id } = yield* Effect.provide(restock, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      expect((yield* state).products.find((product) => product.id === id)?.stock).toBe(12)
    }).pipe(Effect.provide(Sandbox.layerServer())))

  it("shows a picture of less than 150 KB", () => {
    expect(readme).toContain("](docs/console.png)")
    expect(statSync(join(root, "docs/console.png")).size).toBeLessThan(150_000)
  })
})

describe.skipIf(Browser.missing !== undefined)("in Chromium", () => {
  it("the script takes a picture of the size of that in docs", async () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-picture-"))
    try {
      const file = join(folder, "console.png")
      expect((await run("examples/test/support/Picture.ts", file)).stderr).toBe("")
      expect(sizeOf(file)).toEqual(sizeOf(join(root, "docs/console.png")))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
