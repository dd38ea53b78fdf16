import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { prettyFactory } from 'pino-pretty'

/** Prints a line of this program itself. */
export type Say = (line: string) => unknown

const readable = prettyFactory({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', singleLine: true, colorize: true })

/** A line as a terminal shows it: log entries in readable form, other lines unchanged. */
const shown = (line: string): string => (process.stdout.isTTY && line.startsWith('{') ? readable(line).trimEnd() : line)

const colours = [36, 33, 32, 35, 34, 31]

/** Makes a printer for each name. Its lines begin with the name, padded to equal width and coloured on a terminal. */
export function createPrefixes(names: readonly string[]): (name: string) => Say {
  const width = Math.max(...names.map((name) => name.length))
  return (name) => {
    const colour = colours[names.indexOf(name) % colours.length]
    const padded = `${name.padEnd(width)} |`
    const prefix = process.stdout.isTTY ? `\u001b[${colour}m${padded}\u001b[0m` : padded
    return (line) => process.stdout.write(`${prefix} ${shown(line)}\n`)
  }
}

/** Passes a stream on line by line. */
export function forward(stream: Readable, say: Say): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', say)
}
