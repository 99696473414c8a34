/** Vite bundles styles that a module imports. */
declare module "*.css"

/** Vite imports the text of a file. */
declare module "*?raw" {
  const text: string
  export default text
}
