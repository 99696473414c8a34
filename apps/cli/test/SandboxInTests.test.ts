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
  python: ["sandbox.py", "conftest.py", "test_shop.py", "test_with_unittest.py"],
  go: ["sandbox_test.go", "main_test.go", "shop_test.go"],
  java: ["SandboxExtension.java", "ShopTest.java"]
}

/** The code under test, which the page links: a reader has their own. */
const shop = { python: "shop.py", go: "shop.go", java: "Shop.java" }
const shopFolder = new URL("support/shop/", import.meta.url)

/** Those of the section about containers. They replace the start of the process. */
const inContainer = {
  python: ["sandbox_container.py"],
  go: ["main_test.go"],
  java: ["SandboxContainer.java"],
  js: ["sandbox.mjs", "shop.test.mjs"]
}

/** The command of the image of `plaza`, on a free port, until the stand-in of a library stops it. */
const imageCommand = (): string => {
  const dockerfile = readFileSync(new URL("../../../deploy/docker/Dockerfile", import.meta.url), "utf8")
  const [, words = ""] = /^FROM scratch AS plaza\n[^]*?^CMD (\[.*\])$/m.exec(dockerfile) ?? []
  // The cast is true: the test of the Dockerfile requires the exec form.
  return [...(JSON.parse(words) as ReadonlyArray<string>), "--quiet", "--exit-with-stdin"].join(" ").replace("--port 4010", "--port 0")
}
// The cast is true: every package.json of this repository has a version.
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string }
const image = `ghcr.io/plaza-toolkit/plaza:${version}`
const standIns = fileURLToPath(new URL("support/testcontainers", import.meta.url))

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
      names.forEach((name, index) => writeFileSync(`${folder}/${language}/${name}`, blocksOf(language)[index] ?? ""))
    }
    for (const [language, name] of Object.entries(shop)) {
      const code = readFileSync(new URL(name, shopFolder))
      mkdirSync(`${folder}/container/${language}`, { recursive: true })
      for (const to of [language, `container/${language}`]) writeFileSync(`${folder}/${to}/${name}`, code)
    }
    for (const [language, names] of Object.entries(inContainer)) {
      const before = language === "js" ? [] : files[language as keyof typeof files]
      mkdirSync(`${folder}/container/${language}`, { recursive: true })
      ;[...before, ...names].forEach((name, index) =>
        writeFileSync(`${folder}/container/${language}/${name}`, blocksOf(language)[index] ?? "")
      )
    }
  })

  const run = (language: string, command: string, ...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = spawnSync(command, args, {
      cwd: `${folder}/${language}`,
      encoding: "utf8",
      env: {
        ...process.env,
        PATH: `${folder}/bin${delimiter}${process.env["PATH"] ?? ""}`,
        PYTHONDONTWRITEBYTECODE: "1",
        PYTHONPATH: `${standIns}/python`,
        IMAGE_NAME: image,
        IMAGE_COMMAND: imageCommand()
      }
    })
    const output = stdout + stderr
    expect({ status, output }).toEqual({ status: 0, output })
    return output
  }

  it("names the file of every block", () => {
    for (const language of ["python", "go", "java", "js"] as const) {
      const names = [...language === "js" ? [] : files[language], ...inContainer[language]]
      expect(blocksOf(language)).toHaveLength(names.length)
      expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    }
    expect(Object.values(shop).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
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

  /** The packages of JUnit on this machine. */
  const jUnit = (): ReadonlyArray<string> => {
    const needed =
      /^(?:junit-jupiter-(?:api|engine)|junit-platform-(?:commons|console|engine|launcher|reporting)|opentest4j.*|apiguardian-api|picocli)\.jar$/
    return readdirSync(jars).filter((name) => needed.test(name)).map((name) => `${jars}/${name}`)
  }

  it.runIf(hasJava)("has fixtures for JUnit that work", () => {
    const classPath = jUnit()
    run("java", "javac", "-cp", classPath.join(delimiter), "-d", "out", shop.java, ...files.java)
    const launcher = ["org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--scan-classpath", "out"]
    expect(run("java", "java", "-cp", [...classPath, "out"].join(delimiter), ...launcher)).toContain("1 tests successful")
  }, slow)

  it.runIf(pytest !== undefined)("has a container for pytest that works", () => {
    const conftest = `${folder}/container/python/conftest.py`
    const text = readFileSync(conftest, "utf8")
    writeFileSync(conftest,
      text.replace("from sandbox import Sandbox", "from sandbox_container import SandboxContainer").replace("Sandbox()",
        "SandboxContainer()"))
    expect(run("container/python", pytest ?? "", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_shop.py")).toContain("2 passed")
  }, slow)

  it.runIf(works("go", "version"))("has a container for Go that works", () => {
    const library = "github.com/testcontainers/testcontainers-go"
    writeFileSync(
      `${folder}/container/go/go.mod`,
      `module shop\n\ngo 1.19\n\nrequire ${library} v0.0.0\n\nreplace ${library} => ${standIns}/go\n`
    )
    expect(run("container/go", "go", "test", "-count=1", "-v", ".")).toContain("--- PASS: TestTriesAgainAfterFailuresOfTheService")
    expect(run("container/go", "gofmt", "-l", ".")).toBe("")
  }, slow)

  it.runIf(hasJava)("has a container for JUnit that works", () => {
    const test = `${folder}/container/java/ShopTest.java`
    writeFileSync(test,
      readFileSync(test, "utf8").replace("SandboxExtension sandbox = new SandboxExtension()",
        "SandboxContainer sandbox = new SandboxContainer()"))
    const classPath = jUnit()
    const sources = ["-sourcepath", `${standIns}/java${delimiter}.`]
    run("container/java", "javac", "-cp", classPath.join(delimiter), ...sources, "-d", "out", shop.java, ...files.java, ...inContainer.java)
    const launcher = ["org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--scan-classpath", "out"]
    expect(run("container/java", "java", "-cp", [...classPath, "out"].join(delimiter), ...launcher)).toContain("1 tests successful")
  }, slow)

  it("has a container for Node that works", () => {
    mkdirSync(`${folder}/container/js/node_modules`)
    symlinkSync(`${standIns}/javascript/testcontainers`, `${folder}/container/js/node_modules/testcontainers`)
    expect(run("container/js", process.execPath, "--test", "shop.test.mjs")).toMatch(/pass 1\n[^]*fail 0/)
  }, slow)

  it("names the key that the sandbox prints", () => {
    const started = spawnSync(`${folder}/bin/plaza`, ["sandbox", "start", "--port", "0", "--json", "--quiet", "--exit-with-stdin"], {
      encoding: "utf8",
      input: ""
    })
    // The cast is true: the expectation fails for anything else.
    const { apiKey } = JSON.parse(started.stdout) as { readonly apiKey: string }
    expect([...page.matchAll(/key_\w{40}/g)].map(([key]) => key)).toEqual([apiKey, apiKey])
  })

  it("has steps for GitHub Actions and GitLab that are YAML", () => {
    const [service, gitlab, action, workflow] = blocksOf("yaml").map((text): unknown => parse(text))
    expect(service).toMatchObject({ jobs: { test: { services: { sandbox: { image } } } } })
    expect(gitlab).toMatchObject({ test: { services: [{ name: image, alias: "sandbox" }] } })
    expect(action).toMatchObject({ jobs: { test: { steps: [{}, { uses: `plaza-toolkit/plaza@v${version}` }, {}, {}] } } })
    expect(workflow).toMatchObject({ jobs: { test: { "runs-on": "ubuntu-latest" } } })
  })
})
