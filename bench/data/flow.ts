import type { Send } from '#bench/client.ts'

interface Block {
  readonly type: string
  readonly config: object
}

/** Makes a flow of sequential blocks, the first of which is its trigger, and returns its path within its workspace. */
export async function makeFlow(send: Send, blocks: readonly Block[]): Promise<string> {
  const nodes = blocks.map((block, index) => ({ id: `n${index}`, ...block }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ source: `n${index}`, target: id }))
  const { id } = await send('POST', '/flows', { name: 'Bench', enabled: true, nodes, edges })
  return `/flows/${id}`
}

export const byHand: Block = { type: 'trigger.manual', config: {} }

/** Trigger on new records of a type. */
export const onCreation = (key: string): Block => ({ type: 'trigger.record_event', config: { object_type: key, event: 'created' } })

/** Creates a record of a type of `makePipeline`. */
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

/** A block that computes something, without effect. */
export const computation: Block = { type: 'logic.reduce', config: { list: '[1, 2, 3]', op: 'sum' } }

/** Repeats the blocks behind it this many times. */
export const repetition = (times: number): Block => ({
  type: 'logic.for_each',
  config: { list: JSON.stringify(Array.from({ length: times }, (_, index) => index)) },
})
