import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { connectApi } from '../client/api.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { openPendingScans } from './pending-scans.ts'
import { findQueue, requireStageOf } from './queue.ts'
import { openStation } from './station.ts'
import { showVerdict } from './verdict.ts'

interface Options extends TargetOptions {
  readonly queue: string
  readonly to_stage?: string | undefined
  readonly station?: string | undefined
  readonly journal?: string | undefined
}

/** Interval at which an idle station retries its pending scans. */
const trySendEveryMs = 2_000

/**
 * Runs a station in a terminal: each line of the input is a scanned key. Scans that cannot be sent are kept in a file and sent when the
 * server is back, also by the next station of the queue. Ends with its input; `failed` is true when scans are still pending.
 */
export async function runStation(options: Options, shell: Shell): Promise<CommandResult> {
  const { api: targetApi, orgId, token } = await findTarget(options, shell.environment)
  const queue = await findQueue(targetApi, orgId, options.queue)
  if (options.to_stage !== undefined) requireStageOf(queue, options.to_stage, 'to-stage')
  const file = options.journal ?? join(resolve(shell.environment.DATA_DIR || '.data'), `scans-${queue.id}.ndjson`)
  const kept = openPendingScans(file)
  const station = openStation({
    // The operator waits for the verdict, so the client does not retry; the station does.
    api: connectApi(targetApi.baseUrl, token, { waits: [] }),
    path: `/orgs/${orgId}/queues/${queue.id}/scan/batch`,
    pending: kept,
    toStage: options.to_stage,
    station: options.station,
    show: (shown, message, conflict) => showVerdict(shell.terminal, shown, message, conflict),
  })
  shell.print([`${queue.name}: scan a key, or type one; an end of the input ends the station.`])
  if (kept.list().length > 0) await station.send()
  const timer = setInterval(() => void (kept.list().length > 0 && station.send()), trySendEveryMs)
  try {
    for await (const line of createInterface({ input: Readable.from(shell.input), crlfDelay: Number.POSITIVE_INFINITY })) {
      const key = line.replace(/\t$/, '')
      if (key !== '') await station.scan(key)
    }
  } finally {
    clearInterval(timer)
  }
  const isSent = kept.list().length === 0 || (await station.send())
  const waiting = kept.list().length
  const counted = Object.entries(station.counts).filter(([shown, times]) => times > 0 && shown !== 'kept')
  return {
    data: { queue: queue.key, ...Object.fromEntries(counted), waiting, journal: file },
    lines: [
      counted.map(([shown, times]) => `${times} ${shown}`).join(', ') || 'Nothing was scanned.',
      ...(isSent ? [] : [`${waiting} scans could not be sent and are kept in ${file}: start the station again to send them.`]),
    ],
    failed: !isSent,
  }
}
