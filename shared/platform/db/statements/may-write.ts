/**
 * Whether SQL may write. True for too much rather than too little, since work that may have written is not retried. Row locks do not count.
 */
export const mayWrite = (text: string): boolean => writes.test(text)

const writes = /\b(?:insert\s+into|(?<!\b(?:for|key)\s)update|delete\s+from|pg_notify|create|alter|drop)\b/i
