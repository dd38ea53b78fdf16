import { parseArgs } from 'node:util'
import type { Command } from './command.ts'

/** An option as its schema describes it. */
interface Option {
  readonly key: string
  /** As it is written: `expires-at`. */
  readonly name: string
  readonly isFlag: boolean
  readonly isRequired: boolean
  readonly meaning: string
}

/** The options of a command, in the order in which they may be given without their names. */
export function optionsOf({ options }: Command): Option[] {
  const { properties = {}, required = [] } = options.json as {
    properties?: Record<string, { type?: string; description?: string; enum?: readonly string[] }>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([key, property]) => ({
    key,
    name: key.replaceAll('_', '-'),
    isFlag: property.type === 'boolean',
    isRequired: required.includes(key),
    meaning: property.description ?? property.enum?.join(' or ') ?? '',
  }))
}

/** Something is wrong with how a command was written. */
export class Misuse extends Error {}

/** Reads what follows a command's name. Throws Misuse on an option that it does not have, and on too much. */
export function readOptions(command: Command, args: readonly string[]): Record<string, unknown> {
  const options = optionsOf(command)
  const { values, positionals } = parse(options, args)
  const { json: _, ...named } = values
  const given = Object.fromEntries(Object.entries(named).map(([name, value]) => [name.replaceAll('-', '_'), value]))
  const open = options.filter(({ key, isFlag }) => !isFlag && !Object.hasOwn(given, key))
  if (positionals.length > open.length) throw new Misuse(`${positionals[open.length]} is one too many`)
  for (const [index, value] of positionals.entries()) given[open[index]?.key ?? ''] = value
  return given
}

function parse(options: readonly Option[], args: readonly string[]) {
  const own = options.map(({ name, isFlag }) => [name, { type: isFlag ? 'boolean' : 'string' }] as const)
  try {
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(own), json: { type: 'boolean' } }, allowPositionals: true })
  } catch (error) {
    throw new Misuse((error as Error).message)
  }
}

/** How a command is written: `kontor org create <name> <owner> [--plan <plan>]`. */
export function usageOf(command: Command): string {
  const parts = optionsOf(command).map(({ name, isFlag, isRequired }) => {
    if (isRequired) return `<${name}>`
    return isFlag ? `[--${name}]` : `[--${name} <${name}>]`
  })
  return ['kontor', command.name, ...parts].join(' ')
}
