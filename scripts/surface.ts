/**
 * Writes `docs/reference/surface.txt`: everything that users see of the programs and packages, one fact a line. With `--check` it changes nothing,
 * prints the difference and exits with 1.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { emitted, variablePattern } from "./surface/Emitted.ts"
import { exportLines } from "./surface/Exports.ts"
import { documentLines } from "./surface/JsonFields.ts"
import { filesOf, load, type Package, publishedPackages } from "./surface/Sources.ts"

/** The parts that the code of the programs defines, not its text. */
export interface Programs {
  readonly commands: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
  readonly errors: (tags: ReadonlyArray<string>) => ReadonlyArray<string>
}

type Sections = Readonly<Record<string, ReadonlyArray<string>>>

const documentation = "{docs/**/*.md,README.md,{packages,apps,deploy}/*/README.md,deploy/README.md}"

/** The headings of the documentation, each below those that contain it. */
const headings = (root: string): ReadonlyArray<string> =>
  filesOf(root, documentation).flatMap((file) => {
    const path: Array<string> = []
    const text = readFileSync(join(root, file), "utf8").replace(/^(```|~~~)[^]*?^\1/gm, "")
    return [...text.matchAll(/^(#+) +(.+?) *$/gm)].map(([, marks = "", title = ""]) => {
      path.splice(marks.length - 1, Infinity, title)
      return `${file}: ${path.join(" > ")}`
    })
  })

const variables = (root: string, sources: ReadonlyArray<string>, commands: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...[...sources, ...commands.flatMap((line) => line.match(variablePattern) ?? [])].map((name) => `${name}: read`),
  ...filesOf(root, documentation).filter((file) => file !== "docs/development.md" && !file.startsWith("docs/decisions/")).flatMap((file) =>
    readFileSync(join(root, file), "utf8").match(variablePattern) ?? []
  ).map((name) => `${name}: documented`)
]

const manifests = (packages: ReadonlyArray<Package>): ReadonlyArray<string> =>
  packages.flatMap(({ manifest: { bin, engines, name, peerDependencies } }) => [
    `${name}: published`,
    ...Object.entries(bin ?? {}).map(([command, file]) => `${name} bin ${command}: ${file}`),
    ...Object.entries(engines ?? {}).map(([engine, range]) => `${name} engine ${engine}: ${range}`),
    ...Object.keys(peerDependencies ?? {}).map((peer) => `${name} peer ${peer}`)
  ])

const endpoints = (root: string): Sections => {
  const read = (file: string): ReadonlyArray<string> =>
    existsSync(join(root, file)) ? documentLines(JSON.parse(readFileSync(join(root, file), "utf8"))) : []
  const contract = read("packages/domain/openapi.json")
  return {
    "Endpoints of the interface": contract,
    "Endpoints of the sandbox, where they differ from the interface": read("packages/sandbox/openapi.json").filter((line) =>
      !contract.includes(line)
    ),
    "Endpoints of the control API": read("packages/sandbox/control-openapi.json")
  }
}

const before = (one: string, other: string): number => one < other ? -1 : one > other ? 1 : 0
// A name comes before its parts: ":" counts as the first character.
const sortKey = (line: string) => line.replaceAll(":", "\u0000")

const render = (sections: Sections): string => {
  const parts = Object.entries(sections).map(([title, lines]) =>
    [`# ${title}`, "", ...[...new Set(lines)].toSorted((one, other) => before(sortKey(one), sortKey(other))), ""].join("\n")
  )
  return `Written by \`npm run surface\`: what users see of Plaza, one fact a line.\n\n${parts.join("\n")}`
}

/** The surface of a checkout. */
export const surface = (root: string, programs: Programs): string => {
  const packages = publishedPackages(root)
  const sources = load(root)
  const { errors, events, metrics, paths, results, spans, variables: read, webhook } = emitted(sources)
  return render({
    Packages: manifests(packages),
    Exports: exportLines(sources, packages),
    Commands: programs.commands,
    "Output of plaza with --json": programs.outputs,
    "Output of plaza-stock-sync with --json": results,
    "Tools of plaza mcp": programs.tools,
    Errors: programs.errors(errors),
    Variables: variables(root, read, programs.commands),
    Metrics: metrics,
    Spans: spans,
    "Log events": events,
    "Webhook events": webhook,
    "Paths of the servers": paths,
    ...endpoints(root),
    "Headings of the documentation": headings(root)
  })
}

/** The lines that only one of two texts has: `-` in the first, `+` in the second, each group below its section. */
export const difference = (one: string, other: string): ReadonlyArray<string> => {
  const linesOf = (text: string) => {
    let section = ""
    return new Map(text.split("\n").flatMap((line) => {
      if (line.startsWith("# ")) section = line
      return line === "" || line.startsWith("# ") ? [] : [[`${section}\n${line}`, section] as const]
    }))
  }
  const [left, right] = [linesOf(one), linesOf(other)]
  const changes = [
    ...[...left].filter(([key]) => !right.has(key)).map(([key, section]) => ({ section, line: key.slice(section.length + 1), sign: "-" })),
    ...[...right].filter(([key]) => !left.has(key)).map(([key, section]) => ({ section, line: key.slice(section.length + 1), sign: "+" }))
  ].toSorted((one, other) => before(one.section, other.section) || before(sortKey(one.line), sortKey(other.line)))
  return changes.flatMap(({ line, section, sign }, index) => [
    ...(changes[index - 1]?.section === section ? [] : [section]),
    `${sign} ${line}`
  ])
}

/** Compares the committed text with the current one. Returns what to print, and whether they are the same. */
export const check = (committed: string, current: string): { readonly isSame: boolean; readonly message: string } => {
  if (committed === current) return { isSame: true, message: `surface: ${current.split("\n").length} lines\n` }
  const lines = difference(committed, current)
  return {
    isSame: false,
    message: `${
      lines.join("\n")
    }\n\nsurface: the public surface has changed: run \`npm run surface\` and commit docs/reference/surface.txt\n`
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url))
  const file = join(root, "docs/reference/surface.txt")
  const { commandLines, errorLines, outputLines, programs, toolLines } = await import("./surface/Programs.ts")
  const text = surface(root, { commands: programs.flatMap(commandLines), outputs: outputLines(), tools: toolLines(), errors: errorLines })
  if (argv.includes("--check")) {
    const { isSame, message } = check(existsSync(file) ? readFileSync(file, "utf8") : "", text)
    process[isSame ? "stdout" : "stderr"].write(message)
    process.exitCode = isSame ? 0 : 1
  } else writeFileSync(file, text)
}
