import { randomBytes } from 'node:crypto'
import { computeHmac } from '#shared/platform/kernel/crypto/webhook-signature.ts'

const prefix = 'whsec_'

/** A new secret as Standard Webhooks writes them: 32 random bytes. */
export const makeSecret = (): string => prefix + randomBytes(32).toString('base64')

/** What a delivery is signed as. */
interface Signed {
  readonly id: string
  readonly body: string
  readonly at: Date
}

/** The headers of a delivery by Standard Webhooks 1.0, with a signature of each secret, the newest first. */
export function signedHeaders({ id, body, at }: Signed, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${computeHmac(key, `${id}.${timestamp}.`, body).toString('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
