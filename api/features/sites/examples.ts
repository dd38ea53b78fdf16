import { ids } from '#api/http/example-ids.ts'

export const site = {
  id: ids.site,
  key: 'shop',
  name: 'Harbour Coffee',
  published: true,
  created_at: '2026-11-15T07:32:14.313000Z',
  updated_at: '2026-11-15T07:32:14.313000Z',
}
export const renamedSite = { ...site, name: 'Harbour Coffee shop', updated_at: '2026-11-21T09:30:00.498000Z' }

const delivered = {
  path: 'guides/brewing',
  title: 'Brewing coffee',
  body: 'Use 60 g of coffee for a litre of water.',
  fields: { minutes: 4 },
  updated_at: '2026-11-21T09:30:00.835000Z',
}
export const deliveredDocument = delivered
export const contentDocument = { ...delivered, published: true }
export const documentInput = JSON.stringify({ title: delivered.title, body: delivered.body, fields: delivered.fields, published: true })
export const documentEntry = {
  path: delivered.path,
  title: delivered.title,
  content_type: null,
  size: null,
  published: true,
  updated_at: delivered.updated_at,
}

export const openingHours = 'Open from 8 to 18.'
export const asset = {
  path: 'notes/hours.txt',
  content_type: 'text/plain',
  size: openingHours.length,
  sha256: 'e6b4eca89656531007e73a4e421827cc8a22478b14d5da8e80c14699172dd039',
  updated_at: '2026-11-21T09:30:00.178000Z',
}
export const assetEntry = {
  path: asset.path,
  title: null,
  content_type: asset.content_type,
  size: asset.size,
  published: true,
  updated_at: asset.updated_at,
}

/** The first bytes of every PNG. */
export const logo = '\x89PNG\r\n\x1a\n…'
