import { crc32 } from 'node:zlib'
import { problem } from '#shared/platform/kernel/errors.ts'
import { highestId, isUuid } from '#shared/platform/kernel/ids.ts'

/**
 * Creates an opaque cursor: the position of the next page with a checksum over position and list, which detects damaged cursors and cursors of
 * other lists (decisions, Cursors).
 */
export function makeCursor(list: string, position: string): string {
  return Buffer.from(`${position}~${checksum(list, position)}`).toString('base64url')
}

/** Returns the position of a cursor of the same list. Throws VALIDATION_ERROR for any other text. */
export function readCursor(list: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, position, check] = /^(.*)~([0-9a-z]+)$/s.exec(text) ?? []
  if (position === undefined || check !== checksum(list, position) || makeCursor(list, position) !== cursor) {
    throw problem('VALIDATION_ERROR', 'cursor is damaged or belongs to another list: send that of the previous page as it came')
  }
  return position
}

/**
 * Returns the id after which a page begins in a list ordered by id, highest first; without a cursor an id above all others. Throws
 * VALIDATION_ERROR for any text that is no cursor of the list.
 */
export function readCursorId(list: string, cursor: string | undefined): string {
  const id = cursor === undefined ? highestId : readCursor(list, cursor)
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'cursor is damaged')
  return id
}

const checksum = (list: string, position: string): string => crc32(`${list}\n${position}`).toString(36)
