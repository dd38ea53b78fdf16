import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { code, markdownTable } from './markdown-table.ts'

/** All methods of the SDK. */
export const sdkMethodTable = (methods: readonly SdkMethod[]): string =>
  markdownTable(
    ['Method', 'Parameters and result', 'App'],
    methods.map(({ name, declaration, app }) => [code(name), code(onOneLine(declaration)), app === null ? 'none' : code(app)]),
  )

/** A declaration on one line: a line break that separates two members becomes a semicolon. */
const onOneLine = (declaration: string): string => declaration.replace(/([^{])\n\s*(?=[^\s}])/g, '$1; ').replace(/\s+/g, ' ')
