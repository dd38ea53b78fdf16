import { parseArgs } from 'node:util'

/** Options of the command line. */
export interface Options {
  /** Prefixes of case names; empty for all. */
  readonly only: readonly string[]
  /** Numbers of records in the types of the first workspace. */
  readonly records: readonly number[]
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  readonly soakSeconds: number
}

/** Reads `--only records --records 10000,100000 --seconds 1 --rounds 7 --connections 16 --soak 300`; throws for an invalid value. */
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

/** Whether a case is chosen, or a group with a chosen case. */
export const isWanted = (only: readonly string[], name: string, ofGroup = false): boolean =>
  only.length === 0 || only.some((beginning) => name.startsWith(beginning) || (ofGroup && beginning.startsWith(`${name}:`)))
