/**
 * Repetitions of a test whose outcome depends on chance or timing: `usual`, or `full` with TEST_DEPTH=full, as before a release. Only the
 * number of cases differs.
 */
export const times = (usual: number, full: number): number => (process.env.TEST_DEPTH === 'full' ? full : usual)
