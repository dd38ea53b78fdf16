import { parseArgs } from 'node:util'

/** What the command line chose. */
export interface Options {
  /** Beginnings of the names of cases; all without any. */
  readonly only: readonly string[]
  /** How many records the types of the first workspace have. */
  readonly records: readonly number[]
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  readonly soakSeconds: number
}

/** Reads `--only records --records 10000,100000 --seconds 1 --rounds 7 --connections 16 --soak 300`; throws with what is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      records: { type: 'string', default: '10000,100000,1000000' },
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '7' },
      connections: { type: 'string', default: '16' },
      soak: { type: 'string', default: '300' },
    },
  })
  return {
    only: values.only,
    records: values.records.split(',').map((text) => positive('records', text)),
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    connections: positive('connections', values.connections),
    soakSeconds: positive('soak', values.soak),
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, got ${text}`)
  return value
}

/** Whether a case, or a group that has some to choose from, is wanted. */
export const isWanted = (only: readonly string[], name: string, ofGroup = false): boolean =>
  only.length === 0 || only.some((beginning) => name.startsWith(beginning) || (ofGroup && beginning.startsWith(`${name}:`)))
