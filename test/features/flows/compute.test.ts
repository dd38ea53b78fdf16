import test from 'ava'
import type { StepContext } from '#shared/core/automation/block.ts'
import { filterBlock } from '#shared/features/flows/blocks/logic.ts'
import { reduceBlock } from '#shared/features/flows/blocks/reduce.ts'
import { stepBudget } from '#shared/features/flows/execution/load.ts'
import { renderTemplate, valueAt } from '#shared/features/flows/execution/render-template.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { byHand, chain, createFlow, ended, play, start } from '#test/features/flows/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const items = Array.from({ length: 20_000 }, (_, index) => ({ a: index, b: `text ${index}` }))
const clauses = (count: number) => Array.from({ length: count }, () => ({ left: '{{item.a}}', op: 'gte', right: '0' }))
const filter = (id: string, count: number) => [id, 'logic.filter', { list: '{{trigger.input}}', clauses: clauses(count) }] as const
const stepBound = `a step may take at most ${flowLimits.computeSteps} steps of computing; use fewer items, fewer clauses or shorter texts`

/** Runs a block over `{{trigger.input}}` without a flow. Returns its outcome, and the budget steps of each turn of the event loop. */
async function computed(block: typeof filterBlock, config: object, input: unknown) {
  const budget = stepBudget({ owner: 'w' })
  const lookup =
    (extra: Readonly<Record<string, unknown>> = {}) =>
    ([root, ...path]: readonly [string, ...string[]]) =>
      valueAt({ trigger: { input }, ...extra }[root], path)
  const step = {
    node: { id: 'f', type: block.type, config },
    budget,
    get settings() {
      return renderTemplate(config, lookup(), budget)
    },
    render: (value: unknown, extra: Readonly<Record<string, unknown>>) => renderTemplate(value, lookup(extra), budget),
  } as unknown as StepContext
  const turns: number[] = []
  let left = budget.left
  let isOver = false
  const count = () => {
    turns.push(left - budget.left)
    left = budget.left
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  try {
    if (!('computes' in block.work)) throw new Error('It computes nothing')
    return { output: (await block.work.computes(step)).output, turns }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { refusal: error.message, turns }
  } finally {
    isOver = true
  }
}

test('compute: a filter of 20,000 items and 100 clauses yields the thread regularly, and stops at its limit', async (t) => {
  const { refusal, turns } = await computed(filterBlock, { list: '{{trigger.input}}', clauses: clauses(100) }, items)
  t.is(refusal, stepBound)
  // A slice takes some thousand steps; held to its end, the filter would take all of them in one turn.
  t.true(turns.length > 20, `${turns.length} turns`)
  const most = turns.reduce((longest, steps) => Math.max(longest, steps), 0)
  t.true(most < flowLimits.computeSteps / 4, `${most} steps in one turn`)
})

test('compute: searches in hostile texts and lists inside a clause are processed in pieces', async (t) => {
  const text = 'a'.repeat(1_000_000)
  const clause = (op: string, left: unknown, right: unknown) => ({ list: '[1]', clauses: [{ left, op, right }] })
  const long = await computed(filterBlock, clause('contains', text, `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}`), undefined)
  t.true(long.turns.length > 5, `${long.turns.length} turns`)
  const many = await computed(filterBlock, clause('in', '2026-01-01', '2026-01-02,'.repeat(40_000)), undefined)
  t.deepEqual(many.output, { items: [], count: 0 })
  t.true(many.turns.length > 5, `${many.turns.length} turns`)
})

test('compute: the output of a reduction and the references of a setting are limited, and each error names its limit', async (t) => {
  const big = 'x'.repeat(100_000)
  const input = Array.from({ length: 20_000 }, () => ({ big }))
  const joined = await computed(reduceBlock, { list: '{{trigger.input}}', op: 'join', field: 'big' }, input)
  t.is(joined.refusal, 'join may make at most 1048576 characters; join fewer items')
  const composed = { list: '[1]', clauses: [{ left: '{{trigger.input.0.big}}-'.repeat(20), op: 'eq', right: '' }] }
  t.regex(
    (await computed(filterBlock, composed, input)).refusal ?? '',
    /^a setting may have at most 1048576 characters once its references/,
  )
  const whole = { list: '[1]', clauses: [{ left: '{{trigger}}', op: 'eq', right: '' }] }
  t.regex((await computed(filterBlock, whole, input)).refusal ?? '', /^a setting may have at most 1048576 characters/)
  const asText = await computed(filterBlock, { list: JSON.stringify(Array(140_000).fill(1)) }, undefined)
  t.is(asText.refusal, 'list may have at most 262144 characters as text; refer to a list instead')
})

test('compute: a run whose step exceeds the limit fails with an error that says so', async (t) => {
  const org = await createOrg(await shared())
  const run = await play(
    t,
    org,
    chain(byHand, filter('a', 1), filter('f', 100)),
    items.slice(0, 12_000).map(({ a }) => ({ a })),
  )
  t.like(run, { status: 'failed', error: `VALIDATION_ERROR at f: ${stepBound}` })
  t.deepEqual(
    run.steps.map(({ node_id, status }: typeof run) => [node_id, status]),
    [
      ['a', 'ok'],
      ['f', 'failed'],
    ],
  )
})

test('compute: an output that contains one part many times fails its step at once', async (t) => {
  const org = await createOrg(await shared())
  const input = { big: 'x'.repeat(200_000) }
  const list = JSON.stringify(Array(2_000).fill('{{trigger.input}}'))
  const whole = ['f', 'logic.filter', { list: JSON.parse(list), clauses: [] }] as const
  t.like(await play(t, org, chain(byHand, whole), input), {
    status: 'failed',
    error: 'VALIDATION_ERROR at f: the output has more than 1 MB',
  })
})

test('compute: the runs of one rehearsal share one limit, and a rehearsal that exceeds it is 400', async (t) => {
  const org = await createOrg(await shared())
  const flow = await createFlow(t, org, chain(byHand, filter('f', 4)))
  // Each run stays far below the 3 seconds that a rehearsed run may take.
  for (let run = 0; run < 18; run++) {
    const input = items.slice(0, 7_500).map(({ a }) => ({ a }))
    t.is((await ended(org, flow.id, await start(t, org, flow.id, input))).status, 'ok')
  }
  const few = await org.owner.post(`${org.path}/flows/${flow.id}/rehearse`, { runs: 2 })
  t.is(few.status, 200, few.text)
  t.deepEqual(
    few.data.runs.map(({ status }: typeof few.data) => status),
    ['ok', 'ok'],
  )
  const all = await org.owner.post(`${org.path}/flows/${flow.id}/rehearse`, {})
  t.is(all.status, 400, all.text)
  t.regex(all.text, /a rehearsal may take at most 1000000 steps of computing; rehearse fewer runs/)
})
