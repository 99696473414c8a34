/**
 * Writes the root file system of a program's image into a folder: `node scripts/image.mjs NAME FOLDER`, on Debian. Besides the executable
 * it has the shared libraries that the executable loads, the records of their packages for scanners, all licences, a user, and /tmp.
 * Why there is no base image: docs/decisions/057-images-without-a-base.md.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { makeExecutable } from "./executable.mjs"
import { host } from "./node-package.mjs"

const [, , name, folder] = process.argv
if ((name !== "plaza" && name !== "plaza-stock-sync") || folder === undefined)
  throw new Error("usage: node scripts/image.mjs plaza|plaza-stock-sync FOLDER")
if (host === undefined || !host.startsWith("linux-")) throw new Error("images are made on Linux")

/** @param {string} from @param {string} to @param {number} [mode] */
const place = (from, to, mode = 0o644) => {
  const target = Path.join(folder, to)
  mkdirSync(Path.dirname(target), { recursive: true })
  copyFileSync(realpathSync(from), target)
  chmodSync(target, mode)
}

/** @param {string} to @param {string} text */
const write = (to, text) => {
  mkdirSync(Path.join(folder, Path.dirname(to)), { recursive: true })
  writeFileSync(Path.join(folder, to), text)
}

const temporary = mkdtempSync(Path.join(tmpdir(), "plaza-image-"))
try {
  const executable = makeExecutable({ name, output: temporary, target: host })
  place(executable, `usr/local/bin/${name}`, 0o755)
  const documents = readdirSync(Path.dirname(executable)).filter((file) => file !== name && !file.endsWith(".1"))
  for (const file of documents) place(Path.join(Path.dirname(executable), file), `usr/share/doc/${name}/${file}`)

  // The loader of programs is in the list too.
  const libraries = execFileSync("ldd", [executable], { encoding: "utf8" }).split("\n").flatMap((line) =>
    /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []
  )
  for (const library of libraries) place(library, library, 0o755)

  // Debian's packages record a file where /lib is a link by one of both names.
  const packages = new Set(libraries.flatMap((library) => {
    const owners = [library, `/usr${library}`, library.replace(/^\/usr/, "")].flatMap((file) =>
      /^([^:,\s]+)/.exec(spawnSync("dpkg-query", ["--search", file], { encoding: "utf8" }).stdout)?.[1] ?? []
    )
    if (owners.length === 0) throw new Error(`no package of Debian has ${library}`)
    return owners.slice(0, 1)
  }))
  for (const owner of packages) {
    // As in distroless images, whose records scanners read.
    write(`var/lib/dpkg/status.d/${owner}`, execFileSync("dpkg-query", ["--status", owner], { encoding: "utf8" }))
    const copyright = `/usr/share/doc/${owner}/copyright`
    if (existsSync(copyright)) place(copyright, copyright)
  }
  for (const file of ["/etc/os-release", "/etc/debian_version"]) place(file, file)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

write("etc/passwd", "root:x:0:0:root:/:/none\nplaza:x:10001:10001:plaza:/tmp:/none\n")
write("etc/group", "root:x:0:\nplaza:x:10001:\n")
mkdirSync(Path.join(folder, "tmp"))
chmodSync(Path.join(folder, "tmp"), 0o1777)
