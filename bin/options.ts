import { parseArgs } from 'node:util'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { Command } from './command.ts'

/** An option, derived from its schema. */
interface Option {
  readonly key: string
  /** Name on the command line: `expires-at`. */
  readonly name: string
  readonly type: 'boolean' | 'string'
  readonly isRequired: boolean
  readonly meaning: string
}

/** Returns the options of a command in the order of their positional arguments. */
export function optionsOf({ options }: Command): Option[] {
  const { properties = {}, required = [] } = options.json as {
    properties?: Record<string, { type?: string; description?: string; enum?: readonly string[] }>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([key, property]) => ({
    key,
    name: key.replaceAll('_', '-'),
    type: property.type === 'boolean' ? 'boolean' : 'string',
    isRequired: required.includes(key),
    meaning: property.description ?? property.enum?.join(' or ') ?? '',
  }))
}

/** Parses the arguments after a command's name. Throws VALIDATION_ERROR for an unknown option and for a surplus argument. */
export function readOptions(command: Command, args: readonly string[]): Record<string, unknown> {
  const options = optionsOf(command)
  const { values, positionals } = parse(options, args)
  const given = Object.fromEntries(options.flatMap(({ key, name }) => (name in values ? [[key, values[name]]] : [])))
  const open = options.filter(({ type, name }) => type === 'string' && !(name in values))
  if (positionals.length > open.length) throw problem('VALIDATION_ERROR', `${positionals[open.length]} is one too many`)
  return { ...given, ...Object.fromEntries(positionals.map((value, index) => [open[index]?.key, value])) }
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

function parse(options: readonly Option[], args: readonly string[]): Parsed {
  const declared = Object.fromEntries(options.map(({ name, type }) => [name, { type }]))
  try {
    return parseArgs({ args: [...args], options: { ...declared, json: { type: 'boolean' } }, allowPositionals: true })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', (cause as Error).message, { cause })
  }
}

/** Formats the usage of a command: `kontor org create <name> <owner> [--plan <plan>]`. */
export function usageOf(command: Command): string {
  const parts = optionsOf(command).map(({ name, type, isRequired }) => {
    if (isRequired) return `<${name}>`
    return type === 'boolean' ? `[--${name}]` : `[--${name} <${name}>]`
  })
  return ['kontor', command.name, ...parts].join(' ')
}
