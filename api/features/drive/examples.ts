import { ids } from '#api/http/example-ids.ts'

const teamSpace = {
  id: ids.teamSpace,
  key: 'contracts',
  name: 'Contracts',
  type: 'custom',
  object_count: 2,
  total_bytes: 184_320,
  created_at: '2026-11-04T08:12:31.225000Z',
}
export const newSpace = { ...teamSpace, object_count: 0, total_bytes: 0 }
const personalSpace = {
  id: ids.personalSpace,
  key: 'main',
  name: 'My files',
  type: 'user',
  object_count: 5,
  total_bytes: 2_411_724,
  created_at: '2026-11-02T08:12:31.457000Z',
}
export const spaces = { buckets: [personalSpace, teamSpace], shared: [] }

export const contract = {
  key: '2026/supply.txt',
  name: 'supply.txt',
  size: 41,
  content_type: 'text/plain',
  sha256: '5004118262842b7202e2eea434dd9e1cca784edb8d4f04564d554ed45d909002',
  created_by: ids.owner,
  created_at: '2026-11-21T09:30:00.109000Z',
  updated_at: '2026-11-21T09:30:00.109000Z',
}
export const contractText = 'Harbour Coffee supplies 20 kg each month.'
export const overview = {
  recent: [{ ...contract, bucket_id: ids.teamSpace, bucket_key: 'contracts' }],
  types: [{ content_type: 'text/plain', count: 1, bytes: 41 }],
}

export const share = {
  id: ids.driveShare,
  prefix: '2026/',
  grantee_id: ids.member,
  grantee_name: 'Ben Okafor',
  org_wide: false,
  mode: 'view',
  created_at: '2026-11-21T09:31:12.876000Z',
}
