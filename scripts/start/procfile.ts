import { readFileSync } from 'node:fs'

/** One kind of process: its name and its command line. */
export type ProcessType = { readonly name: string; readonly command: string }

/** Reads a Procfile: one line `name: command` per kind, besides empty lines and comments. Any other line throws. */
export function readProcfile(file: string): readonly ProcessType[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, command] = /^([A-Za-z0-9_-]+):\s*(\S.*)$/.exec(line) ?? []
      if (!name || !command) throw new Error(`${file} holds a line that is not "name: command": ${line}`)
      return { name, command }
    })
}
