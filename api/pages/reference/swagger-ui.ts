import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import manifest from 'swagger-ui-dist/package.json' with { type: 'json' }

/** Package version, part of the addresses of its files, so browsers may cache them forever. */
export const swaggerUiVersion: string = manifest.version

/** Content types of the package's files that the reference page loads. */
const contentTypes = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
} as const
type Asset = keyof typeof contentTypes

/** Whether the reference page loads a file of this name from the package. */
export const isAsset = (name: string): name is Asset => Object.hasOwn(contentTypes, name)

/** Reads a file of the package and its content type. */
export async function readAsset(name: Asset): Promise<{ readonly type: string; readonly bytes: Buffer }> {
  const bytes = await readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)))
  return { type: contentTypes[name], bytes }
}
