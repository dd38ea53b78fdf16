import test, { type ExecutionContext } from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { buildLaunchCommand, runnerFiles } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { programText } from '#workers/features/functions/sandbox/runner/program.ts'
import { RunnerPool } from '#workers/features/functions/sandbox/runner/runner-pool.ts'

async function openPool(t: ExecutionContext, size: number): Promise<RunnerPool> {
  const files = runnerFiles()
  const report = (message: string, details: object) => t.log(message, details)
  const pool = new RunnerPool({ size, spare: 2, launch: buildLaunchCommand(files), program: programText(files, 128), report })
  t.teardown(() => pool.close())
  await pool.release('nobody', await pool.acquire('nobody'))
  await eventually(() => pool.counts.idle >= Math.min(size, 2))
  return pool
}

test('fairness: an owner that cost a runner waits for a new one, and another owner takes an idle one', async (t) => {
  const pool = await openPool(t, 2)
  const lost = await pool.acquire('costly')
  lost.kill()
  await pool.release('costly', lost)

  const served: string[] = []
  const take = async (owner: string) => {
    const runner = await pool.acquire(owner)
    served.push(owner)
    return runner
  }
  const [costly, other] = [take('costly'), take('other')]
  await pool.release('other', await other)
  const again = await costly
  t.deepEqual(served, ['other', 'costly'])
  t.not(again.pid, lost.pid)

  await pool.release('costly', again)
  const [first, second] = [take('costly'), take('other')]
  await Promise.all([first, second])
  t.deepEqual(served.slice(2), ['costly', 'other'], 'it has waited for the one that it cost')
})

test('fairness: in a pool of one, an owner that cost runners still gets the next one', async (t) => {
  const pool = await openPool(t, 1)
  for (let time = 0; time < 3; time++) {
    const lost = await pool.acquire('costly')
    lost.kill()
    await pool.release('costly', lost)
  }
  t.truthy((await pool.acquire('costly')).pid)
})
