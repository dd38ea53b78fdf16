import { nameOfKey } from '#shared/features/drive/objects/key.ts'
import type { DriveObject } from '#shared/features/drive/schemas.ts'

/** A file as it is stored. */
export interface ObjectRow {
  readonly key: string
  readonly blob_id: string
  readonly size_bytes: number
  readonly content_type: string
  readonly sha256: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A file as callers see it. */
export const objectViewOf = ({ key, size_bytes, content_type, sha256, created_by, created_at, updated_at }: ObjectRow): DriveObject => ({
  ...{ key, name: nameOfKey(key), size: size_bytes, content_type, sha256, created_by, created_at, updated_at },
})
