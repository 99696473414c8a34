/** The text of a Markdown file, which the bundle contains. */
declare module "*.md" {
  const text: string
  export default text
}
