/**
 * Checks the texts of this checkout, or of the folder in the first argument, by BannedPhrases.ts. Exits with 1 on a banned phrase.
 */
import { check } from "./BannedPhrases.ts"

const { files, hits } = check(process.argv[2] ?? process.cwd())
for (const { file, instead, line, phrase } of hits) process.stderr.write(`${file}:${line}: "${phrase}": write "${instead}"\n`)
if (files === 0) process.stderr.write("no text file found: run this in the root of the repository\n")
else process.stdout.write(`phrases: ${files} files, ${hits.length} banned\n`)
process.exitCode = hits.length > 0 || files === 0 ? 1 : 0
