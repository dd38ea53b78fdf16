import { linkKeys } from '#shared/platform/secrets/store.ts'

export const feature = { sealed: [linkKeys] }
