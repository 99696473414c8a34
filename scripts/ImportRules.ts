/**
 * Rules for imports between folders: `apps -> cli-kit -> client -> domain`, `apps -> sandbox -> domain` and `apps -> tabular -> domain`.
 * They hold for every form of import: `import type`, `export from`, `import()`, `import("x").T` and `require`.
 * Why this is not a linter rule: docs/decisions/010-own-import-rules.md.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import * as Path from "node:path"
import { parseSync } from "rolldown/utils"

/** One forbidden import: the file, the imported module and the broken rule. */
export interface Violation {
  readonly file: string
  readonly specifier: string
  readonly rule: string
}

interface Rule {
  /** Matches the files that the rule applies to: paths from the root with forward slashes. */
  readonly files: RegExp
  readonly except?: RegExp
  readonly forbids: (specifier: string) => boolean
  readonly rule: string
}

const within = (...names: ReadonlyArray<string>) => (specifier: string) =>
  names.some((name) => specifier === name || specifier.startsWith(`${name}/`))
const isRelative = (specifier: string) => /^\.{0,2}\//.test(specifier) || specifier === "." || specifier === ".."

/** The modules of the client that may import Node. */
const nodeModules = /^packages\/client\/src\/(?:(?:node|node-http|sqlite)\.ts$|internal\/transport\/node\/)/

/** The folders of the sandbox, each of which may import those before it. */
const sandboxFolders = ["storage", "latitude", "access", "areas", "http", "seeding", "control", "web"]

const rules: ReadonlyArray<Rule> = [
  {
    files: /^packages\/domain\/src\//,
    forbids: (specifier) => !isRelative(specifier) && !within("effect")(specifier),
    rule: "domain imports only effect"
  },
  { files: /^packages\/client\/src\//, forbids: within("@plaza/sandbox"), rule: "client does not import sandbox" },
  {
    files: /^packages\/client\/src\//,
    except: nodeModules,
    forbids: (specifier) => isBuiltin(specifier) || within("@effect/platform-node", "@effect/platform-node-shared")(specifier),
    rule: "client imports Node only in src/node.ts, src/node-http.ts, src/sqlite.ts and src/internal/transport/node"
  },
  {
    files: /^packages\/client\/src\//,
    except: nodeModules,
    forbids: (specifier) => isRelative(specifier) && /\/node(?:-http)?(?:\.[jt]s$|\/)/.test(specifier),
    rule: "no other client module imports src/node.ts or src/internal/transport/node"
  },
  { files: /^packages\/sandbox\/src\//, forbids: within("@plaza/client"), rule: "sandbox does not import client" },
  {
    files: /^packages\/(?:domain|client|sandbox)\/src\//,
    forbids: within("@plaza/sdk"),
    rule: "domain, client and sandbox do not import sdk"
  },
  { files: /^packages\/sdk\/src\//, forbids: within("@plaza/sandbox"), rule: "sdk does not import sandbox" },
  {
    files: /^packages\/sdk\/src\//,
    except: /^packages\/sdk\/src\/(?:node|files)\.ts$/,
    forbids: (specifier) =>
      isBuiltin(specifier) || within("@effect/platform-node", "@plaza/client/node", "@plaza/client/node-http")(specifier),
    rule: "sdk imports Node only in src/node.ts and src/files.ts"
  },
  {
    files: /^packages\/(?:domain|client|sandbox|sdk|testing)\//,
    forbids: within("@plaza/cli-kit", "@plaza/tabular"),
    rule: "libraries do not import cli-kit or tabular"
  },
  { files: /^packages\/cli-kit\/src\//, forbids: within("@plaza/sandbox"), rule: "cli-kit does not import sandbox" },
  { files: /^packages\/cli-kit\//, forbids: within("@plaza/tabular"), rule: "cli-kit does not import tabular" },
  {
    files: /^packages\/tabular\//,
    forbids: within("@plaza/client", "@plaza/sandbox", "@plaza/cli-kit"),
    rule: "tabular does not import client, sandbox or cli-kit"
  },
  {
    files: /^packages\//,
    forbids: within("@plaza/cli", "@plaza/stock-sync", "@plaza/examples", "@plaza/benchmarks", "@plaza/deploy"),
    rule: "packages do not import apps, examples, benchmarks or deploy"
  },
  ...sandboxFolders.map((folder, index): Rule => ({
    files: new RegExp(`^packages/sandbox/src/${folder}/`),
    forbids: (specifier) =>
      sandboxFolders.slice(index + 1).some((later) => specifier.startsWith("../") && specifier.includes(`/${later}/`)),
    rule: `folders of the sandbox import each other in one direction: ${sandboxFolders.join(", ")}`
  })),
  {
    files: /^packages\/sandbox\/src\//,
    except: /\/(?:http\/NodeServer|TextFile)\.ts$/,
    forbids: within("@effect/platform-node/NodeHttpServer", "node:net"),
    rule: "only src/http/NodeServer.ts of sandbox loads the server"
  },
  {
    files: /^packages\/domain\/src\//,
    except: /\/(?:PlazaApi|index)\.ts$/,
    forbids: (specifier) => within("effect/http-api")(specifier) || specifier === "./PlazaApi.ts",
    rule: "only PlazaApi and the index of domain load HttpApi"
  },
  {
    files: /^apps\/cli\//,
    forbids: within("@plaza/stock-sync", "@plaza/examples", "@plaza/benchmarks"),
    rule: "apps do not import each other, examples or benchmarks"
  },
  {
    files: /^apps\/stock-sync\//,
    forbids: within("@plaza/cli", "@plaza/examples", "@plaza/benchmarks"),
    rule: "apps do not import each other, examples or benchmarks"
  },
  {
    files: /^apps\/[^/]+\/src\//,
    forbids: within("@plaza/testing", "@effect/vitest", "vitest"),
    rule: "sources of apps do not import what only tests use"
  },
  {
    files: /^apps\/stock-sync\/src\//,
    forbids: within("@plaza/sandbox"),
    rule: "stock-sync does not import sandbox"
  }
]

/** A node of the syntax tree, of which only the fields that can contain a module name are read. */
type Node = Readonly<Record<string, unknown>>
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const sourceOf = (node: Node): unknown => {
  switch (node["type"]) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return node["source"] ?? node["argument"]
    case "TSExternalModuleReference":
      return node["expression"]
    case "CallExpression": {
      const callee = node["callee"]
      const first: unknown = Array.isArray(node["arguments"]) ? node["arguments"][0] : undefined
      return isNode(callee) && callee["name"] === "require" ? first : undefined
    }
    default:
      return undefined
  }
}

/** Every module that a source text imports, in order. */
export const specifiersOf = (file: string, text: string): ReadonlyArray<string> => {
  const parsed = parseSync(file, text)
  if (parsed.errors.length > 0) throw new Error(`${file} can't be parsed: ${parsed.errors[0]?.message ?? "unknown reason"}`)
  const found: Array<string> = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (!isNode(value)) return
    const source = sourceOf(value)
    if (isNode(source) && typeof source["value"] === "string") found.push(source["value"])
    Object.values(value).forEach(walk)
  }
  walk(parsed.program)
  return found
}

/** What the sources of a package may import. Undefined when the folder has no package.json. */
const dependenciesOf = (root: string, home: string): ReadonlySet<string> | undefined => {
  const path = Path.join(root, home, "package.json")
  if (!existsSync(path)) return undefined
  const manifest: unknown = JSON.parse(readFileSync(path, "utf8"))
  // Apps and the SDK are published as bundles, which contain what their sources import.
  const fields = home.startsWith("apps/") || home === "packages/sdk" ? ["devDependencies"] : ["dependencies", "peerDependencies"]
  const names = fields.flatMap((field) => {
    const section: unknown = isNode(manifest) ? manifest[field] : undefined
    return isNode(section) ? Object.keys(section) : []
  })
  return new Set(names)
}

const packageOf = (specifier: string) => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")

/** Checks one file, given by its path from the root. */
export const violationsOf = (root: string, file: string, text: string): ReadonlyArray<Violation> => {
  const home = /^(?:(?:packages|apps)\/[^/]+|examples(?:\/effect-3)?|benchmarks|deploy)/.exec(file)?.[0]
  const allowed = home !== undefined && file.startsWith(`${home}/src/`) ? dependenciesOf(root, home) : undefined
  return specifiersOf(file, text).flatMap((specifier) => {
    const broken = rules
      .filter((rule) => rule.files.test(file) && rule.except?.test(file) !== true && rule.forbids(specifier))
      .map((rule) => rule.rule)
    if (isRelative(specifier)) {
      const target = Path.posix.join(Path.posix.dirname(file), specifier)
      if (home !== undefined && !target.startsWith(`${home}/`)) broken.push("a relative import stays inside its package")
      if (file.includes("/src/") && home !== undefined && target.startsWith(`${home}/test/`)) broken.push("sources do not import tests")
    } else if (allowed !== undefined && !isBuiltin(specifier) && !allowed.has(packageOf(specifier))) {
      broken.push("sources import only packages that their package.json lists: see CONTRIBUTING.md")
    }
    return broken.map((rule) => ({ file, specifier, rule }))
  })
}

const skipped = new Set(["node_modules", "dist", "build"])
const sourceFiles = (root: string, folder: string): ReadonlyArray<string> =>
  !existsSync(Path.join(root, folder)) ? [] : readdirSync(Path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : sourceFiles(root, path)
    return /\.[cm]?tsx?$/.test(entry.name) ? [path] : []
  })

/** Checks every source and test file under a root. */
export const check = (root: string): { readonly files: number; readonly violations: ReadonlyArray<Violation> } => {
  const files = ["packages", "apps", "examples", "benchmarks", "deploy", "site"].flatMap((folder) => sourceFiles(root, folder))
  return { files: files.length, violations: files.flatMap((file) => violationsOf(root, file, readFileSync(Path.join(root, file), "utf8"))) }
}
