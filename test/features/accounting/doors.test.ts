import test from 'ava'
import { loadActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { findWorkspace } from '#shared/core/scope/store.ts'
import { postEntry } from '#shared/features/accounting/entries/post.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { openBooks } from '#test/features/accounting/books.ts'
import { allow, createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** The scope of a workspace's owner, as a worker enters it. */
async function ownerScope({ id, ownerId }: Org): Promise<Scope> {
  const w = await shared()
  const { database: db, ...services } = w.api.services
  await services.cache.refresh()
  const [workspace, actor] = [await firstRow(db, findWorkspace({ id })), await loadActor(services.cache, db, id, ownerId)]
  if (!workspace || !actor) throw new Error('no such owner')
  return {
    ...services,
    db,
    workspace,
    actor,
    principal: null,
    cause: { actorId: ownerId, actorType: 'user', requestId: 'test', depth: 0, kind: 'request', id: null },
  }
}

test('doors: a function posts and reverses by the rules of the routes', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const { id } = await createFunction(
    t,
    org,
    handlerOf(`
      const failed = (call) => call.then(() => null, ({ code, message }) => code + ': ' + message)
      const [debit, credit] = input
      const lines = [{ account_id: debit, debit: 12.5 }, { account_id: credit, credit: '12.50' }]
      const entry = await sdk.accounting.post({ date: '2026-01-31', memo: 'By function', lines })
      const reversal = await sdk.accounting.reverse(entry.id, { date: '2026-02-01' })
      return { entry, reversal, failures: [
        await failed(sdk.accounting.reverse(entry.id)),
        await failed(sdk.accounting.post({ lines: [{ account_id: debit, debit: 0.1 + 0.2 }, lines[1]] })),
        await failed(sdk.accounting.post({ lines: lines.slice(1) })),
        await failed(sdk.accounting.reverse('x')),
      ] }`),
  )
  const input = [books.accounts['1000'], books.accounts['4000']]
  const { result, error } = await invoke(t, org, id, input)
  t.is(error, undefined)
  t.deepEqual((await books.read(`/entries/${result.entry.id}`)).reversed_by, result.reversal.id)
  t.like(result.entry, { total: '12.50', memo: 'By function' })
  t.like(result.reversal, { date: '2026-02-01', reverses: result.entry.id })
  t.deepEqual(
    result.failures.map((failure: string) => failure.split(' ').slice(0, 4).join(' ')),
    [
      'VALIDATION_ERROR: The entry is',
      'VALIDATION_ERROR: lines[0].debit must be',
      'VALIDATION_ERROR: entry.lines must have',
      'NOT_FOUND: Not found',
    ],
  )
  const invoker = await createMember(w, org, [allow('functions:invoke', 'accounting:read')])
  t.regex((await invoke(t, org, id, input, invoker.client)).error, /Needs accounting:post/)
  await org.owner.patch(org.path, { apps: { accounting: false } })
  t.regex((await invoke(t, org, id, input)).error, /Not found/)
})

test('doors: an entry with a deduplication key is posted once, independent of its content and time', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const scope = await ownerScope(org)
  const input = (amount: string) => ({
    date: '2026-01-31',
    lines: [
      { account_id: books.accounts['1000'] ?? '', debit: amount },
      { account_id: books.accounts['4000'] ?? '', credit: amount },
    ],
  })
  const posted = await Promise.all(Array.from({ length: 8 }, () => postEntry(scope, input('5'), 'run node 0')))
  const [first] = new Set(posted.map(({ id }) => id))
  t.true(posted.every(({ id }) => id === first))
  t.deepEqual(posted[0], await books.read(`/entries/${posted[0]?.id}`))
  t.is((await postEntry(scope, input('6'), 'run node 0')).total, '5.00')
  t.not((await postEntry(scope, input('5'), 'run node 1')).id, first ?? '')
  await org.owner.patch(org.path, { books_closed_through: '2026-12-31' })
  t.is((await postEntry(scope, input('5'), 'run node 0')).id, first ?? '')
  await t.throwsAsync(postEntry(scope, input('5'), 'run node 2'), { message: /is closed/ })
  t.is((await books.read('/entries')).total, 2)
})

test('doors: an account whose only entry was rolled back can be deleted, and is unknown then', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const [debited, credited] = [books.accounts['1000'] ?? '', books.accounts['4000'] ?? '']
  const scope = await ownerScope(org)
  const lines = [
    { account_id: debited, debit: '5' },
    { account_id: credited, credit: '5' },
  ]
  const takenBack = scope.db.transaction(async (tx) => {
    await postEntry(within(scope, tx), { lines })
    throw new Error('taken back')
  })
  await t.throwsAsync(takenBack, { message: 'taken back' })
  t.is((await org.owner.delete(`${org.path}/records/accounts/${debited}`)).status, 204)
  await t.throwsAsync(postEntry(scope, { lines }), { message: /^lines\[0\]\.account_id must be/ })
})

test('doors: among used and unknown accounts, the error names the line of the unknown one', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000', '5000'])
  t.is((await books.post(['1000 +1', '4000 -1'])).status, 201)
  t.is((await org.owner.delete(`${org.path}/records/accounts/${books.accounts['5000']}`)).status, 204)
  const refused = await books.post(['1000 +1', '4000 -2', '5000 +1'])
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /^lines\[2\]\.account_id must be/)
})

test('doors: a caller that loses its right posts nothing more, and nothing is posted after books are closed', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000'])
  const { client, id } = await createMember(w, org, [allow('accounting:post')])
  const second = (await startSecondApi(t, w)).as(client.token)
  const post = (date: string) => books.post(['1000 +1', '4000 -1'], { date }, second)
  t.is((await post('2026-01-01')).status, 201)
  await org.owner.patch(org.path, { books_closed_through: '2026-01-31' })
  t.is((await post('2026-01-31')).status, 400)
  t.is((await post('2026-02-01')).status, 201)
  t.is((await org.owner.delete(`${org.path}/members/${id}`)).status, 204)
  t.is((await post('2026-02-01')).status, 404)
})
