/**
 * Compares the table of rules with the tests: every test it names exists, and it has every test of a rule, every operation
 * and every code.
 */
import { assert, describe, it } from "@effect/vitest"
import { byCode } from "@plaza/domain/Errors"
import { readdirSync, readFileSync } from "node:fs"
import { operations } from "../../src/InterfaceApi.ts"

const root = new URL("../../../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")
const testOf = (file: string) => file.startsWith("packages/") ? file : `packages/sandbox/test/${file}`

interface Row {
  readonly subject: string
  readonly shownBy: ReadonlyArray<{ readonly file: string; readonly name: string }>
}

/** The rows below the head of each table. */
const rows: ReadonlyArray<Row> = read("docs/sandbox-rules.md").split("\n\n").filter((block) => block.startsWith("| ")).flatMap((block) =>
  block.trimEnd().split("\n").slice(2).map((line) => {
    const [subject = "", , tests = ""] = line.replace(/^\| | \|$/g, "").split(" | ")
    return {
      subject,
      shownBy: [...tests.matchAll(/`([\w/-]+\.test\.ts)`: "([^"]+)"/g)].map(([, file = "", name = ""]) => ({ file: testOf(file), name }))
    }
  })
)

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Patterns of the test titles of a file; an interpolated value matches anything. */
const namesIn = (file: string): ReadonlyArray<RegExp> =>
  [...read(file).matchAll(/\bit(?:\.\w+)*\(\s*(?:"([^"]+)"|`([^`]+)`)/g)].map(([, plain, made = ""]) =>
    new RegExp(`^${plain === undefined ? made.split(/\$\{[^}]*\}/).map(escape).join(".+") : escape(plain)}$`)
  )

const shown = rows.flatMap(({ shownBy }) => shownBy)

describe("the table of rules", () => {
  it("names an existing test for each rule", () => {
    assert.isAbove(rows.length, 100)
    for (const { shownBy, subject } of rows) {
      assert.isAbove(shownBy.length, 0, subject)
    }
    const names = new Map([...new Set(shown.map(({ file }) => file))].map((file) => [file, namesIn(file)]))
    for (const { file, name } of shown) {
      assert.isTrue(names.get(file)?.some((pattern) => pattern.test(name)), `${file}: ${name}`)
    }
  })

  it("names every test of a rule", () => {
    const folder = "packages/sandbox/test/rules/"
    for (const file of readdirSync(new URL(folder, root)).filter((name) => name !== "Table.test.ts")) {
      const named = shown.filter((test) => test.file === folder + file)
      for (const pattern of namesIn(folder + file)) {
        assert.isTrue(named.some(({ name }) => pattern.test(name)), `${file}: ${pattern.source}`)
      }
    }
  })

  it("has a row for every operation and every code", () => {
    const subjects = rows.map(({ subject }) => subject)
    for (const { method, path } of [...operations.values()].filter(({ isAssumed, name }) => !isAssumed || name === "createStory")) {
      assert.include(subjects, `\`${method} ${path.replace(/:(\w+)/g, "{$1}")}\``)
    }
    assert.strictEqual(Object.keys(byCode).length, 16)
    for (const code of Object.keys(byCode)) {
      assert.isTrue(subjects.some((subject) => new RegExp(`^\\d{3} ${code}$`).test(subject)), code)
    }
  })
})
