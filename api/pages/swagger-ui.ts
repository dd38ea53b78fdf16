import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import manifest from 'swagger-ui-dist/package.json' with { type: 'json' }

/** Part of every address of its files, so that browsers may keep them for ever. */
export const swaggerUiVersion: string = manifest.version

/** The files of the reference page that come from the package, by their content types. */
const types = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
} as const
type Asset = keyof typeof types

export const isAsset = (name: string): name is Asset => Object.hasOwn(types, name)

/** One file of the package with its content type. */
export async function readAsset(name: Asset): Promise<{ readonly type: string; readonly bytes: Buffer }> {
  const bytes = await readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)))
  return { type: types[name], bytes }
}
