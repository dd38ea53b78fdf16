import { createWriteStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'

interface ExportOptions extends TargetOptions {
  readonly format: string
  readonly file?: string | undefined
}

/** Exports a workspace's ledger: streams it to a file, or prints it to standard output. */
export async function exportLedger({ format, file, ...options }: ExportOptions, shell: Shell): Promise<CommandResult> {
  const { api, orgId } = await findTarget(options, shell.environment)
  const bytes = await api.download(`/orgs/${orgId}/accounting/export?format=${encodeURIComponent(format)}`)
  if (file !== undefined) {
    const written = createWriteStream(file)
    await pipeline(bytes, written)
    return { data: { format, file, size_bytes: written.bytesWritten }, lines: [`${written.bytesWritten} bytes written to ${file}`] }
  }
  const parts: Buffer[] = []
  await pipeline(bytes, new Writable({ write: (part, _, next) => next(void parts.push(part) as unknown as null) }))
  const text = Buffer.concat(parts).toString()
  return { data: { format, text }, lines: [text.replace(/\n$/, '')] }
}
