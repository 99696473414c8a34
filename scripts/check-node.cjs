/** Fails with one sentence on a Node that is too old for the repository, which must be able to read this file. */
"use strict"
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    "Plaza needs Node 22.19 or later, and this is Node " + process.versions.node + ": its own is not installed, because npm has none for " +
      process.platform + " on " + process.arch + " or optional dependencies are left out, so install a later one from https://nodejs.org\n"
  )
  process.exitCode = 2
}
