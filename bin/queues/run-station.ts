import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { type Api, connectApi } from '../client/api.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { openPendingScans, type PendingScan, type PendingScans } from './pending-scans.ts'
import { findQueue, requireStageOf } from './queue.ts'
import { type StationVerdict, showVerdict } from './verdict.ts'

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
 * server can be reached again, also by the next station of the queue. Ends with its input; `failed` is true when scans are still pending.
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
  shell.print([`${queue.name}: scan or type keys, one a line. The end of the input ends the station.`])
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

/** Maximum scans of one request (docs/contract/queues.md#offline-scans). */
const maxScans = 500

interface Verdict {
  readonly scan_id: string
  readonly verdict: StationVerdict
  readonly message: string
  readonly conflict: boolean
}

/** Configuration of a station. */
interface StationSetup {
  readonly api: Api
  /** `/orgs/{org}/queues/{queue}/scan/batch`. */
  readonly path: string
  readonly pending: PendingScans
  readonly toStage?: string | undefined
  readonly station?: string | undefined
  readonly show: (shown: StationVerdict, message: string, conflict?: boolean) => void
}

/** A station. Every scan is judged once, also when the connection to the server breaks. */
interface Station {
  readonly scan: (key: string) => Promise<void>
  /** Sends the pending scans; true when none are left. */
  readonly send: () => Promise<boolean>
  readonly counts: Readonly<Record<StationVerdict, number>>
}

/** Opens a station. Every scan is written to disk before it is sent and removed when its verdict arrives. */
function openStation({ api, path, pending, toStage, station, show }: StationSetup): Station {
  const counts: Record<StationVerdict, number> = { moved: 0, created: 0, duplicate: 0, unknown: 0, blocked: 0, kept: 0, refused: 0 }
  const report = (shown: StationVerdict, message: string, conflict = false) => {
    counts[shown] += 1
    show(shown, message, conflict)
  }
  const judge = async (scans: readonly PendingScan[]): Promise<void> => {
    const verdicts = await api.post<readonly Verdict[]>(path, { json: { scans } })
    pending.remove(new Set(verdicts.map(({ scan_id }) => scan_id)))
    for (const { verdict, message, conflict } of verdicts) report(verdict, message, conflict)
  }
  /** Sends a refused batch scan by scan. A scan that is refused on its own is reported and dropped. */
  const judgeEach = async (scans: readonly PendingScan[]): Promise<void> => {
    for (const scan of scans) {
      try {
        await judge([scan])
      } catch (error) {
        if (!isRefusal(error)) throw error
        pending.remove(new Set([scan.scan_id]))
        report('refused', `${scan.key}: ${error.message}`)
      }
    }
  }
  let sending: Promise<boolean> | undefined
  const sendAll = async (): Promise<boolean> => {
    for (let scans = pending.list().slice(0, maxScans); scans.length > 0; scans = pending.list().slice(0, maxScans)) {
      try {
        await judge(scans).catch((error: unknown) => (isRefusal(error) ? judgeEach(scans) : Promise.reject(error)))
      } catch (error) {
        report('kept', `${pending.list().length} waiting: ${(error as Error).message}`)
        return false
      }
    }
    return true
  }
  const send = (): Promise<boolean> => {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }
  return {
    counts,
    send,
    async scan(key) {
      pending.add({
        scan_id: randomUUID(),
        scanned_at: new Date().toISOString(),
        key,
        ...(toStage === undefined ? {} : { to_stage: toStage }),
        ...(station === undefined ? {} : { station }),
      })
      await sending
      await send()
    },
  }
}

/** Whether the API rejected the request as invalid, so that a retry is useless. */
const isRefusal = (error: unknown): error is Problem => error instanceof Problem && error.code === 'VALIDATION_ERROR'
