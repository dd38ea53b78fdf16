import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'

/** Writes a file that only its owner reads. The file is complete before it gets its name, so an interrupted start leaves no half file. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: privateFolderMode })
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, text, { mode: privateFileMode, flush: true })
  renameSync(unfinished, file)
}
