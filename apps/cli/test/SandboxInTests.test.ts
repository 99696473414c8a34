/** Runs the code of docs/sandbox-in-tests.md as a reader would copy it, with the built program on the PATH. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { dist } from "./support/Plaza.ts"

const page = readFileSync(fileURLToPath(new URL("../../../docs/sandbox-in-tests.md", import.meta.url)), "utf8")

/** The blocks of a language, in the order of the page. */
const blocksOf = (language: string): ReadonlyArray<string> =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, code = ""]) => code)

const files = {
  python: ["sandbox.py", "shop.py", "conftest.py", "test_shop.py", "test_with_unittest.py"],
  go: ["sandbox_test.go", "shop.go", "shop_test.go"],
  java: ["SandboxExtension.java", "Shop.java", "ShopTest.java"]
}

const works = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

const python = ["python3", "/usr/bin/python3"].find((command) => works(command, "-c", "import sys; assert sys.version_info >= (3, 11)"))
const pytest = ["python3", "/usr/bin/python3"].find((command) => works(command, "-m", "pytest", "--version"))
const jars = "/usr/share/java"
const hasJava = works("javac", "--version") && existsSync(`${jars}/junit-platform-console.jar`)
const slow = 120_000

describe("docs/sandbox-in-tests.md", () => {
  const folder = mkdtempSync(`${tmpdir()}/plaza-in-tests-`)
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  beforeAll(() => {
    mkdirSync(`${folder}/bin`)
    symlinkSync(`${dist}/plaza.cjs`, `${folder}/bin/plaza`)
    for (const [language, names] of Object.entries(files)) {
      mkdirSync(`${folder}/${language}`)
      blocksOf(language).forEach((code, index) => {
        writeFileSync(`${folder}/${language}/${names[index] ?? ""}`, code)
      })
    }
  })

  const run = (language: keyof typeof files, command: string, ...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = spawnSync(command, args, {
      cwd: `${folder}/${language}`,
      encoding: "utf8",
      env: { ...process.env, PATH: `${folder}/bin${delimiter}${process.env["PATH"] ?? ""}`, PYTHONDONTWRITEBYTECODE: "1" }
    })
    const output = stdout + stderr
    expect({ status, output }).toEqual({ status: 0, output })
    return output
  }

  it("names the file of every block", () => {
    for (const [language, names] of Object.entries(files)) {
      expect(blocksOf(language)).toHaveLength(names.length)
      expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    }
  })

  it.runIf(pytest !== undefined)("has fixtures for pytest that work", () => {
    expect(run("python", pytest ?? "", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py")).toContain("2 passed")
  }, slow)

  it.runIf(python !== undefined)("has fixtures for unittest that work", () => {
    expect(run("python", python ?? "", "test_with_unittest.py")).toMatch(/Ran 1 test [^]*OK/)
  }, slow)

  it.runIf(works("go", "version"))("has fixtures for Go that work", () => {
    writeFileSync(`${folder}/go/go.mod`, "module shop\n\ngo 1.19\n")
    expect(run("go", "go", "test", "-count=1", "-v", ".")).toContain("--- PASS: TestTriesAgainAfterFailuresOfTheService")
    expect(run("go", "gofmt", "-l", ".")).toBe("")
  }, slow)

  it.runIf(hasJava)("has fixtures for JUnit that work", () => {
    const needed =
      /^(?:junit-jupiter-(?:api|engine)|junit-platform-(?:commons|console|engine|launcher|reporting)|opentest4j.*|apiguardian-api|picocli)\.jar$/
    const classPath = readdirSync(jars).filter((name) => needed.test(name)).map((name) => `${jars}/${name}`)
    run("java", "javac", "-cp", classPath.join(delimiter), "-d", "out", ...files.java)
    const launcher = ["org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--scan-classpath", "out"]
    expect(run("java", "java", "-cp", [...classPath, "out"].join(delimiter), ...launcher)).toContain("1 tests successful")
  }, slow)

  it("has steps for GitHub Actions that are YAML", () => {
    const [workflow] = blocksOf("yaml")
    expect(parse(workflow ?? "")).toMatchObject({ jobs: { test: { "runs-on": "ubuntu-latest" } } })
  })
})
