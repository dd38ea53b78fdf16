import type { Send } from '#bench/client.ts'

interface Block {
  readonly type: string
  readonly config: object
}

/** Makes a flow of blocks one behind the other, the first of which sets it off, and gives its path within its workspace. */
export async function makeFlow(send: Send, blocks: readonly Block[]): Promise<string> {
  const nodes = blocks.map((block, index) => ({ id: `n${index}`, ...block }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ source: `n${index}`, target: id }))
  const { id } = await send('POST', '/flows', { name: 'Bench', enabled: true, nodes, edges })
  return `/flows/${id}`
}

export const byHand: Block = { type: 'trigger.manual', config: {} }

/** What runs when a record of a type is made. */
export const onCreation = (key: string): Block => ({ type: 'trigger.record_event', config: { object_type: key, event: 'created' } })

/** Makes a record of a type that `makePipeline` made. */
export const creation = (key: string): Block => ({
  type: 'action.create_record',
  config: {
    object_type: key,
    values: {
      name: 'From a flow',
      stage: 'stage-1',
      amount: '12.50 USD',
      due: '2026-12-24',
      email: 'flow@example.com',
      notes: 'By a block',
    },
  },
})

/** Computes something, and does nothing. */
export const computation: Block = { type: 'logic.reduce', config: { list: '[1, 2, 3]', op: 'sum' } }

/** Repeats what stands behind it so often. */
export const repetition = (times: number): Block => ({
  type: 'logic.for_each',
  config: { list: JSON.stringify(Array.from({ length: times }, (_, index) => index)) },
})
