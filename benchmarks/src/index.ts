/**
 * Every figure this project claims is measured from here, with its peers in the same run.
 *
 * @since 0.1.0
 */
export {}
