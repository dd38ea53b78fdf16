import { createHmac, randomUUID } from 'node:crypto'
import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const algorithm = schema(t.Enum(['sha1', 'sha256', 'sha384', 'sha512']))
const text = schema(t.String())

/** SDK methods for random ids and HMAC signatures. */
export const cryptoMethods: readonly SdkMethod[] = [
  defineSdkMethod('crypto.uuid', '(): Promise<string>', [], async () => randomUUID()),
  defineSdkMethod(
    'crypto.hmac',
    `(algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512', key: string, text: string): Promise<string>`,
    [
      ['algorithm', algorithm],
      ['key', text],
      ['text', text],
    ],
    async (_context, algorithm, key, text) => createHmac(algorithm, key).update(text).digest('hex'),
  ),
]
