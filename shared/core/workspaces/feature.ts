import { jobEvents, memberEvents } from '#shared/core/workspaces/events.ts'
import { deleteWorkspaceJob, reportLeftOutRolesJob, setUpWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { workspaceMaintenance } from '#shared/core/workspaces/maintenance.ts'

export const feature = {
  jobs: { setUpWorkspace: setUpWorkspaceJob, reportLeftOutRoles: reportLeftOutRolesJob, deleteWorkspace: deleteWorkspaceJob },
  maintenance: workspaceMaintenance,
  events: [memberEvents, jobEvents],
}
