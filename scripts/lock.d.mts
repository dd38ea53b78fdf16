export type Lock = { taken: true; release: () => void }
export function takeLock(file: string, says?: () => string): Promise<Lock | { taken: false; holder: string }>
export function waitForLock(file: string, onWait?: (holder: string) => void): Promise<Lock>
