import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** A scan without a verdict yet. */
export interface PendingScan {
  readonly scan_id: string
  readonly scanned_at: string
  readonly key: string
  readonly to_stage?: string | undefined
  readonly station?: string | undefined
}

/** Scans of a station that wait to be sent, kept in a file. A scan is on disk before it is sent, so it survives a crash of the station. */
export interface PendingScans {
  readonly list: () => readonly PendingScan[]
  readonly add: (scan: PendingScan) => void
  readonly remove: (scanIds: ReadonlySet<string>) => void
}

/** Opens the file of a station, which may contain scans of an earlier station. A line cut off during a write is ignored. */
export function openPendingScans(path: string): PendingScans {
  mkdirSync(dirname(path), { recursive: true })
  let waiting = readLines(path)
  const write = (file: string, flags: string, scans: readonly PendingScan[]) => {
    const handle = openSync(file, flags, 0o600)
    try {
      if (scans.length > 0) writeSync(handle, scans.map((scan) => `${JSON.stringify(scan)}\n`).join(''))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  }
  return {
    list: () => waiting,
    add(scan) {
      waiting = [...waiting, scan]
      write(path, 'a', [scan])
    },
    remove(scanIds) {
      waiting = waiting.filter(({ scan_id }) => !scanIds.has(scan_id))
      write(`${path}.new`, 'w', waiting)
      renameSync(`${path}.new`, path)
    },
  }
}

function readLines(path: string): readonly PendingScan[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as PendingScan)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return []
    throw error
  }
}
