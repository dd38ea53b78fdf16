import type { Block, Trigger } from '#shared/core/automation/block.ts'
import { isJsonObject } from '#shared/platform/kernel/values/json-schema.ts'
import { code, codeList, markdownTable } from './markdown-table.ts'

/** All triggers and blocks of flows, then all of their settings. */
export const flowBlockTables = (kinds: readonly (Block | Trigger)[]): string =>
  [
    markdownTable(
      ['Block', 'What it does', 'Outputs', 'Gives', 'App'],
      kinds.map((kind) => [code(kind.type), kind.description, codeList(kind.handles), givenBy(kind), appOf(kind)]),
    ),
    markdownTable(['Block', 'Setting', 'Type', 'Always required', 'Meaning'], kinds.flatMap(settingRows)),
  ].join('\n\n')

const givenBy = (kind: Block | Trigger): string =>
  codeList(kind.isTrigger ? Object.keys(kind.sample).map((name) => `trigger.${name}`) : Object.keys(kind.output))

const appOf = (kind: Block | Trigger): string => (kind.isTrigger || kind.app === null ? 'none' : code(kind.app))

const settingRows = ({ type, settings, required }: Block | Trigger): string[][] =>
  settingsOf(settings.json as JsonSchema).map(({ path, json }) => [
    code(type),
    code(path),
    typeOf(json),
    required.includes(path) ? 'yes' : '',
    String(json.description ?? ''),
  ])

type JsonSchema = Readonly<Record<string, unknown>>

interface Setting {
  readonly path: string
  readonly json: JsonSchema
}

/** The properties of a schema; those of the items of a list follow it with a path such as `lines[].memo`. */
function settingsOf({ properties }: JsonSchema, prefix = ''): Setting[] {
  if (!isJsonObject(properties)) return []
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>).flatMap(([name, json]) => [
    { path: prefix + name, json },
    ...(isJsonObject(json.items) ? settingsOf(json.items as JsonSchema, `${prefix}${name}[].`) : []),
  ])
}

const typeWords: Readonly<Record<string, string>> = { string: 'text', boolean: 'flag', array: 'list' }

function typeOf({ type, anyOf }: JsonSchema): string {
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' or ')
  return typeof type === 'string' ? (typeWords[type] ?? type) : 'any'
}
