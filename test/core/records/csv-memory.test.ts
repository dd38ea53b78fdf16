import { readFileSync } from 'node:fs'
import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const withoutWorkers = shareWorld(test, {}, { pools: [] })

const csv = { 'content-type': 'text/csv' }
const mostGrowthMb = 100

/** Five hundred rows of 25 MB in all, by the content of their cells. */
const files: Readonly<Record<string, string>> = {
  plain: `body\n${`${'y'.repeat(52_000)}\n`.repeat(500)}`,
  json: `body\n${`"[${'{""name"": ""value"", ""n"": 12},'.repeat(1_500)}]"\n`.repeat(500)}`,
}

/** Resident memory of a process, in megabytes. */
const residentMb = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function pass(w: World, text: string): Promise<readonly [created: number, bytes: number]> {
  const imported = await w.org.owner.post(`${w.org.path}/records/pages/import`, text, csv)
  const exported = await w.org.owner.get(`${w.org.path}/records/pages/export`)
  return [imported.data.created, exported.text.length]
}

// Other systems have no /proc.
const onLinux = process.platform === 'linux' ? test : test.skip

onLinux(`csv memory: importing and exporting 25 MB of any text changes a worker’s memory by less than ${mostGrowthMb} MB`, async (t) => {
  const w = await withoutWorkers()
  await w.org.owner.post(`${w.org.path}/types`, { key: 'pages', label: 'Pages' })
  await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'pages', key: 'body', label: 'Body', type: 'text' })
  const { pid } = await startWorkerProcess(t, w, 'data')
  t.is((await pass(w, 'body\nfirst\n'))[0], 1)
  const before = residentMb(pid)
  let kept = 0
  for (const [name, text] of Object.entries(files)) {
    const [created, bytes] = await pass(w, text)
    t.is(created, 500)
    kept += 24_000_000
    t.true(bytes > kept)
    const grown = Math.round(residentMb(pid) - before)
    t.log(`grew by ${grown} MB from ${Math.round(before)} with ${name} text`)
    t.true(grown < mostGrowthMb, `grew by ${grown} MB with ${name} text`)
  }
  await w.drain()
})
