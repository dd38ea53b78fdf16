import type { Send } from '#bench/client.ts'

/** Makes a notification rule about new records of a type. */
export const makeRule = (send: Send, typeKey: string): Promise<{ readonly id: string }> =>
  send('POST', '/notification-rules', { name: 'New', object_type: typeKey, event: 'created', title: 'A new record' })
