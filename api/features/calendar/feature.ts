import { routes as bookPages } from '#api/features/calendar/book-pages.ts'
import { routes as calendarRoutes } from '#api/features/calendar/calendar-routes.ts'
import { routes as eventRoutes } from '#api/features/calendar/event-routes.ts'
import { routes as publicRoutes } from '#api/features/calendar/public.ts'
import { routes as rsvpPages } from '#api/features/calendar/rsvp-pages.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = {
  routes: [...calendarRoutes, ...eventRoutes],
  unversioned: [...publicRoutes, ...bookPages, ...rsvpPages],
}
