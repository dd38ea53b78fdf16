import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'

/** Writes a file that only its owner reads. It gets its name when it is whole on the disk, so that a start that is cut off leaves no half of one. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: privateFolderMode })
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, text, { mode: privateFileMode, flush: true })
  renameSync(unfinished, file)
}
