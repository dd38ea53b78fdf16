import { nameOfKey } from '#shared/features/drive/objects/key.ts'
import type { ObjectRow } from '#shared/features/drive/objects/store.ts'
import type { DriveObject } from '#shared/features/drive/schemas.ts'

/** A file as callers see it. */
export const objectViewOf = ({ key, size_bytes, content_type, sha256, created_by, created_at, updated_at }: ObjectRow): DriveObject => ({
  key,
  name: nameOfKey(key),
  size: size_bytes,
  content_type,
  sha256,
  created_by,
  created_at,
  updated_at,
})
