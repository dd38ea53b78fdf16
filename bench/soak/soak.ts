import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { account } from '#bench/soak/account.ts'
import { collectComplaints } from '#bench/soak/complaints.ts'
import { openDoor } from '#bench/soak/door.ts'
import { killInTurn } from '#bench/soak/faults.ts'
import { openHouse } from '#bench/soak/house.ts'
import { kinds } from '#bench/soak/kinds.ts'
import { openLedger } from '#bench/soak/ledger.ts'
import { trendsOf, watchMemory } from '#bench/soak/memory.ts'
import { keepPace } from '#bench/soak/pace.ts'
import { firstRecords, makeOwner, makePlace } from '#bench/soak/places.ts'
import { accountPart, killsPart, memoryPart, requestsPart } from '#bench/soak/report.ts'
import { settle } from '#bench/soak/settle.ts'

const workspaces = 6

/**
 * So many seconds of everything that Kontor does, while a process is killed every 30 s: prints what it was like for callers, whether all
 * that was acknowledged is there once, and how memory went. Gives whether every mark was met.
 */
export async function benchSoak(databaseUrl: string, seconds: number): Promise<boolean> {
  await using cleanup = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'kontor-soak-'))
  cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const complaints = collectComplaints()
  const house = await openHouse(databaseUrl, dataDir, complaints.hear)
  cleanup.defer(house.stop)
  const apis = house.residents.filter(({ name }) => name.startsWith('api')).map(({ url }) => url)
  const door = openDoor(apis, await makeOwner(databaseUrl))
  cleanup.defer(door.close)
  const ledger = openLedger()
  const places = await Promise.all(Array.from({ length: workspaces }, (_, index) => makePlace(door, ledger, `Soak ${index + 1}`)))
  await settle(databaseUrl)
  const rate = kinds.reduce((sum, { perSecond }) => sum + perSecond, 0)
  console.log(`${seconds} s of ${rate} requests a second in ${workspaces} workspaces of ${firstRecords.toLocaleString('en')} records`)

  const lives = await watchMemory(house, databaseUrl)
  const start = performance.now()
  const end = start + seconds * 1_000
  const underWay = new Map<string, number>()
  const [samples, kills] = await Promise.all([
    keepPace(kinds, places, door, ledger, end, underWay),
    killInTurn({ house, databaseUrl, underWay }, end, (line) => console.log(line)),
  ])
  const watched = lives()
  const settling = await settle(databaseUrl)
  const findings = await account(databaseUrl, places, ledger)

  const parts = [requestsPart(samples, kills), killsPart(samples, kills, start), memoryPart(trendsOf(watched, end)), accountPart(findings)]
  for (const { lines } of parts) console.log(`\n${lines.join('\n')}`)
  console.log(`\nAll work was done ${settling.toFixed(1)} s after the last request.`)
  console.log(
    `\nWhat the processes said:\n${complaints
      .all()
      .map(([text, count]) => `${count} × ${text}`)
      .join('\n')}`,
  )
  const missed = parts.flatMap((part) => part.missed)
  console.log(missed.length === 0 ? '\nEvery mark is met.' : `\nMissed:\n${missed.join('\n')}`)
  return missed.length === 0
}
