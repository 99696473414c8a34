/**
 * Fails when a text of this checkout, or of the folder given as the first argument, has a phrase that phrases.ts bans.
 */
import { check } from "./phrases.js"

const { files, hits } = check(process.argv[2] ?? process.cwd())
for (const { file, instead, line, phrase } of hits) process.stderr.write(`${file}:${line}: "${phrase}": write "${instead}"\n`)
if (files === 0) process.stderr.write("no text file found: start this from the root of the repository\n")
else process.stdout.write(`phrases: ${files} files, ${hits.length} banned\n`)
process.exitCode = hits.length > 0 || files === 0 ? 1 : 0
