/** How an entry is added to the text of a configuration: everything else stays, also its form. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Result } from "effect"
import { parse as parseToml } from "smol-toml"
import * as ConfigText from "../../src/agent/ConfigText.ts"

const entry = { command: "plaza", args: ["mcp", "--profile", "a\"b"] }

const added = (edit: Result.Result<ConfigText.Edit, string>) => {
  const result = Result.getOrThrow(edit)
  if (result._tag !== "Added") throw new Error(`nothing was added: ${result._tag}`)
  return result
}

const toJson = (text: string) => ConfigText.addToJson(text, "mcpServers", "plaza", { command: "plaza", args: ["mcp"] })
const toToml = (text: string) => ConfigText.addToToml(text, "mcp_servers", "plaza", entry)

describe("JSON", () => {
  it.each<readonly [title: string, text: string, expected: string]>([
    [
      "an empty file",
      "",
      `{
  "mcpServers": {
    "plaza": {
      "type": "stdio",
      "command": "plaza",
      "args": [
        "mcp"
      ]
    }
  }
}
`
    ],
    [
      "an empty object, without a line end at the end",
      "{}",
      `{
  "mcpServers": {
    "plaza": {
      "type": "stdio",
      "command": "plaza",
      "args": [
        "mcp"
      ]
    }
  }
}`
    ],
    [
      "tabs, comments and a trailing comma",
      `{
\t// servers
\t"mcpServers": {
\t\t"other": { "command": "x",   "args": [ ] }, // kept
\t\t/* last */
\t},
\t"z": 1,
}
`,
      `{
\t// servers
\t"mcpServers": {
\t\t"other": { "command": "x",   "args": [ ] }, // kept
\t\t/* last */
\t\t"plaza": {
\t\t\t"type": "stdio",
\t\t\t"command": "plaza",
\t\t\t"args": [
\t\t\t\t"mcp"
\t\t\t]
\t\t},
\t},
\t"z": 1,
}
`
    ],
    [
      "four spaces and a comment without a comma",
      `{
    "numStartups": 3,
    "mcpServers": {
        "other": {} // kept
    }
}
`,
      `{
    "numStartups": 3,
    "mcpServers": {
        "other": {}, // kept
        "plaza": {
            "type": "stdio",
            "command": "plaza",
            "args": [
                "mcp"
            ]
        }
    }
}
`
    ],
    [
      "comments only",
      "// nothing yet\n",
      `// nothing yet
{
  "mcpServers": {
    "plaza": {
      "type": "stdio",
      "command": "plaza",
      "args": [
        "mcp"
      ]
    }
  }
}
`
    ]
  ])("adds to %s", (_, text, expected) => {
    expect(added(toJson(text)).text).toBe(expected)
    expect(added(toJson(text.replaceAll("\n", "\r\n"))).text.replaceAll("\r\n", "\n")).toBe(expected)
  })

  it("keeps a byte order mark, and shows what is added", () => {
    const { added: shown, text } = added(toJson("\ufeff{ \"mcpServers\": { } }"))
    expect(text.startsWith("\ufeff{ \"mcpServers\": {\n")).toBe(true)
    expect(text).toContain(shown)
    expect(JSON.parse(`{${shown}}`)).toEqual({ plaza: { type: "stdio", command: "plaza", args: ["mcp"] } })
  })

  it("adds nothing to a text with an entry of this name", () => {
    const { text } = added(toJson("{}"))
    expect(toJson(text)).toEqual(Result.succeed({ _tag: "Same" }))
    expect(toJson("{\"mcpServers\":{\"plaza\":{\"args\":[\"mcp\"],\"command\":\"plaza\",\"type\":\"stdio\"}}}")).toEqual(
      Result.succeed({ _tag: "Same" })
    )
    expect(toJson("{\"mcpServers\":{\"plaza\":null}}")).toEqual(Result.succeed({ _tag: "Other" }))
  })

  it.each([
    ["{\n  \"a\": 1\n  \"b\": 2\n}", "is not valid JSON: see line 3"],
    ["{ \"a\": ", "is not valid JSON: see line 1"],
    ["not JSON", "is not valid JSON: see line 1"],
    ["{} {}", "is not valid JSON: see line 1"],
    ["[]", "is not an object"],
    ["3", "is not an object"],
    ["{\"mcpServers\":[]}", "has \"mcpServers\", which is not an object"],
    ["{\"mcpServers\":\"x\"}", "has \"mcpServers\", which is not an object"],
    // Only the last one counts, and the entry would be in the first.
    ["{\"mcpServers\":{},\"mcpServers\":{\"a\":1}}", "can't be changed without changing other parts of it"]
  ])("refuses %s", (text, problem) => {
    expect(toJson(text)).toEqual(Result.fail(problem))
  })

  const name = Generate.anyOf(["mcpServers", "plaza ", "other", "__proto__", "ü\u2028", "\"", "a"])
  const leaf = Generate.anyOf(["null", "true", "-1.5e3", "\"\\u0000//\"", "\"/* */\"", "[]", "{}", "[1,{\"a\":{}}]"])
  const members = (value: Arbitrary.Arbitrary<string>) =>
    Arbitrary.map(
      Generate.arrayOf(Arbitrary.all([name, value]), { maxLength: 4 }),
      (pairs) => `{${[...new Map(pairs)].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`
    )
  const servers = members(leaf)
  const indent = Generate.anyOf(["", " ", "    ", "\t"])

  it.prop("keeps the rest of any object, in any form", [members(servers), servers, indent], ([text, table, indent]) => {
    const before: unknown = JSON.parse(text)
    const root = { ...(before as object), mcpServers: JSON.parse(table) as object }
    const written = JSON.stringify(root, null, indent)
    const after: unknown = JSON.parse(added(toJson(written)).text)
    expect(after).toEqual({ ...root, mcpServers: { ...root.mcpServers, plaza: { type: "stdio", command: "plaza", args: ["mcp"] } } })
  }, { arbitrary: { runs: 500 } })
})

describe("TOML", () => {
  const table = `[mcp_servers.plaza]\ncommand = "plaza"\nargs = [ "mcp", "--profile", "a\\"b" ]\n`

  it.each([
    ["an empty file", "", table],
    [
      "tables and comments",
      "# mine\nmodel = 'x' # y\n\n[mcp_servers.a]\ncommand = \"a\"\n",
      `# mine\nmodel = 'x' # y\n\n[mcp_servers.a]\ncommand = "a"\n\n${table}`
    ],
    ["a text without a line end at the end", "a = 1", `a = 1\n\n${table}`],
    ["dotted keys", "mcp_servers.a.command = \"a\"\n", `mcp_servers.a.command = "a"\n\n${table}`],
    ["a date and a large table", "d = 1979-05-27T07:32:00Z\n[[list]]\nx = 1\n", `d = 1979-05-27T07:32:00Z\n[[list]]\nx = 1\n\n${table}`]
  ])("adds a table to %s", (_, text, expected) => {
    const { text: changed } = added(toToml(text))
    expect(changed).toBe(expected)
    expect(parseToml(changed)["mcp_servers"]).toMatchObject({ plaza: entry })
    expect(added(toToml(text.replaceAll("\n", "\r\n"))).text.replaceAll("\r\n", "\n")).toBe(expected)
  })

  it.each([
    ["a = ", "is not valid TOML: see line 1"],
    ["a = 1\nb = [\n", "is not valid TOML: see line 2"],
    ["mcp_servers = 3\n", "has \"mcp_servers\", which is not an object"],
    ["mcp_servers = { a = { command = \"a\" } }\n", "can't be changed without changing other parts of it"]
  ])("refuses %s", (text, problem) => {
    const result = toToml(text)
    expect(Result.isFailure(result) ? result.failure.replace(/line \d+/, "line N") : "added").toBe(problem.replace(/line \d+/, "line N"))
  })

  it("adds nothing to a text with an entry of this name", () => {
    expect(toToml(added(toToml("")).text)).toEqual(Result.succeed({ _tag: "Same" }))
    expect(toToml("[mcp_servers.plaza]\ncommand = \"other\"\n")).toEqual(Result.succeed({ _tag: "Other" }))
  })
})
