/**
 * Fails when an import of this checkout, or of the folder given as the first argument, breaks a rule of importRules.ts.
 */
import { check } from "./importRules.js"

const { files, violations } = check(process.argv[2] ?? process.cwd())
for (const { file, rule, specifier } of violations) process.stderr.write(`${file}: "${specifier}": ${rule}\n`)
if (files === 0) process.stderr.write("no source file found: start this from the root of the repository\n")
else process.stdout.write(`imports: ${files} files, ${violations.length} forbidden\n`)
process.exitCode = violations.length > 0 || files === 0 ? 1 : 0
