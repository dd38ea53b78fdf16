import test from 'ava'
import fc from 'fast-check'
import { graphOfSavedDefinition } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { executeRun, type FlowRunner, type StepRow } from '#shared/features/flows/execution/execute.ts'
import { createRunExecution, stepBudget } from '#shared/features/flows/execution/load.ts'
import { compileFlow } from '#shared/features/flows/execution/run-execution.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { type Drawing, reference } from '#test/features/flows/reference.ts'
import { graph } from '#test/features/flows/support.ts'

/** Blocks of a random graph: conditions and loops that go by the input, and reductions that do nothing much. */
const kinds = ['logic.condition', 'logic.for_each', 'logic.reduce', 'logic.reduce'] as const

const nodeOf = (kind: (typeof kinds)[number], index: number): Drawing['nodes'][number] => {
  const id = `n${index}`
  if (kind === 'logic.condition')
    return { id, type: kind, config: { clauses: [{ left: `{{trigger.input.${id}}}`, op: 'gt', right: '1' }] } }
  if (kind === 'logic.for_each') return { id, type: kind, config: { list: `{{trigger.input.${id}}}` } }
  return { id, type: kind, config: { list: '[1, 2]', op: 'count' } }
}
const handlesOf = (type: string): readonly string[] =>
  type === 'logic.condition' ? ['true', 'false'] : type === 'logic.for_each' ? ['loop', 'done'] : ['out']

/** A graph of 30 blocks with forward connections, and the outcomes of its conditions and loops. */
const drawing = fc
  .record({
    kinds: fc.array(fc.constantFrom(...kinds), { minLength: 30, maxLength: 30 }),
    edges: fc.array(fc.record({ from: fc.nat(30), by: fc.nat(1), step: fc.integer({ min: 1, max: 6 }) }), { minLength: 20, maxLength: 60 }),
    found: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 30, maxLength: 30 }),
  })
  .map(({ kinds, edges, found }) => {
    const nodes = [{ id: 't', type: 'trigger.manual', config: {} }, ...kinds.map(nodeOf)]
    const joined = edges.flatMap(({ from, by, step }) => {
      const [source, target] = [nodes[from], nodes[from + step]]
      if (!source || !target) return []
      const handles = handlesOf(source.type)
      return [{ source: source.id, source_handle: handles[by % handles.length] ?? 'out', target: target.id }]
    })
    // A connection into a loop's body from outside is refused, so it is omitted.
    const sound: typeof joined = []
    for (const edge of joined) if (isSound({ nodes, edges: [...sound, edge] })) sound.push(edge)
    return { nodes, edges: sound, found }
  })

const definitionOf = ({ nodes, edges }: Drawing): FlowDefinition => ({
  nodes,
  edges: edges.map((edge, index) => ({ id: `e${index}`, ...edge })),
  context: {},
})

function isSound(drawn: Drawing): boolean {
  try {
    graphOfSavedDefinition(definitionOf(drawn))
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** Plays a definition without a database: none of its blocks needs one. */
async function played(definition: FlowDefinition, input: unknown): Promise<string[]> {
  const rows: StepRow[] = []
  const stage: FlowRunner = {
    now: () => new Date(0),
    maxSteps: 5_000,
    enter: () => Promise.reject(new Error('nobody enters')),
    applyStep: () => Promise.reject(new Error('nothing acts')),
    park: () => Promise.reject(new Error('nothing waits')),
    saveCheckpoint: async ({ steps }) => void rows.push(...steps),
    fail: async ({ steps }) => void rows.push(...steps),
    isTimeSliceOver: () => false,
    reschedule: async () => undefined,
  }
  const run = { id: 'run', input: { input }, state: null, steps: 0 }
  await executeRun(await createRunExecution(compileFlow(definition), run, stepBudget({ owner: 'w' })), stage)
  return rows.map(({ node_id, iteration, status }) => `${node_id}@${iteration}${status === 'ok' ? '' : ' failed'}`)
}

test('walk: 200 random graphs of 30 blocks do the same blocks as a reference does, each once, behind those that lead to them', async (t) => {
  await fc.assert(
    fc.asyncProperty(drawing, async ({ found, ...drawn }) => {
      const definition = definitionOf(drawn)
      const input = Object.fromEntries(
        drawn.nodes.slice(1).map(({ id, type }, index) => [id, type === 'logic.for_each' ? Array(found[index]).fill(0) : found[index]]),
      )
      const steps = await played(definition, input)
      const expected = reference(drawn, (id) => {
        const { type } = drawn.nodes.find((node) => node.id === id) ?? { type: '' }
        const number = found[Number(id.slice(1))] ?? 0
        if (type === 'logic.for_each') return { times: number }
        return { handle: type === 'logic.condition' ? String(number > 1) : 'out' }
      })
      if (expected.length > 5_000) return
      t.deepEqual(steps.toSorted(), expected.toSorted())
      t.is(new Set(steps).size, steps.length)
      // Of two blocks of one section, a block precedes the one that it is connected to.
      const place = new Map(steps.map((step, index) => [step, index]))
      for (const { source, target, source_handle } of drawn.edges) {
        if (source_handle === 'loop') continue
        for (const step of steps.filter((one) => one.startsWith(`${source}@`))) {
          const behind = place.get(step.replace(`${source}@`, `${target}@`))
          t.true(behind === undefined || behind > (place.get(step) ?? 0), `${target} before ${source}`)
        }
      }
    }),
    { numRuns: 200 },
  )
})

const work = (id: string) => [id, 'logic.reduce', { list: '[1]', op: 'count' }] as const
const test1 = (id: string, left: string, right: string) => [id, 'logic.condition', { clauses: [{ left, op: 'eq', right }] }] as const
const start = ['t', 'trigger.manual'] as const

/** The first eight workflow patterns, as far as flows support them (workflowpatterns.com): graph, input and expected steps. */
const patterns: readonly (readonly [name: string, drawn: ReturnType<typeof graph>, input: unknown, steps: readonly string[]])[] = [
  ['1, sequence', graph([start, work('a'), work('b'), work('c')], 't > a', 'a > b', 'b > c'), null, ['a', 'b', 'c']],
  ['2, parallel split', graph([start, work('a'), work('b'), work('c')], 't > a', 'a > b', 'a > c'), null, ['a', 'b', 'c']],
  ['3, synchronization', graph([start, work('a'), work('b'), work('c')], 't > a', 't > b', 'a > c', 'b > c'), null, ['a', 'b', 'c']],
  [
    '4, exclusive choice',
    graph([start, test1('x', '{{trigger.input}}', '1'), work('a'), work('b')], 't > x', 'x.true > a', 'x.false > b'),
    1,
    ['x', 'a'],
  ],
  [
    '5, simple merge',
    graph(
      [start, test1('x', '{{trigger.input}}', '1'), work('a'), work('b'), work('c')],
      't > x',
      'x.true > a',
      'x.false > b',
      'a > c',
      'b > c',
    ),
    2,
    ['x', 'b', 'c'],
  ],
  [
    '6, multi-choice',
    graph(
      [
        start,
        test1('x', '{{trigger.input.a}}', '1'),
        test1('y', '{{trigger.input.b}}', '1'),
        test1('z', '{{trigger.input.c}}', '1'),
        work('a'),
        work('b'),
        work('c'),
      ],
      't > x',
      't > y',
      't > z',
      'x.true > a',
      'y.true > b',
      'z.true > c',
    ),
    { a: 1, b: 0, c: 1 },
    ['x', 'y', 'z', 'a', 'c'],
  ],
  [
    '7, structured synchronizing merge',
    graph(
      [start, test1('x', '{{trigger.input.a}}', '1'), test1('y', '{{trigger.input.b}}', '1'), work('a'), work('b'), work('c')],
      't > x',
      't > y',
      'x.true > a',
      'y.true > b',
      'a > c',
      'b > c',
    ),
    { a: 1, b: 0 },
    ['x', 'y', 'a', 'c'],
  ],
  // A join waits, so the block after a multi-merge runs once; only a loop repeats it.
  [
    '8, multi-merge, by a loop',
    graph([start, ['l', 'logic.for_each', { list: '{{trigger.input}}' }], work('c')], 't > l', 'l.loop > c'),
    ['a', 'b'],
    ['l', 'c', 'c'],
  ],
  [
    'a join to which nothing was taken shows no step',
    graph([start, test1('x', '1', '2'), test1('y', '1', '2'), work('c'), work('d')], 't > x', 't > y', 'x.true > c', 'y.true > c', 'c > d'),
    null,
    ['x', 'y'],
  ],
]

for (const [name, drawn, input, steps] of patterns) {
  test(`walk: workflow pattern ${name}`, async (t) => {
    const definition = { ...drawn, context: {} } as unknown as FlowDefinition
    const sent = { ...definition, edges: definition.edges.map((edge) => ({ ...edge, source_handle: edge.source_handle ?? 'out' })) }
    const done = (await played(sent, input)).map((step) => step.split('@')[0] ?? '')
    t.deepEqual(done.toSorted(), [...steps].toSorted())
  })
}
