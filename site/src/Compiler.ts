/** The TypeScript that has an API. The one that checks this repository has none. */
export { default } from "typescript"
