import type { Loaded } from '#bench/data.ts'

/**
 * Makes a record type whose records do more than lie there, as the floor's do: a number of their own, two formulas, and a notification
 * rule that listens to their creation. A record of it has the same columns filled as one of `deals`.
 */
export async function makeLivingType(url: string, { workspaceId, token }: Loaded): Promise<void> {
  const org = `${url}/v1/orgs/${workspaceId}`
  const send = async (method: string, path: string, body: object): Promise<{ id: string }> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(org + path, { method, headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { data: { id: string } }).data
  }
  await send('POST', '/types', { key: 'orders', label: 'Orders' })
  const field = (key: string, type: string) => send('POST', '/fields', { entity_type: 'orders', key, label: key, type })
  for (const [key, type] of [
    ['price', 'number'],
    ['count', 'number'],
    ['due', 'date'],
    ['notes', 'text'],
  ] as const)
    await field(key, type)
  const { id: number } = await field('number', 'string')
  await send('PUT', `/fields/${number}/autogen`, { pattern: 'O-{yyyy}-{seq:6}' })
  const { id: total } = await field('total', 'currency')
  await send('PUT', `/fields/${total}/formula`, { formula: 'ROUND(price * count * 1.19, 2)' })
  const { id: size } = await field('size', 'string')
  await send('PUT', `/fields/${size}/formula`, { formula: 'IF(total > 1000, "big", "small")' })
  await send('POST', '/notification-rules', { name: 'New order', object_type: 'orders', event: 'created', title: 'A new order' })
}
