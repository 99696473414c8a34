/**
 * Fails when an import of this checkout, or of the folder named as first argument, runs against the arrows. The rules are in arrows.ts.
 */
import { check } from "./arrows.js"

const { files, violations } = check(process.argv[2] ?? process.cwd())
for (const { file, rule, specifier } of violations) process.stderr.write(`${file}: "${specifier}": ${rule}\n`)
if (files === 0) process.stderr.write("no source file found: start this from the root of the repository\n")
else process.stdout.write(`arrows: ${files} files, ${violations.length} against\n`)
process.exitCode = violations.length > 0 || files === 0 ? 1 : 0
