import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { formatCount } from '../client/progress-bar.ts'
import { apiCommand, apiOptions } from '../command.ts'
import { type Drive, type DriveLocation, openDrive, queryString, readLocation } from '../drive/location.ts'
import { fetchFile, type SentObject, sendFile } from '../drive/transfer.ts'

interface Level {
  readonly folders: readonly { readonly prefix: string; readonly name: string }[]
  readonly objects: readonly (SentObject & { readonly name: string; readonly updated_at: string })[]
  readonly cursor?: string
}

/** Reads all pages of one folder level. */
async function readLevel({ api }: Drive, { path, key }: DriveLocation): Promise<Level> {
  const [folders, objects] = [[...([] as Level['folders'])], [...([] as Level['objects'])]]
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query: string = queryString({ prefix: key, limit: '200', ...(cursor === '' ? {} : { cursor }) })
    const page: Level = await api.get<Level>(`${path}/objects?${query}`)
    folders.push(...page.folders)
    objects.push(...page.objects)
    cursor = page.cursor
  }
  return { folders, objects }
}

const isFolder = (key: string): boolean => key === '' || key.endsWith('/')

export const driveCommands = [
  apiCommand({
    name: 'drive ls',
    summary: 'List spaces, or the folders and files at a place',
    options: schema(
      t.Object({ place: t.Optional(t.String({ description: '<space>:<folder/>; default: lists the spaces' })), ...apiOptions }),
    ),
    run: async ({ place, ...options }, shell) => {
      const drive = await openDrive(options, shell)
      if (place === undefined) {
        const lines = drive.spaces.map(
          ({ key, name, object_count, total_bytes }) =>
            `${key}:  ${name}, ${formatCount(object_count)} files, ${formatCount(total_bytes)} bytes`,
        )
        return { data: drive.spaces, lines }
      }
      const level = await readLevel(drive, readLocation(drive, place))
      const sizes = level.objects.map(({ size }) => formatCount(size))
      const width = Math.max(1, ...sizes.map(({ length }) => length))
      const folders = level.folders.map(({ name }) => `${'-'.padStart(width)}  ${''.padEnd(20)}  ${name}/`)
      const files = level.objects.map(
        ({ updated_at, name }, index) => `${sizes[index]?.padStart(width)}  ${updated_at.slice(0, 19)}Z  ${name}`,
      )
      return { data: level, lines: [...folders, ...files] }
    },
  }),
  apiCommand({
    name: 'drive get',
    summary: 'Download a file',
    options: schema(
      t.Object({
        place: t.String({ description: '<space>:<key>' }),
        file: t.Optional(t.String({ description: 'local file or folder to write to; default: the current folder' })),
        ...apiOptions,
      }),
    ),
    run: async ({ place, file = '.', ...options }, shell) => {
      const drive = await openDrive(options, shell)
      const from = readLocation(drive, place)
      if (isFolder(from.key)) throw problem('VALIDATION_ERROR', 'Name a file, not a folder')
      // A key may contain any text, but the local file needs a plain name within one folder.
      const name = basename(from.key).replace(/^\.{1,2}$/, '_')
      const to = statSync(file, { throwIfNoEntry: false })?.isDirectory() ? join(file, name) : file
      const size = await fetchFile(drive.api, from, to, shell.terminal)
      return { data: { file: to, size }, lines: [`${to}, ${formatCount(size)} bytes`] }
    },
  }),
  apiCommand({
    name: 'drive put',
    summary: 'Upload a file',
    options: schema(
      t.Object({
        file: t.String({ description: 'a file on this machine' }),
        place: t.String({ description: '<space>:<key>, or <space>:<folder/> to keep the name of the file' }),
        ...apiOptions,
      }),
    ),
    run: async ({ file, place, ...options }, shell) => {
      const drive = await openDrive(options, shell)
      const to = readLocation(drive, place)
      const key = isFolder(to.key) ? to.key + basename(file) : to.key
      const object = await sendFile(drive.api, file, { ...to, key }, shell.terminal)
      return { data: object, lines: [`${to.spaceKey}:${object.key}, ${formatCount(object.size)} bytes, ${object.content_type}`] }
    },
  }),
  apiCommand({
    name: 'drive mv',
    summary: 'Rename or move a file or folder inside its space',
    options: schema(
      t.Object({
        from: t.String({ description: '<space>:<key>' }),
        to: t.String({ description: '<space>:<key>, or <space>:<folder/> to keep the name of the file' }),
        ...apiOptions,
      }),
    ),
    run: async ({ from, to, ...options }, shell) => {
      const drive = await openDrive(options, shell)
      const [source, destination] = [readLocation(drive, from), readLocation(drive, to)]
      if (source.path !== destination.path) throw problem('VALIDATION_ERROR', 'Files move inside one space')
      const key = isFolder(destination.key) && !isFolder(source.key) ? destination.key + basename(source.key) : destination.key
      const data = await drive.api.post<{ moved: number }>(`${source.path}/move`, { json: { from: source.key, to: key } })
      return { data, lines: [`${formatCount(data.moved)} files moved`] }
    },
  }),
  apiCommand({
    name: 'drive rm',
    summary: 'Delete a file, or a folder with everything in it',
    options: schema(t.Object({ place: t.String({ description: '<space>:<key>; a folder ends with /' }), ...apiOptions })),
    run: async ({ place, ...options }, shell) => {
      const drive = await openDrive(options, shell)
      const { path, key } = readLocation(drive, place)
      const data = await drive.api.delete<{ deleted: number }>(`${path}/objects?${queryString({ key })}`)
      return { data, lines: [`${formatCount(data.deleted)} files deleted`] }
    },
  }),
]
