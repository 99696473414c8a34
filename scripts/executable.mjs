/**
 * Makes a program and its Node one executable file, with its licences and manual page in an archive beside it:
 * `node scripts/executable.mjs [NAME] [--target SYSTEM-ARCH] [--output FOLDER] [--node FILE]`. Requires a built program. Without a name it
 * makes both programs. Why: docs/decisions/056-single-file-executables.md.
 */
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { withoutSymbols } from "./elf.mjs"
import { host, nodeOf, targets } from "./node-package.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const loader = readFileSync(Path.join(root, "scripts/executable-loader.cjs"), "utf8")

/** @typedef {import("./node-package.mjs").Target} Target */

/**
 * The folder of each program, and a run of it whose compiled code the executable contains. It needs neither a network nor an account.
 */
const programs = /** @type {const} */ ({
  plaza: { app: "apps/cli", typical: ["me", "--sandbox", "--json"] },
  "plaza-stock-sync": { app: "apps/stock-sync", typical: ["plan", "--source", "stock.csv", "--json"] }
})

/** The files of a program: all modules of `dist`, by their paths in it. @param {string} dist */
const filesOf = (dist) => {
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".cjs"))
    .map((file) => file.replaceAll(Path.sep, "/"))
  // Checks the version of Node and enables Node's compile cache.
  return files.filter((file) => file.includes("/") || !existsSync(Path.join(dist, file.replace(/cjs$/, "1")))).toSorted()
}

/**
 * Runs the program on the Node that the executable contains, and writes the compiled code of its files, with what the run has compiled.
 * V8 accepts it only in the same version for the same processor, and compiles the text if it does not.
 *
 * @param {{ readonly node: string, readonly dist: string, readonly files: ReadonlyArray<string>, readonly typical: ReadonlyArray<string>, readonly folder: string }} options
 */
const compile = ({ dist, files, folder, node, typical }) => {
  const trainer = Path.join(folder, "trainer.cjs")
  writeFileSync(
    trainer,
    `${loader}
const { readFileSync, writeFileSync } = require("node:fs")
const { Script } = require("node:vm")
const scripts = new Map()
const read = (file) => readFileSync(${JSON.stringify(`${dist}/`)} + file, "utf8")
process.once("exit", (code) => {
  if (code !== 0) return
  for (const file of ${JSON.stringify(files)}) {
    const script = scripts.get(file) || new Script(wrapped(read(file)), { filename: file })
    writeFileSync(${JSON.stringify(`${folder}/`)} + file.replaceAll("/", "_"), script.createCachedData())
  }
})
start({ read, onScript: (file, script) => scripts.set(file, script) })
`
  )
  writeFileSync(Path.join(folder, "stock.csv"), "productId,stock\nMUG-BLUE-350,12\n")
  const { status, stderr } = spawnSync(node, [trainer, ...typical], {
    cwd: folder,
    encoding: "utf8",
    env: { HOME: folder, USERPROFILE: folder, XDG_CONFIG_HOME: folder }
  })
  if (status !== 0) throw new Error(`the program fails: ${typical.join(" ")}: ${stderr}`)
  return new Map(files.map((file) => [file, Path.join(folder, file.replaceAll("/", "_"))]))
}

/** The list of what the program contains, with Node. @param {string} text @param {ReturnType<typeof nodeOf>} node */
const withNode = (text, { hash, name, version }) => {
  // The cast is true: scripts/inventory.mjs writes it.
  const bom = /** @type {{ readonly components: Array<object> }} */ (JSON.parse(text))
  const purl = `pkg:npm/${name}@${version}`
  bom.components.push({
    type: "platform",
    name: "node",
    version,
    "bom-ref": purl,
    hashes: [{ alg: "SHA-512", content: hash }],
    licenses: [{ license: { id: "MIT", acknowledgement: "declared" } }],
    purl,
    scope: "required"
  })
  return `${JSON.stringify(bom, undefined, 2)}\n`
}

/**
 * Writes the executable and what belongs to it into a folder, and packs them.
 *
 * @param {{ readonly name: keyof typeof programs, readonly target: Target, readonly output: string, readonly program?: string }} options
 *   `program` is another file with the Node of the target, such as one without a signature
 */
export const makeExecutable = ({ name, output, program, target }) => {
  const { app, typical } = programs[name]
  const dist = Path.join(root, app, "dist")
  if (!existsSync(Path.join(dist, "program.cjs"))) throw new Error(`${name} is not built: run the build first`)
  if (host === undefined) throw new Error(`the catalog has no Node for ${process.platform} on ${process.arch}`)
  const node = nodeOf(target)
  const builder = nodeOf(host).program
  const files = filesOf(dist)
  const result = Path.join(output, `${name}-${target}`)
  rmSync(result, { recursive: true, force: true })
  mkdirSync(result, { recursive: true })
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-executable-"))
  try {
    const base = Path.join(folder, "node")
    const original = readFileSync(program ?? node.program)
    writeFileSync(base, target.startsWith("linux-") ? withoutSymbols(original) : original)
    chmodSync(base, 0o755)

    /** @type {ReadonlyMap<string, string>} */
    const compiled = target === host ? compile({ node: node.program, dist, files, typical, folder }) : new Map()
    const main = Path.join(folder, "main.cjs")
    writeFileSync(
      main,
      `${loader}
const { getAssetKeys, getRawAsset } = require("node:sea")
const files = new Set(getAssetKeys())
const asset = (file) => files.has(file) ? Buffer.from(getRawAsset(file)) : undefined
const read = (file) => { const bytes = asset(file); return bytes === undefined ? undefined : bytes.toString("utf8") }
start({ read, compiled: (file) => asset(file + ".compiled") })
`
    )
    const executable = Path.join(result, target === "win-x64" ? `${name}.exe` : name)
    /** @type {Record<string, string>} */
    const assets = {}
    for (const file of files) assets[file] = Path.join(dist, file)
    for (const [file, path] of compiled) assets[`${file}.compiled`] = path
    const config = Path.join(folder, "config.json")
    writeFileSync(
      config,
      JSON.stringify({
        main,
        output: executable,
        executable: base,
        disableExperimentalSEAWarning: true,
        useCodeCache: target === host,
        assets
      })
    )
    execFileSync(builder, ["--build-sea", config], { stdio: ["ignore", "ignore", "inherit"] })

    copyFileSync(Path.join(root, "LICENSE"), Path.join(result, "LICENSE"))
    copyFileSync(node.license, Path.join(result, "LICENSE-NODE"))
    for (const file of ["THIRD-PARTY-LICENSES", `${name}.1`]) copyFileSync(Path.join(dist, file), Path.join(result, file))
    writeFileSync(Path.join(result, "sbom.cdx.json"), withNode(readFileSync(Path.join(dist, "sbom.cdx.json"), "utf8"), node))
    return executable
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Packs the folder of an executable, without the folder. @param {string} executable */
const pack = (executable) => {
  const folder = Path.dirname(executable)
  const archive = `${folder}.tar.gz`
  execFileSync("tar", ["-czf", archive, "-C", folder, ...readdirSync(folder).toSorted()])
  return archive
}

const main = () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      node: { type: "string" },
      output: { type: "string", default: Path.join(root, "build/executables") },
      target: { type: "string", default: host ?? "" },
      archive: { type: "boolean", default: true }
    },
    allowNegative: true
  })
  const target = targets.find((target) => target === values.target)
  // The cast is true: these are the keys of the constant.
  const names = /** @type {ReadonlyArray<keyof typeof programs>} */ (Object.keys(programs))
  const unknown = positionals.filter((word) => names.every((name) => name !== word))
  if (target === undefined || unknown.length > 0) {
    process.stderr.write(
      `usage: node scripts/executable.mjs [${names.join("|")}] [--target ${
        targets.join("|")
      }] [--output FOLDER] [--node FILE] [--no-archive]\n`
    )
    process.exit(2)
  }
  const megabytes = (/** @type {string} */ file) => `${(statSync(file).size / 1e6).toFixed(1)} MB`
  for (const name of names.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    const executable = makeExecutable({
      name,
      target,
      output: Path.resolve(values.output),
      ...values.node === undefined ? {} : { program: Path.resolve(values.node) }
    })
    process.stdout.write(`${executable}: ${megabytes(executable)}\n`)
    if (values.archive) {
      const archive = pack(executable)
      process.stdout.write(`${archive}: ${megabytes(archive)}\n`)
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
