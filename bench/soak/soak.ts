import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeOwner } from '#bench/data/load.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { account } from '#bench/soak/account.ts'
import { openClient } from '#bench/soak/client.ts'
import { drain } from '#bench/soak/drain.ts'
import { killInRotation } from '#bench/soak/faults.ts'
import { openInstallation } from '#bench/soak/installation.ts'
import { kinds } from '#bench/soak/kinds.ts'
import { openLedger } from '#bench/soak/ledger.ts'
import { collectLogMessages } from '#bench/soak/log-messages.ts'
import { trendsOf, watchMemory } from '#bench/soak/memory.ts'
import { keepPace } from '#bench/soak/pace.ts'
import { firstRecords, makePlace } from '#bench/soak/places.ts'
import { accountPart, killsPart, memoryPart, requestsPart } from '#bench/soak/report.ts'

const workspaces = 6

/**
 * Mixed load for this many seconds with a kill every 30 s. Prints the figures of callers, whether every acknowledged change exists once,
 * and the trend of memory. Returns whether every aim was met.
 */
export async function benchSoak(databaseUrl: string, seconds: number): Promise<boolean> {
  await using cleanup = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'kontor-soak-'))
  cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const messages = collectLogMessages()
  const installation = await openInstallation(databaseUrl, dataDir, messages.add)
  cleanup.defer(installation.stop)
  const apis = installation.residents.filter(({ name }) => name.startsWith('api')).map(({ url }) => url)
  const [, token] = await withDatabase(databaseUrl, 'owner', makeOwner)
  const client = openClient(apis, token)
  cleanup.defer(client.close)
  const ledger = openLedger()
  const places = await Promise.all(Array.from({ length: workspaces }, (_, index) => makePlace(client, ledger, `Soak ${index + 1}`)))
  await drain(databaseUrl)
  const rate = kinds.reduce((sum, { perSecond }) => sum + perSecond, 0)
  console.log(`${seconds} s of ${rate} requests a second in ${workspaces} workspaces of ${firstRecords.toLocaleString('en')} records`)

  const lives = await watchMemory(installation, databaseUrl)
  const start = performance.now()
  const end = start + seconds * 1_000
  const underWay = new Map<string, number>()
  const [samples, kills] = await Promise.all([
    keepPace(kinds, places, client, ledger, end, underWay),
    killInRotation({ installation, databaseUrl, underWay }, end, (line) => console.log(line)),
  ])
  const watched = lives()
  const drainSeconds = await drain(databaseUrl)
  const findings = await account(databaseUrl, places, ledger)

  const parts = [requestsPart(samples, kills), killsPart(samples, kills, start), memoryPart(trendsOf(watched, end)), accountPart(findings)]
  for (const { lines } of parts) console.log(`\n${lines.join('\n')}`)
  console.log(`\nAll work was done ${drainSeconds.toFixed(1)} s after the last request.`)
  console.log(
    `\nLog messages of the processes:\n${messages
      .all()
      .map(([text, count]) => `${count} × ${text}`)
      .join('\n')}`,
  )
  const missed = parts.flatMap((part) => part.missed)
  console.log(missed.length === 0 ? '\nEvery aim is met.' : `\nMissed:\n${missed.join('\n')}`)
  return missed.length === 0
}
