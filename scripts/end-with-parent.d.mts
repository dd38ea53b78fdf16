export function endWithParent(signal: 'INT' | 'QUIT' | 'TERM' | 'KILL'): string[]
