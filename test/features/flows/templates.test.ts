import test from 'ava'
import fc from 'fast-check'
import { evaluateClauses } from '#shared/core/automation/clauses.ts'
import { pathsIn, refuseUnknownRoots } from '#shared/core/automation/template.ts'
import { type Lookup, renderTemplate, valueAt } from '#shared/features/flows/execution/render-template.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

const budget = computeBudget('w', { steps: 1e9, bound: 'too much' })
const asItIs = { render: (value: unknown) => value, budget }

const known = {
  trigger: {
    event: 'created',
    record_id: 'r1',
    record: {
      name: 'Ann',
      age: 41,
      open: true,
      amount: { amount: 12.5, code: 'EUR' },
      tags: ['a', 'b'],
      nothing: null,
      braces: '{{trigger.event}}',
      big: '12345678901234567890',
    },
  },
  context: { city: 'Bonn', constructor: 'own', 'a b': 'blank' },
  steps: { n1: { items: [{ id: 1 }, { id: 2 }], count: 2 } },
}
const lookup: Lookup = (path) => valueAt(known, path)

/** Texts and their rendered values. */
const cases: readonly (readonly [given: unknown, becomes: unknown])[] = [
  ['plain', 'plain'],
  ['{{trigger.record.name}}', 'Ann'],
  ['{{ trigger.record.name }}', 'Ann'],
  ['{{trigger . record . name}}', 'Ann'],
  [' {{trigger.record.age}} ', 41],
  ['{{trigger.record.age}}', 41],
  ['{{trigger.record.age}}!', '41!'],
  ['{{trigger.record.open}}', true],
  ['{{trigger.record.amount}}', { amount: 12.5, code: 'EUR' }],
  ['{{trigger.record.amount.amount}}', 12.5],
  ['a {{trigger.record.amount}}', 'a {"amount":12.5,"code":"EUR"}'],
  ['{{trigger.record.tags}}', ['a', 'b']],
  ['{{trigger.record.tags.0}}{{trigger.record.tags.1}}', 'ab'],
  ['{{trigger.record.tags.2}}', ''],
  ['{{trigger.record.tags.length}}', ''],
  ['{{trigger.record.nothing}}', ''],
  ['x{{trigger.record.nothing}}y', 'xy'],
  ['{{trigger.record.gone.deeper}}', ''],
  ['{{trigger.record.braces}}', '{{trigger.event}}'],
  ['{{trigger.record.braces}}{{context.city}}', '{{trigger.event}}Bonn'],
  ['{{context.city}}{{context.city}}', 'BonnBonn'],
  ['{{context.constructor}}', 'own'],
  ['{{context.__proto__}}', ''],
  ['{{trigger.constructor}}', ''],
  ['{{trigger.record.name.constructor}}', ''],
  ['{{context.a b}}', 'blank'],
  ['{{steps.n1.items.1.id}}', 2],
  ['{{steps.n2.items}}', ''],
  ['{{}}', '{{}}'],
  ['{{ }}', '{{ }}'],
  ['{{', '{{'],
  ['}} and {', '}} and {'],
  ['{{{context.city}}}', '{Bonn}'],
  ['{context.city}', '{context.city}'],
  ['{{context.city', '{{context.city'],
  ['{{context.city}', '{{context.city}'],
  [
    { a: '{{context.city}}', b: ['{{trigger.record.age}}'], c: 5, d: null },
    { a: 'Bonn', b: [41], c: 5, d: null },
  ],
  ['{{trigger.record.big}}', '12345678901234567890'],
]
for (const [given, becomes] of cases)
  test(`templates: ${JSON.stringify(given)} becomes ${JSON.stringify(becomes)}`, (t) =>
    t.deepEqual(renderTemplate(given, lookup, budget), becomes))

/** Clauses with their references replaced, and whether they hold. */
const clauses: readonly (readonly [left: unknown, op: string, right: unknown, holds: boolean])[] = [
  ['1', 'eq', '1.0', true],
  [1, 'eq', '1', true],
  ['1e2', 'eq', 100, true],
  ['0.1', 'lt', '0.10000000000000000001', true],
  ['9', 'gt', '10', false],
  ['a9', 'gt', 'a10', true],
  ['2026-01-01', 'eq', '2026-01-01T00:00:00Z', true],
  ['2026-01-01T01:00:00+01:00', 'eq', '2026-01-01T00:00:00.000000Z', true],
  ['2026-02-01', 'gte', '2026-01-31', true],
  ['2026-02-30', 'lt', '2026-1-1', true],
  ['Abc', 'eq', 'abc', false],
  ['Abc', 'ne', 'abc', true],
  ['Straße', 'contains', 'STRA', true],
  ['abc', 'not_contains', 'B', false],
  [['x', '2'], 'contains', 2, true],
  [['xyz'], 'contains', 'x', false],
  ['b', 'in', 'a, b ,c', true],
  ['2', 'in', [1, 2], true],
  ['d', 'in', 'a,b', false],
  ['', 'is_empty', undefined, true],
  [null, 'is_empty', undefined, true],
  [[], 'is_empty', undefined, true],
  [{}, 'is_empty', undefined, true],
  [0, 'is_empty', undefined, false],
  [false, 'is_empty', undefined, false],
  [' ', 'is_not_empty', undefined, true],
  [true, 'eq', 'true', true],
  [null, 'eq', '', true],
  // An ordering test with an empty side is false.
  ['', 'lt', '10', false],
  [null, 'lte', 0, false],
  [undefined, 'lte', 'a', false],
  [[], 'lt', 'a', false],
  ['10', 'gt', '', false],
  ['10', 'gte', null, false],
  [{}, 'gte', {}, false],
  ['', 'gte', '', false],
  [null, 'lte', null, false],
  [0, 'gte', 0, true],
  [false, 'lt', 'g', true],
]
for (const [left, op, right, expected] of clauses) {
  test(`templates: ${JSON.stringify(left)} ${op} ${JSON.stringify(right)} is ${expected}`, async (t) => {
    t.is(await evaluateClauses({ clauses: [{ left, op, right }] }, asItIs), expected)
  })
}

test('templates: all clauses must be true, or one of them; an empty list is true', async (t) => {
  const [yes, no] = [
    { left: 1, op: 'eq', right: 1 },
    { left: 1, op: 'eq', right: 2 },
  ]
  const is = (match: string | undefined, ...list: object[]) => evaluateClauses({ ...(match ? { match } : {}), clauses: list }, asItIs)
  t.deepEqual(await Promise.all([is('all', yes, no), is('any', yes, no), is(undefined, yes, yes), is('any', no), is('all'), is('any')]), [
    false,
    true,
    true,
    false,
    true,
    true,
  ])
})

test('templates: 1,000 odd texts are rendered once, reach no prototype, and throw only refusals', (t) => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    'trigger',
    '.',
    ' ',
    'record',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    '0',
    'steps',
    'x',
    '\u202e',
    '😀',
    'context',
  )
  const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const secret = 'never shown'
  const roots = { trigger: { x: '{{hidden.secret}}' }, hidden: { secret }, context: {}, steps: {}, item: undefined, index: undefined }
  fc.assert(
    fc.property(texts, (text) => {
      const asked: string[] = []
      const result = renderTemplate(
        text,
        (path) => {
          asked.push(path.join('.'))
          const [root, ...rest] = path
          return Object.hasOwn(roots, root) ? valueAt(roots[root as keyof typeof roots], rest) : undefined
        },
        budget,
      )
      t.true(['string', 'object'].includes(typeof result))
      t.is(asked.length, [...pathsIn(text)].length)
      t.false(JSON.stringify(result).includes(secret))
    }),
    { numRuns: 1_000 },
  )
})

test('templates: a path of 10,000 parts finds nothing, and an unknown first part is refused by its block', (t) => {
  t.is(renderTemplate(`{{trigger${'.a'.repeat(10_000)}}}`, lookup, budget), '')
  const path = Array<string>(10_000).fill('a')
  let deep: unknown = 'found'
  for (const part of path) deep = { [part]: deep }
  t.is(valueAt(deep, path), 'found')
  t.throws(() => refuseUnknownRoots('n7', { values: { a: ['{{ secrets.key }}'] } }), {
    message: /^n7: \{\{secrets\.key\}\} must begin with one of trigger/,
  })
  t.notThrows(() => refuseUnknownRoots('n7', { a: '{{}} {{ }} {{steps.x}} {x} {{item}} {{index}}' }))
})
