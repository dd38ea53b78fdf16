import { readFile } from 'node:fs/promises'
import type { ReadableType } from '#shared/core/records/declarations/schemas.ts'
import { changedProperty, createdProperty, readProperty, typesText } from '#shared/core/records/declarations/type-text.ts'
import { errorCatalogue } from '#shared/platform/kernel/errors.ts'
import { apiTypes } from './api-types.ts'
import { clientDescription, type Description, otherAnswers } from './description.ts'

/** The file of a client: the types of the API and of a workspace, and what runs. */
export async function clientText(description: Description, types: readonly ReadableType[]): Promise<string> {
  const calls = clientDescription(description)
  const statuses = Object.entries(errorCatalogue).map(([code, { status }]) => `  ${code}: ${status},\n`)
  const [imports, code] = await runtimeText()
  return [
    '// A client of one Kontor workspace, made by `kontor client`. Make it again after a change of types or fields; do not edit it.',
    '// biome-ignore-all lint: made by a program',
    '/* eslint-disable */\n',
    imports,
    `export ${typesText('ReadTypes', types, readProperty)}`,
    `export ${typesText('SentTypes', types, createdProperty)}`,
    `export ${typesText('ChangedTypes', types, changedProperty)}`,
    money,
    `const statuses = {\n${statuses.join('')}} as const\n`,
    `const answers: Readonly<Partial<Record<string, 'file' | 'nothing' | 'any'>>> = ${JSON.stringify(otherAnswers(calls), null, 2)}\n`,
    code,
    await apiTypes(calls),
  ].join('\n')
}

const money = `/** An amount of a currency. */
export interface Money {
  amount: number
  code: string
}
`

/** What the client does: its import of a package, and its code without the imports of its parts. */
async function runtimeText(): Promise<[imports: string, code: string]> {
  const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8')
  const [runtime, transport] = await Promise.all([read('runtime.ts'), read('transport.ts')])
  const [first = ''] = runtime.split('\n')
  const [calls, answers] = [runtime, transport].map((text) => text.replace(/^import .*\n/gm, '').trimStart())
  // The functions of a part are no part of what the client exports.
  return [`${first}\n`, `${calls}\n${answers?.replace(/^export (?=async function)/gm, '')}`]
}
