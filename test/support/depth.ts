/**
 * How often something is tried whose outcome hangs on chance or timing: `usual` times, or `full` times where TEST_DEPTH=full asks for it,
 * as before a release. The cases are the same, only their number differs.
 */
export const times = (usual: number, full: number): number => (process.env.TEST_DEPTH === 'full' ? full : usual)
