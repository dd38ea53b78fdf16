import test from 'ava'
import fc from 'fast-check'
import { sumMonths } from '#shared/accounting/months.ts'
import { openBooks } from '#test/accounting/books.ts'
import { operation } from '#test/accounting/model/random.ts'
import { runModel } from '#test/accounting/model/run.ts'
import { seedOf } from '#test/policy/seed.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { world } from '#test/support/world.ts'

/** Operations of a run; MODEL_OPERATIONS makes it a long one. */
const size = Number(process.env.MODEL_OPERATIONS ?? 250)
const kinds = { '1': 'asset', '2': 'liability', '3': 'equity', '4': 'revenue', '5': 'expense' } as Readonly<Record<string, string>>

test('what eight clients post, reverse, seal and ask at two servers is what a list of entries says', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { owner, path } = w.org
  const second = (await startSecondApi(t, w)).as(owner.token)
  await owner.patch(path, { multi_currency: true })
  const codes = ['1000', '1100', '1200', '2000', '3000', '4000', '4100', '5000', '5100']
  const { accounts, path: accounting } = await openBooks(w.org, codes)
  const operations = fc.sample(operation, { seed: seedOf(t), numRuns: size })
  await runModel(
    t,
    {
      clients: Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? owner : second)),
      path: accounting,
      sumMonths: () => sumMonths({ db: w.api.services.database, workspace: w.org }),
      kinds: new Map(codes.map((code) => [accounts[code] ?? '', kinds[code[0] ?? ''] ?? ''])),
    },
    operations,
  )
})
