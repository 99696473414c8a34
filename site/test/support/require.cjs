// Loads packages by `require`, and prints the name of each that has exports.
for (const name of process.argv.slice(2)) {
  // True: each is a module.
  const exported = /** @type {object} */ (require(name))
  if (Object.keys(exported).length > 0) process.stdout.write(`${name}\n`)
}
