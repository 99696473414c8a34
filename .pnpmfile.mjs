/**
 * Corrects the manifests of dependencies.
 *
 * - The packages of Node name their system as text, which pnpm ignores: it would install the Node of every system.
 * - The repository's Node runs everything, so `engines` say nothing. pnpm would compare them with the Node that started it, warn, and skip
 *   prebuilt binaries without a message.
 */
const readPackage = (manifest) => {
  if (/^node-(win|linux|darwin|bin-darwin)-/.test(manifest.name)) {
    manifest.os = [manifest.os].flat()
    manifest.cpu = [manifest.cpu].flat()
  }
  delete manifest.engines
  return manifest
}

export const hooks = { readPackage }
