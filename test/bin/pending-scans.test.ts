import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openPendingScans } from '../../bin/queues/pending-scans.ts'

const scan = (key: string) => ({ scan_id: key, scanned_at: '2030-01-01T00:00:00Z', key })

test('pending scans: a line that a crash cut off is dropped, and later scans are kept', (t) => {
  for (const cut of ['{"scan_id":"b","sc', '{"scan_id":"b","key":"{x}', '']) {
    const path = join(mkdtempSync(join(tmpdir(), 'scans-')), 'pending.jsonl')
    writeFileSync(path, `${JSON.stringify(scan('a'))}\n${cut}`)
    openPendingScans(path).add(scan('c'))
    t.deepEqual(openPendingScans(path).list(), [scan('a'), scan('c')])
    openPendingScans(path).remove(new Set(['a']))
    t.is(readFileSync(path, 'utf8'), `${JSON.stringify(scan('c'))}\n`)
  }
})
