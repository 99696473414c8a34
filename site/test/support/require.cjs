// Loads packages by `require`, and prints the name of each that has exports.
for (const name of process.argv.slice(2)) {
  if (Object.keys(require(name)).length > 0) process.stdout.write(`${name}\n`)
}
