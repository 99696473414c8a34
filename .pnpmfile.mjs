/**
 * Removes `engines` from the prebuilt binaries of the tools. pnpm skips an optional dependency without a message if its `engines` exclude
 * the version of Node in use, and the tool then fails. The binaries run on every version of Node that this project supports.
 */
const readPackage = (manifest) => {
  if (manifest.cpu !== undefined) delete manifest.engines
  return manifest
}

export const hooks = { readPackage }
