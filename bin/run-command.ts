import { parseArgs } from 'node:util'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import { completeEnvironment, type Environment } from './environment.ts'
import type { Terminal } from './shell.ts'

/** Environment and streams of a call. `out` receives results, `err` failures and progress. */
interface Caller {
  readonly environment: Environment
  readonly out: Terminal
  readonly err: Terminal
  /** Standard input; empty by default. */
  readonly input?: AsyncIterable<string | Uint8Array>
  /** Aborts when the caller interrupts the command; never by default. */
  readonly interruption?: () => AbortSignal
}

/** 0: done; 1: the command or a part of it failed; 2: invalid usage. */
type ExitCode = 0 | 1 | 2

/** Runs a command by its arguments. Results go to `out` and failures to `err`, as lines or, with `--json`, as one JSON value. */
export async function runCommand(
  args: readonly string[],
  { environment, out, err, input = emptyInput(), interruption = () => new AbortController().signal }: Caller,
): Promise<ExitCode> {
  // The longest name: `jobs list` before `jobs`.
  const named = commands.filter(({ name }) => name === args.slice(0, wordsOf(name)).join(' '))
  const command = named.toSorted((a, b) => wordsOf(b.name) - wordsOf(a.name))[0]
  const isHelp = args.some((arg) => arg === '--help' || arg === '-h') || args.length === 0
  if (isHelp) {
    print(out, command ? describe(command) : overview(args))
    return 0
  }
  const json = args.includes('--json')
  if (!command) {
    const message = `There is no command ${args.slice(0, 2).join(' ')}`
    const isNoun = commands.some(({ name }) => name.startsWith(`${args[0]} `))
    const help = isNoun ? overview(args) : ['bin/kontor --help lists all commands.']
    print(err, json ? [JSON.stringify({ error: { code: 'VALIDATION_ERROR', message } })] : [message, ...help])
    return 2
  }
  const printProgress = json ? () => undefined : (lines: readonly string[]) => print(out, lines)
  try {
    const given = readOptions(command, args.slice(wordsOf(command.name)))
    const shell = {
      environment: completeEnvironment(environment),
      print: printProgress,
      printResult: (values: readonly unknown[], lines?: readonly string[]) =>
        print(out, (!json && lines) || values.map((value) => JSON.stringify(value))),
      interruption,
      terminal: err,
      input,
    }
    const { data, lines, failed = false } = await command.run(given, shell)
    print(out, json ? (data === undefined ? [] : [JSON.stringify(data)]) : lines)
    return failed ? 1 : 0
  } catch (error) {
    const failure = failureOf(error)
    const isMisuse = failure.code === 'VALIDATION_ERROR'
    const lines = isMisuse ? [failure.message, `Usage: ${usageOf(command)}`] : [failure.message]
    print(err, json ? [JSON.stringify({ error: failure })] : lines)
    return isMisuse ? 2 : 1
  }
}

async function* emptyInput(): AsyncGenerator<string> {}

const wordsOf = (name: string): number => name.split(' ').length
const print = (terminal: Terminal, lines: readonly string[]): void => {
  if (lines.length > 0) terminal.write(lines.map((line) => `${line}\n`).join(''))
}

const failureOf = (error: unknown): { code: string; message: string } => ({
  code: error instanceof Problem ? error.code : 'INTERNAL',
  message: error instanceof Error ? error.message : String(error),
})

/** What `bin/kontor` starts by itself. */
const processes = [
  'Processes of an installation: kontor api, and kontor worker --pools=<pools>; docs/operations.md lists pools and variables.',
]

/** Usage of the commands of the given noun, or of all commands. */
function overview(args: readonly string[]): string[] {
  const own = commands.filter(({ name }) => name.startsWith(`${args[0]} `))
  const rows = (own.length > 0 ? own : commands).map((command) => [usageOf(command), command.summary] as const)
  const width = Math.max(...rows.map(([usage]) => usage.length))
  const lines = rows.map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}`)
  return ['Usage:', ...lines, 'Every command prints JSON with --json.', ...(own.length > 0 ? [] : processes)]
}

function describe(command: Command): string[] {
  const options = optionsOf(command).map(({ name, meaning }) => `  --${name}  ${meaning}`)
  const verbs = commands.filter(({ name }) => name.startsWith(`${command.name} `)).map((other) => `Also: ${usageOf(other)}`)
  return [`Usage: ${usageOf(command)}`, command.summary, ...options, '  --json  prints JSON', ...verbs]
}

/** An option, derived from its schema. */
interface Option {
  readonly key: string
  /** Name on the command line: `expires-at`. */
  readonly name: string
  readonly type: 'boolean' | 'string'
  readonly isRequired: boolean
  /** Whether it may be given several times; as the last option it takes all further positional arguments. */
  readonly isList: boolean
  readonly meaning: string
}

/** Returns the options of a command in the order of their positional arguments. */
function optionsOf({ options }: Command): Option[] {
  const { properties = {}, required = [] } = options.json as {
    properties?: Record<string, { type?: string; description?: string; enum?: readonly string[] }>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([key, property]) => ({
    key,
    name: key.replaceAll('_', '-'),
    type: property.type === 'boolean' ? 'boolean' : 'string',
    isRequired: required.includes(key),
    isList: property.type === 'array',
    meaning: property.description ?? property.enum?.join(' or ') ?? '',
  }))
}

/** Parses the arguments after a command's name. Throws VALIDATION_ERROR for an unknown option and for a surplus argument. */
function readOptions(command: Command, args: readonly string[]): Record<string, unknown> {
  const options = optionsOf(command)
  const { values, positionals } = parse(options, args)
  const given = Object.fromEntries(options.flatMap(({ key, name }) => (name in values ? [[key, values[name]]] : [])))
  const open = options.filter(({ type, name }) => type === 'string' && !(name in values))
  const list = open.at(-1)?.isList ? open.pop() : undefined
  const further = positionals.slice(open.length)
  if (further.length > 0 && !list) throw problem('VALIDATION_ERROR', `unexpected argument: ${further[0]}`)
  const byPosition = positionals.slice(0, open.length).map((value, index) => [open[index]?.key, value])
  return { ...given, ...Object.fromEntries(byPosition), ...(list && further.length > 0 ? { [list.key]: further } : {}) }
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

function parse(options: readonly Option[], args: readonly string[]): Parsed {
  const declared = Object.fromEntries(options.map(({ name, type, isList }) => [name, { type, multiple: isList }]))
  try {
    return parseArgs({ args: [...args], options: { ...declared, json: { type: 'boolean' } }, allowPositionals: true })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', (cause as Error).message, { cause })
  }
}

/** Formats the usage of a command: `kontor org create <name> <owner> [--plan <plan>]`. */
function usageOf(command: Command): string {
  const parts = optionsOf(command).map(({ name, type, isRequired, isList }) => {
    if (isList) return `[<${name}> …]`
    if (isRequired) return `<${name}>`
    return type === 'boolean' ? `[--${name}]` : `[--${name} <${name}>]`
  })
  return ['kontor', command.name, ...parts].join(' ')
}
