import { randomUUID } from 'node:crypto'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import type { PendingScan, PendingScans } from './pending-scans.ts'
import type { StationVerdict } from './verdict.ts'

/** Maximum scans of one request (decisions, Work queues). */
const maxScans = 500

interface Verdict {
  readonly scan_id: string
  readonly verdict: StationVerdict
  readonly message: string
  readonly conflict: boolean
}

/** Configuration of a station. */
export interface StationSetup {
  readonly api: Api
  /** `/orgs/{org}/queues/{queue}/scan/batch`. */
  readonly path: string
  readonly pending: PendingScans
  readonly toStage?: string | undefined
  readonly station?: string | undefined
  readonly show: (shown: StationVerdict, message: string, conflict?: boolean) => void
}

/** A station. Every scan is judged once, also when the connection to the server breaks. */
export interface Station {
  readonly scan: (key: string) => Promise<void>
  /** Sends the pending scans; true when none are left. */
  readonly send: () => Promise<boolean>
  readonly counts: Readonly<Record<StationVerdict, number>>
}

/** Opens a station. Every scan is written to disk before it is sent and removed when its verdict arrives. */
export function openStation({ api, path, pending, toStage, station, show }: StationSetup): Station {
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
        ...{ scan_id: randomUUID(), scanned_at: new Date().toISOString(), key },
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
