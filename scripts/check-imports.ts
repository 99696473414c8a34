/**
 * Checks the imports of this checkout, or of the folder in the first argument, by ImportRules.ts. Exits with 1 on a violation.
 */
import { check } from "./ImportRules.ts"

const { files, violations } = check(process.argv[2] ?? process.cwd())
for (const { file, rule, specifier } of violations) process.stderr.write(`${file}: "${specifier}": ${rule}\n`)
if (files === 0) process.stderr.write("no source file found: run this in the root of the repository\n")
else process.stdout.write(`imports: ${files} files, ${violations.length} forbidden\n`)
process.exitCode = violations.length > 0 || files === 0 ? 1 : 0
