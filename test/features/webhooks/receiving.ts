import { Webhook } from 'standardwebhooks'
import type { Received, Receiver } from '#test/features/flows/receiver.ts'
import type { Client } from '#test/support/client.ts'
import { made } from '#test/support/made.ts'
import type { World } from '#test/support/world.ts'

/** A webhook as its creation answers it. */
export interface Made {
  readonly id: string
  readonly secret: string
}

/** An event as a receiver gets it. */
export interface Sent {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly subject: Readonly<Record<string, string>>
  readonly data: { readonly view?: string; readonly after?: Readonly<Record<string, unknown>> | null; readonly changed?: readonly string[] }
}

/** Makes a webhook of a caller, by default the owner, to a path of its own at the receiver. */
export async function makeWebhook(
  w: World,
  receiver: Receiver,
  more: object = {},
  client: Client = w.org.owner,
): Promise<Made & { readonly path: string; readonly sent: () => Received[] }> {
  const path = `/${crypto.randomUUID()}`
  const body = { url: `${receiver.url}${path}`, types: ['records.*'], ...more }
  const { id, secret } = (await made(client.post(`${w.org.path}/webhooks`, body))) as unknown as Made
  return { id, secret, path, sent: () => receiver.received.filter(({ url }) => url === path) }
}

/** The event of a request whose signature one of the secrets made. */
export const verify = ({ body, headers }: Received, secret: string): Sent =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as Sent

/** The event of a request. */
export const eventOf = ({ body }: Received): Sent => JSON.parse(body) as Sent

/** Makes the record type `orders` with fields, and returns the path of its records. */
export async function makeOrders(w: World): Promise<string> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'orders', label: 'Orders' })
  for (const [key, type] of [
    ['title', 'string'],
    ['total', 'number'],
    ['secret', 'string'],
  ])
    await owner.post(`${path}/fields`, { entity_type: 'orders', key, label: key, type })
  return `${path}/records/orders`
}
