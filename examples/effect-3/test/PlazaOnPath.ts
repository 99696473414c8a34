/** Puts the built program `plaza` on the PATH, where a user has the installed one. */
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = mkdtempSync(join(tmpdir(), "plaza-path-"))
const program = fileURLToPath(new URL("../../../apps/cli/dist/plaza.cjs", import.meta.url))
writeFileSync(join(folder, "plaza"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`)
chmodSync(join(folder, "plaza"), 0o755)
process.env["PATH"] = `${folder}${delimiter}${process.env["PATH"] ?? ""}`
