import test from 'ava'
import fc from 'fast-check'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { seedOf } from '#test/core/policy/seed.ts'
import { openModelBooks } from '#test/features/accounting/model/books.ts'
import { operation } from '#test/features/accounting/model/random.ts'
import { runModel } from '#test/features/accounting/model/run.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** Operations of a run; MODEL_OPERATIONS makes it a long one. */
const size = Number(process.env.MODEL_OPERATIONS ?? 250)

test('model: reports of eight clients that post, reverse and seal at two servers match a list of entries in memory', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const second = (await startSecondApi(t, w)).as(owner.token)
  const operations = fc.sample(operation, { seed: seedOf(t), numRuns: size })
  await runModel(
    t,
    {
      clients: Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? owner : second)),
      ...(await openModelBooks(w.org)),
      sumMonths: () => updateMonthSums({ db: w.api.services.database, workspace: w.org }),
    },
    operations,
  )
})
