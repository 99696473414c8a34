/**
 * Prebuilt parts of the tools are optional dependencies, which pnpm leaves out in silence where their engines exclude the Node in use,
 * and the tool then fails. They run on every Node that the programs run on, though their makers name later ones.
 */
const readPackage = (manifest) => {
  if (manifest.cpu !== undefined) delete manifest.engines
  return manifest
}

export const hooks = { readPackage }
