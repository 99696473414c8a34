/** How the programs of Plaza speak. @since 0.1.0 */
export {}
