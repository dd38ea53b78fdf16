import { notify } from '#shared/core/notifications/notify.ts'
import { findPermissionHolders } from '#shared/core/roles/permission-holders.ts'
import { reportLeftOutRolesJob } from '#shared/core/workspaces/jobs.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(reportLeftOutRolesJob, async ({ payload: { invitationId, person, inviter, roles }, scope }) => {
  const reason = inviter === null ? 'who invited has left' : `${inviter}, who invited, may not give them`
  const title = `${person} joined without roles: ${reason}. Give them if you may: ${roles.join(', ')}`
  const notice = { title, record: null, event: 'invitation.roles_left_out', key: `invitation ${invitationId}` }
  await notify(scope, await findPermissionHolders(scope, 'iam:manage_members'), [notice])
  return { result: null }
})
